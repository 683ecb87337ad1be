package values

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

// leastShare of the rows of docs/operators.md has a case that runs and agrees.
const leastShare = 0.9

// leastNoticed of the options that cases set change the result. Others cannot: the device on a machine without a GPU,
// the dtype beside a tensor to write into, hints.
const leastNoticed = 0.7

// TestValues calls each generated binding and compares with what the unboxed calls of unboxed.cpp gave on the same
// arguments. VALUES_CASES and VALUES_RESULTS are the files that cases.py and that program wrote.
func TestValues(t *testing.T) {
	if err := gotorch.SetNumThreads(1); err != nil {
		t.Fatal(err)
	}
	results := map[string][]string{}
	for _, r := range read(t, os.Getenv("VALUES_RESULTS")) {
		results[r.key] = r.lines
	}
	agree := map[string]bool{}
	var noticed noticing
	for _, c := range read(t, os.Getenv("VALUES_CASES")) {
		run, ok := bindings[c.key]
		if !ok {
			t.Fatalf("%s has a case, but no binding", c.key)
		}
		want := results[c.key]
		have, options := call(run, c.lines, -1)
		switch {
		case len(want) == 0 || len(have) == 0:
			t.Errorf("%s: no result: unboxed %q, Go %q", c.key, want, have)
		case failed(want) != failed(have):
			t.Errorf("%s: unboxed %.300q, Go %.300q", c.key, want, have)
		case failed(want):
			if _, known := reasons[c.key]; !known {
				t.Errorf("%s: the case does not run: %s", c.key, want[0])
			}
		default:
			if problem := compare(want, have, shapesOnly[c.key]); problem != "" {
				t.Errorf("%s: %s", c.key, problem)
			} else {
				agree[c.key] = true
				noticed.count(run, c.lines, options, want, shapesOnly[c.key])
			}
		}
	}
	for key, why := range reasons {
		fmt.Printf("%s has no case that runs: it %s\n", key, why)
	}
	for key := range bindings {
		if _, known := reasons[key]; known == agree[key] {
			if known {
				t.Errorf("%s agrees, but is listed as having no case that runs: %s", key, reasons[key])
			} else {
				t.Errorf("%s has neither a case that agrees nor a reason why not", key)
			}
		}
	}
	fmt.Printf("%d of %d options change the result when they are left out\n", noticed.yes, noticed.yes+noticed.no)
	if float64(noticed.yes) < leastNoticed*float64(noticed.yes+noticed.no) {
		t.Errorf("that is under %.0f %%: cases set options to their default, or to what changes nothing", 100*leastNoticed)
	}
	share := float64(len(agree)) / float64(len(bindings))
	fmt.Printf("%d of %d bindings agree with the unboxed call: %.1f %%\n", len(agree), len(bindings), 100*share)
	if share < leastShare {
		t.Errorf("that is under %.0f %%", 100*leastShare)
	}
}

// noticing counts the options that a case would notice to be forgotten.
type noticing struct{ yes, no int }

func (n *noticing) count(run func(*arguments) []any, lines []string, options []int, want []string, shapes bool) {
	for _, option := range options {
		if without, _ := call(run, lines, option); failed(without) || compare(want, without, shapes) != "" {
			n.yes++
		} else {
			n.no++
		}
	}
}

type block struct {
	key   string
	lines []string
}

func read(t *testing.T, path string) []block {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return blocks(t, file)
}

