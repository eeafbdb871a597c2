//! Examples under the help of each command.

pub(super) const EXPLAIN: &str = "\
Examples:
  kubectl envoyfilter explain pod cart --demo
  kubectl envoyfilter explain deploy/cart -n shop
  kubectl envoyfilter explain filter shop/stamp-requests --demo
  kubectl envoyfilter explain pod cart-1 --dump cart.json -f filters/";

pub(super) const DUMP: &str = "\
Examples:
  kubectl envoyfilter dump deploy/cart -n shop -f manifests/ --istiod ./pilot-discovery
  kubectl envoyfilter dump gateway/front -n web -f manifests/
  kubectl envoyfilter dump --proxy-type sidecar --proxy-labels app=cart -n shop -f manifests/
  kubectl envoyfilter dump --like cart.json -f manifests/ --without-filters
  kubectl envoyfilter dump deploy/cart -n shop --capture mesh.tar.zst --istiod ./pilot-discovery";

pub(super) const DOCTOR: &str = "\
Examples:
  kubectl envoyfilter doctor -f manifests/ --istiod ./pilot-discovery
  kubectl envoyfilter doctor -f manifests/ -o json
  kubectl envoyfilter doctor --capture mesh.tar.zst --istiod ./pilot-discovery";

pub(super) const WATCH: &str = "\
Examples:
  kubectl envoyfilter watch
  kubectl envoyfilter watch -n shop -o json
  kubectl envoyfilter watch --metrics-address 127.0.0.1:8080 --events
  kubectl envoyfilter watch --once";

pub(super) const POD: &str = "\
Examples:
  kubectl envoyfilter explain pod cart --demo
  kubectl envoyfilter explain pod/cart-1 -n shop
  kubectl envoyfilter explain pod shop/cart-1 --dump cart.json -f filters/ -o json";

pub(super) const DEPLOYMENT: &str = "\
Examples:
  kubectl envoyfilter explain deployment cart --demo
  kubectl envoyfilter explain deploy/cart -n shop --all-replicas";

pub(super) const SERVICE: &str = "\
Examples:
  kubectl envoyfilter explain service cart --demo
  kubectl envoyfilter explain svc/cart -n shop";

pub(super) const GATEWAY: &str = "\
Examples:
  kubectl envoyfilter explain gateway istio-ingressgateway -n istio-system
  kubectl envoyfilter explain gw/front --dump front.json -f filters/";

pub(super) const WORKLOAD: &str = "\
Examples:
  kubectl envoyfilter explain workload cart --demo
  kubectl envoyfilter explain statefulset/ledger -n pay";

pub(super) const FILTER: &str = "\
Examples:
  kubectl envoyfilter explain filter shop/stamp-requests --demo
  kubectl envoyfilter explain filter stamp-requests -n shop
  kubectl envoyfilter explain filter shop/stamp-requests --dump dumps/ -f filters/";

pub(super) const FIELD: &str = "\
Examples, the name in quotes where it has a |:
  kubectl envoyfilter explain field cluster/inbound|8080||/connect_timeout --demo
  kubectl envoyfilter explain field listener/virtualInbound/filter_chains[0]/filters[0] --demo
  kubectl envoyfilter explain field route/http.8080/virtual_hosts[0] --dump front.json -f filters/";

pub(super) const RENDER: &str = "\
Examples:
  kubectl envoyfilter render --demo --only changed
  kubectl envoyfilter render --dump cart.json -f filters/ -o yaml
  kubectl envoyfilter render cart-1 -n shop -f new.yaml";

pub(super) const TRY: &str = "\
Examples:
  kubectl envoyfilter try --demo --envoy ./envoy --inbound 8080 /
  kubectl envoyfilter try cart-1 -n shop -f new.yaml --inbound 8080 -X POST -d '{}' /cart
  kubectl envoyfilter try --dump front.json -f filters/ https://shop.example.com/cart --stub cart=503
  kubectl envoyfilter try --dump cart.json -f filters/ --inbound 8080 --from spiffe://cluster.local/ns/pay/sa/ledger /";

pub(super) const TEST: &str = "\
Examples:
  kubectl envoyfilter test tests/ --envoy ./envoy
  kubectl envoyfilter test cart.test.yaml --filter limit --watch
  kubectl envoyfilter test tests/ -o junit --fail-under 80 > junit.xml
  kubectl envoyfilter test --init filters/stamp.yaml --dump cart.json";

pub(super) const DIFF: &str = "\
Examples:
  kubectl envoyfilter diff -f new.yaml
  kubectl envoyfilter diff -f new.yaml --server-side
  kubectl envoyfilter diff --delete shop/stamp-requests --demo
  kubectl envoyfilter diff -f new.yaml --current filters/ --dump cart.json
  kubectl envoyfilter diff --between staging prod";

pub(super) const LINT: &str = "\
Examples:
  kubectl envoyfilter lint --demo
  kubectl envoyfilter lint -n shop
  kubectl envoyfilter lint filters/ --dump dumps/ --fail-on warning
  kubectl envoyfilter lint - --select EF1,EF3 -o sarif --output-file lint.sarif
  kubectl envoyfilter lint filters/ --fix";

pub(super) const GET: &str = "\
Examples:
  kubectl envoyfilter get -n shop
  kubectl envoyfilter get -A -o wide
  kubectl envoyfilter get --watch -n shop";

