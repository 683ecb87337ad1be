package gotorch

import "fmt"

// Element types, devices, layouts and memory formats are text in JSON and wherever else encoding.TextMarshaler is
// asked, by the names that they print as: "float32", "cuda:0", "strided", "channels_last". In gob they are their
// numbers, which never change.

// named finds what has a name.
func named[T fmt.Stringer](kind string, text []byte, all ...T) (T, error) {
	for _, one := range all {
		if one.String() == string(text) {
			return one, nil
		}
	}
	var zero T
	return zero, invalid(kind, "%q is no %s; there are %v", text, kind, all)
}

// MarshalText is the name. [ErrInvalidArgument] for a number that no element type has.
func (d DType) MarshalText() ([]byte, error) {
	if d.Size() == 0 {
		return nil, invalid("dtype", "%v is no element type", d)
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads a name, such as "float32". [ErrInvalidArgument] for what is none.
func (d *DType) UnmarshalText(text []byte) (err error) {
	found, err := ParseDType(string(text))
	if err == nil {
		*d = found
	}
	return err
}

// ParseDType reads a name, such as "float32".
func ParseDType(text string) (DType, error) {
	return named("dtype", []byte(text), Bool, Uint8, Int8, Int16, Int32, Int64, Uint16, Uint32, Uint64, Float16, BFloat16,
		Float32, Float64, Complex32, Complex64, Complex128, Float8E5M2, Float8E4M3FN)
}

// MarshalText is the name.
func (d Device) MarshalText() ([]byte, error) {
	text := d.String()
	if _, err := ParseDevice(text); err != nil {
		return nil, err
	}
	return []byte(text), nil
}

// UnmarshalText is [ParseDevice].
func (d *Device) UnmarshalText(text []byte) error {
	found, err := ParseDevice(string(text))
	if err == nil {
		*d = found
	}
	return err
}

func parseLayout(text []byte) (Layout, error) {
	return named("layout", text, Strided, Sparse, SparseCSR, SparseCSC, SparseBSR, SparseBSC)
}

// MarshalText is the name.
func (l Layout) MarshalText() ([]byte, error) {
	text := []byte(l.String())
	_, err := parseLayout(text)
	return text, err
}

// UnmarshalText reads a name, such as "sparse_coo".
func (l *Layout) UnmarshalText(text []byte) error {
	found, err := parseLayout(text)
	if err == nil {
		*l = found
	}
	return err
}

func parseMemoryFormat(text []byte) (MemoryFormat, error) {
	return named("memory format", text, ContiguousFormat, PreserveFormat, ChannelsLast, ChannelsLast3d)
}

// MarshalText is the name.
func (m MemoryFormat) MarshalText() ([]byte, error) {
	text := []byte(m.String())
	_, err := parseMemoryFormat(text)
	return text, err
}

// UnmarshalText reads a name, such as "channels_last".
func (m *MemoryFormat) UnmarshalText(text []byte) error {
	found, err := parseMemoryFormat(text)
	if err == nil {
		*m = found
	}
	return err
}