func blocks(t *testing.T, file io.Reader) (found []block) {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if key, ok := strings.CutPrefix(lines.Text(), "case "); ok {
			found = append(found, block{key: key})
		} else {
			last := &found[len(found)-1]
			last.lines = append(last.lines, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func failed(lines []string) bool { return len(lines) > 0 && strings.HasPrefix(lines[0], "error ") }

// call gives the lines of a case's results and of its tensors after the call, and which options the case sets.
func call(run func(*arguments) []any, lines []string, leftOut int) (text []string, options []int) {
	err := gotorch.Try(func() {
		gotorch.Scope(func() {
			a := &arguments{lines: lines, leftOut: leftOut}
			a.read()
			if err := gotorch.ManualSeed(20); err != nil {
				panic(err)
			}
			var described []string
			for _, result := range run(a) {
				described = append(described, describe(result)...)
			}
			for _, given := range a.given {
				described = append(described, describe(given)...)
			}
			text, options = described, a.options
		})
	})
	if err != nil {
		return []string{"error " + strings.SplitN(err.Error(), "\n", 2)[0]}, nil
	}
	return text, options
}

func describe(result any) []string {
	switch v := result.(type) {
	case *gotorch.Tensor:
		if v == nil {
			return []string{"undefined"}
		}
		return []string{describeTensor(v)}
	case []*gotorch.Tensor:
		lines := []string{fmt.Sprintf("list %d", len(v))}
		for _, t := range v {
			lines = append(lines, describe(t)...)
		}
		return lines
	case bool:
		if v {
			return []string{"bool 1"}
		}
		return []string{"bool 0"}
	case int:
		return []string{fmt.Sprintf("int %d", v)}
	case gotorch.DType:
		return []string{fmt.Sprintf("dtype %d", int(v))}
	}
	panic(fmt.Sprintf("a result of type %T", result))
}

func describeTensor(t *gotorch.Tensor) string {
	var text strings.Builder
	layout := "dense"
	dtype := t.DType()
	if t.SparseDim() > 0 {
		layout = "sparse"
		t = t.ToDense()
	}
	fmt.Fprintf(&text, "tensor %d %s", int(dtype), layout)
	for _, size := range t.Shape() {
		fmt.Fprintf(&text, " %d", size)
	}
	text.WriteString(":")
	t = t.ResolveConj().ResolveNeg().Contiguous()
	switch {
	case dtype == gotorch.Complex32 || dtype == gotorch.Complex64 || dtype == gotorch.Complex128:
		for _, x := range gotorch.ToSlice[complex128](t.To(gotorch.Complex128)) {
			fmt.Fprintf(&text, " %v %v", real(x), imag(x))
		}
	case dtype.IsFloat():
		for _, x := range gotorch.ToSlice[float64](t.To(gotorch.Float64)) {
			fmt.Fprintf(&text, " %v", x)
		}
	default:
		for _, n := range gotorch.ToSlice[int](t.To(gotorch.Int64)) {
			fmt.Fprintf(&text, " %d", n)
		}
	}
	return text.String()
}

// compare says where the lines differ by more than rounding, "" when nowhere.
func compare(want, have []string, shapes bool) string {
	if len(want) != len(have) {
		return fmt.Sprintf("%d lines of results, not %d: %.300q, not %.300q", len(have), len(want), have, want)
	}
	for i := range want {
		wantHead, wantElements, _ := strings.Cut(want[i], ":")
		haveHead, haveElements, _ := strings.Cut(have[i], ":")
		if wantHead != haveHead {
			return fmt.Sprintf("%q, not %q", haveHead, wantHead)
		}
		if shapes {
			continue
		}
		w, h := strings.Fields(wantElements), strings.Fields(haveElements)
		if len(w) != len(h) {
			return fmt.Sprintf("%d elements, not %d", len(h), len(w))
		}
		for j := range w {
			if !near(w[j], h[j]) {
				return fmt.Sprintf("element %d of line %d (%s) is %s, not %s", j, i, wantHead, h[j], w[j])
			}
		}
	}
	return ""
}

func near(want, have string) bool {
	w, err1 := strconv.ParseFloat(want, 64)
	h, err2 := strconv.ParseFloat(have, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	if math.IsNaN(w) || math.IsInf(w, 0) {
		return math.IsNaN(w) && math.IsNaN(h) || w == h
	}
	return math.Abs(w-h) <= 1e-6+1e-5*math.Abs(w)
}
