module kubectl-envoyfilter/tests/argocd

go 1.23

require github.com/yuin/gopher-lua v1.1.1
