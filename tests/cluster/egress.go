package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// What stands for the ports of a pod or a Service, by an annotation of either: "443=127.0.0.1:9443,8080=127.0.0.1:8080".
const portsOf = "test/ports"

// egress carries what the API server opens into the cluster (addresses of pods and Services, the kubelet) to processes on
// loopback: such addresses are made up, and are never dialled.
type egress struct {
	listener net.Listener
	client   kubernetes.Interface
}

// newEgress listens in dir and returns the configuration that sends the API server there.
func newEgress(dir string) (*egress, string) {
	socket := filepath.Join(dir, "egress.sock")
	listener, err := net.Listen("unix", socket)
	check(err)
	config := filepath.Join(dir, "egress.yaml")
	text := fmt.Sprintf(`apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections: [{name: cluster, connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: %q}}}}]
`, socket)
	check(os.WriteFile(config, []byte(text), 0o600))
	return &egress{listener: listener}, config
}

// serve answers CONNECT requests.
func (e *egress) serve() {
	for {
		connection, err := e.listener.Accept()
		check(err)
		go e.carry(connection)
	}
}

func (e *egress) carry(from net.Conn) {
	defer from.Close()
	reader := bufio.NewReader(from)
	request, err := http.ReadRequest(reader)
	if err != nil || request.Method != http.MethodConnect {
		return
	}
	to, err := e.dial(request.RequestURI)
	if err != nil {
		log.Printf("egress: %v", err)
		fmt.Fprintf(from, "HTTP/1.1 502 %s\r\n\r\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	defer to.Close()
	fmt.Fprint(from, "HTTP/1.1 200 OK\r\n\r\n")
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(to, reader); done <- struct{}{} }()
	go func() { _, _ = io.Copy(from, to); done <- struct{}{} }()
	<-done
}

// dial opens what an address in the cluster stands for.
func (e *egress) dial(target string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	dialer := new(net.Dialer)
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return dialer.DialContext(ctx, "tcp", target)
	}
	pods, err := e.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "status.podIP=" + host})
	if err != nil {
		return nil, err
	}
	for _, pod := range pods.Items {
		if address := addressOf(pod.Annotations, port); address != "" {
			return dialer.DialContext(ctx, "tcp", address)
		}
	}
	services, err := e.client.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, service := range services.Items {
		if address := addressOf(service.Annotations, port); service.Spec.ClusterIP == host && address != "" {
			return dialer.DialContext(ctx, "tcp", address)
		}
	}
	return nil, fmt.Errorf("nothing stands for %s", target)
}

func addressOf(annotations map[string]string, port string) string {
	for _, pair := range strings.Split(annotations[portsOf], ",") {
		if from, to, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && from == port {
			return to
		}
	}
	return ""
}
