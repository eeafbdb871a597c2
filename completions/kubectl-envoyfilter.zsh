#compdef kubectl-envoyfilter

autoload -U is-at-least

_kubectl-envoyfilter() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_kubectl-envoyfilter_commands" \
"*::: :->kubectl-envoyfilter" \
&& ret=0
    case $state in
    (kubectl-envoyfilter)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-command-$line[1]:"
        case $line[1] in
            (explain)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_kubectl-envoyfilter__subcmd__explain_commands" \
"*::: :->explain" \
&& ret=0

    case $state in
    (explain)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-explain-command-$line[1]:"
        case $line[1] in
            (pod)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(po)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(deployment)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(deploy)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(service)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(svc)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(gateway)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(gw)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(workload)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--kind=[Its kind, such as StatefulSet; sts/NAME is short for it \[default\: any\]]:KIND:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(filter)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(field)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Text for people, or JSON (schemas/field-explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/field-explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'--why-here[Also find the objects of the mesh that make istiod generate it, by removing objects until it changes (requires --istiod)]' \
'--no-cache[Find the objects anew, without the names kept from earlier answers in the user'\''s cache folder, and keep none]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- A resource (listener, cluster, route or extension) by its name, and a field in it; with the resource alone, everything that EnvoyFilters wrote there:_default' \
&& ret=0
;;
(rule)
_arguments "${_arguments_options[@]}" : \
'*--rules=[Your own rules\: files or folders of kind LintRule]:PATH:_files' \
'-o+[Text for people, or JSON]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'::rule -- Code or name of a rule, or a prefix of codes such as EF3 \[default\: all rules\]:_default' \
":: :_kubectl-envoyfilter__subcmd__explain__subcmd__rule_commands" \
"*::: :->rule" \
&& ret=0

    case $state in
    (rule)
        words=($line[2] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-explain-rule-command-$line[2]:"
        case $line[2] in
            (test)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::paths -- Files or folders of kind LintRule:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-explain-rule-help-command-$line[1]:"
        case $line[1] in
            (test)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__explain__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-explain-help-command-$line[1]:"
        case $line[1] in
            (pod)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(deployment)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(service)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(gateway)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(workload)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(filter)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(field)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rule)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__rule_commands" \
"*::: :->rule" \
&& ret=0

    case $state in
    (rule)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-explain-help-rule-command-$line[1]:"
        case $line[1] in
            (test)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(render)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'--envoy=[Envoy binary to check whether it accepts the patched configuration]:PATH:_files' \
