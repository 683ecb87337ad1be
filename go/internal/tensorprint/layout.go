package tensorprint

import (
	"strings"
)

// Body is the elements in brackets: "[[1, 2],\n [3, 4]]". shape is the whole tensor's; cells are of the elements that
// are printed, in C order: all, or the ends of each dimension where summary says so. indent is the column it begins in.
func Body(shape []int, cells Cells, indent int, summary bool, o Options) string {
	b := body{shape: shape, cells: cells, summary: summary, o: o}
	return b.slice(0, indent)
}

type body struct {
	shape   []int
	cells   Cells
	summary bool
	o       Options
	next    int // cell
}

func (b *body) slice(dim, indent int) string {
	switch len(b.shape) - dim {
	case 0:
		return b.cell()
	case 1:
		return b.vector(b.shape[dim], indent)
	}
	slices := b.list(b.shape[dim], "...", func() string { return b.slice(dim+1, indent+1) })
	separator := "," + strings.Repeat("\n", len(b.shape)-dim-1) + strings.Repeat(" ", indent+1)
	return "[" + strings.Join(slices, separator) + "]"
}

func (b *body) vector(size, indent int) string {
	dots := " ..."
	if b.o.EdgeItems == 0 {
		dots = "..."
	}
	items := b.list(size, dots, b.cell)
	perLine := max(1, (b.o.LineWidth-indent)/(b.cells.width+2))
	var lines []string
	for len(items) > 0 {
		n := min(perLine, len(items))
		lines = append(lines, strings.Join(items[:n], ", "))
		items = items[n:]
	}
	return "[" + strings.Join(lines, ",\n"+strings.Repeat(" ", indent+1)) + "]"
}

// list of a dimension's items, with dots in the middle when it is cut.
func (b *body) list(size int, dots string, item func() string) (items []string) {
	if !b.summary || !b.o.Cut(size) {
		for range size {
			items = append(items, item())
		}
		return items
	}
	for range b.o.EdgeItems {
		items = append(items, item())
	}
	items = append(items, dots)
	for range b.o.EdgeItems {
		items = append(items, item())
	}
	return items
}

func (b *body) cell() string {
	text := b.cells.text(b.next)
	b.next++
	return text
}

// Finish adds what a tensor has beside its elements, "dtype=torch.float64" for instance, and the bracket that ends it.
func Finish(text string, suffixes []string, indent int, newLine bool, o Options) string {
	width := len(text) - strings.LastIndex(text, "\n") + 1
	for _, suffix := range suffixes {
		if newLine || width+len(suffix)+2 > o.LineWidth {
			text += ",\n" + strings.Repeat(" ", indent) + suffix
			width, newLine = indent+len(suffix), false
		} else {
			text += ", " + suffix
			width += len(suffix) + 2
		}
	}
	return text + ")"
}
