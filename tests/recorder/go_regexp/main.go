// Records what Go's regexp package says of expressions: JSON lines on standard output.
package main

import (
	"bufio"
	"encoding/json"
	"math/rand"
	"os"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Texts that every expression is matched against.
var texts = []string{"", "1.31.0", "1.30", "1.31.0-alpha.abc", "master-2024", "a", "aB_9 z", "{", "a{,2}", "k\u212a", "é", "١", "x\ny", "ſ", "aaaaaaaaaa"}

var fixed = []string{
	``, `.*`, `^1\.3[01].*`, `1\.(2[6-9]|3\d)`, `\w{200}`, `(a{100}){11}`, `(a{100}){10}`, `((a{10}){10}){10}`, `((a{10}){10}){11}`,
	`a{1000}`, `a{1001}`, `a{,2}`, `a{2`, `a{2,1}`, `a{01}`, `{`, `{{ version }}`, `a**`, `a*?`, `a*??`, `a{2}{3}`, `*`, `(*)`, `|*`, `a|*`, `^*`, `()*`, `(?:)*`, `(`, `)`, `[`, `[]`, `[]a]`, `[^]a]`, `[a-`, `[z-a]`, `[a-\d]`, `[-a]`, `[a-]`, `[[:alpha:]]`, `[[:foo:]]`, `[[:^alpha:]]`, `[:alpha:]`,
	`\Q1.3\E.*`, `\Qab`, `\Q\E*`, `\Qab\E*`, `\C`, `\z`, `\Z`, `\A1`, `\b`, `\B`, `\bz`, `\é`, `\_`, `\q`, `\1`, `\12`, `\0`, `\012`, `\x`, `\x4`, `\x41`, `\xg1`, `\x{41}`, `\x{110000}`, `\x{}`, `\x{4`, `\pL`, `\p{Lu}`, `\p{^Lu}`, `\P{Lu}`, `\p{Greek}`, `\p{Foo}`, `\p{Alphabetic}`, `\p`, `\p{`, `\pN+`, `\d`, `(?i)\d`, `(?i)k`, `(?i)[k]`, `(?i)\w`, `(?i)S`, `(?i)[^s]`, `(?i:a)B`, `(?i)a(?-i)B`, `(?-)`, `(?--i)`, `(?i-`, `(?=a)`, `(?!a)`, `(?<=a)`, `(?<n>a)`, `(?P<n>a)`, `(?P<n`, `(?P<>a)`, `(?P=n)`, `(?P<n>a)(?P<n>b)`, `(?<1>a)`, `(?'n'a)`, `(?#c)`, `(?s).`, `(?m)^y$`, `^y$`, `x$`, `(?U)a+`, `(?`, `(?:`, `(?i`, `a||b`, `(|a)`, `a{0}`, `a{0,0}b`, `(a{0}){1000}`, `(a{2,}){501}`, `(a{2,}){500}`, `(a?){1000}`, `(a*){1000}`, `\s\S`, `\W`, `[\w\-.]+`, `[^\d]`, `[\pN]`, `[\p{^L}]`, `[\x41-\x43]`, `[\Q]\E]`, `[a\]`, `a\`, `\`, `1.31.0|1.30`, `^(?:1\.31|1\.30)(?:\.\d+)?(?:-.*)?$`, `\t\n\f\r\v\a`, `[\a-\v]`, `\pLu`, `\p{any}`, `\p{Any}`, `\u0041`, `(?i)\p{Lu}`, `(?i)\p{Ll}`, `\D\d`, `x*+`, `x+?`, `x??`, `x???`, `x{1}?`, `x{1}??`,
	strings.Repeat(`(`, 999) + `a` + strings.Repeat(`)`, 999), strings.Repeat(`(`, 1000) + `a` + strings.Repeat(`)`, 1000), strings.Repeat(`(`, 1100) + `a` + strings.Repeat(`)`, 1100), strings.Repeat(`(?:`, 1100) + `a` + strings.Repeat(`)`, 1100),
	strings.Repeat(`\pL{1000}`, 100), strings.Repeat(`a{1000}`, 3300), strings.Repeat(`a{1000}`, 3400), strings.Repeat(`(a{1000})`, 3400), `((a{100}){10}|b{1000})`, strings.Repeat(`a?`, 500) + strings.Repeat(`a`, 500),
}

var atoms = []string{"a", "B", "1", `\.`, ".", `\d`, `\w`, `\W`, `\s`, `[a-c]`, `[^a-c]`, `[[:upper:]]`, `\pL`, `\PL`, "^", "$", `\b`, `\B`, `\Q.*\E`, "é", `\x41`, "{", "}", "]", "-", `[k-]`, `[\d.]`, `(?i)`, `(?s)`, `(?m)`}

func random(r *rand.Rand, depth int) string {
	var b strings.Builder
	for i := 0; i < 1+r.Intn(4); i++ {
		switch n := r.Intn(10); {
		case n < 6 || depth == 0:
			b.WriteString(atoms[r.Intn(len(atoms))])
		case n < 8:
			b.WriteString([]string{"(", "(?:", "(?i:", "(?P<n" + string(rune('a'+r.Intn(26))) + ">", "("}[r.Intn(5)] + random(r, depth-1) + []string{")", ")", ")", ")", ""}[r.Intn(5)])
		default:
			b.WriteString("|" + random(r, depth-1))
		}
		if r.Intn(3) == 0 {
			b.WriteString([]string{"*", "+", "?", "*?", "{2}", "{0,3}", "{1,}", "{,2}", "{30}", "{40}", "??", "{3"}[r.Intn(12)])
		}
	}
	return b.String()
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	write := func(v any) { line, _ := json.Marshal(v); out.Write(append(line, '\n')) }
	write(map[string]any{"texts": texts})
	seen := map[string]bool{}
	say := func(e string) {
		if seen[e] {
			return
		}
		seen[e] = true
		re, err := regexp.Compile(e)
		if err != nil {
			write(map[string]any{"expression": e, "error": string(err.(*syntax.Error).Code)})
			return
		}
		bits := ""
		for _, t := range texts {
			if re.MatchString(t) {
				bits += "1"
			} else {
				bits += "0"
			}
		}
		write(map[string]any{"expression": e, "matches": bits})
	}
	for _, e := range fixed {
		say(e)
	}
	r := rand.New(rand.NewSource(1))
	for i := 0; i < 3000; i++ {
		say(random(r, 3))
	}
}
