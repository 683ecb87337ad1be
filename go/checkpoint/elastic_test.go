package checkpoint

import (
	"encoding/json"
	"reflect"
	"testing"
)

// A commit is read into values that have gone on since.
func TestValuesAreThoseOfTheCommit(t *testing.T) {
	type inner struct {
		Epoch int            `json:"epoch,omitempty"`
		Seen  map[string]int `json:"seen"`
		Best  *float64
		Live  func() `json:"-"`
		calls int
	}
	best := 0.5
	calls := func() {}
	then := inner{Seen: map[string]int{"a": 1}, calls: 1}
	text, err := json.Marshal(then)
	if err != nil {
		t.Fatal(err)
	}
	now := inner{Epoch: 7, Seen: map[string]int{"a": 2, "b": 3}, Best: &best, Live: calls, calls: 9}
	reset(&now)
	if err := json.Unmarshal(text, &now); err != nil {
		t.Fatal(err)
	}
	if now.Epoch != 0 || !reflect.DeepEqual(now.Seen, then.Seen) || now.Best != nil || now.Live == nil || now.calls != 9 {
		t.Errorf("%+v", now)
	}
	counts := map[string]int{"a": 2, "b": 3}
	reset(&counts)
	if err := json.Unmarshal([]byte(`{"a": 1}`), &counts); err != nil || !reflect.DeepEqual(counts, then.Seen) {
		t.Error(counts, err)
	}
	reset(nil)
	reset(inner{})
	reset((*inner)(nil))
}
