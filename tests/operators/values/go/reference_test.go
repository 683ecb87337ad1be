package values

import (
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

// leastReferences of operators have results and gradients of Python's torch.
const leastReferences = 300

// TestReference compares results and gradients with those that Python's torch gave; see reference.py.
func TestReference(t *testing.T) {
	file, err := os.Open(os.Getenv("VALUES_REFERENCE"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]string{}
	for _, c := range read(t, os.Getenv("VALUES_CASES")) {
		cases[c.key] = c.lines
	}
	references := blocks(t, unpacked)
	for _, reference := range references {
		if cases[reference.key] == nil {
			t.Errorf("%s has a reference, but no case", reference.key)
			continue
		}
		have, err := differentiate(bindings[reference.key], cases[reference.key], reference.lines)
		if err != nil {
			t.Errorf("%s: %v", reference.key, err)
		} else if problem := compare(reference.lines, have, false); problem != "" {
			t.Errorf("%s: %s", reference.key, problem)
		}
	}
	fmt.Printf("results and gradients of %d operators are those of Python's torch\n", len(references))
	if len(references) < leastReferences {
		t.Errorf("that is fewer than %d", leastReferences)
	}
}

// differentiate gives the lines of a case's results and of the gradients that the reference has.
func differentiate(run func(*arguments) []any, lines, reference []string) (text []string, err error) {
	err = gotorch.Try(func() {
		gotorch.Scope(func() {
			a := &arguments{lines: lines, leftOut: -1, wide: true}
			a.read()
			grads := map[int]bool{}
			for _, line := range reference {
				var i int
				if n, _ := fmt.Sscanf(line, "grad %d", &i); n == 1 {
					grads[i] = true
					a.given[i].SetRequiresGrad(true)
				}
			}
			var loss *gotorch.Tensor
			for _, result := range tensorsOf(run(a)) {
				text = append(text, plainLine("result", result))
				if result.RequiresGrad() {
					if part := weighted(result); loss == nil {
						loss = part
					} else {
						loss = loss.Add(part)
					}
				}
			}
			if err := loss.Backward(); err != nil {
				panic(err)
			}
			for i, given := range a.given {
				if grads[i] {
					text = append(text, plainLine(fmt.Sprintf("grad %d", i), given.Grad()))
				}
			}
		})
	})
	return text, err
}

func tensorsOf(results []any) (list []*gotorch.Tensor) {
	for _, result := range results {
		switch v := result.(type) {
		case *gotorch.Tensor:
			list = append(list, v)
		case []*gotorch.Tensor:
			list = append(list, v...)
		}
	}
	return list
}

// weighted is the sum of all elements, the i-th times 1 + i mod 7 / 10.
func weighted(t *gotorch.Tensor) *gotorch.Tensor {
	if t.DType() == gotorch.Complex128 || t.DType() == gotorch.Complex64 {
		t = gotorch.ViewAsReal(t.ResolveConj())
	}
	weights := make([]float64, t.Numel())
	for i := range weights {
		weights[i] = 1 + float64(i%7)/10
	}
	return t.To(gotorch.Float64).Mul(gotorch.From(weights, t.Shape()...)).Sum()
}

// plainLine is a tensor without its type, which the reference does not have.
func plainLine(kind string, t *gotorch.Tensor) string {
	sizes, elements, _ := strings.Cut(describeTensor(t), ":")
	return kind + " " + strings.Join(strings.Fields(sizes)[3:], " ") + ":" + elements
}
