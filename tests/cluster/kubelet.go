package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// What stands for the proxy of a pod, by annotations of the pod.
const (
	// A file with the config dump that its admin port and its pilot-agent answer with.
	dumpFile = "test/dump"
	// The same for a pod of istiod, which hands it out for each proxy that it knows.
	istiodFile = "test/istiod"
	// An address on loopback, a real Envoy's admin port, that port-forwards to port 15000 lead to and pilot-agent asks.
	adminAddress = "test/admin"
	// Ways that are closed: "port-forward", "exec", or both with a comma.
	closedWays = "test/closed"
)

type kubelet struct{ client kubernetes.Interface }

// serveKubelet answers what the API server asks of a kubelet: port-forwards and commands.
func serveKubelet(listener net.Listener, pki *pki, client kubernetes.Interface) error {
	k := &kubelet{client}
	mux := http.NewServeMux()
	mux.HandleFunc("/portForward/{namespace}/{pod}", k.forward)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.run)
	config := &tls.Config{Certificates: []tls.Certificate{pki.pair("kubelet")}, ClientCAs: pki.pool, ClientAuth: tls.RequireAndVerifyClientCert}
	return http.Serve(tls.NewListener(listener, config), mux)
}

func (k *kubelet) annotations(ctx context.Context, name, way string) (map[string]string, error) {
	namespace, pod, _ := strings.Cut(name, "/")
	p, err := k.client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if strings.Contains(p.Annotations[closedWays], way) {
		return nil, fmt.Errorf("%s is closed for pod %s", way, name)
	}
	return p.Annotations, nil
}

func (k *kubelet) forward(w http.ResponseWriter, r *http.Request) {
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, k, r.PathValue("namespace")+"/"+r.PathValue("pod"), "", options, time.Hour, 30*time.Second, portforward.SupportedProtocols)
}

// PortForward connects a stream to a port of a pod.
func (k *kubelet) PortForward(ctx context.Context, name, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	annotations, err := k.annotations(ctx, name, "port-forward")
	if err != nil {
		return err
	}
	// istiod's debugging port: it knows the proxies whose names say so.
	if port == 15014 && annotations[istiodFile] != "" {
		return answer(stream, annotations[istiodFile], "/debug/config_dump", "known-")
	}
	if port != 15000 || (annotations[dumpFile] == "" && annotations[adminAddress] == "") {
		return fmt.Errorf("failed to connect to localhost:%d inside namespace of pod %s: connection refused", port, name)
	}
	if address := annotations[adminAddress]; address != "" {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		defer connection.Close()
		go func() { _, _ = io.Copy(connection, stream) }()
		_, err = io.Copy(stream, connection)
		return err
	}
	return answer(stream, annotations[dumpFile], "/config_dump", "")
}

// answer is a debugging port as far as the dump at one path goes: one request, a chunked body, the end. With a prefix, for
// proxies of such names only.
func answer(stream io.ReadWriter, file, path, prefix string) error {
	request, err := http.ReadRequest(bufio.NewReader(stream))
	if err != nil {
		return err
	}
	if request.URL.Path != path || !strings.HasPrefix(request.URL.Query().Get("proxyID"), prefix) {
		_, err = io.WriteString(stream, "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
		return err
	}
	dump, err := os.Open(file)
	if err != nil {
		return err
	}
	defer dump.Close()
	response := &http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: request, Body: dump, ContentLength: -1, TransferEncoding: []string{"chunked"}, Close: true, Header: http.Header{"Content-Type": {"application/json"}}}
	return response.Write(stream)
}

func (k *kubelet) run(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, k, r.PathValue("namespace")+"/"+r.PathValue("pod"), "", r.PathValue("container"), r.URL.Query()["command"], options, time.Hour, 30*time.Second, remotecommand.SupportedStreamingProtocols)
}

// ExecInContainer is pilot-agent as far as `request GET config_dump` goes. Nothing is ever executed.
func (k *kubelet) ExecInContainer(ctx context.Context, name, _, container string, command []string, _ io.Reader, out, complaints io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	annotations, err := k.annotations(ctx, name, "exec")
	if err != nil {
		return err
	}
	dumped, address := annotations[dumpFile], annotations[adminAddress]
	if container != "istio-proxy" || strings.Join(command, " ") != "pilot-agent request GET config_dump" || (dumped == "" && address == "") {
		fmt.Fprintf(complaints, "%s: not found\n", command[0])
		return &utilexec.CodeExitError{Err: fmt.Errorf("exit status 127"), Code: 127}
	}
	if address != "" {
		// As pilot-agent does it.
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/config_dump", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(out, response.Body)
		return err
	}
	dump, err := os.Open(dumped)
	if err != nil {
		return err
	}
	defer dump.Close()
	_, err = io.Copy(out, dump)
	return err
}
