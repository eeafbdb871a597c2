//! EnvoyFilters in Markdown, Terraform, charts and kustomizations: read, or reported with exit code 3, never "no
//! findings".

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const FILTER: &str = "apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata:
  name: early
  namespace: shop
spec:
  configPatches:
  - applyTo: BOOTSTRAP
    patch:
      operation: ADD
      value: {}
";

fn lint(folder: &Path, path: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"));
    let Output { status, stdout, stderr } =
        command.arg("lint").args(arguments).current_dir(folder).env("PATH", path).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// A program with this name that prints its input.
fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn filters_in_other_texts_are_read_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let nothing = folder.path().join("empty");
    fs::create_dir(&nothing).unwrap();
    let lint = |arguments: &[&str]| lint(folder.path(), &nothing, arguments);

    write("guide.md", &format!("# Limits: how\n\n```yaml\n{FILTER}```\n\n```sh\nls: no\n```\n"));
    let (code, out, _) = lint(&["guide.md"]);
    assert!(code == 1 && out.contains("EF304") && out.contains("guide.md:11"), "{out}");

    // The examples of a page may be alternatives: nobody applies them in turn.
    let pages = format!("Wrong:\n\n```yaml\n{FILTER}```\n\nRight:\n\n```yaml\n{FILTER}    match: {{}}\n```\n");
    write("variants.md", &pages);
    let (_, out, _) = lint(&["--pedantic", "variants.md"]);
    assert!(out.contains("note[EF018]") && !out.contains("error[EF018]"), "{out}");

    write("guide.adoc", &format!("= Limits\n\n[source,yaml]\n----\n{FILTER}----\n\n----\n$ oc get pods\n----\n"));
    let (code, out, err) = lint(&["guide.adoc"]);
    assert!(code == 1 && out.contains("EF304") && out.contains("guide.adoc:12") && err.is_empty(), "{out} {err}");

    // What follows `...` is lost, but the end of a template is not that mistake.
    write("chart.yaml", &format!("{{{{ if .Values.limits }}}}\n---\n{FILTER}...\n{{{{ end }}}}\n"));
    let (_, out, _) = lint(&["chart.yaml"]);
    assert!(out.contains("EF304") && out.contains("EF002") && !out.contains("EF001"), "{out}");

    write("main.tf", &format!("resource \"m\" \"a\" {{\n  manifest = yamldecode(<<-EOT\n{FILTER}  EOT\n  )\n}}\n"));
    let (code, out, _) = lint(&["main.tf"]);
    assert!(code == 1 && out.contains("EF304") && out.contains("main.tf:10"), "{out}");

    write("filled.tf", &format!("a = <<EOT\n{}EOT\n", FILTER.replace("early", "${var.name}")));
    let (code, out, err) = lint(&["filled.tf"]);
    assert!(code == 3 && err.contains("interpolations of Terraform"), "{code} {out} {err}");

    write("own.tf", "manifest = {\n  apiVersion = \"networking.istio.io/v1alpha3\"\n  kind = \"EnvoyFilter\"\n}\n");
    let (code, _, err) = lint(&["own.tf"]);
    assert!(code == 3 && err.contains("Terraform's own syntax"), "{err}");

    write("apply.sh", &format!("#!/bin/sh\nkubectl apply -f - <<'EOF'\n{FILTER}EOF\necho done: yes\n"));
    let (code, out, _) = lint(&["apply.sh"]);
    assert!(code == 1 && out.contains("EF304") && out.contains("apply.sh:10"), "{out}");

    let inside = FILTER.replace('\n', "\n      ");
    write(
        "play.yaml",
        &format!(
            "- hosts: all\n  tasks:\n  - kubernetes.core.k8s:\n      definition:\n        {}\n",
            inside.replace('\n', "\n  ")
        ),
    );
    let (code, out, err) = lint(&["play.yaml"]);
    assert!(code == 1 && out.contains("EF304") && out.contains("play.yaml:12") && err.is_empty(), "{out} {err}");

    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: files}\ndata:\n  filter.yaml: |\n";
    write("map.yaml", &format!("{map}      {inside}\n"));
    let (code, _, err) = lint(&["map.yaml"]);
    assert!(
        code == 3 && err.contains("map.yaml:5:16: the EnvoyFilter in a text of this ConfigMap is not read"),
        "{err}"
    );

    // Not an EnvoyFilter: a reference to one.
    let owner = "ownerReferences: [{apiVersion: networking.istio.io/v1, kind: EnvoyFilter, name: a, uid: b}]";
    write("owned.yaml", &format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  {owner}\n"));
    let (code, out, err) = lint(&["owned.yaml"]);
    assert!(code == 0 && out.contains("no EnvoyFilter") && err.is_empty(), "{code} {out} {err}");

    write("notes.md", "Nothing here.\n");
    let (code, out, err) = lint(&["notes.md"]);
    assert!(code == 3 && err.contains("no fenced Kubernetes object"), "{code} {out} {err}");

    write(
        "kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [base.yaml]\npatches:\n- target: {kind: EnvoyFilter}\n  patch: |-\n    - {op: replace, path: /spec/priority, value: 1}\n",
    );
    let (code, _, err) = lint(&["kustomization.yaml"]);
    assert!(code == 3 && err.contains("is not applied"), "{err}");
}

