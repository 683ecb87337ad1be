package optim

import (
	"encoding/json"
	"fmt"
	"math"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/c"
)

// SchedulerState is the state of a scheduler by Python's names. Values are float64, int, bool, string, nil, []float64, []int,
// []any and SchedulerState. It can be written as JSON, in which what is infinite is "Infinity" and "-Infinity".
type SchedulerState map[string]any

func plain(values c.Dict) SchedulerState {
	state := make(SchedulerState, len(values)/2)
	for i := 0; i+1 < len(values); i += 2 {
		name, _ := values[i].(string)
		state[name] = plainValue(values[i+1])
	}
	return state
}

func plainValue(value c.Value) any {
	switch v := value.(type) {
	case int64:
		return int(v)
	case c.Dict:
		return plain(v)
	case []c.Value:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = plainValue(one)
		}
		return list
	}
	return value
}

func (s SchedulerState) put(f *c.Frame) {
	f.Dict(func() {
		for name, value := range s {
			f.String(name)
			putValue(f, name, value)
		}
	})
}

func putValue(f *c.Frame, name string, value any) {
	switch v := value.(type) {
	case nil:
		f.None()
	case bool:
		f.Bool(v)
	case int:
		f.Int(int64(v))
	case float64:
		f.Double(v)
	case string:
		f.String(v)
	case []int:
		f.Ints(v)
	case []float64:
		f.Doubles(v)
	case SchedulerState:
		v.put(f)
	case map[string]any:
		SchedulerState(v).put(f)
	case []any:
		f.Tuple(func() {
			for _, one := range v {
				putValue(f, name, one)
			}
		})
	default:
		f.Release()
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "optim.SchedulerState",
			Message: fmt.Sprintf("'%s' is a %T, which no state of a scheduler has", name, value)})
	}
}

// MarshalJSON writes the state.
func (s SchedulerState) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any(finite(s).(SchedulerState)))
}

// finite has text in the place of what JSON has no number for.
func finite(value any) any {
	switch v := value.(type) {
	case SchedulerState:
		all := make(SchedulerState, len(v))
		for name, one := range v {
			all[name] = finite(one)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = finite(one)
		}
		return all
	case float64:
		if math.IsInf(v, 1) {
			return "Infinity"
		} else if math.IsInf(v, -1) {
			return "-Infinity"
		}
	}
	return value
}

// UnmarshalJSON reads what MarshalJSON wrote. Whole numbers come back as float64, which LoadState takes as well.
func (s *SchedulerState) UnmarshalJSON(text []byte) error {
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*s = infinite(values).(SchedulerState)
	return nil
}

func infinite(value any) any {
	switch v := value.(type) {
	case map[string]any:
		all := make(SchedulerState, len(v))
		for name, one := range v {
			all[name] = infinite(one)
		}
		return all
	case []any:
		for i, one := range v {
			v[i] = infinite(one)
		}
	case string:
		if v == "Infinity" {
			return math.Inf(1)
		} else if v == "-Infinity" {
			return math.Inf(-1)
		}
	}
	return value
}
