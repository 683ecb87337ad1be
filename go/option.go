package gotorch

import (
	"bytes"
	"encoding/json"

	"tandem.example/gotorch/internal/bridge"
)

// Opt is an optional value, as a field of an options struct where zero is a value other than the default, such as a bias
// that is there unless Bias is false: its zero value means the default, [Some] sets it.
type Opt[T any] struct {
	value T
	set   bool
}

// isOpt tells one from a number.
func (Opt[T]) isOpt() {}

// Some is a value that is set, to zero as well.
func Some[T any](value T) Opt[T] { return Opt[T]{value, true} }

// Get gives the value and whether it was set.
func (o Opt[T]) Get() (T, bool) { return o.value, o.set }

// Or is the value, or fallback when it was not set.
func (o Opt[T]) Or(fallback T) T {
	if o.set {
		return o.value
	}
	return fallback
}

// MarshalJSON is the value, null when it was not set.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.set {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON sets the value; null unsets it. A [Scalar] is an int where the number has neither point nor exponent.
func (o *Opt[T]) UnmarshalJSON(text []byte) error {
	var read Opt[T]
	if string(bytes.TrimSpace(text)) != "null" {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&read.value); err != nil {
			return err
		}
		read.set = true
		if scalar, ok := any(&read.value).(*Scalar); ok {
			number, err := bridge.PlainNumber(*scalar)
			if err != nil {
				return err
			}
			*scalar = number
		}
	}
	*o = read
	return nil
}

// GobEncode has options in gob, as their JSON.
func (o Opt[T]) GobEncode() ([]byte, error) { return o.MarshalJSON() }

// GobDecode reads what GobEncode wrote.
func (o *Opt[T]) GobDecode(text []byte) error { return o.UnmarshalJSON(text) }

// given tells whether a function's options were given; panics when they were more than once.
func given(count int) bool { return bridge.Given(count) }

// first of a function's optional options.
func first[T any](options []T) T { return bridge.First(options) }
