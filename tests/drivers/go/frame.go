// Command drivers is go-mssqldb's suite. This file is its frame: it runs the scenarios that it is asked for and prints a
// line for each. A scenario succeeds by returning, and fails by panicking or by any check that did not hold.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"
)

type typeCase struct {
	Type   string
	Kind   string
	Values []struct {
		SQL    string `json:"sql"`
		Text   string
		Repeat int
	}
}

var (
	types    []typeCase
	fixtures map[string][]string
	problems []string
)

type skip string

func main() {
	load("types.json", &types)
	load("fixtures.json", &fixtures)
	for _, t := range types {
		for i := range t.Values {
			if t.Values[i].Repeat > 0 {
				t.Values[i].Text = strings.Repeat(t.Values[i].Text, t.Values[i].Repeat)
			}
		}
	}
	driver := os.Getenv("MILLRACE_DRIVER")
	for _, name := range strings.Split(os.Getenv("MILLRACE_SCENARIOS"), ",") {
		fmt.Printf("%s %s run\n", driver, name)
		problems = nil
		word := runOne(name)
		fmt.Printf("%s %s %s\n", driver, name, word)
		if word == "FAIL" {
			for _, problem := range problems {
				fmt.Printf("  %s\n", strings.ReplaceAll(problem, "\n", " | "))
			}
		}
	}
}

func runOne(name string) (word string) {
	defer func() {
		if reason := recover(); reason != nil {
			if why, ok := reason.(skip); ok {
				word = fmt.Sprintf("skip(%s)", string(why))
				return
			}
			problems = append(problems, fmt.Sprintf("%s%v", place(), reason))
			fmt.Fprintf(os.Stderr, "%s: %v\n%s\n", name, reason, debug.Stack())
			word = "FAIL"
		}
		closeAll()
	}()
	scenarios[name]()
	if len(problems) > 0 {
		return "FAIL"
	}
	return "ok"
}

// place is the line of suite.go that panicked.
func place() string {
	for _, line := range strings.Split(string(debug.Stack()), "\n") {
		if at := strings.Index(line, "/suite.go:"); at >= 0 {
			return strings.SplitN(line[at+1:], " ", 2)[0] + ": "
		}
	}
	return ""
}

func load(name string, into any) {
	text, err := os.ReadFile(filepath.Join(os.Getenv("MILLRACE_DRIVER_TESTS"), name))
	must(err)
	must(json.Unmarshal(text, into))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(holds bool, form string, arguments ...any) {
	if !holds {
		problems = append(problems, fmt.Sprintf(form, arguments...))
	}
}

func equal(got, want any, what string) {
	if !reflect.DeepEqual(got, want) {
		problems = append(problems, fmt.Sprintf("%s: expected %s, got %s", what, short(want), short(got)))
	}
}

// noting runs the work; a panic inside is noted as a problem, and the scenario goes on.
func noting(what string, work func()) {
	defer func() {
		if reason := recover(); reason != nil {
			problems = append(problems, fmt.Sprintf("%s: %s", what, short(reason)))
		}
	}()
	work()
}

func short(value any) string {
	text := fmt.Sprintf("%v", value)
	if s, ok := value.(string); ok {
		text = fmt.Sprintf("%q", s)
	}
	if len(text) > 160 {
		return fmt.Sprintf("%s... (%d bytes)", text[:160], len(text))
	}
	return text
}

// number is SQL Server's number of an error, 0 when it has none.
func number(err error) int32 {
	var failure mssql.Error
	if errors.As(err, &failure) {
		return failure.Number
	}
	return 0
}

func refused(want int32, what string, err error) {
	if err == nil {
		check(false, "%s: was not refused", what)
		return
	}
	check(number(err) == want, "%s: expected error %d, got %d (%v)", what, want, number(err), err)
}
