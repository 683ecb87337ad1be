//go:build !linux

package need

// The compiler shows the text.
const _ int = "gotorch runs on Linux alone, where libtandem does: build with GOOS=linux and CGO_ENABLED=1 on a Linux machine"
