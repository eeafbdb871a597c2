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
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
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
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
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
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(po)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(deployment)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(deploy)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(service)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(svc)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(gateway)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(gw)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(workload)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(filter)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- Its name, with or without namespace/:_default' \
&& ret=0
;;
(field)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'-o+[Text for people, or JSON (schemas/field-explanation.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/field-explanation.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- A resource (listener, cluster, route or extension) by its name, and a field in it; with the resource alone, all that filters wrote there:_default' \
&& ret=0
;;
(rule)
_arguments "${_arguments_options[@]}" : \
'*--rules=[Rules of your own\: files, or folders of files, of kind LintRule]:PATH:_files' \
'-o+[Text for people, or JSON]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
'::rule -- Code or name of a rule, or the beginning of codes such as EF3; all rules when absent:_default' \
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
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::paths -- Files, or folders of files, of kind LintRule:_files' \
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
'*-f+[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--filename=[EnvoyFilters and other objects\: files, folders, - for the standard input]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'--envoy=[Envoy binary to ask whether it takes the patched configuration]:PATH:_files' \
'--only=[Leave out every resource that the filters do not touch]:ONLY:(changed)' \
'-o+[Form of the output]:OUTPUT:(json yaml)' \
'--output=[Form of the output]:OUTPUT:(json yaml)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
'::pod -- Pod of the cluster to render for:_default' \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'*-f+[Filters as they shall be\: new ones, and changed ones with their names]:FILE:_files' \
'*--filename=[Filters as they shall be\: new ones, and changed ones with their names]:FILE:_files' \
'*--current=[Filters as they are now\: all that are applied \[default\: the cluster'\''s; with --dump, none\]]:FILE:_files' \
'*--delete=[A filter of --current to delete]:NAMESPACE/NAME:_default' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'--envoy=[Envoy binary to ask whether it takes the patched configuration]:PATH:_files' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'--server-side[Ask the cluster'\''s API server, its policies and its webhooks too what they say (a dry run\: nothing is kept)]' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(lint)
_arguments "${_arguments_options[@]}" : \
'*-f+[The same, as the other commands take it]:FILE:_files' \
'*--filename=[The same, as the other commands take it]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'--envoy=[Envoy binary to ask whether it takes the patched configuration]:PATH:_files' \
'*--select=[Only these rules\: codes, beginnings of codes such as EF3, names, or all]:RULES:_default' \
'*--ignore=[Not these rules]:RULES:_default' \
'-o+[Form of the output]:OUTPUT:((human\:"For people"
json\:"schemas/lint.json"
sarif\:"SARIF 2.1.0"
junit\:"JUnit XML"
github\:"Workflow commands of GitHub Actions"
gitlab\:"Code quality report of GitLab"
markdown\:"A table"))' \
'--output=[Form of the output]:OUTPUT:((human\:"For people"
json\:"schemas/lint.json"
sarif\:"SARIF 2.1.0"
junit\:"JUnit XML"
github\:"Workflow commands of GitHub Actions"
gitlab\:"Code quality report of GitLab"
markdown\:"A table"))' \
'--output-file=[Write to a file instead of the standard output]:FILE:_files' \
'--fail-on=[From which severity on to exit with 1 \[default\: error\]]:SEVERITY:_default' \
'--baseline=[Say nothing of the findings in this file]:FILE:_files' \
'*--rules=[Rules of your own\: files, or folders of files, of kind LintRule]:PATH:_files' \
'--config=[Configuration, instead of the nearest .envoyfilter.yaml upwards]:FILE:_files' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'--stat[Only counts for each rule]' \
'--update-baseline[Write what is found to the baseline, without what is found no more]' \
'--fix[Apply the safe fixes]' \
'--unsafe-fixes[Apply the unsafe fixes as well]' \
'--diff[Show what the fixes would change, and change nothing]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::files -- EnvoyFilters and what they are about (workloads, services)\: files, folders, - for the standard input; the cluster'\''s without:_files' \
&& ret=0
;;
(get)
_arguments "${_arguments_options[@]}" : \
'-o+[Form of the output]:OUTPUT:((table\:"For people"
wide\:"With labels and workloads"
json\:"For programs"
yaml\:"For programs"
name\:"envoyfilter/NAME"))' \
'--output=[Form of the output]:OUTPUT:((table\:"For people"
wide\:"With labels and workloads"
json\:"For programs"
yaml\:"For programs"
name\:"envoyfilter/NAME"))' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-w[Go on, and say what changes\: filters, what they select, what is in effect]' \
'--watch[Go on, and say what changes\: filters, what they select, what is in effect]' \
'--output-watch-events[With --watch, say whether a filter is new, another one or gone]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::names -- Only these EnvoyFilters:_default' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'-o+[Form of the output]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--output=[Form of the output]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(capture)
_arguments "${_arguments_options[@]}" : \
'*--redact=[Redact what this regular expression finds as well; may be given several times]:REGEX:_default' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':path -- Where to\: a new folder, or a file that ends in .tar.zst or .tar.gz:_files' \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
'*--revision=[Revision of a further control plane, whose mesh settings are read as well]:REVISION:_default' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'--watch[Also what \`get --watch\` needs]' \
'(--watch)--server-side[Also what \`diff --server-side\` needs\: rights to change EnvoyFilters, since there are none to try alone]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
'::command -- The command\: lint, explain, diff, render, get, status, version, audit or capture:_default' \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
'-o+[Form of the output]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--output=[Form of the output]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'--client[Only this program'\''s version; no cluster is read]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(completion)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':shell -- bash, zsh or fish:(bash elvish fish powershell zsh)' \
&& ret=0
;;
(__complete)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::words -- The words so far, the last one unfinished:_default' \
&& ret=0
;;
(audit)
_arguments "${_arguments_options[@]}" : \
'*-f+[EnvoyFilters and what they are about (workloads, services)\: files, folders, - for the standard input \[default\: the cluster of the current context\]]:FILE:_files' \
'*--filename=[EnvoyFilters and what they are about (workloads, services)\: files, folders, - for the standard input \[default\: the cluster of the current context\]]:FILE:_files' \
'*--dump=[Config dump of a proxy, from \`istioctl proxy-config all POD -o json\` or Envoy'\''s /config_dump, also gzip or zstd; a folder stands for the dumps in it, - for the standard input]:DUMP:_files' \
'--proxy-type=[Type of the proxy\: sidecar, gateway or waypoint, over what the dump says]:TYPE:_default' \
'--proxy-namespace=[Namespace of the proxy, over what the dump says]:NAMESPACE:_default' \
'--proxy-labels=[Labels of the proxy'\''s workload, a=b,c=d, over what the dump says]:LABELS:_default' \
'--proxy-version=[Istio version of the proxy, over what the dump says]:VERSION:_default' \
'--proxy-name=[Name of the proxy'\''s pod, over what the dump says]:NAME:_default' \
'--proxy-workload=[Name of the proxy'\''s workload, over what the dump says]:NAME:_default' \
'--envoy=[Envoy binary to ask whether it takes the patched configuration]:PATH:_files' \
'--to=[Release to upgrade to]:RELEASE:_default' \
'--from=[Release that runs now \[default\: what the cluster or the config dumps say\]]:RELEASE:_default' \
'*--path=[Releases on the way, such as 1.24,1.26,1.28 \[default\: every minor release\]]:RELEASES:_default' \
'--revision-from=[Name of the revision that runs now\: filters for other revisions do not count before the upgrade]:NAME:_default' \
'--revision-to=[Name of the revision to upgrade to\: filters for other revisions do not count after the upgrade]:NAME:_default' \
'-o+[Form of the output]:OUTPUT:((human\:"For people"
json\:"schemas/audit.json"
markdown\:"For a change ticket"
html\:"One page, complete in itself"
diff\:"A patch with the rewritten filters"
sarif\:"SARIF 2.1.0"
junit\:"JUnit XML"
github\:"Workflow commands of GitHub Actions"
gitlab\:"Code quality report of GitLab"))' \
'--output=[Form of the output]:OUTPUT:((human\:"For people"
json\:"schemas/audit.json"
markdown\:"For a change ticket"
html\:"One page, complete in itself"
diff\:"A patch with the rewritten filters"
sarif\:"SARIF 2.1.0"
junit\:"JUnit XML"
github\:"Workflow commands of GitHub Actions"
gitlab\:"Code quality report of GitLab"))' \
'--output-file=[Write to a file instead of the standard output]:FILE:_files' \
'--fail-on=[From which class on to exit with 1]:CLASS:((breaks\:"What works now and not after the upgrade"
changes\:"Also what works in another way"
deprecated\:"Also what a later release refuses"
cleanup\:"Any finding"
never\:"Never"))' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'(--dump)--demo[Use the demo mesh built into this program; with -f its proxy with your filters]' \
'--unsafe-fixes[Rewrite filters also where that may change what they mean]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(api)
_arguments "${_arguments_options[@]}" : \
'-o+[Text for people, or JSON (schemas/api.json)]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON (schemas/api.json)]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- A field, message, enum or extension\: its full name, the end of it (Lua.inline_code), or an extension'\''s name:_default' \
&& ret=0
;;
(rules)
_arguments "${_arguments_options[@]}" : \
'*--rules=[Rules of your own\: files, or folders of files, of kind LintRule]:PATH:_files' \
'-o+[Text for people, or JSON]:OUTPUT:(text json)' \
'--output=[Text for people, or JSON]:OUTPUT:(text json)' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
'::rule -- Code or name of a rule, or the beginning of codes such as EF3; all rules when absent:_default' \
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
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
'*::paths -- Files, or folders of files, of kind LintRule:_files' \
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
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
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
'--name=[Name of the installation; -n is its namespace \[default namespace\: envoyfilter-system\]]:NAME:_default' \
'--image=[Image of this program]:IMAGE:_default' \
'*--pull-secret=[Secret with which the image is pulled; may be given several times]:NAME:_default' \
'--replicas=[Replicas of the server]:NUMBER:_default' \
'--mode=[enforce refuses what is wrong, warn tells, audit only counts and logs]:MODE:(enforce warn audit)' \
'--deny-at=[Severity from which on a filter is refused\: error, warning or info]:SEVERITY:(error warning info)' \
'--deadline=[How long a review may take]:DURATION:_default' \
'--on-deadline=[What happens to a filter that takes longer\: allow (with a warning) or deny]:WHAT:(allow deny)' \
'--failure-policy=[What the API server does when no server answers\: Ignore or Fail]:POLICY:(Ignore Fail)' \
'--timeout=[How long the API server waits for an answer, in seconds]:SECONDS:_default' \
'--sample-proxies=[Proxies of which the server reads the extensions they have; takes the right to read config dumps]:NUMBER:_default' \
'--config=[Configuration, as lint reads it from .envoyfilter.yaml]:FILE:_files' \
'--certificates=[Where the certificate comes from\: own (the server makes and renews it) or cert-manager]:SOURCE:(own cert-manager)' \
'*--revision=[Revision of a further control plane, whose mesh settings are read as well; may be given several times]:REVISION:_default' \
'--report-schedule=[When the report is written, as cron]:CRON:_default' \
'--report-shards=[Pods that share the work of a report]:NUMBER:_default' \
'--dry-run=[Whether anything is done\: none (it is), client (it is printed), server (the API server checks it)]:HOW:((none\:"It is done"
client\:"It is only said"
server\:"The API server checks it and keeps nothing"))' \
'-o+[Form of what is printed\: yaml or json]:FORM:((yaml\:"Documents, as kubectl apply takes them"
json\:"One List"))' \
'--output=[Form of what is printed\: yaml or json]:FORM:((yaml\:"Documents, as kubectl apply takes them"
json\:"One List"))' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'--service-monitor[Let the Prometheus operator read the metrics]' \
'--no-network-policy[Without a NetworkPolicy]' \
'--no-report[Without the scheduled report]' \
'(--no-report)--report-job[Print a Job that writes one report now, instead of installing]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--name=[Name of the installation; -n is its namespace \[default namespace\: envoyfilter-system\]]:NAME:_default' \
'--trial-namespace=[Namespace in which a filter is sent on trial (as a dry run\: nothing is kept) \[default\: the context'\''s\]]:NAMESPACE:_default' \
'-o+[Form of the output]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--output=[Form of the output]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'(--shards)--shard=[Only the part I (from 0) of N of the EnvoyFilters\: who shares the work writes the reports of others never]:I/N:_default' \
'--shards=[The work is shared by so many; which part this is says JOB_COMPLETION_INDEX, as in a Job of completionMode Indexed]:N:_default' \
'--shard-index=[Part that this is]:SHARD_INDEX:_default' \
'--config=[Configuration, as lint reads it from .envoyfilter.yaml]:FILE:_files' \
'*--rules=[Rules of your own\: files, or folders of files, of kind LintRule]:PATH:_files' \
'--dry-run=[Whether anything is written\: none (it is), client (it is printed), server (the API server checks it)]:HOW:((none\:"It is done"
client\:"It is only said"
server\:"The API server checks it and keeps nothing"))' \
'-o+[Form of what is printed\: yaml or json]:FORM:((yaml\:"Documents, as kubectl apply takes them"
json\:"One List"))' \
'--output=[Form of what is printed\: yaml or json]:FORM:((yaml\:"Documents, as kubectl apply takes them"
json\:"One List"))' \
'--name=[Name of the installation that the reports belong to]:NAME:_default' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(policy)
_arguments "${_arguments_options[@]}" : \
'--action=[What is done with errors\: Deny, Warn or Audit]:ACTION:(Deny Warn Audit)' \
'--failure-policy=[What the API server does when an expression cannot be evaluated\: Ignore or Fail]:POLICY:(Ignore Fail)' \
'-o+[Form of the output\: yaml, json, or table (what becomes of every rule)]:FORM:(yaml json table)' \
'--output=[Form of the output\: yaml, json, or table (what becomes of every rule)]:FORM:(yaml json table)' \
'--name=[Name of the installation, which the names of the policies begin with]:NAME:_default' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(uninstall)
_arguments "${_arguments_options[@]}" : \
'--name=[Name of the installation; -n is its namespace \[default namespace\: envoyfilter-system\]]:NAME:_default' \
'--dry-run=[Whether anything is done\: none (it is), client (it is only said), server (the API server checks it)]:HOW:((none\:"It is done"
client\:"It is only said"
server\:"The API server checks it and keeps nothing"))' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'--keep-reports[Leave the reports where they are]' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(serve)
_arguments "${_arguments_options[@]}" : \
'--listen=[Where the API server calls, over TLS\: POST /validate]:ADDRESS:_default' \
'--metrics-listen=[Where kubelet and Prometheus call, over plain HTTP\: /healthz, /readyz, /metrics]:ADDRESS:_default' \
'--mode=[What becomes of findings where the label envoyfilter.dev/admission of the namespace says nothing]:MODE:((enforce\:"Findings at or above --deny-at deny, the others warn"
warn\:"Findings warn"
audit\:"Findings are logged and counted only"))' \
'--deny-at=[From which severity on findings deny \[default\: fail_on of the configuration, else error\]]:SEVERITY:_default' \
'--deadline=[How long a review may take; a tenth less than what the API server waits, if that is shorter]:DURATION:_default' \
'--on-deadline=[What is answered when that time has run out]:ON_DEADLINE:((allow\:"Allow, with a warning"
deny\:"Deny"))' \
'--max-request-bytes=[Largest AdmissionReview, in bytes]:BYTES:_default' \
'--at-once=[How many reviews are made at the same time \[default\: four for each core\]]:NUMBER:_default' \
'--cert-secret=[Secret that this server keeps its own authority and certificate in]:NAME:_default' \
'--tls-cert=[Certificate that somebody else renews, as a file; read again when it changes]:FILE:_files' \
'--tls-key=[Its key]:FILE:_files' \
'--service=[Service that the API server calls\: the name in the certificate, and that of the Lease of the replicas]:NAME:_default' \
'--webhook-configuration=[ValidatingWebhookConfiguration whose caBundle is kept right]:NAME:_default' \
'*--certificate-name=[Further name or address in the certificate; may be given several times]:NAME:_default' \
'--authority-lifetime=[How long an authority lives; its successor is announced after two thirds of it]:DURATION:_default' \
'--certificate-lifetime=[How long a certificate lives; it is renewed after two thirds of it]:DURATION:_default' \
'--rotation-overlap=[How long an authority is trusted before it signs, and after]:DURATION:_default' \
'--shutdown-delay=[How long to go on serving after SIGTERM, until the API server has heard of it]:DURATION:_default' \
'--sample-proxies=[How many running proxies to ask for the extensions they are built with; 0\: those of the release count]:NUMBER:_default' \
'--config=[Configuration, as for lint]:FILE:_files' \
'*--rules=[Rules of your own\: files, or folders of files, of kind LintRule]:PATH:_files' \
'--replica=[Name of this replica \[default\: the name of the pod\]]:NAME:_default' \
'--pod-namespace=[Namespace of the Service, Secret and Lease, unless -n says it]:NAMESPACE:_default' \
'-n+[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--namespace=[Namespace\: of the cluster'\''s, the one to look at; of documents and names that give none \[default\: the context'\''s; for files, default\]]:NAMESPACE:_default' \
'--istio-version=[Release of the control plane to act as, such as 1.26 or 1.26.8 \[default\: what the cluster runs; for files, the newest known, 1.31\]]:RELEASE:_default' \
'--root-namespace=[Root namespace of the mesh \[default\: what a mesh ConfigMap among the files says, else istio-system\]]:NAMESPACE:_default' \
'--color=[Colours\: auto (on a terminal, unless NO_COLOR is set), always or never]:WHEN:((auto\:"On a terminal, unless \`NO_COLOR\` is set"
always\:"Always"
never\:"Never"))' \
'--kubeconfig=[Kubeconfig to use, - for the standard input]:FILE:_files' \
'*--context=[Context of the kubeconfig; given several times, one after the other]:NAME:_default' \
'--cluster=[Cluster of the kubeconfig]:NAME:_default' \
'--user=[User of the kubeconfig]:NAME:_default' \
'--as=[User to impersonate]:USER:_default' \
'*--as-group=[Group to impersonate; may be given several times]:GROUP:_default' \
'--request-timeout=[How long one request may take, such as 10s \[default\: 30s\]]:DURATION:_default' \
'-l+[Only EnvoyFilters with these labels]:LABELS:_default' \
'--selector=[Only EnvoyFilters with these labels]:LABELS:_default' \
'--field-selector=[Only EnvoyFilters with these fields]:FIELDS:_default' \
'--istio-namespace=[Namespace in which istiod runs \[default\: istio-system\]]:NAMESPACE:_default' \
'--dump-via=[How proxies are read\: auto, port-forward, exec, pod-proxy, or istiod for what it would send \[default\: auto\]]:WAY:(auto port-forward exec pod-proxy istiod)' \
'--capture=[Read what \`capture\` wrote, or an archive of \`istioctl bug-report\`, instead of a cluster]:PATH:_files' \
'-v[Leave nothing out]' \
'--verbose[Leave nothing out]' \
'-A[Every namespace]' \
'--all-namespaces[Every namespace]' \
'--all-replicas[Read every pod, not one for each template]' \
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
(api)
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
'render:Write a config dump as istiod would send it with these filters' \
'diff:Show what changed filters change on each proxy' \
'lint:Say what is wrong, risky or without effect in EnvoyFilters' \
'get:List EnvoyFilters with what they select and what of them is in effect' \
'status:One line for each EnvoyFilter and workload where something is wrong' \
'capture:Save what a run reads of a cluster, without secrets, for --capture' \
'rbac:Print the roles that a command needs; with -n those for one namespace' \
'version:Versions of this program, the cluster, control planes and proxies' \
'completion:Print a completion script for a shell' \
'__complete:' \
'audit:Say what an upgrade of Istio breaks or changes, and whether to go ahead' \
'api:Say what a field, type or extension of the Envoy API is, and which releases have it' \
'rules:List the rules of lint, or show one with its documentation' \
'webhook:Review EnvoyFilters in the cluster\: install, look after and remove what does it' \
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
(( $+functions[_kubectl-envoyfilter__subcmd__explain_commands] )) ||
_kubectl-envoyfilter__subcmd__explain_commands() {
    local commands; commands=(
'pod:A pod, by its name or by its workload'\''s' \
'po:A pod, by its name or by its workload'\''s' \
'deployment:The pods of a deployment' \
'deploy:The pods of a deployment' \
'service:The pods behind a service' \
'svc:The pods behind a service' \
'gateway:A gateway or waypoint' \
'gw:A gateway or waypoint' \
'workload:The pods of a workload of any kind' \
'filter:One EnvoyFilter, on every proxy given, or that it reaches' \
'field:Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains\[0\]/filters\[0\]' \
'rule:A rule of lint, by its code or name' \
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
'pod:A pod, by its name or by its workload'\''s' \
'deployment:The pods of a deployment' \
'service:The pods behind a service' \
'gateway:A gateway or waypoint' \
'workload:The pods of a workload of any kind' \
'filter:One EnvoyFilter, on every proxy given, or that it reaches' \
'field:Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains\[0\]/filters\[0\]' \
'rule:A rule of lint, by its code or name' \
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
'test:Run rules of your own over their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
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
'test:Run rules of your own over their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter explain rule commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__explain__subcmd__rule__subcmd__help_commands() {
    local commands; commands=(
'test:Run rules of your own over their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
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
'render:Write a config dump as istiod would send it with these filters' \
'diff:Show what changed filters change on each proxy' \
'lint:Say what is wrong, risky or without effect in EnvoyFilters' \
'get:List EnvoyFilters with what they select and what of them is in effect' \
'status:One line for each EnvoyFilter and workload where something is wrong' \
'capture:Save what a run reads of a cluster, without secrets, for --capture' \
'rbac:Print the roles that a command needs; with -n those for one namespace' \
'version:Versions of this program, the cluster, control planes and proxies' \
'completion:Print a completion script for a shell' \
'__complete:' \
'audit:Say what an upgrade of Istio breaks or changes, and whether to go ahead' \
'api:Say what a field, type or extension of the Envoy API is, and which releases have it' \
'rules:List the rules of lint, or show one with its documentation' \
'webhook:Review EnvoyFilters in the cluster\: install, look after and remove what does it' \
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
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__explain_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__explain_commands() {
    local commands; commands=(
'pod:A pod, by its name or by its workload'\''s' \
'deployment:The pods of a deployment' \
'service:The pods behind a service' \
'gateway:A gateway or waypoint' \
'workload:The pods of a workload of any kind' \
'filter:One EnvoyFilter, on every proxy given, or that it reaches' \
'field:Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains\[0\]/filters\[0\]' \
'rule:A rule of lint, by its code or name' \
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
'test:Run rules of your own over their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
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
'test:Run rules of your own over their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
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
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__version_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help version commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook_commands() {
    local commands; commands=(
'install:Install the admission webhook and the scheduled report, or print what that takes' \
'status:Say whether the webhook is there and does its work, and what to do where it does not' \
'report:Lint the running mesh and write what is found into it, as PolicyReports' \
'policy:Print policies with which the API server checks some rules by itself, without a webhook' \
'uninstall:Remove what \`install\` made, and what the webhook made for itself' \
'serve:Answer the API server\: what the deployment of the webhook runs' \
    )
    _describe -t commands 'kubectl-envoyfilter help webhook commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__install_commands] )) ||
_kubectl-envoyfilter__subcmd__help__subcmd__webhook__subcmd__install_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter help webhook install commands' commands "$@"
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
'test:Run rules of your own over their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter rules commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__rules__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__rules__subcmd__help_commands() {
    local commands; commands=(
'test:Run rules of your own over their cases\: RULE/bad*.yaml with \`# CODE\` at the end of offending lines, RULE/good*.yaml' \
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
(( $+functions[_kubectl-envoyfilter__subcmd__version_commands] )) ||
_kubectl-envoyfilter__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'kubectl-envoyfilter version commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook_commands() {
    local commands; commands=(
'install:Install the admission webhook and the scheduled report, or print what that takes' \
'status:Say whether the webhook is there and does its work, and what to do where it does not' \
'report:Lint the running mesh and write what is found into it, as PolicyReports' \
'policy:Print policies with which the API server checks some rules by itself, without a webhook' \
'uninstall:Remove what \`install\` made, and what the webhook made for itself' \
'serve:Answer the API server\: what the deployment of the webhook runs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'kubectl-envoyfilter webhook commands' commands "$@"
}
(( $+functions[_kubectl-envoyfilter__subcmd__webhook__subcmd__help_commands] )) ||
_kubectl-envoyfilter__subcmd__webhook__subcmd__help_commands() {
    local commands; commands=(
'install:Install the admission webhook and the scheduled report, or print what that takes' \
'status:Say whether the webhook is there and does its work, and what to do where it does not' \
'report:Lint the running mesh and write what is found into it, as PolicyReports' \
'policy:Print policies with which the API server checks some rules by itself, without a webhook' \
'uninstall:Remove what \`install\` made, and what the webhook made for itself' \
'serve:Answer the API server\: what the deployment of the webhook runs' \
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