/// Each file with what the error says; the exit code is 3.
fn unread(files: &[(&str, String, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, reason) in files {
        fs::write(folder.path().join(name), text).unwrap();
        let (code, out, err) = lint(folder.path(), Path::new(""), &[name]);
        assert!(code == 3 && err.contains(reason) && !out.contains("error["), "{name}: {code} {out} {err}");
    }
}

#[test]
fn files_in_other_languages_are_not_judged_as_yaml() {
    let json = "{\n  apiVersion: 'networking.istio.io/v1alpha3',\n  kind: 'EnvoyFilter',\n}\n".to_owned();
    let text = |before: &str, after: &str| format!("{before}{FILTER}{after}");
    unread(&[
        ("a.jsonnet", json.clone(), "a.jsonnet is a Jsonnet file, not YAML: the EnvoyFilter in it is not read"),
        ("a.cue", "x: {kind: \"EnvoyFilter\"}\n".to_owned(), "cue export --out yaml a.cue | kubectl"),
        ("a.ts", format!("new CustomResource('x', {json});\n"), "a.ts is a program"),
        ("a.py", text("x = \"\"\"\n", "\"\"\"\n"), "a.py is a program"),
        ("deploy", text("#!/usr/bin/env python3\nx = \"\"\"\n", "\"\"\"\n"), "deploy is a program"),
        ("Makefile", "apply:\n\techo 'kind: EnvoyFilter'\n".to_owned(), "Makefile is a makefile"),
        ("a.patch", format!("--- a\n+++ b\n@@ -0,0 +1,2 @@\n+{}", FILTER.replace('\n', "\n+")), "is a diff"),
        ("apply", text("#!/bin/bash\ncat <<EOF\n", "EOF\n").replace("shop", "$NS"), "apply:2:1: the object"),
        ("all.yaml", format!("# {}\n", FILTER.trim_end().replace('\n', "\n# ")), "only in comments"),
        ("file.tf", "x = file(\"${path.module}/a.yaml\")\n".to_owned(), "is not followed"),
        ("line.tf", "x = \"kind: EnvoyFilter\\nmetadata: {}\"\n".to_owned(), "text of one line"),
        ("other.tf", "kinds = [\"EnvoyFilter\"]\n".to_owned(), "none that can be read"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    for (name, before, after) in [
        ("apply", "#!/usr/bin/env -S bash -e\nkubectl apply -f - <<EOF\n", "EOF\n"),
        ("apply.zsh", "cat <<'EOF'\n", "EOF\n"),
        ("a.hcl", "x = <<EOT\n", "EOT\n"),
        ("a.txt", "# a\n", ""),
        ("a.yaml", "#!/usr/bin/ansible-playbook\n", ""),
    ] {
        fs::write(folder.path().join(name), text(before, after)).unwrap();
        let (code, out, err) = lint(folder.path(), Path::new(""), &[name]);
        assert!(code == 1 && out.contains("EF304") && err.is_empty(), "{name}: {code} {out} {err}");
    }
}

#[test]
fn what_controllers_make_of_filters_is_reported() {
    let kyverno = |rule: &str| {
        format!(
            "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {{name: p}}\nspec:\n  rules:\n  - name: r\n    match: {{any: [{{resources: {{kinds: [networking.istio.io/v1alpha3/EnvoyFilter]}}}}]}}\n    {rule}\n"
        )
    };
    let patch = "patches: [{target: {kind: EnvoyFilter}, patch: x}]";
    let flux = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: a}}\nspec: {{{patch}}}\n"
    );
    let argo = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec: {{source: {{kustomize: {{{patch}}}}}}}\n"
    );
    let operator = "kind: IstioOperator\napiVersion: install.istio.io/v1alpha1\nspec: {overlays: [{kind: EnvoyFilter, name: a, patches: [{path: spec, value: 1}]}]}\n";
    let text = "data: {a: '{\"apiVersion\": \"networking.istio.io/v1alpha3\", \"kind\": \"EnvoyFilter\"}'}\n";
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  a: |\n    {}\n",
        FILTER.replace('\n', "\n    ")
    );
    let head = |kind: &str| format!("apiVersion: a/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec:\n");
    let patches = "configPatches: [{applyTo: CLUSTER, patch: {operation: REMOVE}}]";
    let release = format!("{}  values:\n    filters:\n    - {patches}\n", head("HelmRelease"));
    let application =
        format!("{}  values: |\n    filter:\n      configPatches:\n      - applyTo: CLUSTER\n", head("Application"));
    let edit = "[{op: remove, path: /spec/configPatches/0}]";
    let post = format!("{}  patches:\n  - target: {{name: x}}\n    patch: '{edit}'\n", head("HelmRelease"));
    unread(&[
        (
            "make.yaml",
            kyverno("generate: {kind: EnvoyFilter, name: a, data: {spec: {priority: 1}}}"),
            "make.yaml:8:15: the EnvoyFilter that this ClusterPolicy generates",
        ),
        (
            "change.yaml",
            kyverno("mutate: {patchStrategicMerge: {spec: {priority: 1}}}"),
            "this patch of an EnvoyFilter",
        ),
        ("flux.yaml", flux, "this patch of an EnvoyFilter"),
        ("argo.yaml", argo, "this patch of an EnvoyFilter"),
        ("operator.yaml", operator.to_owned(), "this patch of an EnvoyFilter"),
        (
            "json.yaml",
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n{text}"),
            "a text of this ConfigMap",
        ),
        ("secret.yaml", secret, "a text of this Secret"),
        ("release.yaml", release, "release.yaml:7:7: the patches in this HelmRelease are not read"),
        ("application.yaml", application.clone(), "a text of this Application is not read"),
        ("post.yaml", post, "this patch of an EnvoyFilter"),
        (
            "values.yaml",
            "envoyFilter:\n  configPatches: []\n".to_owned(),
            "values.yaml:1:1: this is not a Kubernetes object",
        ),
    ]);
    // Those only refer to the kind.
    let application = application.replace("applyTo", "other");
    let folder = tempfile::tempdir().unwrap();
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {names: {kind: EnvoyFilter}}\n";
    for (name, text) in [
        ("deny.yaml", kyverno("validate: {deny: {}}")),
        ("definition.yaml", definition.to_owned()),
        ("application.yaml", application),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let (code, out, err) = lint(folder.path(), Path::new(""), &[name]);
        assert!(
            code == 0 && out.contains("nothing judged: no EnvoyFilter in 1 file") && err.is_empty(),
            "{name}: {code} {out} {err}"
        );
    }
}

