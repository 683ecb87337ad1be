package optim

import (
	"runtime"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
)

type options struct {
	frame *c.Frame
	given []string
}

func begin(lr float64) options { return settings().double("lr", lr) }

func settings() options { return options{frame: c.NewFrame()} }

func (o options) name(name string) options {
	o.given = append(o.given, name)
	o.frame.Name(name)
	return o
}

func (o options) double(name string, x float64) options {
	o = o.name(name)
	o.frame.Double(x)
	return o
}

func (o options) optDouble(name string, x Opt[float64]) options {
	if x, ok := x.Get(); ok {
		return o.double(name, x)
	}
	return o
}

func (o options) doubles(name string, list []float64) options {
	o = o.name(name)
	o.frame.Doubles(list)
	return o
}

// setDoubles and setString leave an option out that has its zero value.

func (o options) setDoubles(name string, list []float64) options {
	if list == nil {
		return o
	}
	return o.doubles(name, list)
}

func (o options) int(name string, n int) options {
	o = o.name(name)
	o.frame.Int(int64(n))
	return o
}

func (o options) optInt(name string, n Opt[int]) options {
	if n, ok := n.Get(); ok {
		return o.int(name, n)
	}
	return o
}

func (o options) setString(name, text string) options {
	if text == "" {
		return o
	}
	o = o.name(name)
	o.frame.String(text)
	return o
}

func (o options) optBool(name string, b Opt[bool]) options {
	if b, ok := b.Get(); ok {
		return o.bool(name, b)
	}
	return o
}

func (o options) bool(name string, b bool) options {
	o = o.name(name)
	o.frame.Bool(b)
	return o
}

func (o options) pair(name string, list Opt[[2]float64]) options {
	if list, ok := list.Get(); ok {
		o = o.name(name)
		o.frame.Doubles(list[:])
	}
	return o
}

// What errors call the elements of lists, and Go's names of these and of options that Go spells in another way.
var (
	elements = []string{"beta1", "beta2", "etaminus", "etaplus", "step_size_min", "step_size_max", "ns_a", "ns_b", "ns_c"}
	fields   = map[string]string{
		"lr": "lr", "beta1": "Betas[0]", "beta2": "Betas[1]", "etaminus": "Etas[0]", "etaplus": "Etas[1]",
		"step_size_min": "StepSizes[0]", "step_size_max": "StepSizes[1]", "ns_a": "NSCoefficients[0]",
		"ns_b": "NSCoefficients[1]", "ns_c": "NSCoefficients[2]", "ns_coefficients": "NSCoefficients",
		"ns_steps": "NSSteps", "adjust_lr_fn": "AdjustLRFn",
	}
)

func (o options) create(kind string, parameters []*gotorch.Tensor) *Optimizer {
	handle, err := c.CreateOptimizer(kind, handlesOf(parameters, kind), o.frame)
	runtime.KeepAlive(parameters)
	if err != nil {
		err.Op, err.Message = "optim."+kind, names.Options(strings.TrimPrefix(err.Message, kind+": "),
			append(o.given, elements...), fields)
		bridge.Must(err)
	}
	return adopt(kind, handle, parameters)
}

func first[T any](options []T) T { return bridge.First(options) }
