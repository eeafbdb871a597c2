// Command cluster is the cluster that the end-to-end tests read: etcd, a real kube-apiserver and a node, in one process on
// loopback. It runs until its standard input ends, so that it never outlives the test that started it.
//
//	cluster DIR    keeps its state in DIR and prints "ready" when DIR/admin.kubeconfig works
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: cluster DIR")
	}
	dir, err := filepath.Abs(os.Args[1])
	check(err)
	api, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	address := api.Addr().String()
	check(api.Close())
	pki := newPKI(dir, address)

	store := startEtcd(filepath.Join(dir, "etcd"))
	kubelet, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	way, egressConfig := newEgress(dir)
	go runAPIServer(pki, address, store, egressConfig)

	config, err := clientcmd.BuildConfigFromFlags("", pki.kubeconfig("admin"))
	check(err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	check(err)
	way.client = client
	go way.serve()
	ctx := context.Background()
	for !ready(ctx, client) {
		time.Sleep(100 * time.Millisecond)
	}
	go func() { check(serveKubelet(kubelet, pki, client)) }()
	register(ctx, client, kubelet.Addr().(*net.TCPAddr).Port)
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func ready(ctx context.Context, client kubernetes.Interface) bool {
	_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	return err == nil
}

// startEtcd runs etcd in this process and returns the address of its clients.
func startEtcd(dir string) string {
	config := embed.NewConfig()
	config.Dir = dir
	config.UnsafeNoFsync = true
	config.LogLevel = "error"
	peer, client := []url.URL{freeURL()}, []url.URL{freeURL()}
	config.ListenPeerUrls, config.AdvertisePeerUrls = peer, peer
	config.ListenClientUrls, config.AdvertiseClientUrls = client, client
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	check(err)
	<-server.Server.ReadyNotify()
	return client[0].String()
}

func freeURL() url.URL {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer l.Close()
	return url.URL{Scheme: "http", Host: l.Addr().String()}
}

func runAPIServer(pki *pki, address, etcd, egress string) {
	host, port, err := net.SplitHostPort(address)
	check(err)
	command := app.NewAPIServerCommand()
	command.SetArgs([]string{
		"--etcd-servers=" + etcd,
		"--bind-address=" + host, "--advertise-address=" + host, "--secure-port=" + port,
		// An endpoint on loopback is refused.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + pki.file("apiserver.crt"), "--tls-private-key-file=" + pki.file("apiserver.key"),
		"--client-ca-file=" + pki.file("ca.crt"),
		"--kubelet-certificate-authority=" + pki.file("ca.crt"),
		"--kubelet-client-certificate=" + pki.file("admin.crt"), "--kubelet-client-key=" + pki.file("admin.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://test", "--service-account-key-file=" + pki.file("sa.pub"),
		"--service-account-signing-key-file=" + pki.file("sa.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC",
		"--egress-selector-config-file=" + egress,
		// No controller makes service accounts here.
		"--disable-admission-plugins=ServiceAccount",
		"-v=0",
	})
	check(command.Execute())
}

// register makes the node whose kubelet is ours.
func register(ctx context.Context, client kubernetes.Interface, port int) {
	node, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}, metav1.CreateOptions{})
	check(err)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	check(err)
}

func check(err error) {
	if err != nil && err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
