# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_envoyfilter_global_optspecs
    string join \n n/namespace= istio-version= root-namespace= color= v/verbose kubeconfig= context= cluster= user= as= as-group= request-timeout= A/all-namespaces l/selector= field-selector= istio-namespace= dump-via= all-replicas capture= h/help V/version
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

complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "explain" -d 'Explain what EnvoyFilters do to a proxy, or who wrote a field'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "render" -d 'Write a config dump as istiod would send it with these filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "diff" -d 'Show what changed filters change on each proxy'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "lint" -d 'Say what is wrong, risky or without effect in EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "get" -d 'List EnvoyFilters with what they select and what of them is in effect'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "status" -d 'One line for each EnvoyFilter and workload where something is wrong'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "capture" -d 'Save what a run reads of a cluster, without secrets, for --capture'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "rbac" -d 'Print the roles that a command needs; with -n those for one namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "version" -d 'Versions of this program, the cluster, control planes and proxies'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "completion" -d 'Print a completion script for a shell'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "__complete"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "audit" -d 'Say what an upgrade of Istio breaks or changes, and whether to go ahead'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "api" -d 'Say what a field, type or extension of the Envoy API is, and which releases have it'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "rules" -d 'List the rules of lint, or show one with its documentation'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "webhook" -d 'Review EnvoyFilters in the cluster: install, look after and remove what does it'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "pod" -d 'A pod, by its name or by its workload\'s'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "po" -d 'A pod, by its name or by its workload\'s'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "deployment" -d 'The pods of a deployment'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "deploy" -d 'The pods of a deployment'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "service" -d 'The pods behind a service'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "svc" -d 'The pods behind a service'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "gateway" -d 'A gateway or waypoint'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "gw" -d 'A gateway or waypoint'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "workload" -d 'The pods of a workload of any kind'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "filter" -d 'One EnvoyFilter, on every proxy given, or that it reaches'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "field" -d 'Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "rule" -d 'A rule of lint, by its code or name'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and not __fish_seen_subcommand_from pod po deployment deploy service svc gateway gw workload filter field rule help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from pod" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from po" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deployment" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from deploy" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from service" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from svc" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gateway" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from gw" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from workload" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s o -l output -d 'Text for people, or JSON (schemas/explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from filter" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s o -l output -d 'Text for people, or JSON (schemas/field-explanation.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from field" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l rules -d 'Rules of your own: files, or folders of files, of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s o -l output -d 'Text for people, or JSON' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -a "test" -d 'Run rules of your own over their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from rule" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "pod" -d 'A pod, by its name or by its workload\'s'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "deployment" -d 'The pods of a deployment'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "service" -d 'The pods behind a service'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "gateway" -d 'A gateway or waypoint'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "workload" -d 'The pods of a workload of any kind'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "filter" -d 'One EnvoyFilter, on every proxy given, or that it reaches'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "field" -d 'Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "rule" -d 'A rule of lint, by its code or name'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand explain; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s f -l filename -d 'EnvoyFilters and other objects: files, folders, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l envoy -d 'Envoy binary to ask whether it takes the patched configuration' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l only -d 'Leave out every resource that the filters do not touch' -r -f -a "changed\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s o -l output -d 'Form of the output' -r -f -a "json\t''
yaml\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand render" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s f -l filename -d 'Filters as they shall be: new ones, and changed ones with their names' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l current -d 'Filters as they are now: all that are applied [default: the cluster\'s; with --dump, none]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l delete -d 'A filter of --current to delete' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l envoy -d 'Envoy binary to ask whether it takes the patched configuration' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l server-side -d 'Ask the cluster\'s API server, its policies and its webhooks too what they say (a dry run: nothing is kept)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand diff" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s f -l filename -d 'The same, as the other commands take it' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l envoy -d 'Envoy binary to ask whether it takes the patched configuration' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l select -d 'Only these rules: codes, beginnings of codes such as EF3, names, or all' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l ignore -d 'Not these rules' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s o -l output -d 'Form of the output' -r -f -a "human\t'For people'
json\t'schemas/lint.json'
sarif\t'SARIF 2.1.0'
junit\t'JUnit XML'
github\t'Workflow commands of GitHub Actions'
gitlab\t'Code quality report of GitLab'
markdown\t'A table'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l output-file -d 'Write to a file instead of the standard output' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l fail-on -d 'From which severity on to exit with 1 [default: error]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l baseline -d 'Say nothing of the findings in this file' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l rules -d 'Rules of your own: files, or folders of files, of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l config -d 'Configuration, instead of the nearest .envoyfilter.yaml upwards' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l stat -d 'Only counts for each rule'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l update-baseline -d 'Write what is found to the baseline, without what is found no more'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l fix -d 'Apply the safe fixes'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l unsafe-fixes -d 'Apply the unsafe fixes as well'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l diff -d 'Show what the fixes would change, and change nothing'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s o -l output -d 'Form of the output' -r -f -a "table\t'For people'
wide\t'With labels and workloads'
json\t'For programs'
yaml\t'For programs'
name\t'envoyfilter/NAME'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s w -l watch -d 'Go on, and say what changes: filters, what they select, what is in effect'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l output-watch-events -d 'With --watch, say whether a filter is new, another one or gone'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s o -l output -d 'Form of the output' -r -f -a "table\t'For people'
json\t'For programs'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l redact -d 'Redact what this regular expression finds as well; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand capture" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l revision -d 'Revision of a further control plane, whose mesh settings are read as well' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l watch -d 'Also what `get --watch` needs'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l server-side -d 'Also what `diff --server-side` needs: rights to change EnvoyFilters, since there are none to try alone'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rbac" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s o -l output -d 'Form of the output' -r -f -a "table\t'For people'
json\t'For programs'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l client -d 'Only this program\'s version; no cluster is read'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand completion" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand __complete" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s f -l filename -d 'EnvoyFilters and what they are about (workloads, services): files, folders, - for the standard input [default: the cluster of the current context]' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l dump -d 'Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy\'s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-type -d 'Type of the proxy: sidecar, gateway or waypoint, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-namespace -d 'Namespace of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-labels -d 'Labels of the proxy\'s workload, a=b,c=d, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-version -d 'Istio version of the proxy, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-name -d 'Name of the proxy\'s pod, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l proxy-workload -d 'Name of the proxy\'s workload, over what the dump says' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l envoy -d 'Envoy binary to ask whether it takes the patched configuration' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l to -d 'Release to upgrade to' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l from -d 'Release that runs now [default: what the cluster or the config dumps say]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l path -d 'Releases on the way, such as 1.24,1.26,1.28 [default: every minor release]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l revision-from -d 'Name of the revision that runs now: filters for other revisions do not count before the upgrade' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l revision-to -d 'Name of the revision to upgrade to: filters for other revisions do not count after the upgrade' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s o -l output -d 'Form of the output' -r -f -a "human\t'For people'
json\t'schemas/audit.json'
markdown\t'For a change ticket'
html\t'One page, complete in itself'
diff\t'A patch with the rewritten filters'
sarif\t'SARIF 2.1.0'
junit\t'JUnit XML'
github\t'Workflow commands of GitHub Actions'
gitlab\t'Code quality report of GitLab'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l output-file -d 'Write to a file instead of the standard output' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l fail-on -d 'From which class on to exit with 1' -r -f -a "breaks\t'What works now and not after the upgrade'
changes\t'Also what works in another way'
deprecated\t'Also what a later release refuses'
cleanup\t'Any finding'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l demo -d 'Use the demo mesh built into this program; with -f its proxy with your filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l unsafe-fixes -d 'Rewrite filters also where that may change what they mean'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s o -l output -d 'Text for people, or JSON (schemas/api.json)' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand api" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l rules -d 'Rules of your own: files, or folders of files, of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s o -l output -d 'Text for people, or JSON' -r -f -a "text\t''
json\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -a "test" -d 'Run rules of your own over their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and not __fish_seen_subcommand_from test help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "test" -d 'Run rules of your own over their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -f -a "install" -d 'Install the admission webhook and the scheduled report, or print what that takes'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -f -a "status" -d 'Say whether the webhook is there and does its work, and what to do where it does not'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -f -a "report" -d 'Lint the running mesh and write what is found into it, as PolicyReports'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -f -a "policy" -d 'Print policies with which the API server checks some rules by itself, without a webhook'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -f -a "uninstall" -d 'Remove what `install` made, and what the webhook made for itself'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -f -a "serve" -d 'Answer the API server: what the deployment of the webhook runs'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and not __fish_seen_subcommand_from install status report policy uninstall serve help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l name -d 'Name of the installation; -n is its namespace [default namespace: envoyfilter-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l image -d 'Image of this program' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l pull-secret -d 'Secret with which the image is pulled; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l replicas -d 'Replicas of the server' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l mode -d 'enforce refuses what is wrong, warn tells, audit only counts and logs' -r -f -a "enforce\t''
warn\t''
audit\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l deny-at -d 'Severity from which on a filter is refused: error, warning or info' -r -f -a "error\t''
warning\t''
info\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l deadline -d 'How long a review may take' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l on-deadline -d 'What happens to a filter that takes longer: allow (with a warning) or deny' -r -f -a "allow\t''
deny\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l failure-policy -d 'What the API server does when no server answers: Ignore or Fail' -r -f -a "Ignore\t''
Fail\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l timeout -d 'How long the API server waits for an answer, in seconds' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l sample-proxies -d 'Proxies of which the server reads the extensions they have; takes the right to read config dumps' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l config -d 'Configuration, as lint reads it from .envoyfilter.yaml' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l certificates -d 'Where the certificate comes from: own (the server makes and renews it) or cert-manager' -r -f -a "own\t''
cert-manager\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l revision -d 'Revision of a further control plane, whose mesh settings are read as well; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l report-schedule -d 'When the report is written, as cron' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l report-shards -d 'Pods that share the work of a report' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l dry-run -d 'Whether anything is done: none (it is), client (it is printed), server (the API server checks it)' -r -f -a "none\t'It is done'
client\t'It is only said'
server\t'The API server checks it and keeps nothing'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s o -l output -d 'Form of what is printed: yaml or json' -r -f -a "yaml\t'Documents, as kubectl apply takes them'
json\t'One List'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l service-monitor -d 'Let the Prometheus operator read the metrics'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l no-network-policy -d 'Without a NetworkPolicy'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l no-report -d 'Without the scheduled report'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l report-job -d 'Print a Job that writes one report now, instead of installing'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l name -d 'Name of the installation; -n is its namespace [default namespace: envoyfilter-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l trial-namespace -d 'Namespace in which a filter is sent on trial (as a dry run: nothing is kept) [default: the context\'s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s o -l output -d 'Form of the output' -r -f -a "table\t'For people'
json\t'For programs'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l shard -d 'Only the part I (from 0) of N of the EnvoyFilters: who shares the work writes the reports of others never' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l shards -d 'The work is shared by so many; which part this is says JOB_COMPLETION_INDEX, as in a Job of completionMode Indexed' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l shard-index -d 'Part that this is' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l config -d 'Configuration, as lint reads it from .envoyfilter.yaml' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l rules -d 'Rules of your own: files, or folders of files, of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l dry-run -d 'Whether anything is written: none (it is), client (it is printed), server (the API server checks it)' -r -f -a "none\t'It is done'
client\t'It is only said'
server\t'The API server checks it and keeps nothing'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s o -l output -d 'Form of what is printed: yaml or json' -r -f -a "yaml\t'Documents, as kubectl apply takes them'
json\t'One List'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l name -d 'Name of the installation that the reports belong to' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l action -d 'What is done with errors: Deny, Warn or Audit' -r -f -a "Deny\t''
Warn\t''
Audit\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l failure-policy -d 'What the API server does when an expression cannot be evaluated: Ignore or Fail' -r -f -a "Ignore\t''
Fail\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s o -l output -d 'Form of the output: yaml, json, or table (what becomes of every rule)' -r -f -a "yaml\t''
json\t''
table\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l name -d 'Name of the installation, which the names of the policies begin with' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from policy" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l name -d 'Name of the installation; -n is its namespace [default namespace: envoyfilter-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l dry-run -d 'Whether anything is done: none (it is), client (it is only said), server (the API server checks it)' -r -f -a "none\t'It is done'
client\t'It is only said'
server\t'The API server checks it and keeps nothing'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l keep-reports -d 'Leave the reports where they are'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print help'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l listen -d 'Where the API server calls, over TLS: POST /validate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l metrics-listen -d 'Where kubelet and Prometheus call, over plain HTTP: /healthz, /readyz, /metrics' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l mode -d 'What becomes of findings where the label envoyfilter.dev/admission of the namespace says nothing' -r -f -a "enforce\t'Findings at or above --deny-at deny, the others warn'
warn\t'Findings warn'
audit\t'Findings are logged and counted only'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l deny-at -d 'From which severity on findings deny [default: fail_on of the configuration, else error]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l deadline -d 'How long a review may take; a tenth less than what the API server waits, if that is shorter' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l on-deadline -d 'What is answered when that time has run out' -r -f -a "allow\t'Allow, with a warning'
deny\t'Deny'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l max-request-bytes -d 'Largest AdmissionReview, in bytes' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l at-once -d 'How many reviews are made at the same time [default: four for each core]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l cert-secret -d 'Secret that this server keeps its own authority and certificate in' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l tls-cert -d 'Certificate that somebody else renews, as a file; read again when it changes' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l tls-key -d 'Its key' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l service -d 'Service that the API server calls: the name in the certificate, and that of the Lease of the replicas' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l webhook-configuration -d 'ValidatingWebhookConfiguration whose caBundle is kept right' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l certificate-name -d 'Further name or address in the certificate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l authority-lifetime -d 'How long an authority lives; its successor is announced after two thirds of it' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l certificate-lifetime -d 'How long a certificate lives; it is renewed after two thirds of it' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l rotation-overlap -d 'How long an authority is trusted before it signs, and after' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l shutdown-delay -d 'How long to go on serving after SIGTERM, until the API server has heard of it' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l sample-proxies -d 'How many running proxies to ask for the extensions they are built with; 0: those of the release count' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l config -d 'Configuration, as for lint' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l rules -d 'Rules of your own: files, or folders of files, of kind LintRule' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l replica -d 'Name of this replica [default: the name of the pod]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l pod-namespace -d 'Namespace of the Service, Secret and Lease, unless -n says it' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s n -l namespace -d 'Namespace: of the cluster\'s, the one to look at; of documents and names that give none [default: the context\'s; for files, default]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l istio-version -d 'Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l root-namespace -d 'Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l color -d 'Colours: auto (on a terminal, unless NO_COLOR is set), always or never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l kubeconfig -d 'Kubeconfig to use, - for the standard input' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l context -d 'Context of the kubeconfig; given several times, one after the other' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l user -d 'User of the kubeconfig' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l as -d 'User to impersonate' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l as-group -d 'Group to impersonate; may be given several times' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l request-timeout -d 'How long one request may take, such as 10s [default: 30s]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s l -l selector -d 'Only EnvoyFilters with these labels' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l field-selector -d 'Only EnvoyFilters with these fields' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l istio-namespace -d 'Namespace in which istiod runs [default: istio-system]' -r
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l dump-via -d 'How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]' -r -f -a "auto\t''
port-forward\t''
exec\t''
pod-proxy\t''
istiod\t''"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l capture -d 'Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster' -r -F
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s v -l verbose -d 'Leave nothing out'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s A -l all-namespaces -d 'Every namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -l all-replicas -d 'Read every pod, not one for each template'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "install" -d 'Install the admission webhook and the scheduled report, or print what that takes'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say whether the webhook is there and does its work, and what to do where it does not'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "report" -d 'Lint the running mesh and write what is found into it, as PolicyReports'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "policy" -d 'Print policies with which the API server checks some rules by itself, without a webhook'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "uninstall" -d 'Remove what `install` made, and what the webhook made for itself'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "serve" -d 'Answer the API server: what the deployment of the webhook runs'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand webhook; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "explain" -d 'Explain what EnvoyFilters do to a proxy, or who wrote a field'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "render" -d 'Write a config dump as istiod would send it with these filters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "diff" -d 'Show what changed filters change on each proxy'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "lint" -d 'Say what is wrong, risky or without effect in EnvoyFilters'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "get" -d 'List EnvoyFilters with what they select and what of them is in effect'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "status" -d 'One line for each EnvoyFilter and workload where something is wrong'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "capture" -d 'Save what a run reads of a cluster, without secrets, for --capture'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "rbac" -d 'Print the roles that a command needs; with -n those for one namespace'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "version" -d 'Versions of this program, the cluster, control planes and proxies'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "completion" -d 'Print a completion script for a shell'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "__complete"
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "audit" -d 'Say what an upgrade of Istio breaks or changes, and whether to go ahead'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "api" -d 'Say what a field, type or extension of the Envoy API is, and which releases have it'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "rules" -d 'List the rules of lint, or show one with its documentation'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "webhook" -d 'Review EnvoyFilters in the cluster: install, look after and remove what does it'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and not __fish_seen_subcommand_from explain render diff lint get status capture rbac version completion __complete audit api rules webhook help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "pod" -d 'A pod, by its name or by its workload\'s'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "deployment" -d 'The pods of a deployment'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "service" -d 'The pods behind a service'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "gateway" -d 'A gateway or waypoint'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "workload" -d 'The pods of a workload of any kind'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "filter" -d 'One EnvoyFilter, on every proxy given, or that it reaches'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "field" -d 'Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from explain" -f -a "rule" -d 'A rule of lint, by its code or name'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "test" -d 'Run rules of your own over their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "install" -d 'Install the admission webhook and the scheduled report, or print what that takes'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "status" -d 'Say whether the webhook is there and does its work, and what to do where it does not'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "report" -d 'Lint the running mesh and write what is found into it, as PolicyReports'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "policy" -d 'Print policies with which the API server checks some rules by itself, without a webhook'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "uninstall" -d 'Remove what `install` made, and what the webhook made for itself'
complete -c kubectl-envoyfilter -n "__fish_kubectl_envoyfilter_using_subcommand help; and __fish_seen_subcommand_from webhook" -f -a "serve" -d 'Answer the API server: what the deployment of the webhook runs'
