package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-multierror"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"sigs.k8s.io/yaml"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/features"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/test/xds"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/schema/collections"
	"istio.io/istio/pkg/config/schema/gvk"
	_ "istio.io/istio/pkg/config/validation/envoyfilter" // registers the validation
	_ "istio.io/istio/pkg/config/xds"                    // registers every Envoy type that istiod knows
	"istio.io/istio/pkg/test"
)

// proxySpec says who asks istiod for configuration.
type proxySpec struct {
	Name      string            `json:"name"`
	Type      string            `json:"type"` // sidecar, router or waypoint
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	IPs       []string          `json:"ips"`
	Version   string            `json:"istioVersion"`
	Metadata  map[string]any    `json:"metadata"`
}

// topology is what istiod knows besides the EnvoyFilters.
type topology struct {
	k8s, istio string
	mesh       *meshconfig.MeshConfig
	proxies    []proxySpec
	ecds       []string
}

// resources are kind -> name -> canonical JSON.
type resources map[string]map[string]json.RawMessage

// loadTopology reads a folder, of which any file but proxies.yaml may be missing. A waypoint among the proxies turns
// istiod's ambient mode on.
func loadTopology(folder, ecds string) (*topology, error) {
	read := func(name string) (string, error) {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) && name != "proxies.yaml" {
			return "", nil
		}
		return string(b), err
	}
	k8s, err1 := read("k8s.yaml")
	istio, err2 := read("istio.yaml")
	meshYAML, err3 := read("mesh.yaml")
	proxies, err4 := read("proxies.yaml")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	t := &topology{k8s: k8s, istio: istio, ecds: strings.Split(ecds, ",")}
	var err error
	if t.mesh, err = mesh.ApplyMeshConfig(meshYAML, mesh.DefaultMeshConfig()); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(proxies), &t.proxies); err != nil {
		return nil, err
	}
	for _, p := range t.proxies {
		if p.Type == string(model.Waypoint) {
			features.EnableAmbient, features.EnableAmbientWaypoints = true, true
		}
	}
	return t, nil
}

// admission is what istiod's webhook says, without the warning that every EnvoyFilter gets. loads is false when the
// documents cannot even be read.
func admission(filters string) (warnings, errs []string, loads bool) {
	configs, _, err := crd.ParseInputs(filters)
	if err != nil {
		return nil, []string{"parse: " + err.Error()}, false
	}
	for _, c := range configs {
		if c.GroupVersionKind != gvk.EnvoyFilter {
			continue
		}
		warning, err := collections.EnvoyFilter.ValidateConfig(c)
		for _, text := range flatten(warning) {
			if !strings.HasPrefix(text, "EnvoyFilter exposes internal implementation details") {
				warnings = append(warnings, c.Namespace+"/"+c.Name+": "+text)
			}
		}
		for _, text := range flatten(err) {
			errs = append(errs, c.Namespace+"/"+c.Name+": "+text)
		}
	}
	return warnings, errs, true
}

func flatten(err error) []string {
	var many *multierror.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &many):
		var out []string
		for _, e := range many.Errors {
			out = append(out, flatten(e)...)
		}
		return out
	default:
		return []string{err.Error()}
	}
}

// generate starts a fake istiod and asks it for everything that every proxy would get.
func (t *topology) generate(filters string) (map[string]resources, error) {
	out := map[string]resources{}
	err := test.Wrap(func(f test.Failer) {
		s := xds.NewFakeDiscoveryServer(f, xds.FakeOptions{
			ConfigString: t.istio + "\n---\n" + filters, KubernetesObjectString: t.k8s, MeshConfig: t.mesh,
		})
		for _, spec := range t.proxies {
			p := s.SetupProxy(spec.node(f))
			r := resources{"listener": {}, "cluster": {}, "route": {}, "ecds": {}}
			listeners := s.Listeners(p)
			for _, l := range listeners {
				r.add(f, "listener", l.Name, l)
			}
			for _, c := range s.Clusters(p) {
				r.add(f, "cluster", c.Name, c)
			}
			for _, rc := range s.RoutesFromListeners(p, listeners) {
				r.add(f, "route", rc.Name, rc)
			}
			for _, e := range s.ConfigGen.BuildExtensionConfiguration(p, s.PushContext(), t.ecds, nil) {
				r.add(f, "ecds", e.Name, e)
			}
			out[spec.Name] = r
		}
	})
	return out, err
}

func (spec proxySpec) node(f test.Failer) *model.Proxy {
	md := &model.NodeMetadata{}
	if spec.Metadata != nil {
		b, err := json.Marshal(spec.Metadata)
		if err = errors.Join(err, json.Unmarshal(b, md)); err != nil {
			f.Fatal(err)
		}
		md.Raw = spec.Metadata // what proxy.metadata in a match is compared with
	}
	md.IstioVersion, md.Labels, md.Namespace = spec.Version, spec.Labels, spec.Namespace
	return &model.Proxy{
		ID: spec.Name + "." + spec.Namespace, Type: model.NodeType(spec.Type), ConfigNamespace: spec.Namespace,
		Labels: spec.Labels, IPAddresses: spec.IPs, Metadata: md,
	}
}

// add stores a message; a name that is there already gets #2, #3.
func (r resources) add(f test.Failer, kind, name string, m proto.Message) {
	key := name
	for i := 2; r[kind][key] != nil; i++ {
		key = fmt.Sprintf("%s#%d", name, i)
	}
	b, err := canonical(m, "")
	if err != nil {
		f.Fatalf("%s %s: %v", kind, name, err)
	}
	r[kind][key] = b
}

// canonical is proto JSON with sorted keys; protojson alone varies its spacing from build to build.
func canonical(m proto.Message, indent string) ([]byte, error) {
	b, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := encoder(&out)
	e.SetIndent("", indent)
	err = e.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}
