package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"tandem.example/gotorch/internal/c"
)

// MarshalOptions writes a struct of options.
func MarshalOptions(options any) ([]byte, error) { return json.Marshal(options) }

// UnmarshalOptions reads a struct of options in which fields of an interface type are numbers: int where JSON's number has
// neither point nor exponent, else float64, or bool.
func UnmarshalOptions(text []byte, options any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(options); err != nil {
		return err
	}
	object := reflect.ValueOf(options).Elem()
	for i := range object.NumField() {
		field := object.Field(i)
		if field.Kind() != reflect.Interface || field.IsNil() {
			continue
		}
		switch field.Interface().(type) {
		case json.Number, string, []any, map[string]any: // of the text; what was there before is a number already
			number, err := PlainNumber(field.Interface())
			if err != nil {
				return err
			}
			field.Set(reflect.ValueOf(number))
		}
	}
	return nil
}

// PlainNumber makes one of Go's numbers of what JSON has.
func PlainNumber(value any) (any, error) {
	switch number := value.(type) {
	case bool:
		return number, nil
	case json.Number:
		if strings.ContainsAny(number.String(), ".eE") {
			return number.Float64()
		}
		n, err := number.Int64()
		return int(n), err
	}
	return nil, Error(&c.Failure{Code: invalidArgument, Op: "option", Message: fmt.Sprintf("%v is no number", value)})
}
