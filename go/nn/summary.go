package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tandem.example/gotorch"
)

// Summary is a table of a tree's modules, as torchinfo prints it; see [Summarize].
type Summary struct {
	Rows                  []SummaryRow
	Parameters, Trainable int // numbers of elements, each counted once
	Bytes                 int // of parameters and buffers
}

// SummaryRow is of one module.
type SummaryRow struct {
	Name       string // its path, "" for the whole
	Type       string // such as "Conv2d"
	Depth      int
	Outputs    [][]int // shapes of what its last forward gave; nil where no hook saw one
	Parameters int     // elements of its own parameters, without its parts' and those of rows before
}

// Summarize lists m's modules, with shapes if forward is not nil: it is called once, in evaluation mode and without
// gradients, to run the model on an input of the program's choice. Shapes are of modules that call hooks; see
// [RegisterForwardHook].
//
//	fmt.Print(nn.Summarize(net, func() { net.Forward(gotorch.Zeros([]int{1, 3, 224, 224})) }))
func Summarize(m Module, forward func()) *Summary {
	summary := &Summary{}
	counted := map[*gotorch.Tensor]bool{}
	modules := NamedModules(m)
	for _, child := range modules {
		row := SummaryRow{Name: child.Name, Type: typeName(child.Module)}
		if child.Name != "" {
			row.Depth = 1 + strings.Count(child.Name, ".")
		}
		for _, t := range ownParameters(child.Module) {
			if !counted[t] {
				counted[t] = true
				row.Parameters += t.Numel()
			}
		}
		summary.Rows = append(summary.Rows, row)
	}
	summary.Parameters, summary.Trainable = ParameterCount(m), TrainableParameterCount(m)
	for _, t := range slices.Concat(Parameters(m), Buffers(m)) {
		summary.Bytes += t.Numel() * t.DType().Size()
	}
	if forward != nil {
		summary.watch(modules, forward)
	}
	return summary
}

// watch fills the shapes in.
func (s *Summary) watch(modules []Child, forward func()) {
	trained := make([]bool, len(modules))
	for i, child := range modules {
		remove := RegisterForwardHook(child.Module, func(_ Module, _ []any, outputs []*gotorch.Tensor) []*gotorch.Tensor {
			s.Rows[i].Outputs = nil
			for _, t := range outputs {
				if t != nil {
					s.Rows[i].Outputs = append(s.Rows[i].Outputs, t.Shape())
				}
			}
			return nil
		})
		defer remove()
		trained[i] = child.Module.IsTraining()
		child.Module.setTraining(false)
	}
	defer func() {
		for i, child := range modules {
			child.Module.setTraining(trained[i])
		}
	}()
	gotorch.NoGrad(func() { gotorch.Scope(forward) })
}

// ownParameters are those of a module and of what it embeds.
func ownParameters(m Module) []*gotorch.Tensor {
	has := partsOf(m)
	own := tensors(has.parameters)
	for _, child := range has.children {
		if child.Name == "" {
			own = append(own, ownParameters(child.Module)...)
		}
	}
	return own
}

func typeName(m Module) string {
	if native, ok := m.(*Native); ok {
		return native.kind
	}
	t := reflect.TypeOf(m)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// String is the table.
func (s *Summary) String() string {
	rows := [][]string{{"Module", "Output shape", "Parameters"}}
	for _, row := range s.Rows {
		name := strings.Repeat("  ", row.Depth) + row.Type
		if row.Name != "" {
			name += " (" + row.Name[strings.LastIndex(row.Name, ".")+1:] + ")"
		}
		shapes, count := make([]string, len(row.Outputs)), "--"
		for i, shape := range row.Outputs {
			shapes[i] = strings.ReplaceAll(fmt.Sprint(shape), " ", ", ")
		}
		if row.Parameters > 0 {
			count = grouped(row.Parameters)
		}
		if len(shapes) == 0 {
			shapes = []string{"--"}
		}
		rows = append(rows, []string{name, strings.Join(shapes, ", "), count})
	}
	widths := make([]int, 3)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	rule := strings.Repeat("=", widths[0]+widths[1]+widths[2]+4) + "\n"
	var out strings.Builder
	for i, row := range rows {
		if i == 1 {
			out.WriteString(rule)
		}
		line := fmt.Sprintf("%-*s  %-*s  %*s", widths[0], row[0], widths[1], row[1], widths[2], row[2])
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	fmt.Fprintf(&out, "%sParameters: %s, of which %s are trained. Parameters and buffers: %.2f MB\n", rule,
		grouped(s.Parameters), grouped(s.Trainable), float64(s.Bytes)/1e6)
	return out.String()
}

// grouped is a number with a comma between thousands.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
