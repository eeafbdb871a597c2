//go:build tools

package main

// Istio's CRDs come with this module (kubernetes/customresourcedefinitions.gen.yaml); build.sh copies them.
import _ "istio.io/api/networking/v1alpha3"
