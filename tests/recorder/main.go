// Command recorder asks Istio's own configuration generator what EnvoyFilters do.
//
// Requests come on standard input, answers go to standard output, one JSON object a line, in the form that
// testdata/reference/README.md describes. Every request runs in a process of its own, because istiod's patches can
// write into objects that its generator shares between proxies.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"istio.io/istio/pkg/log"
)

type request struct {
	ID       string `json:"id"`
	Filters  string `json:"filters"` // YAML documents
	Topology string `json:"topology"`
}

// answer's fields stand in alphabetical order, as in the recordings.
type answer struct {
	Errors   []string             `json:"errors,omitempty"`
	Failure  string               `json:"failure,omitempty"` // the recorder's own: not to be committed
	Filters  string               `json:"filters"`
	ID       string               `json:"id"`
	Leaked   []string             `json:"leaked,omitempty"`
	Proxies  map[string]resources `json:"proxies,omitempty"`  // absent: istiod cannot load the filters
	Topology string               `json:"topology,omitempty"` // as requested: only a remark
	Warnings []string             `json:"warnings,omitempty"`
}

func main() {
	folder := flag.String("topology", "", "folder with k8s.yaml, istio.yaml, mesh.yaml and proxies.yaml")
	baseOut := flag.String("base-out", "", "write the configuration without EnvoyFilters, one dump a proxy, to this folder and end")
	ecds := flag.String("ecds", "wasm-auth,wasm-b", "extension configurations to ask for, comma-separated")
	jobs := flag.Int("jobs", 2, "requests served at once")
	one := flag.Bool("one", false, "serve one request in this process (internal)")
	flag.Parse()
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	var err error
	if *baseOut == "" && !*one {
		err = serve(os.Stdin, os.Stdout, *jobs)
	} else {
		var t *topology
		if t, err = loadTopology(*folder, *ecds); err == nil && *baseOut != "" {
			err = writeBase(t, *baseOut)
		} else if err == nil {
			err = serveOne(t, os.Stdin, os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		os.Exit(1)
	}
}

// serve hands every line to a child process and writes the answers in the order of the requests.
func serve(in io.Reader, out io.Writer, jobs int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	pending := make(chan chan []byte, max(jobs-1, 0))
	var scanErr error
	go func() {
		defer close(pending)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			line := bytes.Clone(lines.Bytes())
			done := make(chan []byte, 1)
			pending <- done // blocks while `jobs` requests are under way
			go func() { done <- ask(self, line) }()
		}
		scanErr = lines.Err()
	}()
	for done := range pending {
		if _, err := out.Write(<-done); err != nil {
			return err
		}
	}
	return scanErr
}

// ask runs one request in a child; a child that dies becomes an answer with a failure.
func ask(self string, line []byte) []byte {
	child := exec.Command(self, append(slices.Clone(os.Args[1:]), "-one")...)
	child.Stdin, child.Stderr = bytes.NewReader(line), os.Stderr
	out, err := child.Output()
	if err == nil {
		return out
	}
	var r request
	err = errors.Join(err, json.Unmarshal(line, &r))
	out, _ = json.Marshal(answer{ID: r.ID, Filters: r.Filters, Topology: r.Topology, Failure: err.Error()})
	return append(out, '\n')
}

func serveOne(t *topology, in io.Reader, out io.Writer) error {
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return err
	}
	a := answer{ID: r.ID, Filters: r.Filters, Topology: r.Topology}
	var loads bool
	a.Warnings, a.Errors, loads = admission(r.Filters)
	if loads {
		if err := record(t, &a); err != nil {
			a.Failure = err.Error()
		}
	}
	return encoder(out).Encode(a)
}

// record generates without, with and again without the filters: the last shows what leaked.
func record(t *topology, a *answer) error {
	base, err := t.generate("")
	if err != nil {
		return err
	}
	patched, err := t.generate(a.Filters)
	if err != nil {
		return err
	}
	after, err := t.generate("")
	if err != nil {
		return err
	}
	a.Proxies = map[string]resources{}
	for proxy := range base {
		a.Proxies[proxy] = changes(base[proxy], patched[proxy])
		for kind, names := range changes(base[proxy], after[proxy]) {
			for name := range names {
				a.Leaked = append(a.Leaked, strings.Join([]string{proxy, kind, name}, " "))
			}
		}
	}
	slices.Sort(a.Leaked)
	return nil
}

// changes keeps the resources that are new or differ; null marks those that are gone.
func changes(before, after resources) resources {
	d := resources{}
	put := func(kind, name string, v json.RawMessage) {
		if d[kind] == nil {
			d[kind] = map[string]json.RawMessage{}
		}
		d[kind][name] = v
	}
	for kind, named := range after {
		for name, v := range named {
			if !bytes.Equal(before[kind][name], v) {
				put(kind, name, v)
			}
		}
	}
	for kind, named := range before {
		for name := range named {
			if _, still := after[kind][name]; !still {
				put(kind, name, json.RawMessage("null"))
			}
		}
	}
	return d
}

func writeBase(t *topology, folder string) error {
	base, err := t.generate("")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, p := range t.proxies {
		dump, err := configDump(p, base[p.Name])
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, p.Name+".json"), dump, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// encoder leaves <, > and & as they are.
func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}
