# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_envoyfilter_global_optspecs
    string join \n n/namespace= istio-version= root-namespace= color= v/verbose max-input-size= show-secrets kubeconfig= context= cluster= user= as= as-group= request-timeout= proxy-timeout= s/server= token= A/all-namespaces l/selector= field-selector= istio-namespace= dump-via= all-replicas capture= h/help V/version
end

function __fish_kubectl_envoyfilter_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_envoyfilter_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_envoyfilter_using_subcommand
    set -l cmd (__fish_kubectl_envoyfilter_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "explain" -d 'Explain what EnvoyFilters do to a proxy, or who wrote a field'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "render" -d 'Print a config dump as istiod would send it with these EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "try" -d 'Send a request through the patched proxy, in a real Envoy on this machine, and show what each filter did'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "test" -d 'Run test files: requests through the patched proxy, with the results they must have'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "diff" -d 'Show what changes to EnvoyFilters do to each proxy'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "lint" -d 'Report EnvoyFilters that are wrong, risky or have no effect'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "get" -d 'List EnvoyFilters, what they select and which patches are in effect'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "status" -d 'List EnvoyFilters and workloads where something is wrong'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "watch" -d 'Watch proxies continuously and report changes: patches not in effect, rejected updates, replicas that differ'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "capture" -d 'Save what other commands read from a cluster, without secrets, for --capture'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "rbac" -d 'Print the roles that a command requires; with -n, for one namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "version" -d 'Show the versions of this program, the cluster, control planes and proxies'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "completion" -d 'Print a completion script for a shell'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "__complete"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "audit" -d 'Report what an Istio upgrade breaks or changes, and whether it is safe'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "migrate" -d 'Find native Istio objects that replace EnvoyFilters, and what then differs'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "api" -d 'Describe a field, type or extension of the Envoy API and the releases that have it'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "dump" -d 'Write the configuration that istiod would send to a proxy, from manifests alone'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "doctor" -d 'Check this program\'s engine against a real istiod on your own objects'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "rules" -d 'List lint rules, or show the documentation of one'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "webhook" -d 'Install, inspect and remove the admission webhook and what comes with it'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "pod" -d 'A pod, by its name or its workload\'s'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "po" -d 'A pod, by its name or its workload\'s'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "deployment" -d 'The pods of a deployment'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "deploy" -d 'The pods of a deployment'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "service" -d 'The pods behind a service'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "svc" -d 'The pods behind a service'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "gateway" -d 'A gateway or waypoint'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "gw" -d 'A gateway or waypoint'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "workload" -d 'The pods of a workload of any kind'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "filter" -d 'One EnvoyFilter, on every proxy given or every proxy that it reaches'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "field" -d 'Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "rule" -d 'A lint rule, by its code or name'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l kind -d 'Its kind, such as StatefulSet; sts/NAME is short for it [default: any]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s o -l output -d 'Text for people, or JSON (schemas/field-explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l why-here -d 'Also find the objects of the mesh that make istiod generate it, by removing objects until it changes (requires --istiod)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l no-cache -d 'Find the objects anew, without the names kept from earlier answers in the user\'s cache folder, and keep none'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l rules -d 'Your own rules: files or folders of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s o -l output -d 'Text for people, or JSON' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -a "test" -d 'Test your own rules on their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "pod" -d 'A pod, by its name or its workload\'s'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "deployment" -d 'The pods of a deployment'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "service" -d 'The pods behind a service'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "gateway" -d 'A gateway or waypoint'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "workload" -d 'The pods of a workload of any kind'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "filter" -d 'One EnvoyFilter, on every proxy given or every proxy that it reaches'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "field" -d 'Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "rule" -d 'A lint rule, by its code or name'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l envoy -d 'Envoy binary to check whether it accepts the patched configuration' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l only -d 'Omit every resource that the EnvoyFilters do not change' -r -f -a "changed\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l envoy -d 'Envoy binary to run [default: `envoy` on the PATH]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l stub -d 'What an upstream answers: a status, `echo`, `reset`, or a file with the body; NAME is a cluster, a host, its first part, or `*`' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l wasm -d 'File with the module of a Wasm filter, by the name of the filter' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l inbound -d 'Port of the workload that the request is for' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l outbound -d 'Host and port that the workload calls; for a waypoint, the service behind it' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s X -l request -d 'Method' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s H -l header -d 'Header field; @FILE reads one from each line of a file' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s d -l data -d 'Body; @FILE reads it from a file' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l json -d 'Body of JSON, with its content type' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l padding -d 'Send this many more bytes behind the body' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l tcp -d 'Send a text over TCP instead of HTTP' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l grpc -d 'Call a gRPC method with an empty message' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l from -d 'Client: an IP address, or a SPIFFE identity (implies mutual TLS)' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l sni -d 'Server name of the TLS handshake' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l jwt -d 'Claims of a token to send, as JSON; the JWT filters of the sandbox trust it' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l max-time -d 'Seconds to wait for the response' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l repeat -d 'Send the request this many times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l without -d 'Compare with a run without this EnvoyFilter [default: without all of them]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s o -l output -d 'Output format' -r -f -a "human\t''
json\t''
html\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l no-probes -d 'Leave out the probes between HTTP filters: the answer then says nothing about single filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l http2 -d 'Use HTTP/2'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l mtls -d 'Encrypt with mutual TLS'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l tls -d 'Encrypt with TLS, without a client certificate'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l plain -d 'Do not encrypt'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l times -d 'Show times, random values and access logs, which differ from run to run'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand try" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l envoy -d 'Envoy binary to run [default: `envoy` on the PATH]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l stub -d 'What an upstream answers: a status, `echo`, `reset`, or a file with the body; NAME is a cluster, a host, its first part, or `*`' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l wasm -d 'File with the module of a Wasm filter, by the name of the filter' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l filter -d 'Run only tests whose name contains this text' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l fail-under -d 'Fail if the tests cover less than this percentage of patches, filters and routes' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l init -d 'Print a first test file for the filters in this file: one request for each patch' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l dump -d 'Config dump that the new test file uses [default: the demo\'s proxy]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -s o -l output -d 'Output format' -r -f -a "human\t''
json\t''
junit\t''
tap\t''
github\t''
markdown\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l no-probes -d 'Leave out the probes between HTTP filters: the answer then says nothing about single filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l watch -d 'Run again whenever a test file or a filter changes'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l times -d 'Show how long each test took'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand test" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s f -l filename -d 'EnvoyFilters after the change: new ones, and changed ones under their names; with --istiod, any object of Istio or Kubernetes' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l current -d 'EnvoyFilters as they are now, all that are applied [default: the cluster\'s; with --dump, none]; with --istiod, the manifests of the mesh' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l delete -d 'An EnvoyFilter of --current to delete; with --istiod, also KIND/NAMESPACE/NAME' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l between -d 'Compare the EnvoyFilters of two meshes and what they do there: two contexts, captures, or one of each' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l envoy -d 'Envoy binary to check whether it accepts the patched configuration' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s o -l output -d 'Output format: text, json, or markdown for a comment on a change' -r -f -a "text\t''
json\t''
markdown\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l server-side -d 'Also ask the cluster\'s API server, its policies and its webhooks (a dry run: nothing is stored)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l accept-changes -d 'Exit with 0 when something changes: only what could not be judged is a failure'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s f -l filename -d 'Same as FILE' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l helm -d 'Helm chart to render with `helm` and check; -f then names its values files' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s k -l kustomize -d 'Kustomization to build with `kustomize` or `kubectl` and check' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l envoy -d 'Envoy binary to check whether it accepts the patched configuration' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l select -d 'Only these rules (codes, prefixes such as EF3, names, or all)' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l ignore -d 'Skip these rules' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s o -l output -d 'Output format' -r -f -a "human\t'For people'
json\t'schemas/lint.json'
sarif\t'SARIF 2.1.0'
junit\t'JUnit XML'
github\t'GitHub Actions workflow commands'
gitlab\t'GitLab code quality report'
markdown\t'A table'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l output-file -d 'Write to a file instead of standard output' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l min-severity -d 'Minimum severity to report: error, warning or info' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l fail-on -d 'Minimum severity that makes the exit code 1 [default: error]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l baseline -d 'Ignore findings listed in this file' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l rules -d 'Your own rules: files or folders of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l config -d 'Configuration file [default: the nearest .envoyfilter.yaml, searching upwards]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l run -d 'Send standard requests through the patched proxies in a real Envoy and report what fails at run time; uses `envoy` on the PATH unless --envoy is given'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l stat -d 'Show only the number of findings per rule'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l pedantic -d 'Show info findings in full instead of only counting them'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l update-baseline -d 'Update the baseline: add new findings, drop those that are gone'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l fix -d 'Apply safe fixes'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l unsafe-fixes -d 'Also apply unsafe fixes'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l diff -d 'Show what fixes would change without changing anything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s o -l output -d 'Output format: table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:PATH,…' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l sort-by -d 'Sort by a field of each item, such as .priority or .metadata.name' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l no-headers -d 'Do not print table headers'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s w -l watch -d 'Watch for changes: EnvoyFilters, what they select, what is in effect'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l output-watch-events -d 'With --watch, show whether an EnvoyFilter was added, modified or deleted'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s o -l output -d 'Output format: table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:PATH,…' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l sort-by -d 'Sort by a field of each item, such as .priority or .metadata.name' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l no-headers -d 'Do not print table headers'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s w -l watch -d 'Keep watching and report what goes wrong and what recovers'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -s o -l output -d 'Output format: text, or json with one object on each line' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l rate -d 'Maximum number of proxies read in a minute [default: 60; with --once, 6000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l interval -d 'How long to wait before a proxy is read again when nothing changed' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l settle -d 'How long proxies may take to receive a change before they are read' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l metrics-address -d 'Address for Prometheus and probes, over plain HTTP: /metrics, /healthz, /readyz' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l shards -d 'Share the proxies with other replicas: number of shards, each held by a Lease' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l lease-prefix -d 'Prefix of the names of the Leases, followed by -0, -1 and so on' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l replica -d 'Name of this replica [default: the pod name]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l lease-namespace -d 'Namespace of the Leases' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l config -d 'Configuration file, as lint reads it from .envoyfilter.yaml' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l rules -d 'Custom rules: files or folders of files of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l once -d 'Read every proxy once, then exit; the exit code is that of `status`'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l events -d 'Write Kubernetes Events on EnvoyFilters, which `kubectl describe` shows'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand watch" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l redact -d 'Also redact what this regular expression matches; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l no-dumps -d 'Save objects only; otherwise a capture without any config dump is refused'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l revision -d 'Another control plane whose mesh config is read too, with its namespace if it runs elsewhere; may be repeated' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l binding -d 'Also print bindings to a user, to group:NAME or to serviceaccount:NAMESPACE:NAME' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l watch -d 'Include the rights for `get --watch` or `status --watch`'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l server-side -d 'Include the rights for `diff --server-side`: to change EnvoyFilters, as Kubernetes has none for a dry run alone'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l istiod -d 'The rights for the command with --istiod: to list everything that istiod reads, but no Secrets'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l events -d 'Include the right to write Events, for `watch --events`'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s o -l output -d 'Output format' -r -f -a "table\t'For people'
json\t'For programs'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l client -d 'Only the version of this program; reads no cluster'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s f -l filename -d 'EnvoyFilters and related objects (workloads, services): files, folders, - for standard input [default: the whole mesh of the current context; one namespace with -n]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-namespace -d 'Namespace of the proxy; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-version -d 'Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-name -d 'Name of the proxy\'s pod; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-workload -d 'Name of the proxy\'s workload; overrides the config dump' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l envoy -d 'Envoy binary to check whether it accepts the patched configuration' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l to -d 'Release to upgrade to [default: the newest of --istiod]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l from -d 'Release that runs now [default: from the cluster or the config dumps; for manifests alone, the oldest of --istiod]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l path -d 'Releases on the way, such as 1.24,1.26,1.28 [default: every minor release]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l revision-from -d 'Revision that runs now: EnvoyFilters for other revisions do not count before the upgrade' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l revision-to -d 'Revision to upgrade to: EnvoyFilters for other revisions do not count after the upgrade' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l istiod -d 'istiod binary of a release on the way, RELEASE=PATH; may be given several times: the configuration that it generates replaces the forecast' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l istiod-to -d 'istiod binary of the release to upgrade to' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s o -l output -d 'Output format' -r -f -a "human\t'For people'
json\t'schemas/audit.json'
markdown\t'For a change ticket'
html\t'One self-contained page'
diff\t'A patch with the rewritten EnvoyFilters'
sarif\t'SARIF 2.1.0'
junit\t'JUnit XML'
github\t'GitHub Actions workflow commands'
gitlab\t'GitLab code quality report'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l output-file -d 'Write to a file instead of standard output' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l fail-on -d 'Minimum class that makes the exit code 1' -r -f -a "breaks\t'What works now but not after the upgrade'
changes\t'Also what works differently'
deprecated\t'Also what a later release rejects'
cleanup\t'Any finding'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l all-changes -d 'Also list changes that do not depend on EnvoyFilters; requires the istiod of the release to upgrade to'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l unsafe-fixes -d 'Also apply fixes that may change what an EnvoyFilter means'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -s f -l filename -d 'Same as FILE' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l to -d 'Use only APIs of this release, such as 1.28; or `ambient` to show what can move to a waypoint or ztunnel, and what blocks the move [default: the release of the control plane]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l accept -d 'Weakest class to write' -r -f -a "exact\t'Only moves with identical configuration'
same-but\t'Also moves that differ in names, order and metadata'
differs\t'Also moves that differ in behavior'
reviewed\t'Also moves of authentication, authorization and TLS, once you have reviewed them'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l prove -d 'How to determine classes: from recordings of istiod, by running an istiod on these files (--istiod), or by also sending requests through a real Envoy (--envoy)' -r -f -a "recorded\t'Recordings of istiod for each pattern'
istiod\t'A real istiod on this machine, with your own objects'
traffic\t'As istiod, and requests through a real Envoy with both configurations'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l envoy -d 'Envoy binary for --prove traffic [default: `envoy` on the PATH]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -s o -l output -d 'Output format' -r -f -a "human\t'For people'
yaml\t'Objects ready for kubectl apply'
diff\t'Unified diffs'
json\t'schemas/migrate.json'
markdown\t'For a pull request'
html\t'One page'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l output-dir -d 'Write the objects to files in this folder' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -a "verify" -d 'Compare the config dumps of proxies before and after a migration'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and not __fish_seen_subcommand_from verify help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l before -d 'Config dumps from before: files, folders of files, or captures' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l after -d 'Config dumps from after' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l renamed -d 'Cluster whose name changes, as OLD=NEW' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Compare the config dumps of proxies before and after a migration'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand migrate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s o -l output -d 'Text for people, or JSON (schemas/api.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -s f -l filename -d 'Objects of the mesh: files, folders, - for the standard input [default: the cluster, or --capture]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l like -d 'Ask as the proxy of this config dump, with the node metadata it sent' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l proxy-type -d 'Ask as a proxy that no object describes: sidecar, gateway or waypoint' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l proxy-labels -d 'Labels of the described proxy, a=b,c=d' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l proxy-version -d 'Istio version of the proxy [default: the release of istiod]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -s o -l output -d 'Output format' -r -f -a "json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l without-filters -d 'Leave all EnvoyFilters out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l endpoints -d 'Include endpoints'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand dump" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -s f -l filename -d 'Objects of the mesh with its EnvoyFilters: files, folders, - for the standard input [default: the cluster, or --capture]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l istiod -d 'istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the configuration that it generates' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l istiod-sha256 -d 'SHA-256 digest that the istiod binary must have' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l istiod-env -d 'Setting of istiod, over those of its Deployment among the objects; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l istiod-revision -d 'Revision that istiod acts as [default: the default revision]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l cluster-id -d 'Cluster ID that istiod and its proxies have [default: Kubernetes]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l istiod-timeout -d 'Seconds until istiod must be ready [default: 60]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l istiod-memory -d 'Memory that istiod may use, in MB [default: 4000]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -s o -l output -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l rules -d 'Your own rules: files or folders of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s o -l output -d 'Text for people, or JSON' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -a "test" -d 'Test your own rules on their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "test" -d 'Test your own rules on their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -f -a "install" -d 'Install the admission webhook and the scheduled report, or print their manifests'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -f -a "status" -d 'Check whether the webhook is installed and works, and what to fix'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -f -a "report" -d 'Lint the running mesh and write the findings into it as PolicyReports'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -f -a "policy" -d 'Print policies with which the API server checks some rules without a webhook'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -f -a "ladder" -d 'Show, by namespace, what happens when the admission mode is raised'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -f -a "uninstall" -d 'Remove everything that `install` and the webhook created'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -f -a "serve" -d 'Run the admission server; this is what the Deployment of the webhook runs'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy ladder uninstall serve help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l name -d 'Name of the installation, in the namespace that -n names or else in envoyfilter-system' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l image -d 'Image of this program, best by its digest: REGISTRY/kubectl-envoyfilter@sha256:...' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l pull-secret -d 'Pull secret of the image; may be repeated' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l replicas -d 'Replicas of the server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l mode -d 'What happens to findings: enforce denies, warn shows warnings, audit logs and counts' -r -f -a "enforce\t''
warn\t''
audit\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l deny-at -d 'Minimum severity that denies an EnvoyFilter: error, warning or info' -r -f -a "error\t''
warning\t''
info\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l deadline -d 'Maximum duration of a review; must be shorter than --timeout' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l on-deadline -d 'Answer to a review that exceeds the deadline because the server is overloaded: allow (with a warning) or deny' -r -f -a "allow\t''
deny\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l failure-policy -d 'What the API server does when no replica answers: Ignore or Fail' -r -f -a "Ignore\t''
Fail\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l timeout -d 'Timeout of the API server, in seconds' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l sample-proxies -d 'Number of proxies whose extensions the server reads; requires the right to read config dumps' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l config -d 'Configuration file, as lint reads it from .envoyfilter.yaml' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l certificates -d 'Source of the certificate: own (made and renewed by the server) or cert-manager' -r -f -a "own\t''
cert-manager\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l revision -d 'Another control plane whose mesh config is read, with its namespace if it runs elsewhere; may be repeated' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l client-ca-configmap -d 'ConfigMap with the certificate authorities of clients (key ca.crt): only the API server gets reviews' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l api-server-cidr -d 'Addresses of the API server: the NetworkPolicy lets only them call the webhook; may be repeated' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l report-schedule -d 'Schedule of the report, in cron format' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l report-dump-via -d 'Source of the report\'s config dumps: istiod, or port-forward (requires pods/portforward in all namespaces)' -r -f -a "istiod\t''
port-forward\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l report-api -d 'API of the reports: wgpolicyk8s.io, openreports.io, or both with a comma' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l report-shards -d 'Number of pods that share the work of a report' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l with -d 'Also install the standing watch, which `kubectl envoyfilter watch` runs: watch' -r -f -a "watch\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l watch-replicas -d 'Replicas of the watch, which share the proxies' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l watch-rate -d 'Maximum number of proxies that each replica of the watch reads in a minute' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l watch-dump-via -d 'Source of the watch\'s config dumps: istiod, or port-forward (requires pods/portforward in all namespaces)' -r -f -a "istiod\t''
port-forward\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l dry-run -d 'Only print (client), or only let the API server check (server)' -r -f -a "none\t'Apply the changes'
client\t'Only print'
server\t'Let the API server check without storing anything'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s o -l output -d 'Output format: yaml or json' -r -f -a "yaml\t'Documents, as kubectl apply takes them'
json\t'One List'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l service-monitor -d 'Create a ServiceMonitor for the Prometheus operator'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l no-network-policy -d 'Do not create NetworkPolicies'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l no-report -d 'Do not create the scheduled report'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l prometheus-rule -d 'Create a PrometheusRule with the alerts of the watch for the Prometheus operator'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l report-job -d 'Print a Job that writes one report now instead of installing'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l name -d 'Name of the installation, in the namespace that -n names or else in envoyfilter-system' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l trial-namespace -d 'Namespace for a trial EnvoyFilter (a dry run: nothing is stored) [default: the context\'s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s o -l output -d 'Output format' -r -f -a "table\t'For people'
json\t'For programs'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l shard -d 'Only part I (from 0) of N of the EnvoyFilters; parts never write each other\'s reports' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l shards -d 'Number of parts; JOB_COMPLETION_INDEX selects the part, as in a Job with completionMode Indexed' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l shard-index -d 'Part to write' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l api -d 'API of the reports: wgpolicyk8s.io (PolicyReport), openreports.io (Report), or both' -r -f -a "wgpolicyk8s.io\t''
openreports.io\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l config -d 'Configuration file, as lint reads it from .envoyfilter.yaml' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l rules -d 'Custom rules: files or folders of files of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l dry-run -d 'Only print (client), or only let the API server check (server)' -r -f -a "none\t'Apply the changes'
client\t'Only print'
server\t'Let the API server check without storing anything'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s o -l output -d 'Output format: yaml or json' -r -f -a "yaml\t'Documents, as kubectl apply takes them'
json\t'One List'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l name -d 'Name of the installation that the reports belong to' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l allow-partial -d 'Exit with 0 when reports were written although not everything could be read, which the reports say'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l action -d 'What happens to errors in namespaces without the label envoyfilter.dev/admission: Deny, Warn or Audit' -r -f -a "Deny\t''
Warn\t''
Audit\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l failure-policy -d 'What the API server does when an expression cannot be evaluated: Ignore or Fail' -r -f -a "Ignore\t''
Fail\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s o -l output -d 'Output format: yaml, json, or table (whether each rule is checked)' -r -f -a "yaml\t''
json\t''
table\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l name -d 'Name of the installation; prefix of the names of the policies' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l name -d 'Name of the installation in namespace envoyfilter-system, whose mode and recorded reviews are shown' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l installed-in -d 'Namespace of the installation' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l deny-at -d 'Minimum severity that denies [default: fail_on of the configuration, else error]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l config -d 'Configuration file, as for the server' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -s o -l output -d 'Output format' -r -f -a "table\t'For people'
json\t'For programs'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from ladder" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l name -d 'Name of the installation, in the namespace that -n names or else in envoyfilter-system' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l dry-run -d 'Only print (client), or only let the API server check (server)' -r -f -a "none\t'Apply the changes'
client\t'Only print'
server\t'Let the API server check without storing anything'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l keep-reports -d 'Keep the reports'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l listen -d 'Address for the API server, over TLS: POST /validate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l probe-listen -d 'Address for kubelet, over plain HTTP: /healthz, /readyz' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l metrics-listen -d 'Address for Prometheus, over plain HTTP: /metrics' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l client-ca -d 'Certificate authorities of clients: only clients with a certificate they signed get reviews' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l mode -d 'What happens to findings in namespaces without the label envoyfilter.dev/admission' -r -f -a "enforce\t'Deny findings at or above --deny-at, warn about the others'
warn\t'Warn about findings'
audit\t'Log and count findings only'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l deny-at -d 'Minimum severity that denies [default: fail_on of the configuration, else error]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l deadline -d 'Maximum duration of a review; shortened to 90 % of the timeout that the API server sends' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l on-deadline -d 'Answer to a review that exceeds the deadline because the server is overloaded' -r -f -a "allow\t'Allow, with a warning'
deny\t'Deny'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l max-request-bytes -d 'Maximum size of an AdmissionReview, in bytes' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l at-once -d 'Reviews judged at the same time; each may take some 200 MiB, so raise the memory limit with it' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l cert-secret -d 'Secret in which the server keeps its own certificate authority and certificate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l tls-cert -d 'Certificate file that something else renews; reloaded when it changes' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l tls-key -d 'Key file of that certificate' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l service -d 'Service that the API server calls; names the certificate and the Lease of the replicas' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l webhook-configuration -d 'ValidatingWebhookConfiguration whose caBundle the server maintains' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l certificate-name -d 'Additional name or address in the certificate; may be repeated' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l authority-lifetime -d 'Lifetime of a certificate authority; its successor is published after two thirds' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l certificate-lifetime -d 'Lifetime of a certificate; it is renewed after two thirds' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l rotation-overlap -d 'How long an authority is trusted before it starts and after it stops signing' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l shutdown-delay -d 'How long to keep serving after SIGTERM, until the API server has noticed' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l sample-proxies -d 'Number of running proxies to ask for their extensions; 0 assumes those of the release' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l config -d 'Configuration file, as for lint' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l rules -d 'Custom rules: files or folders of files of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l replica -d 'Name of this replica [default: the pod name]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l pod-namespace -d 'Namespace of the Service, Secret and Lease, unless -n is given' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s n -l namespace -d 'Namespace to read, and the namespace of documents and names without one [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l istio-version -d 'Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l root-namespace -d 'Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l color -d 'Use colors: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l max-input-size -d 'Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l kubeconfig -d 'Kubeconfig to use, - for standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l context -d 'Context of the kubeconfig; may be given several times, * means all; one answer covers all of them' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l request-timeout -d 'Timeout of one request, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l proxy-timeout -d 'Time limit for reading one proxy, over all ways of reading it [default: 10s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s l -l selector -d 'Only EnvoyFilters that match this label selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l field-selector -d 'Only EnvoyFilters that match this field selector' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l dump-via -d 'How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l capture -d 'Read a capture or an archive of `istioctl bug-report` instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s v -l verbose -d 'Show everything'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l show-secrets -d 'Print passwords, tokens and private keys that the input contains'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s A -l all-namespaces -d 'Read all namespaces'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l all-replicas -d 'Read every pod, not one per pod template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "install" -d 'Install the admission webhook and the scheduled report, or print their manifests'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "status" -d 'Check whether the webhook is installed and works, and what to fix'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "report" -d 'Lint the running mesh and write the findings into it as PolicyReports'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "policy" -d 'Print policies with which the API server checks some rules without a webhook'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "ladder" -d 'Show, by namespace, what happens when the admission mode is raised'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "uninstall" -d 'Remove everything that `install` and the webhook created'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "serve" -d 'Run the admission server; this is what the Deployment of the webhook runs'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "explain" -d 'Explain what EnvoyFilters do to a proxy, or who wrote a field'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "render" -d 'Print a config dump as istiod would send it with these EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "try" -d 'Send a request through the patched proxy, in a real Envoy on this machine, and show what each filter did'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "test" -d 'Run test files: requests through the patched proxy, with the results they must have'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "diff" -d 'Show what changes to EnvoyFilters do to each proxy'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "lint" -d 'Report EnvoyFilters that are wrong, risky or have no effect'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "get" -d 'List EnvoyFilters, what they select and which patches are in effect'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "status" -d 'List EnvoyFilters and workloads where something is wrong'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "watch" -d 'Watch proxies continuously and report changes: patches not in effect, rejected updates, replicas that differ'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "capture" -d 'Save what other commands read from a cluster, without secrets, for --capture'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "rbac" -d 'Print the roles that a command requires; with -n, for one namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "version" -d 'Show the versions of this program, the cluster, control planes and proxies'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "completion" -d 'Print a completion script for a shell'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "__complete"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "audit" -d 'Report what an Istio upgrade breaks or changes, and whether it is safe'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "migrate" -d 'Find native Istio objects that replace EnvoyFilters, and what then differs'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "api" -d 'Describe a field, type or extension of the Envoy API and the releases that have it'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "dump" -d 'Write the configuration that istiod would send to a proxy, from manifests alone'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "doctor" -d 'Check this program\'s engine against a real istiod on your own objects'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "rules" -d 'List lint rules, or show the documentation of one'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "webhook" -d 'Install, inspect and remove the admission webhook and what comes with it'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render try test diff lint get status watch capture rbac version completion __complete audit migrate api dump doctor rules webhook help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "pod" -d 'A pod, by its name or its workload\'s'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "deployment" -d 'The pods of a deployment'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "service" -d 'The pods behind a service'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "gateway" -d 'A gateway or waypoint'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "workload" -d 'The pods of a workload of any kind'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "filter" -d 'One EnvoyFilter, on every proxy given or every proxy that it reaches'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "field" -d 'Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "rule" -d 'A lint rule, by its code or name'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "verify" -d 'Compare the config dumps of proxies before and after a migration'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "test" -d 'Test your own rules on their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "install" -d 'Install the admission webhook and the scheduled report, or print their manifests'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "status" -d 'Check whether the webhook is installed and works, and what to fix'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "report" -d 'Lint the running mesh and write the findings into it as PolicyReports'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "policy" -d 'Print policies with which the API server checks some rules without a webhook'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "ladder" -d 'Show, by namespace, what happens when the admission mode is raised'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "uninstall" -d 'Remove everything that `install` and the webhook created'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "serve" -d 'Run the admission server; this is what the Deployment of the webhook runs'
