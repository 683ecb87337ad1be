package gotorch

// Opt is an optional value, as a field of an options struct: its zero value means PyTorch's default, [Some] sets it.
type Opt[T any] struct {
	value T
	set   bool
}

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

// first of a function's optional options.
func first[T any](options []T) (chosen T) {
	if len(options) > 0 {
		chosen = options[0]
	}
	return chosen
}
