// A shared library in Go for programs in other languages, which may have a LibTorch of their own.
package main

// #include <stdlib.h>
import "C"
import (
	"fmt"
	"unsafe"

	"tandem.example/gotorch"
)

// embedded_sum gives "LIBTORCH SUM" of a 2×3 tensor of ones, or "error: …"; freed with embedded_free.
//
//export embedded_sum
func embedded_sum() *C.char {
	if err := gotorch.Load(); err != nil {
		return C.CString("error: " + err.Error())
	}
	var sum float64
	err := gotorch.Try(func() {
		gotorch.Scope(func() { sum = gotorch.Ones([]int{2, 3}).Sum().Item() })
	})
	if err != nil {
		return C.CString("error: " + err.Error())
	}
	return C.CString(fmt.Sprintf("%s %g", gotorch.LibTorchVersion(), sum))
}

//export embedded_free
func embedded_free(text *C.char) { C.free(unsafe.Pointer(text)) }

func main() {}