'--only=[Omit every resource that the EnvoyFilters do not change]:ONLY:(changed)' \
'-o+[Output format]:OUTPUT:(json yaml)' \
'--output=[Output format]:OUTPUT:(json yaml)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'::pod -- Pod of the cluster to render for:_default' \
&& ret=0
;;
(try)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'--envoy=[Envoy binary to run \[default\: \`envoy\` on the PATH\]]:PATH:_files' \
'*--stub=[What an upstream answers\: a status, \`echo\`, \`reset\`, or a file with the body; NAME is a cluster, a host, its first part, or \`*\`]:NAME=ANSWER:_default' \
'*--wasm=[File with the module of a Wasm filter, by the name of the filter]:NAME=FILE:_default' \
'(--outbound)--inbound=[Port of the workload that the request is for]:PORT:_default' \
'--outbound=[Host and port that the workload calls; for a waypoint, the service behind it]:HOST:PORT:_default' \
'-X+[Method]:METHOD:_default' \
'--request=[Method]:METHOD:_default' \
'*-H+[Header field; @FILE reads one from each line of a file]:NAME: VALUE:_default' \
'*--header=[Header field; @FILE reads one from each line of a file]:NAME: VALUE:_default' \
'-d+[Body; @FILE reads it from a file]:BODY:_default' \
'--data=[Body; @FILE reads it from a file]:BODY:_default' \
'(-d --data)--json=[Body of JSON, with its content type]:JSON:_default' \
'--padding=[Send this many more bytes behind the body]:BYTES:_default' \
'(--grpc --http2)--tcp=[Send a text over TCP instead of HTTP]:TEXT:_default' \
'--grpc=[Call a gRPC method with an empty message]:SERVICE/METHOD:_default' \
'*--from=[Client\: an IP address, or a SPIFFE identity (implies mutual TLS)]:IP|spiffe://…:_default' \
'--sni=[Server name of the TLS handshake]:NAME:_default' \
'--jwt=[Claims of a token to send, as JSON; the JWT filters of the sandbox trust it]:CLAIMS:_default' \
'--max-time=[Seconds to wait for the response]:SECONDS:_default' \
'--repeat=[Send the request this many times]:N:_default' \
'*--without=[Compare with a run without this EnvoyFilter \[default\: without all of them\]]:FILTER:_default' \
'-o+[Output format]:OUTPUT:(human json html)' \
'--output=[Output format]:OUTPUT:(human json html)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'--no-probes[Leave out the probes between HTTP filters\: the answer then says nothing about single filters]' \
'--http2[Use HTTP/2]' \
'(--plain)--mtls[Encrypt with mutual TLS]' \
'(--plain --mtls)--tls[Encrypt with TLS, without a client certificate]' \
'--plain[Do not encrypt]' \
'--times[Show times, random values and access logs, which differ from run to run]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::words -- Pod of the cluster (unless --dump or --demo is given), then the path or URL to request:_default' \
&& ret=0
;;
(test)
_arguments "${_arguments_options[@]}" : \
'--envoy=[Envoy binary to run \[default\: \`envoy\` on the PATH\]]:PATH:_files' \
'*--stub=[What an upstream answers\: a status, \`echo\`, \`reset\`, or a file with the body; NAME is a cluster, a host, its first part, or \`*\`]:NAME=ANSWER:_default' \
'*--wasm=[File with the module of a Wasm filter, by the name of the filter]:NAME=FILE:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'--filter=[Run only tests whose name contains this text]:NAME:_default' \
'--fail-under=[Fail if the tests cover less than this percentage of patches, filters and routes]:PERCENT:_default' \
'(--watch)--init=[Print a first test file for the filters in this file\: one request for each patch]:FILTERS:_files' \
'--dump=[Config dump that the new test file uses \[default\: the demo'\''s proxy\]]:DUMP:_files' \
'-o+[Output format]:OUTPUT:(human json junit tap github markdown)' \
'--output=[Output format]:OUTPUT:(human json junit tap github markdown)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--no-probes[Leave out the probes between HTTP filters\: the answer then says nothing about single filters]' \
'--watch[Run again whenever a test file or a filter changes]' \
'--times[Show how long each test took]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::paths -- Test files of kind EnvoyFilterTest, or folders with files named *.test.yaml:_files' \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters after the change\: new ones, and changed ones under their names; with --istiod, any object of Istio or Kubernetes]:FILE:_files' \
'*--filename=[EnvoyFilters after the change\: new ones, and changed ones under their names; with --istiod, any object of Istio or Kubernetes]:FILE:_files' \
'*--current=[EnvoyFilters as they are now, all that are applied \[default\: the cluster'\''s; with --dump, none\]; with --istiod, the manifests of the mesh]:FILE:_files' \
'*--delete=[An EnvoyFilter of --current to delete; with --istiod, also KIND/NAMESPACE/NAME]:NAMESPACE/NAME:_default' \
'(-f --filename --current --delete --server-side --dump --demo)*--between=[Compare the EnvoyFilters of two meshes and what they do there\: two contexts, captures, or one of each]:A:_default:A:_default' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'--envoy=[Envoy binary to check whether it accepts the patched configuration]:PATH:_files' \
'-o+[Output format\: text, json, or markdown for a comment on a change]:FORM:(text json markdown)' \
'--output=[Output format\: text, json, or markdown for a comment on a change]:FORM:(text json markdown)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--server-side[Also ask the cluster'\''s API server, its policies and its webhooks (a dry run\: nothing is stored)]' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'--accept-changes[Exit with 0 when something changes\: only what could not be judged is a failure]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(lint)
_arguments "${_arguments_options[@]}" : \
'*-f+[Same as FILE]:FILE:_files' \
'*--filename=[Same as FILE]:FILE:_files' \
'--helm=[Helm chart to render with \`helm\` and check; -f then names its values files]:CHART:_files' \
'-k+[Kustomization to build with \`kustomize\` or \`kubectl\` and check]:FOLDER:_files' \
'--kustomize=[Kustomization to build with \`kustomize\` or \`kubectl\` and check]:FOLDER:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'--envoy=[Envoy binary to check whether it accepts the patched configuration]:PATH:_files' \
'*--select=[Only these rules (codes, prefixes such as EF3, names, or all)]:RULES:_default' \
'*--ignore=[Skip these rules]:RULES:_default' \
'-o+[Output format]:OUTPUT:((human\:"For people"
json\:"schemas/lint.json"
sarif\:"SARIF 2.1.0"
junit\:"JUnit XML"
github\:"GitHub Actions workflow commands"
gitlab\:"GitLab code quality report"
markdown\:"A table"))' \
'--output=[Output format]:OUTPUT:((human\:"For people"
json\:"schemas/lint.json"
sarif\:"SARIF 2.1.0"
junit\:"JUnit XML"
github\:"GitHub Actions workflow commands"
gitlab\:"GitLab code quality report"
markdown\:"A table"))' \
'--output-file=[Write to a file instead of standard output]:FILE:_files' \
'--min-severity=[Minimum severity to report\: error, warning or info]:SEVERITY:_default' \
'--fail-on=[Minimum severity that makes the exit code 1 \[default\: error\]]:SEVERITY:_default' \
'--baseline=[Ignore findings listed in this file]:FILE:_files' \
'*--rules=[Your own rules\: files or folders of kind LintRule]:PATH:_files' \
'--config=[Configuration file \[default\: the nearest .envoyfilter.yaml, searching upwards\]]:FILE:_files' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'--run[Send standard requests through the patched proxies in a real Envoy and report what fails at run time; uses \`envoy\` on the PATH unless --envoy is given]' \
'--stat[Show only the number of findings per rule]' \
'--pedantic[Show info findings in full instead of only counting them]' \
'--update-baseline[Update the baseline\: add new findings, drop those that are gone]' \
'--fix[Apply safe fixes]' \
'--unsafe-fixes[Also apply unsafe fixes]' \
'--diff[Show what fixes would change without changing anything]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::files -- EnvoyFilters and related objects (workloads, services)\: files, folders, - for standard input \[default\: the cluster'\''s\]:_files' \
&& ret=0
;;
(get)
_arguments "${_arguments_options[@]}" : \
'-o+[Output format\: table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME\:PATH,…]:FORM:_default' \
'--output=[Output format\: table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME\:PATH,…]:FORM:_default' \
'--sort-by=[Sort by a field of each item, such as .priority or .metadata.name]:PATH:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--no-headers[Do not print table headers]' \
'-w[Watch for changes\: EnvoyFilters, what they select, what is in effect]' \
'--watch[Watch for changes\: EnvoyFilters, what they select, what is in effect]' \
'--output-watch-events[With --watch, show whether an EnvoyFilter was added, modified or deleted]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::names -- Only these EnvoyFilters:_default' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'-o+[Output format\: table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME\:PATH,…]:FORM:_default' \
'--output=[Output format\: table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME\:PATH,…]:FORM:_default' \
'--sort-by=[Sort by a field of each item, such as .priority or .metadata.name]:PATH:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--no-headers[Do not print table headers]' \
'-w[Keep watching and report what goes wrong and what recovers]' \
'--watch[Keep watching and report what goes wrong and what recovers]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(watch)
_arguments "${_arguments_options[@]}" : \
'-o+[Output format\: text, or json with one object on each line]:FORM:(text json)' \
'--output=[Output format\: text, or json with one object on each line]:FORM:(text json)' \
'--rate=[Maximum number of proxies read in a minute \[default\: 60; with --once, 6000\]]:NUMBER:_default' \
'--interval=[How long to wait before a proxy is read again when nothing changed]:DURATION:_default' \
'--settle=[How long proxies may take to receive a change before they are read]:DURATION:_default' \
'--metrics-address=[Address for Prometheus and probes, over plain HTTP\: /metrics, /healthz, /readyz]:ADDRESS:_default' \
'--shards=[Share the proxies with other replicas\: number of shards, each held by a Lease]:NUMBER:_default' \
'--lease-prefix=[Prefix of the names of the Leases, followed by -0, -1 and so on]:NAME:_default' \
'--replica=[Name of this replica \[default\: the pod name\]]:NAME:_default' \
'--lease-namespace=[Namespace of the Leases]:NAMESPACE:_default' \
'--config=[Configuration file, as lint reads it from .envoyfilter.yaml]:FILE:_files' \
'*--rules=[Custom rules\: files or folders of files of kind LintRule]:PATH:_files' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--once[Read every proxy once, then exit; the exit code is that of \`status\`]' \
'--events[Write Kubernetes Events on EnvoyFilters, which \`kubectl describe\` shows]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(capture)
_arguments "${_arguments_options[@]}" : \
'*--redact=[Also redact what this regular expression matches; may be given several times]:REGEX:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--no-dumps[Save objects only; otherwise a capture without any config dump is refused]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':path -- Where to write\: a new folder, or an archive that ends in .tar, .tar.zst or .tar.gz:_files' \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
'*--revision=[Another control plane whose mesh config is read too, with its namespace if it runs elsewhere; may be repeated]:[NAMESPACE/]REVISION:_default' \
'--binding=[Also print bindings to a user, to group\:NAME or to serviceaccount\:NAMESPACE\:NAME]:NAME:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--watch[Include the rights for \`get --watch\` or \`status --watch\`]' \
'(--watch)--server-side[Include the rights for \`diff --server-side\`\: to change EnvoyFilters, as Kubernetes has none for a dry run alone]' \
'(--watch --server-side --events)--istiod[The rights for the command with --istiod\: to list everything that istiod reads, but no Secrets]' \
'--events[Include the right to write Events, for \`watch --events\`]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'::command -- The command\: lint, explain, diff, render, get, status, version, watch, audit, migrate, capture, dump or doctor:_default' \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
'-o+[Output format]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--output=[Output format]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--client[Only the version of this program; reads no cluster]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(completion)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':shell -- bash, zsh or fish:(bash elvish fish powershell zsh)' \
&& ret=0
;;
(__complete)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::words -- The words so far, the last one unfinished:_default' \
&& ret=0
;;
(audit)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and related objects (workloads, services)\: files, folders, - for standard input \[default\: the whole mesh of the current context; one namespace with -n\]]:FILE:_files' \
'*--filename=[EnvoyFilters and related objects (workloads, services)\: files, folders, - for standard input \[default\: the whole mesh of the current context; one namespace with -n\]]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the config dumps in it, - for standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint; overrides the config dump]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy; overrides the config dump]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d; overrides the config dump]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod; overrides the config dump]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload; overrides the config dump]:NAME:_default' \
'--envoy=[Envoy binary to check whether it accepts the patched configuration]:PATH:_files' \
'--to=[Release to upgrade to \[default\: the newest of --istiod\]]:RELEASE:_default' \
'--from=[Release that runs now \[default\: from the cluster or the config dumps; for manifests alone, the oldest of --istiod\]]:RELEASE:_default' \
'*--path=[Releases on the way, such as 1.24,1.26,1.28 \[default\: every minor release\]]:RELEASES:_default' \
'--revision-from=[Revision that runs now\: EnvoyFilters for other revisions do not count before the upgrade]:NAME:_default' \
'--revision-to=[Revision to upgrade to\: EnvoyFilters for other revisions do not count after the upgrade]:NAME:_default' \
'*--istiod=[istiod binary of a release on the way, RELEASE=PATH; may be given several times\: the configuration that it generates replaces the forecast]:RELEASE=PATH:_default' \
'--istiod-to=[istiod binary of the release to upgrade to]:PATH:_files' \
'-o+[Output format]:OUTPUT:((human\:"For people"
json\:"schemas/audit.json"
markdown\:"For a change ticket"
html\:"One self-contained page"
diff\:"A patch with the rewritten EnvoyFilters"
sarif\:"SARIF 2.1.0"
junit\:"JUnit XML"
github\:"GitHub Actions workflow commands"
gitlab\:"GitLab code quality report"))' \
'--output=[Output format]:OUTPUT:((human\:"For people"
json\:"schemas/audit.json"
markdown\:"For a change ticket"
html\:"One self-contained page"
diff\:"A patch with the rewritten EnvoyFilters"
sarif\:"SARIF 2.1.0"
junit\:"JUnit XML"
github\:"GitHub Actions workflow commands"
gitlab\:"GitLab code quality report"))' \
'--output-file=[Write to a file instead of standard output]:FILE:_files' \
'--fail-on=[Minimum class that makes the exit code 1]:CLASS:((breaks\:"What works now but not after the upgrade"
changes\:"Also what works differently"
deprecated\:"Also what a later release rejects"
cleanup\:"Any finding"
never\:"Never"))' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters]' \
'--all-changes[Also list changes that do not depend on EnvoyFilters; requires the istiod of the release to upgrade to]' \
'--unsafe-fixes[Also apply fixes that may change what an EnvoyFilter means]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(migrate)
_arguments "${_arguments_options[@]}" : \
'*-f+[Same as FILE]:FILE:_files' \
'*--filename=[Same as FILE]:FILE:_files' \
'--to=[Use only APIs of this release, such as 1.28; or \`ambient\` to show what can move to a waypoint or ztunnel, and what blocks the move \[default\: the release of the control plane\]]:RELEASE:_default' \
'--accept=[Weakest class to write]:CLASS:((exact\:"Only moves with identical configuration"
same-but\:"Also moves that differ in names, order and metadata"
differs\:"Also moves that differ in behavior"
reviewed\:"Also moves of authentication, authorization and TLS, once you have reviewed them"))' \
'--prove=[How to determine classes\: from recordings of istiod, by running an istiod on these files (--istiod), or by also sending requests through a real Envoy (--envoy)]:HOW:((recorded\:"Recordings of istiod for each pattern"
istiod\:"A real istiod on this machine, with your own objects"
traffic\:"As istiod, and requests through a real Envoy with both configurations"))' \
'--envoy=[Envoy binary for --prove traffic \[default\: \`envoy\` on the PATH\]]:PATH:_files' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Output format]:OUTPUT:((human\:"For people"
yaml\:"Objects ready for kubectl apply"
diff\:"Unified diffs"
json\:"schemas/migrate.json"
markdown\:"For a pull request"
html\:"One page"))' \
'--output=[Output format]:OUTPUT:((human\:"For people"
yaml\:"Objects ready for kubectl apply"
diff\:"Unified diffs"
json\:"schemas/migrate.json"
markdown\:"For a pull request"
html\:"One page"))' \
'--output-dir=[Write the objects to files in this folder]:DIRECTORY:_files' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::files -- EnvoyFilters and related objects (Services, Gateways, VirtualServices, DestinationRules, policies)\: files, folders, - for standard input \[default\: the cluster'\''s\]:_files' \
":: :_kubectl-envoyfilter__subcmd__migrate_commands" \
"*::: :->migrate" \
&& ret=0

    case $state in
    (migrate)
        words=($line[2] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-migrate-command-$line[2]:"
        case $line[2] in
            (verify)
_arguments "${_arguments_options[@]}" : \
'*--before=[Config dumps from before\: files, folders of files, or captures]:DUMP:_files' \
'*--after=[Config dumps from after]:DUMP:_files' \
'*--renamed=[Cluster whose name changes, as OLD=NEW]:OLD=NEW:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__migrate__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-migrate-help-command-$line[1]:"
        case $line[1] in
            (verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(api)
_arguments "${_arguments_options[@]}" : \
'-o+[Text for people, or JSON (schemas/api.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/api.json)]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- A field, message, enum or extension\: its full name, the end of it (Lua.inline_code), or an extension'\''s name:_default' \
&& ret=0
;;
(dump)
_arguments "${_arguments_options[@]}" : \
'*-f+[Objects of the mesh\: files, folders, - for the standard input \[default\: the cluster, or --capture\]]:FILE:_files' \
'*--filename=[Objects of the mesh\: files, folders, - for the standard input \[default\: the cluster, or --capture\]]:FILE:_files' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'()--like=[Ask as the proxy of this config dump, with the node metadata it sent]:DUMP:_files' \
'(--like)--proxy-type=[Ask as a proxy that no object describes\: sidecar, gateway or waypoint]:TYPE:_default' \
'--proxy-labels=[Labels of the described proxy, a=b,c=d]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy \[default\: the release of istiod\]]:VERSION:_default' \
'-o+[Output format]:OUTPUT:(json)' \
'--output=[Output format]:OUTPUT:(json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--without-filters[Leave all EnvoyFilters out]' \
'--endpoints[Include endpoints]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'::proxy -- Proxy\: POD, deploy/NAME, svc/NAME, gateway/NAME or workloadentry/NAME of the objects:_default' \
&& ret=0
;;
(doctor)
_arguments "${_arguments_options[@]}" : \
'*-f+[Objects of the mesh with its EnvoyFilters\: files, folders, - for the standard input \[default\: the cluster, or --capture\]]:FILE:_files' \
'*--filename=[Objects of the mesh with its EnvoyFilters\: files, folders, - for the standard input \[default\: the cluster, or --capture\]]:FILE:_files' \
'--istiod=[istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH\: proxies get the configuration that it generates]:PATH:_files' \
'--istiod-sha256=[SHA-256 digest that the istiod binary must have]:DIGEST:_default' \
'*--istiod-env=[Setting of istiod, over those of its Deployment among the objects; may be given several times]:NAME=VALUE:_default' \
'--istiod-revision=[Revision that istiod acts as \[default\: the default revision\]]:REVISION:_default' \
'--cluster-id=[Cluster ID that istiod and its proxies have \[default\: Kubernetes\]]:ID:_default' \
'--istiod-timeout=[Seconds until istiod must be ready \[default\: 60\]]:SECONDS:_default' \
'--istiod-memory=[Memory that istiod may use, in MB \[default\: 4000\]]:MB:_default' \
'-o+[Output format]:OUTPUT:(text json)' \
'--output=[Output format]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(rules)
_arguments "${_arguments_options[@]}" : \
'*--rules=[Your own rules\: files or folders of kind LintRule]:PATH:_files' \
'-o+[Text for people, or JSON]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON]:OUTPUT:(text json)' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'::rule -- Code or name of a rule, or a prefix of codes such as EF3 \[default\: all rules\]:_default' \
":: :_kubectl-envoyfilter__subcmd__rules_commands" \
"*::: :->rules" \
&& ret=0

    case $state in
    (rules)
        words=($line[2] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-rules-command-$line[2]:"
        case $line[2] in
            (test)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::paths -- Files or folders of kind LintRule:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__rules__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-rules-help-command-$line[1]:"
        case $line[1] in
            (test)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(webhook)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_kubectl-envoyfilter__subcmd__webhook_commands" \
"*::: :->webhook" \
&& ret=0

    case $state in
    (webhook)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-webhook-command-$line[1]:"
        case $line[1] in
            (install)
_arguments "${_arguments_options[@]}" : \
'--name=[Name of the installation, in the namespace that -n names or else in envoyfilter-system]:NAME:_default' \
'--image=[Image of this program, best by its digest\: REGISTRY/kubectl-envoyfilter@sha256\:...]:IMAGE:_default' \
'*--pull-secret=[Pull secret of the image; may be repeated]:NAME:_default' \
'--replicas=[Replicas of the server]:NUMBER:_default' \
'--mode=[What happens to findings\: enforce denies, warn shows warnings, audit logs and counts]:MODE:(enforce warn audit)' \
'--deny-at=[Minimum severity that denies an EnvoyFilter\: error, warning or info]:SEVERITY:(error warning info)' \
'--deadline=[Maximum duration of a review; must be shorter than --timeout]:DURATION:_default' \
'--on-deadline=[Answer to a review that exceeds the deadline because the server is overloaded\: allow (with a warning) or deny]:WHAT:(allow deny)' \
'--failure-policy=[What the API server does when no replica answers\: Ignore or Fail]:POLICY:(Ignore Fail)' \
'--timeout=[Timeout of the API server, in seconds]:SECONDS:_default' \
'--sample-proxies=[Number of proxies whose extensions the server reads; requires the right to read config dumps]:NUMBER:_default' \
'--config=[Configuration file, as lint reads it from .envoyfilter.yaml]:FILE:_files' \
'--certificates=[Source of the certificate\: own (made and renewed by the server) or cert-manager]:SOURCE:(own cert-manager)' \
'*--revision=[Another control plane whose mesh config is read, with its namespace if it runs elsewhere; may be repeated]:[NAMESPACE/]REVISION:_default' \
'--client-ca-configmap=[ConfigMap with the certificate authorities of clients (key ca.crt)\: only the API server gets reviews]:NAME:_default' \
'(--no-network-policy)*--api-server-cidr=[Addresses of the API server\: the NetworkPolicy lets only them call the webhook; may be repeated]:CIDR:_default' \
'--report-schedule=[Schedule of the report, in cron format]:CRON:_default' \
'--report-dump-via=[Source of the report'\''s config dumps\: istiod, or port-forward (requires pods/portforward in all namespaces)]:SOURCE:(istiod port-forward)' \
'--report-api=[API of the reports\: wgpolicyk8s.io, openreports.io, or both with a comma]:API:_default' \
'--report-shards=[Number of pods that share the work of a report]:NUMBER:_default' \
'*--with=[Also install the standing watch, which \`kubectl envoyfilter watch\` runs\: watch]:WHAT:(watch)' \
'--watch-replicas=[Replicas of the watch, which share the proxies]:NUMBER:_default' \
'--watch-rate=[Maximum number of proxies that each replica of the watch reads in a minute]:NUMBER:_default' \
'--watch-dump-via=[Source of the watch'\''s config dumps\: istiod, or port-forward (requires pods/portforward in all namespaces)]:SOURCE:(istiod port-forward)' \
'--dry-run=[Only print (client), or only let the API server check (server)]:HOW:((none\:"Apply the changes"
client\:"Only print"
server\:"Let the API server check without storing anything"))' \
'-o+[Output format\: yaml or json]:FORM:((yaml\:"Documents, as kubectl apply takes them"
json\:"One List"))' \
'--output=[Output format\: yaml or json]:FORM:((yaml\:"Documents, as kubectl apply takes them"
json\:"One List"))' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--service-monitor[Create a ServiceMonitor for the Prometheus operator]' \
'--no-network-policy[Do not create NetworkPolicies]' \
'--no-report[Do not create the scheduled report]' \
'--prometheus-rule[Create a PrometheusRule with the alerts of the watch for the Prometheus operator]' \
'(--no-report)--report-job[Print a Job that writes one report now instead of installing]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--name=[Name of the installation, in the namespace that -n names or else in envoyfilter-system]:NAME:_default' \
'--trial-namespace=[Namespace for a trial EnvoyFilter (a dry run\: nothing is stored) \[default\: the context'\''s\]]:NAMESPACE:_default' \
'-o+[Output format]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--output=[Output format]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'(--shards)--shard=[Only part I (from 0) of N of the EnvoyFilters; parts never write each other'\''s reports]:I/N:_default' \
'--shards=[Number of parts; JOB_COMPLETION_INDEX selects the part, as in a Job with completionMode Indexed]:N:_default' \
'--shard-index=[Part to write]:SHARD_INDEX:_default' \
'*--api=[API of the reports\: wgpolicyk8s.io (PolicyReport), openreports.io (Report), or both]:API:(wgpolicyk8s.io openreports.io)' \
'--config=[Configuration file, as lint reads it from .envoyfilter.yaml]:FILE:_files' \
'*--rules=[Custom rules\: files or folders of files of kind LintRule]:PATH:_files' \
'--dry-run=[Only print (client), or only let the API server check (server)]:HOW:((none\:"Apply the changes"
client\:"Only print"
server\:"Let the API server check without storing anything"))' \
'-o+[Output format\: yaml or json]:FORM:((yaml\:"Documents, as kubectl apply takes them"
json\:"One List"))' \
'--output=[Output format\: yaml or json]:FORM:((yaml\:"Documents, as kubectl apply takes them"
json\:"One List"))' \
'--name=[Name of the installation that the reports belong to]:NAME:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--allow-partial[Exit with 0 when reports were written although not everything could be read, which the reports say]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(policy)
_arguments "${_arguments_options[@]}" : \
'--action=[What happens to errors in namespaces without the label envoyfilter.dev/admission\: Deny, Warn or Audit]:ACTION:(Deny Warn Audit)' \
'--failure-policy=[What the API server does when an expression cannot be evaluated\: Ignore or Fail]:POLICY:(Ignore Fail)' \
'-o+[Output format\: yaml, json, or table (whether each rule is checked)]:FORM:(yaml json table)' \
'--output=[Output format\: yaml, json, or table (whether each rule is checked)]:FORM:(yaml json table)' \
'--name=[Name of the installation; prefix of the names of the policies]:NAME:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(ladder)
_arguments "${_arguments_options[@]}" : \
'--name=[Name of the installation in namespace envoyfilter-system, whose mode and recorded reviews are shown]:NAME:_default' \
'--installed-in=[Namespace of the installation]:NAMESPACE:_default' \
'--deny-at=[Minimum severity that denies \[default\: fail_on of the configuration, else error\]]:SEVERITY:_default' \
'--config=[Configuration file, as for the server]:FILE:_files' \
'-o+[Output format]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--output=[Output format]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(uninstall)
_arguments "${_arguments_options[@]}" : \
'--name=[Name of the installation, in the namespace that -n names or else in envoyfilter-system]:NAME:_default' \
'--dry-run=[Only print (client), or only let the API server check (server)]:HOW:((none\:"Apply the changes"
client\:"Only print"
server\:"Let the API server check without storing anything"))' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'--keep-reports[Keep the reports]' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(serve)
_arguments "${_arguments_options[@]}" : \
'--listen=[Address for the API server, over TLS\: POST /validate]:ADDRESS:_default' \
'--probe-listen=[Address for kubelet, over plain HTTP\: /healthz, /readyz]:ADDRESS:_default' \
'--metrics-listen=[Address for Prometheus, over plain HTTP\: /metrics]:ADDRESS:_default' \
'--client-ca=[Certificate authorities of clients\: only clients with a certificate they signed get reviews]:FILE:_files' \
'--mode=[What happens to findings in namespaces without the label envoyfilter.dev/admission]:MODE:((enforce\:"Deny findings at or above --deny-at, warn about the others"
warn\:"Warn about findings"
audit\:"Log and count findings only"))' \
'--deny-at=[Minimum severity that denies \[default\: fail_on of the configuration, else error\]]:SEVERITY:_default' \
'--deadline=[Maximum duration of a review; shortened to 90 % of the timeout that the API server sends]:DURATION:_default' \
'--on-deadline=[Answer to a review that exceeds the deadline because the server is overloaded]:ON_DEADLINE:((allow\:"Allow, with a warning"
deny\:"Deny"))' \
'--max-request-bytes=[Maximum size of an AdmissionReview, in bytes]:BYTES:_default' \
'--at-once=[Reviews judged at the same time; each may take some 200 MiB, so raise the memory limit with it]:NUMBER:_default' \
'--cert-secret=[Secret in which the server keeps its own certificate authority and certificate]:NAME:_default' \
'--tls-cert=[Certificate file that something else renews; reloaded when it changes]:FILE:_files' \
'--tls-key=[Key file of that certificate]:FILE:_files' \
'--service=[Service that the API server calls; names the certificate and the Lease of the replicas]:NAME:_default' \
'--webhook-configuration=[ValidatingWebhookConfiguration whose caBundle the server maintains]:NAME:_default' \
'*--certificate-name=[Additional name or address in the certificate; may be repeated]:NAME:_default' \
'--authority-lifetime=[Lifetime of a certificate authority; its successor is published after two thirds]:DURATION:_default' \
'--certificate-lifetime=[Lifetime of a certificate; it is renewed after two thirds]:DURATION:_default' \
'--rotation-overlap=[How long an authority is trusted before it starts and after it stops signing]:DURATION:_default' \
'--shutdown-delay=[How long to keep serving after SIGTERM, until the API server has noticed]:DURATION:_default' \
'--sample-proxies=[Number of running proxies to ask for their extensions; 0 assumes those of the release]:NUMBER:_default' \
'--config=[Configuration file, as for lint]:FILE:_files' \
'*--rules=[Custom rules\: files or folders of files of kind LintRule]:PATH:_files' \
'--replica=[Name of this replica \[default\: the pod name\]]:NAME:_default' \
'--pod-namespace=[Namespace of the Service, Secret and Lease, unless -n is given]:NAMESPACE:_default' \
'-n+[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace to read, and the namespace of documents and names without one \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane, such as 1.26.3, or 1.26 for its newest patch \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: from the mesh ConfigMap, otherwise istio-system\]]:NAMESPACE:_default' \
'--color=[Use colors\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--max-input-size=[Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio \[default\: 1Gi\]]:SIZE:_default' \
'--kubeconfig=[Kubeconfig to use, - for standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; may be given several times, * means all; one answer covers all of them]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[Timeout of one request, such as 10s \[default\: 30s\]]:DURATION:_default' \
'--proxy-timeout=[Time limit for reading one proxy, over all ways of reading it \[default\: 10s\]]:DURATION:_default' \
'-s+[Address of the API server]:URL:_default' \
'--server=[Address of the API server]:URL:_default' \
'--token=[Bearer token for the API server]:TOKEN:_default' \
'-l+[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--selector=[Only EnvoyFilters that match this label selector]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters that match this field selector]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How to read proxies\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read a capture or an archive of \`istioctl bug-report\` instead of a cluster]:PATH:_files' \
'-v[Show everything]' \
'--verbose[Show everything]' \
'--show-secrets[Print passwords, tokens and private keys that the input contains]' \
'-A[Read all namespaces]' \
'--all-namespaces[Read all namespaces]' \
'--all-replicas[Read every pod, not one per pod template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__webhook__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-webhook-help-command-$line[1]:"
        case $line[1] in
            (install)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(policy)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(ladder)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(uninstall)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(serve)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-help-command-$line[1]:"
        case $line[1] in
            (explain)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__help__subcmd__explain_commands" \
"*::: :->explain" \
&& ret=0

    case $state in
    (explain)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-help-explain-command-$line[1]:"
        case $line[1] in
            (pod)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(deployment)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(service)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(gateway)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(workload)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(filter)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(field)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rule)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__rule_commands" \
"*::: :->rule" \
&& ret=0

    case $state in
    (rule)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-help-explain-rule-command-$line[1]:"
        case $line[1] in
            (test)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(render)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(try)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(test)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(lint)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(get)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(watch)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(capture)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(completion)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(__complete)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(audit)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(migrate)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__help__subcmd__migrate_commands" \
"*::: :->migrate" \
&& ret=0

    case $state in
    (migrate)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-help-migrate-command-$line[1]:"
        case $line[1] in
            (verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(api)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dump)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(doctor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rules)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__help__subcmd__rules_commands" \
"*::: :->rules" \
&& ret=0

    case $state in
    (rules)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-help-rules-command-$line[1]:"
        case $line[1] in
            (test)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(webhook)
_arguments "${_arguments_options[@]}" : \
":: :_kubectl-envoyfilter__subcmd__help__subcmd__webhook_commands" \
"*::: :->webhook" \
&& ret=0

    case $state in
    (webhook)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:kubectl-envoyfilter-help-webhook-command-$line[1]:"
        case $line[1] in
            (install)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(policy)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(ladder)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(uninstall)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(serve)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_kubectl-envoyfilter_commands] )) ||
_kubectl-envoyfilter_commands() {
    local commands; commands=(
'explain:Explain what EnvoyFilters do to a proxy, or who wrote a field' \
'render:Print a config dump as istiod would send it with these EnvoyFilters' \
'try:Send a request through the patched proxy, in a real Envoy on this machine, and show what each filter did' \
'test:Run test files\: requests through the patched proxy, with the results they must have' \
'diff:Show what changes to EnvoyFilters do to each proxy' \
'lint:Report EnvoyFilters that are wrong, risky or have no effect' \
'get:List EnvoyFilters, what they select and which patches are in effect' \
'status:List EnvoyFilters and workloads where something is wrong' \
'watch:Watch proxies continuously and report changes\: patches not in effect, rejected updates, replicas that differ' \
'capture:Save what other commands read from a cluster, without secrets, for --capture' \
'rbac:Print the roles that a command requires; with -n, for one namespace' \
'version:Show the versions of this program, the cluster, control planes and proxies' \
'completion:Print a completion script for a shell' \
'__complete:' \
'audit:Report what an Istio upgrade breaks or changes, and whether it is safe' \
'migrate:Find native Istio objects that replace EnvoyFilters, and what then differs' \
'api:Describe a field, type or extension of the Envoy API and the releases that have it' \
'dump:Write the configuration that istiod would send to a proxy, from manifests alone' \
'doctor:Check this program'\''s engine against a real istiod on your own objects' \
'rules:List lint rules, or show the documentation of one' \
'webhook:Install, inspect and remove the admission webhook and what comes with it' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd____complete_commands] )) ||
_kubectl-envoyfilter__subcmd____complete_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter __complete commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__api_commands] )) ||
_kubectl-envoyfilter__subcmd__api_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter api commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__audit_commands] )) ||
_kubectl-envoyfilter__subcmd__audit_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter audit commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__capture_commands] )) ||
_kubectl-envoyfilter__subcmd__capture_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter capture commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__completion_commands] )) ||
_kubectl-envoyfilter__subcmd__completion_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter completion commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__diff_commands] )) ||
_kubectl-envoyfilter__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter diff commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__doctor_commands] )) ||
_kubectl-envoyfilter__subcmd__doctor_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter doctor commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__dump_commands] )) ||
_kubectl-envoyfilter__subcmd__dump_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter dump commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain_commands] )) ||
_kubectl-envoyfilter__subcmd__explain_commands() {
    local commands; commands=(
'pod:A pod, by its name or its workload'\''s' \
'po:A pod, by its name or its workload'\''s' \
'deployment:The pods of a deployment' \
'deploy:The pods of a deployment' \
'service:The pods behind a service' \
'svc:The pods behind a service' \
'gateway:A gateway or waypoint' \
'gw:A gateway or waypoint' \
'workload:The pods of a workload of any kind' \
'filter:One EnvoyFilter, on every proxy given or every proxy that it reaches' \
'field:Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains\[0\]/filters\[0\]' \
'rule:A lint rule, by its code or name' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter explain commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__deployment_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__deployment_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain deployment commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__field_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__field_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain field commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__filter_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__filter_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain filter commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__gateway_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__gateway_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain gateway commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help_commands() {
    local commands; commands=(
'pod:A pod, by its name or its workload'\''s' \
'deployment:The pods of a deployment' \
'service:The pods behind a service' \
'gateway:A gateway or waypoint' \
'workload:The pods of a workload of any kind' \
'filter:One EnvoyFilter, on every proxy given or every proxy that it reaches' \
'field:Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains\[0\]/filters\[0\]' \
'rule:A lint rule, by its code or name' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter explain help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__deployment_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__deployment_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help deployment commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__field_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__field_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help field commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__filter_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__filter_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help filter commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__gateway_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__gateway_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help gateway commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__pod_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__pod_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help pod commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__rule_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__rule_commands() {
    local commands; commands=(
'test:Test your own rules on their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
    )
    _describe -t commands 'kubectl-envoyfilter explain help rule commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__rule__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__rule__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help rule test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__service_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__service_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help service commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__workload_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__help__subcmd__workload_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain help workload commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__pod_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__pod_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain pod commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__rule_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__rule_commands() {
    local commands; commands=(
'test:Test your own rules on their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter explain rule commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help_commands() {
    local commands; commands=(
'test:Test your own rules on their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter explain rule help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain rule help help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain rule help test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain rule test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__service_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__service_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain service commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__workload_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__workload_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter explain workload commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__get_commands] )) ||
_kubectl-envoyfilter__subcmd__get_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter get commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__help_commands() {
    local commands; commands=(
'explain:Explain what EnvoyFilters do to a proxy, or who wrote a field' \
'render:Print a config dump as istiod would send it with these EnvoyFilters' \
'try:Send a request through the patched proxy, in a real Envoy on this machine, and show what each filter did' \
'test:Run test files\: requests through the patched proxy, with the results they must have' \
'diff:Show what changes to EnvoyFilters do to each proxy' \
'lint:Report EnvoyFilters that are wrong, risky or have no effect' \
'get:List EnvoyFilters, what they select and which patches are in effect' \
'status:List EnvoyFilters and workloads where something is wrong' \
'watch:Watch proxies continuously and report changes\: patches not in effect, rejected updates, replicas that differ' \
'capture:Save what other commands read from a cluster, without secrets, for --capture' \
'rbac:Print the roles that a command requires; with -n, for one namespace' \
'version:Show the versions of this program, the cluster, control planes and proxies' \
'completion:Print a completion script for a shell' \
'__complete:' \
'audit:Report what an Istio upgrade breaks or changes, and whether it is safe' \
'migrate:Find native Istio objects that replace EnvoyFilters, and what then differs' \
'api:Describe a field, type or extension of the Envoy API and the releases that have it' \
'dump:Write the configuration that istiod would send to a proxy, from manifests alone' \
'doctor:Check this program'\''s engine against a real istiod on your own objects' \
'rules:List lint rules, or show the documentation of one' \
'webhook:Install, inspect and remove the admission webhook and what comes with it' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd____complete_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd____complete_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help __complete commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__api_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__api_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help api commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__audit_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__audit_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help audit commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__capture_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__capture_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help capture commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__completion_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__completion_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help completion commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__diff_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help diff commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__doctor_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__doctor_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help doctor commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__dump_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__dump_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help dump commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain_commands() {
    local commands; commands=(
'pod:A pod, by its name or its workload'\''s' \
'deployment:The pods of a deployment' \
'service:The pods behind a service' \
'gateway:A gateway or waypoint' \
'workload:The pods of a workload of any kind' \
'filter:One EnvoyFilter, on every proxy given or every proxy that it reaches' \
'field:Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains\[0\]/filters\[0\]' \
'rule:A lint rule, by its code or name' \
    )
    _describe -t commands 'kubectl-envoyfilter help explain commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__deployment_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__deployment_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help explain deployment commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__field_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__field_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help explain field commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__filter_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__filter_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help explain filter commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__gateway_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__gateway_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help explain gateway commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__pod_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__pod_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help explain pod commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__rule_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__rule_commands() {
    local commands; commands=(
'test:Test your own rules on their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
    )
    _describe -t commands 'kubectl-envoyfilter help explain rule commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__rule__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__rule__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help explain rule test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__service_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__service_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help explain service commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__workload_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain__subcmd__workload_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help explain workload commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__get_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__get_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help get commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__lint_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__lint_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help lint commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__migrate_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__migrate_commands() {
    local commands; commands=(
'verify:Compare the config dumps of proxies before and after a migration' \
    )
    _describe -t commands 'kubectl-envoyfilter help migrate commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__migrate__subcmd__verify_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__migrate__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help migrate verify commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__rbac_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__rbac_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help rbac commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__render_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__render_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help render commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__rules_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__rules_commands() {
    local commands; commands=(
'test:Test your own rules on their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
    )
    _describe -t commands 'kubectl-envoyfilter help rules commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__rules__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__rules__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help rules test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__status_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help status commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__try_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__try_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help try commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__version_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help version commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__watch_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__watch_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help watch commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook_commands() {
    local commands; commands=(
'install:Install the admission webhook and the scheduled report, or print their manifests' \
'status:Check whether the webhook is installed and works, and what to fix' \
'report:Lint the running mesh and write the findings into it as PolicyReports' \
'policy:Print policies with which the API server checks some rules without a webhook' \
'ladder:Show, by namespace, what happens when the admission mode is raised' \
'uninstall:Remove everything that \`install\` and the webhook created' \
'serve:Run the admission server; this is what the Deployment of the webhook runs' \
    )
    _describe -t commands 'kubectl-envoyfilter help webhook commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__install_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__install_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help webhook install commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__ladder_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__ladder_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help webhook ladder commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__policy_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__policy_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help webhook policy commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__report_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help webhook report commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__serve_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__serve_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help webhook serve commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__status_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help webhook status commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__uninstall_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__uninstall_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help webhook uninstall commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__lint_commands] )) ||
_kubectl-envoyfilter__subcmd__lint_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter lint commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__migrate_commands] )) ||
_kubectl-envoyfilter__subcmd__migrate_commands() {
    local commands; commands=(
'verify:Compare the config dumps of proxies before and after a migration' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter migrate commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__migrate__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__migrate__subcmd__help_commands() {
    local commands; commands=(
'verify:Compare the config dumps of proxies before and after a migration' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter migrate help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__migrate__subcmd__help__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__migrate__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter migrate help help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__migrate__subcmd__help__subcmd__verify_commands] )) ||
_kubectl-envoyfilter__subcmd__migrate__subcmd__help__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter migrate help verify commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__migrate__subcmd__verify_commands] )) ||
_kubectl-envoyfilter__subcmd__migrate__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter migrate verify commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__rbac_commands] )) ||
_kubectl-envoyfilter__subcmd__rbac_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter rbac commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__render_commands] )) ||
_kubectl-envoyfilter__subcmd__render_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter render commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__rules_commands] )) ||
_kubectl-envoyfilter__subcmd__rules_commands() {
    local commands; commands=(
'test:Test your own rules on their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter rules commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__rules__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__rules__subcmd__help_commands() {
    local commands; commands=(
'test:Test your own rules on their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter rules help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__rules__subcmd__help__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__rules__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter rules help help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__rules__subcmd__help__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__rules__subcmd__help__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter rules help test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__rules__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__rules__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter rules test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__status_commands] )) ||
_kubectl-envoyfilter__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter status commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__test_commands] )) ||
_kubectl-envoyfilter__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter test commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__try_commands] )) ||
_kubectl-envoyfilter__subcmd__try_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter try commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__version_commands] )) ||
_kubectl-envoyfilter__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter version commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__watch_commands] )) ||
_kubectl-envoyfilter__subcmd__watch_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter watch commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook_commands() {
    local commands; commands=(
'install:Install the admission webhook and the scheduled report, or print their manifests' \
'status:Check whether the webhook is installed and works, and what to fix' \
'report:Lint the running mesh and write the findings into it as PolicyReports' \
'policy:Print policies with which the API server checks some rules without a webhook' \
'ladder:Show, by namespace, what happens when the admission mode is raised' \
'uninstall:Remove everything that \`install\` and the webhook created' \
'serve:Run the admission server; this is what the Deployment of the webhook runs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter webhook commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help_commands() {
    local commands; commands=(
'install:Install the admission webhook and the scheduled report, or print their manifests' \
'status:Check whether the webhook is installed and works, and what to fix' \
'report:Lint the running mesh and write the findings into it as PolicyReports' \
'policy:Print policies with which the API server checks some rules without a webhook' \
'ladder:Show, by namespace, what happens when the admission mode is raised' \
'uninstall:Remove everything that \`install\` and the webhook created' \
'serve:Run the admission server; this is what the Deployment of the webhook runs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter webhook help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook help help commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__install_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__install_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook help install commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__ladder_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__ladder_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook help ladder commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__policy_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__policy_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook help policy commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__report_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook help report commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__serve_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__serve_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook help serve commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__status_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook help status commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__uninstall_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help__subcmd__uninstall_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook help uninstall commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__install_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__install_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook install commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__ladder_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__ladder_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook ladder commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__policy_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__policy_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook policy commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__report_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook report commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__serve_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__serve_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook serve commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__status_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook status commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__uninstall_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__uninstall_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter webhook uninstall commands' commands "$@"
}

if [ "$funcstack[1]" = "_kubectl-envoyfilter" ]; then
    _kubectl-envoyfilter "$@"
else
    compdef _kubectl-envoyfilter kubectl-envoyfilter
fi
