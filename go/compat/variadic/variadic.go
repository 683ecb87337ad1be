// Package variadic reads options that a function takes as its last argument, a map by their names.
package variadic

// Has tells whether the option is given.
func Has(opts []map[string]any, key string) bool {
	_, ok := Lookup(opts, key)
	return ok
}

// Get is the option or, where it is not given, the default; nil without one, and where no options are given at all.
func Get(opts []map[string]any, key string, dft ...any) any {
	value, ok := Lookup(opts, key)
	if !ok && len(opts) > 0 && len(dft) > 0 {
		return dft[0]
	}
	return value
}

// Lookup is the option, and whether it is given.
func Lookup(opts []map[string]any, key string) (any, bool) {
	if len(opts) == 0 {
		return nil, false
	}
	value, ok := opts[0][key]
	return value, ok
}
