// Command promql asks the query engine of Prometheus about recorded metrics: what it reads of them, and what expressions of
// dashboards and alerts give.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// What is asked: texts of /metrics, each with its second, and expressions at a second.
type question struct {
	Scrapes []struct {
		At   int64  `json:"at"`
		Text string `json:"text"`
	} `json:"scrapes"`
	Expressions []string `json:"expressions"`
	At          int64    `json:"at"`
}

// What an expression gives.
type answer struct {
	Error  string              `json:"error,omitempty"`
	Notes  []string            `json:"notes,omitempty"`
	Series []map[string]string `json:"series"`
	// The samples of these series, as text: JSON has no NaN.
	Values []string `json:"values"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	recorded := &memory{series: map[string]*series{}}
	for _, scrape := range asked.Scrapes {
		if err := recorded.take(scrape.Text, scrape.At*1000); err != nil {
			return err
		}
	}
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
		Parser: parser.NewParser(parser.Options{}),
	})
	answers := make([]answer, 0, len(asked.Expressions))
	for _, expression := range asked.Expressions {
		answers = append(answers, ask(engine, recorded, expression, time.Unix(asked.At, 0)))
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func ask(engine *promql.Engine, recorded *memory, expression string, at time.Time) answer {
	query, err := engine.NewInstantQuery(context.Background(), recorded, nil, expression, at)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer query.Close()
	result := query.Exec(context.Background())
	if result.Err != nil {
		return answer{Error: result.Err.Error()}
	}
	given := answer{Series: []map[string]string{}, Values: []string{}}
	warnings, notes := result.Warnings.AsStrings(expression, 0, 0)
	given.Notes = append(warnings, notes...)
	vector, err := result.Vector()
	if err != nil {
		return answer{Error: err.Error()}
	}
	for _, sample := range vector {
		given.Series = append(given.Series, sample.Metric.Map())
		given.Values = append(given.Values, strconv.FormatFloat(sample.F, 'g', -1, 64))
	}
	return given
}

// Recorded series.
type memory struct {
	series map[string]*series
}

type series struct {
	labels  labels.Labels
	samples []chunks.Sample
}

type sample struct {
	at    int64
	value float64
}

func (s sample) ST() int64                     { return 0 }
func (s sample) T() int64                      { return s.at }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

func (m *memory) take(text string, at int64) error {
	const form = "application/openmetrics-text; version=1.0.0; charset=utf-8"
	read, err := textparse.New([]byte(text), form, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		return err
	}
	for {
		entry, err := read.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, _, value := read.Series()
		if math.IsNaN(value) {
			return errors.New("a metric is not a number")
		}
		var of labels.Labels
		read.Labels(&of)
		known := m.series[of.String()]
		if known == nil {
			known = &series{labels: of}
			m.series[of.String()] = known
		}
		known.samples = append(known.samples, sample{at, value})
	}
}

func (m *memory) Querier(from, to int64) (storage.Querier, error) {
	return &querier{m, from, to}, nil
}

type querier struct {
	memory   *memory
	from, to int64
}

func (q *querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	var found []storage.Series
	for _, one := range q.memory.series {
		fits := true
		for _, matcher := range matchers {
			fits = fits && matcher.Matches(one.labels.Get(matcher.Name))
		}
		if fits {
			found = append(found, storage.NewListSeries(one.labels, one.samples))
		}
	}
	return &set{found, -1}
}

func (q *querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (q *querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (q *querier) Close() error { return nil }

type set struct {
	series []storage.Series
	at     int
}

func (s *set) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *set) At() storage.Series                { return s.series[s.at] }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }
