package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// pki is the cluster's certificate authority and the files made with it.
type pki struct {
	dir    string
	key    *ecdsa.PrivateKey
	ca     *x509.Certificate
	pool   *x509.CertPool
	serial int64
}

// newPKI makes every certificate, and a kubeconfig each for admin and reader, whose rights the tests grant.
func newPKI(dir, address string) *pki {
	p := &pki{dir: dir, pool: x509.NewCertPool()}
	check(os.MkdirAll(dir, 0o700))
	p.key = newKey()
	template := p.template("test-ca")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	p.ca = template
	p.write("ca", template, p.key, "")
	p.pool.AddCert(p.ca)

	for _, server := range []string{"apiserver", "kubelet"} {
		t := p.template(server)
		t.IPAddresses, t.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		p.write(server, t, newKey(), "")
	}
	for _, user := range []struct{ name, group string }{{"admin", "system:masters"}, {"reader", "readers"}} {
		t := p.template(user.name)
		t.Subject.Organization = []string{user.group}
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		p.write(user.name, t, newKey(), address)
	}
	sa := newKey()
	p.pem("sa.key", "EC PRIVATE KEY", must(x509.MarshalECPrivateKey(sa)))
	p.pem("sa.pub", "PUBLIC KEY", must(x509.MarshalPKIXPublicKey(&sa.PublicKey)))
	return p
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

func (p *pki) template(name string) *x509.Certificate {
	p.serial++
	return &x509.Certificate{
		SerialNumber: big.NewInt(p.serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

// write signs a certificate and writes it with its key, and a kubeconfig where there is an address.
func (p *pki) write(name string, template *x509.Certificate, key *ecdsa.PrivateKey, address string) {
	der := must(x509.CreateCertificate(rand.Reader, template, p.ca, &key.PublicKey, p.key))
	if template.IsCA {
		p.ca = must(x509.ParseCertificate(der))
	}
	certificate := p.pem(name+".crt", "CERTIFICATE", der)
	private := p.pem(name+".key", "EC PRIVATE KEY", must(x509.MarshalECPrivateKey(key)))
	if address == "" {
		return
	}
	b64 := base64.StdEncoding.EncodeToString
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: "https://%s", certificate-authority-data: %s}}]
users: [{name: %s, user: {client-certificate-data: %s, client-key-data: %s}}]
contexts: [{name: test, context: {cluster: test, user: %s}}]
`, address, b64(must(os.ReadFile(p.file("ca.crt")))), name, b64(certificate), b64(private), name)
	check(os.WriteFile(p.kubeconfig(name), []byte(text), 0o600))
}

func (p *pki) pem(name, kind string, der []byte) []byte {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	check(os.WriteFile(p.file(name), text, 0o600))
	return text
}

func (p *pki) file(name string) string       { return filepath.Join(p.dir, name) }
func (p *pki) kubeconfig(user string) string { return p.file(user + ".kubeconfig") }

func (p *pki) pair(name string) tls.Certificate {
	return must(tls.LoadX509KeyPair(p.file(name+".crt"), p.file(name+".key")))
}

func must[T any](value T, err error) T {
	check(err)
	return value
}
