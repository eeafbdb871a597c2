module kubectl-envoyfilter.test/flux

go 1.24.2

require (
	github.com/fluxcd/kustomize-controller v1.7.3
	github.com/fluxcd/source-controller v1.7.3
)
