package nn

import (
	"reflect"
	"strings"
)

// hidden fields are no place for modules and tensors: interfaces that are not exported, and are the standard library's:
// errors, contexts, locks, writers. Other goroutines may change what is behind them.
func hidden(object reflect.Type, field reflect.StructField) bool {
	return isPrivateInterface(field) && (isStandard(object) || isStandard(field.Type))
}

// holdsStandard tells the same of what such a field of another type has now, such as an HTTP client.
func holdsStandard(field reflect.StructField, value reflect.Value) bool {
	if !isPrivateInterface(field) || value.IsNil() {
		return false
	}
	held := value.Elem().Type()
	if held.Kind() == reflect.Pointer {
		held = held.Elem()
	}
	return isStandard(held)
}

func isPrivateInterface(field reflect.StructField) bool {
	return !field.IsExported() && field.Type.Kind() == reflect.Interface
}

// Folders of the standard library. Modules may have names without a dot too, so that tells nothing.
const standardFolders = " archive bufio bytes cmp compress container context crypto database debug embed encoding errors " +
	"expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime " +
	"slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak "

// isStandard tells of named types, and error, whether they are the standard library's.
func isStandard(t reflect.Type) bool {
	folder, _, _ := strings.Cut(t.PkgPath(), "/")
	return folder != "" && strings.Contains(standardFolders, " "+folder+" ") || t.PkgPath() == "" && t.Name() == "error"
}
