//go:build linux && !cgo

package need

// The compiler shows the text.
const _ int = "gotorch needs cgo: set CGO_ENABLED=1 and install a C compiler, such as Debian's package gcc"