fn write_below(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A patch in a file of its own is an EnvoyFilter only by its looks.
#[test]
fn kustomizations_name_files_with_patches() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| write_below(folder.path(), name, text);
    let head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../base]\n";
    write("base/filter.yaml", &FILTER.replace("metadata:", "metadata:\n  labels: {team: a}"));
    write("base/other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    write("over/patches/one.yaml", &FILTER.replace("spec:", "spec:\n  priority: 7"));
    for (list, reported) in [
        ("patches:\n- path: patches/../patches/one.yaml\n", true),
        ("patchesStrategicMerge:\n- ./patches/one.yaml\n", true),
        ("patches:\n- target: {kind: Envoy.*}\n  patch: '[{op: remove, path: /spec/priority}]'\n", true),
        ("patches:\n- target: {group: networking.istio.io}\n  path: patches/two.yaml\n", true),
        ("replacements:\n- targets: [{select: {kind: EnvoyFilter}, fieldPaths: [spec.priority]}]\n", true),
        ("replacements:\n- targets: [{select: {kind: Service}, fieldPaths: [spec.type]}]\n", false),
        ("patches:\n- target: {name: ear.*}\n  patch: '[{op: remove, path: /spec/priority}]'\n", true),
        ("patches:\n- target: {labelSelector: 'team=a,!old'}\n  path: patches/two.yaml\n", true),
        ("patches:\n- target: {name: x}\n  patch: '[{op: remove, path: /spec/configPatches/0}]'\n", true),
        ("patches:\n- target: {labelSelector: 'team=b'}\n  path: patches/two.yaml\n", false),
        ("patches:\n- target: {name: ear}\n  path: patches/two.yaml\n", false),
        ("patches:\n- target: {group: apps, kind: .*}\n  path: patches/two.yaml\n", false),
        ("patches:\n- path: ../base/other.yaml\n", false),
        ("patches:\n- path: patches/one.yaml\n  target: {kind: Deployment}\n", false),
        ("patches:\n- path: patches/two.yaml\n", false),
    ] {
        write("over/kustomization.yaml", &format!("{head}{list}"));
        let (code, out, err) = lint(folder.path(), Path::new(""), &["base", "over"]);
        assert_eq!(err.contains("over/kustomization.yaml:5:"), reported, "{list}: {err}");
        assert_eq!(code == 3, reported, "{list}: {code} {out} {err}");
    }
    // It is no object: what it removes is not a mistake.
    let removes = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: one, namespace: shop}\nspec: {workloadSelector: {labels: {app: null}}}\n";
    write("over/patches/one.yaml", removes);
    for target in ["", "  target: {kind: EnvoyFilter, name: one}\n"] {
        write("over/kustomization.yaml", &format!("{head}patches:\n- path: patches/one.yaml\n{target}"));
        let (code, out, err) = lint(folder.path(), Path::new(""), &["base", "over"]);
        assert!(code == 3 && err.contains("over/kustomization.yaml:5:") && !out.contains("EF013"), "{out} {err}");
    }
}

