package variadic

import "testing"

func TestOptions(t *testing.T) {
	opts := []map[string]any{{"dim": 1, "off": nil}}
	if !Has(opts, "dim") || !Has(opts, "off") || Has(opts, "keepDim") || Has(nil, "dim") {
		t.Error("Has")
	}
	for i, got := range []any{Get(opts, "dim"), Get(opts, "dim", 5), Get(opts, "keepDim"), Get(opts, "keepDim", 5), Get(opts, "off", 5), Get(nil, "dim", 5)} {
		if want := []any{1, 1, nil, 5, nil, nil}[i]; got != want {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
	if v, ok := Lookup(opts, "dim"); v != 1 || !ok {
		t.Error(v, ok)
	}
	if v, ok := Lookup(nil, "dim"); v != nil || ok {
		t.Error(v, ok)
	}
}