pub(super) const STATUS: &str = "\
Examples:
  kubectl envoyfilter status -A
  kubectl envoyfilter status -n shop -o json";

pub(super) const CAPTURE: &str = "\
Examples:
  kubectl envoyfilter capture mesh.tar.zst -A
  kubectl envoyfilter capture shop.tar.gz -n shop --redact [a-z]+[.]example[.]com
  kubectl envoyfilter lint --capture mesh.tar.zst";

pub(super) const RBAC: &str = "\
Examples:
  kubectl envoyfilter rbac lint -n shop
  kubectl envoyfilter rbac get --watch
  kubectl envoyfilter rbac diff --server-side
  kubectl envoyfilter rbac watch --events --binding serviceaccount:monitoring:watch";

pub(super) const VERSION: &str = "\
Examples:
  kubectl envoyfilter version -A
  kubectl envoyfilter version --client -o json";

pub(super) const COMPLETION: &str = "\
Examples:
  kubectl envoyfilter completion bash
  kubectl envoyfilter completion fish";

pub(super) const MIGRATE: &str = "\
Examples:
  kubectl envoyfilter migrate
  kubectl envoyfilter migrate filters/ mesh/ -o yaml
  kubectl envoyfilter migrate filter.yaml --to 1.28 --accept differs --output-dir native/";

pub(super) const MIGRATE_VERIFY: &str = "\
Examples:
  kubectl envoyfilter migrate verify --before before/ --after after/";

pub(super) const AUDIT: &str = "\
Examples:
  kubectl envoyfilter audit --to 1.31
  kubectl envoyfilter audit --from 1.24 --to 1.31 -f filters/
  kubectl envoyfilter audit --to 1.31 --dump dumps/ -f filters/ -o html --output-file audit.html
  kubectl envoyfilter audit --from 1.26 --to 1.31 -f filters/ -o diff";

pub(super) const API: &str = "\
Examples:
  kubectl envoyfilter api Lua.inline_code
  kubectl envoyfilter api envoy.filters.http.ext_authz
  kubectl envoyfilter api HttpConnectionManager -o json";

pub(super) const RULES: &str = "\
Examples:
  kubectl envoyfilter rules
  kubectl envoyfilter rules EF3
  kubectl envoyfilter rules merge-cannot-reset
  kubectl envoyfilter rules test rules/";

pub(super) const RULES_TEST: &str = "\
Examples:
  kubectl envoyfilter rules test rules/
  kubectl envoyfilter rules test rules/ -v";

pub(super) const INSTALL: &str = "\
Examples:
  kubectl envoyfilter webhook install --dry-run=client -o yaml
  kubectl envoyfilter webhook install --image registry.example/kubectl-envoyfilter:0.1.0 --mode audit";

pub(super) const WEBHOOK_STATUS: &str = "\
Examples:
  kubectl envoyfilter webhook status
  kubectl envoyfilter webhook status --trial-namespace shop -o json";

pub(super) const REPORT: &str = "\
Examples:
  kubectl envoyfilter webhook report -A
  kubectl envoyfilter webhook report -n shop --dry-run=client
  kubectl envoyfilter webhook report -A --shard 0/4";

pub(super) const POLICY: &str = "\
Examples:
  kubectl envoyfilter webhook policy
  kubectl envoyfilter webhook policy --action Warn
  kubectl envoyfilter webhook policy -o table";

pub(super) const LADDER: &str = "\
Examples:
  kubectl envoyfilter webhook ladder
  kubectl envoyfilter webhook ladder -n shop --config .envoyfilter.yaml -o json";

pub(super) const UNINSTALL: &str = "\
Examples:
  kubectl envoyfilter webhook uninstall --dry-run=client
  kubectl envoyfilter webhook uninstall --keep-reports";

pub(super) const SERVE: &str = "\
Examples:
  kubectl envoyfilter webhook serve --mode warn --webhook-configuration envoyfilter-webhook
  kubectl envoyfilter webhook serve --tls-cert tls.crt --tls-key tls.key";

#[cfg(test)]
mod tests {
    use crate::cli::{Cli, arguments};
    use clap::{Command, CommandFactory, Parser};
    use std::ffi::OsString;

    /// The commands without subcommands, each by its words, with its examples.
    fn leaves(command: &Command, words: &str, found: &mut Vec<(String, String)>) {
        let below: Vec<_> = command.get_subcommands().filter(|one| !one.is_hide_set()).collect();
        for one in &below {
            leaves(one, format!("{words} {}", one.get_name()).trim(), found);
        }
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        if below.is_empty() || examples.contains("Examples:") {
            found.push((words.to_owned(), examples));
        }
    }

    #[test]
    fn every_command_has_examples_that_the_program_accepts() {
        let mut found = Vec::new();
        leaves(&Cli::command(), "", &mut found);
        assert!(found.len() > 20, "{found:?}");
        for (words, examples) in found {
            let lines: Vec<&str> = examples.lines().filter_map(|line| line.strip_prefix("  kubectl ")).collect();
            assert!(!lines.is_empty(), "`{words}` has no example");
            for line in lines {
                let given = line.split_whitespace().map(OsString::from);
                if let Err(error) = Cli::try_parse_from(arguments(given)) {
                    panic!("{line}: {error}");
                }
            }
        }
    }
}