/// A namespace, a prefix or labels of a kustomization change the EnvoyFilters that it lists.
#[test]
fn fields_of_a_kustomization_are_not_applied() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| write_below(folder.path(), name, text);
    let head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    write("base/filter.yaml", &FILTER.replace("spec:", "spec:\n  workloadSelector: {labels: {app: a}}"));
    write("base/kustomization.yaml", &format!("{head}resources: [./filter.yaml]\nnamespace: shop\n"));
    write("base/other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    let rev = "labels:\n- pairs: {istio.io/rev: canary}\n";
    let of_pods = "labels:\n- pairs: {app: a}\n  includeTemplates: true\n";
    for (fields, reported) in [
        ("namespace: prod\n", "`namespace` is not"),
        ("namePrefix: a-\nnamespace: prod\nnameSuffix: -b\n", "`namespace`, `namePrefix` and `nameSuffix` are not"),
        ("commonLabels: {app: b}\n", "`commonLabels` is not"),
        (rev, "`labels` is not"),
        (of_pods, "`labels` is not"),
        ("namespace: shop\n", ""),
        ("namePrefix: ''\ncommonLabels: {team: a}\nlabels: [{pairs: {app: a}}]\n", ""),
    ] {
        write("over/kustomization.yaml", &format!("{head}resources: [../base]\n{fields}"));
        let (code, out, err) = lint(folder.path(), Path::new(""), &["base", "over"]);
        if reported.is_empty() {
            assert!(code == 1 && err.is_empty(), "{fields}: {code} {out} {err}");
        } else {
            assert!(code == 3 && err.contains(reported) && err.contains("lint -k FOLDER"), "{fields}: {code} {err}");
        }
    }
    // It lists no EnvoyFilter.
    write("over/kustomization.yaml", &format!("{head}resources: [../base/other.yaml, absent]\nnamespace: prod\n"));
    let (code, out, err) = lint(folder.path(), Path::new(""), &["base", "over"]);
    assert!(code == 1 && err.is_empty(), "{code} {out} {err}");
}

