package optim

import (
	"encoding/json"
	"fmt"
	"math"
)

// SchedulerState is the state of a scheduler by Python's names. Values are float64, int, bool, string, nil, []float64, []int,
// []any, map[string]any, and of MultiStepLR's milestones map[any]any, whose keys are int. gotorch.SavePt writes it for Python,
// and what gotorch.LoadPt reads of Python's is one. It can be written as JSON, too, in which what is infinite is "Infinity" and
// "-Infinity", and keys are text.
type SchedulerState map[string]any

// MarshalJSON writes the state.
func (s SchedulerState) MarshalJSON() ([]byte, error) {
	return json.Marshal(finite(map[string]any(s)))
}

// finite has text in the place of what JSON has no number for.
func finite(value any) any {
	switch v := value.(type) {
	case map[string]any:
		all := make(map[string]any, len(v))
		for name, one := range v {
			all[name] = finite(one)
		}
		return all
	case map[any]any:
		all := make(map[string]any, len(v))
		for key, one := range v {
			all[fmt.Sprint(key)] = finite(one)
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

// UnmarshalJSON reads what MarshalJSON wrote. Whole numbers come back as float64, and as text where they were keys, which
// LoadState takes as well.
func (s *SchedulerState) UnmarshalJSON(text []byte) error {
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*s = infinite(values).(map[string]any)
	return nil
}

func infinite(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			v[name] = infinite(one)
		}
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
