package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	admin "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
)

const version = "1"

// configDump writes resources in the form of Envoy's admin /config_dump, sorted by name: istiod's own order of
// clusters and listeners varies from run to run.
func configDump(p proxySpec, r resources) ([]byte, error) {
	boot, err := bootstrapDump(p)
	if err != nil {
		return nil, err
	}
	clusters := &admin.ClustersConfigDump{VersionInfo: version}
	listeners := &admin.ListenersConfigDump{VersionInfo: version}
	routes := &admin.RoutesConfigDump{}
	ecds := &admin.EcdsConfigDump{}
	err = each(r["cluster"], &cluster.Cluster{}, func(_ string, a *anypb.Any) {
		clusters.DynamicActiveClusters = append(clusters.DynamicActiveClusters,
			&admin.ClustersConfigDump_DynamicCluster{VersionInfo: version, Cluster: a})
	})
	if err != nil {
		return nil, err
	}
	err = each(r["listener"], &listener.Listener{}, func(name string, a *anypb.Any) {
		listeners.DynamicListeners = append(listeners.DynamicListeners, &admin.ListenersConfigDump_DynamicListener{
			Name:        name,
			ActiveState: &admin.ListenersConfigDump_DynamicListenerState{VersionInfo: version, Listener: a},
		})
	})
	if err != nil {
		return nil, err
	}
	err = each(r["route"], &route.RouteConfiguration{}, func(_ string, a *anypb.Any) {
		routes.DynamicRouteConfigs = append(routes.DynamicRouteConfigs,
			&admin.RoutesConfigDump_DynamicRouteConfig{VersionInfo: version, RouteConfig: a})
	})
	if err != nil {
		return nil, err
	}
	err = each(r["ecds"], &core.TypedExtensionConfig{}, func(_ string, a *anypb.Any) {
		ecds.EcdsFilters = append(ecds.EcdsFilters,
			&admin.EcdsConfigDump_EcdsFilterConfig{VersionInfo: version, EcdsFilter: a})
	})
	if err != nil {
		return nil, err
	}
	dump := &admin.ConfigDump{}
	for _, part := range []proto.Message{boot, clusters, listeners, routes, ecds} {
		a, err := anypb.New(part)
		if err != nil {
			return nil, err
		}
		dump.Configs = append(dump.Configs, a)
	}
	out, err := canonical(dump, " ")
	return append(out, '\n'), err
}

// each reads the resources of one kind back as messages, in the order of their names.
func each(named map[string]json.RawMessage, m proto.Message, put func(name string, a *anypb.Any)) error {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if err := protojson.Unmarshal(named[name], m); err != nil { // resets m first
			return err
		}
		a, err := anypb.New(m)
		if err != nil {
			return err
		}
		put(name, a)
	}
	return nil
}

// bootstrapDump says who the proxy is, as the bootstrap part of a real dump does.
func bootstrapDump(p proxySpec) (*admin.BootstrapConfigDump, error) {
	labels := map[string]any{}
	for k, v := range p.Labels {
		labels[k] = v
	}
	pod := p.Name + "-1"
	md := map[string]any{
		"ISTIO_VERSION": p.Version, "NAMESPACE": p.Namespace, "NAME": pod, "WORKLOAD_NAME": p.Name,
		"INSTANCE_IPS": strings.Join(p.IPs, ","), "LABELS": labels,
	}
	maps.Copy(md, p.Metadata)
	st, err := structpb.NewStruct(md)
	if err != nil {
		return nil, err
	}
	return &admin.BootstrapConfigDump{Bootstrap: &bootstrap.Bootstrap{Node: &core.Node{
		Id:            strings.Join([]string{p.Type, p.IPs[0], pod + "." + p.Namespace, p.Namespace + ".svc.cluster.local"}, "~"),
		Cluster:       p.Name + "." + p.Namespace,
		Metadata:      st,
		UserAgentName: "envoy",
	}}}, nil
}