#[test]
fn charts_and_kustomizations_are_rendered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bin");
    fs::create_dir(&path).unwrap();
    let (code, out, err) = lint(folder.path(), &path, &["--helm", "chart", "-f", "values.yaml"]);
    assert!(
        code == 3 && out.is_empty() && err.contains("helm template chart -f values.yaml | kubectl envoyfilter lint -"),
        "{err}"
    );
    let (code, _, err) = lint(folder.path(), &path, &["-k", "."]);
    assert!(code == 3 && err.contains("kubectl kustomize . | kubectl envoyfilter lint -"), "{err}");

    program(
        &path,
        "helm",
        &format!(
            "[ \"$1\" = template ] && [ \"$4\" = -f ] || {{ echo 'Error: execution error at (a.yaml:1:3): no tag' >&2; echo >&2; echo 'Use --debug' >&2; exit 2; }}\n/bin/cat <<'END'\n---\n# Source: chart/templates/a.yaml\n{FILTER}END\n"
        ),
    );
    let (code, out, err) = lint(folder.path(), &path, &["--helm", "chart", "-f", "values.yaml"]);
    assert!(code == 1 && out.contains("EF304"), "{out} {err}");
    assert!(out.contains("rendered from chart/templates/a.yaml"), "{out}");
    let (code, out, err) = lint(folder.path(), &path, &["--helm", "chart", "-f", "values.yaml", "--fix"]);
    assert!(code == 2 && out.is_empty() && err.contains("cannot write fixes into a rendered chart"), "{code} {err}");
    let (code, _, err) = lint(folder.path(), &path, &["--helm", "chart"]);
    assert!(code == 3 && err.contains("cannot render") && err.contains("(a.yaml:1:3): no tag"), "{err}");

    let old = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: old, namespace: shop}\nspec:\n  configPatches:\n  - applyTo: HTTP_FILTER\n    match: {listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager, subFilter: {name: envoy.router}}}}}\n    patch: {operation: REMOVE}\n";
    program(&path, "helm", &format!("/bin/cat <<'END'\n---\n# Source: chart/templates/b.yaml\n{old}END\n"));
    let (_, out, err) = lint(folder.path(), &path, &["--helm", "chart"]);
    assert!(out.contains("to fix it, edit chart/templates/b.yaml: write the canonical name"), "{out} {err}");
    assert!(!out.contains("fix: ") && !out.contains("-fixes"), "{out}");

    program(&path, "kubectl", &format!("[ \"$1\" = kustomize ] || exit 2\n/bin/cat <<'END'\n{FILTER}END\n"));
    let (code, out, err) = lint(folder.path(), &path, &["--kustomize", "."]);
    assert!(code == 1 && out.contains("EF304"), "{out} {err}");
}

/// A chart can make `helm` take all memory; the kernel stops it where the checks, ten a second, would be too slow.
#[test]
#[cfg(target_os = "linux")]
fn memory_of_a_renderer_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bin");
    fs::create_dir(&path).unwrap();
    program(&path, "helm", "echo \"Error: $(ulimit -d) KiB\" >&2\nexit 1\n");
    let (code, _, err) = lint(folder.path(), &path, &["--helm", "chart"]);
    let twice_and_one = (2 * 4 + 1) << 20;
    assert!(code == 3 && err.contains(&format!("{twice_and_one} KiB")), "{err}");
}

/// A chart can print without end, or hide a filter behind more output than is kept.
#[test]
fn what_is_too_large_to_render_is_not_judged_in_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bin");
    fs::create_dir(&path).unwrap();
    let prints = |mib: usize| format!("/usr/bin/head -c {} /dev/zero | /usr/bin/tr '\\0' '\\n'\n", mib << 20);
    program(&path, "helm", &format!("{}/bin/cat <<'END'\n{FILTER}END\n", prints(65)));
    let (code, out, err) = lint(folder.path(), &path, &["--helm", "chart"]);
    assert!(code == 3 && out.is_empty() && err.contains("it prints more than 64 MiB"), "{out} {err}");
    // Near it, everything is judged.
    program(&path, "helm", &format!("{}/bin/cat <<'END'\n{FILTER}END\n", prints(1)));
    let (code, out, err) = lint(folder.path(), &path, &["--helm", "chart"]);
    assert!(code == 1 && out.contains("EF304"), "{out} {err}");
}
