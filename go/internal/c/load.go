package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// HeaderVersion is the version of tandem.h that this package was built with.
var HeaderVersion = fmt.Sprintf("%d.%d.%d", C.TDM_VERSION_MAJOR, C.TDM_VERSION_MINOR, C.TDM_VERSION_PATCH)

// CheckoutLibraries are further folders to look in; the module's own tests set them.
var CheckoutLibraries []string

var loading struct {
	sync.Mutex
	ready atomic.Bool
	bound atomic.Pointer[string] // path of the opened library
}

// Path of the library that was opened, "" before. Takes no lock: failures are described while Load holds it.
func Path() string {
	if path := loading.bound.Load(); path != nil {
		return *path
	}
	return ""
}

func version() string { return C.GoString(C.tdm_version()) }

// LibTorchVersion is "2.11.0", or "" before loading.
func LibTorchVersion() string { return C.GoString(C.tdm_libtorch_version()) }

// Load opens libtandem and has it open LibTorch. After its first success it costs an atomic load.
func Load() *Failure {
	if loading.ready.Load() {
		return nil
	}
	loading.Lock()
	defer loading.Unlock()
	if loading.ready.Load() {
		return nil
	}
	if Path() == "" {
		if err := open(); err != nil {
			return err
		}
	}
	if err := failure(C.tdm_load(nil)); err != nil {
		return err
	}
	loading.ready.Store(true)
	return nil
}

// hasMoreRights tells whether the process has rights that the user who started it does not have (setuid, setgid,
// capabilities). What that user sets then does not decide which code it runs.
func hasMoreRights() bool { return C.tg_has_more_rights() != 0 }

// folders where libtandem may lie, in order, each with what a message calls it. The working directory is never one, nor
// a folder above the program's, where others may write, but for bin/ and lib/ of one prefix.
func folders() (dirs, names []string) {
	add := func(dir, name string) {
		if filepath.IsAbs(dir) {
			dirs, names = append(dirs, filepath.Clean(dir)), append(names, name)
		}
	}
	if executable, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(executable); err == nil {
			executable = real
		}
		dir := filepath.Dir(executable)
		add(dir, "beside the program")
		if filepath.Base(dir) == "bin" {
			add(filepath.Join(dir, "..", "lib"), "../lib of the program")
		}
	}
	for _, dir := range CheckoutLibraries {
		add(dir, "the checkout's build")
	}
	if home, err := os.UserHomeDir(); err == nil && !hasMoreRights() {
		add(filepath.Join(home, ".local", "lib"), "per-user install")
	}
	for _, dir := range []string{"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"} {
		add(dir, "system install")
	}
	return dirs, names
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// library in a folder: by the name that counts ABI breaks, else by the plain one.
func libraryIn(dir string) string {
	for _, name := range []string{"libtandem.so.0", "libtandem.so"} {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
	}
	return ""
}

func find() (string, *Failure) {
	if given := os.Getenv("TANDEM_LIBRARY"); given != "" && !hasMoreRights() {
		if !filepath.IsAbs(given) {
			return "", &Failure{Code: CodeLibrary, Op: "load", Message: fmt.Sprintf(
				"TANDEM_LIBRARY=%s is a relative path, which means another file in another working directory; give an absolute one", given)}
		}
		if isFile(given) {
			return given, nil
		}
		if path := libraryIn(given); path != "" {
			return path, nil
		}
		return "", &Failure{Code: CodeLibrary, Op: "load", Message: fmt.Sprintf(
			"TANDEM_LIBRARY=%s is neither libtandem.so nor a folder that holds it; correct it or unset it", given)}
	}
	dirs, names := folders()
	var looked strings.Builder
	for i, dir := range dirs {
		if path := libraryIn(dir); path != "" {
			return path, nil
		}
		fmt.Fprintf(&looked, "\n  %s (%s)", dir, names[i])
	}
	return "", &Failure{Code: CodeLibrary, Op: "load", Message: "cannot find libtandem.so; install Tandem " + HeaderVersion +
		" or later, or set TANDEM_LIBRARY to the library or its folder. Looked in:" + looked.String()}
}

func open() *Failure {
	path, err := find()
	if err != nil {
		return err
	}
	name := C.CString(path)
	defer free(name)
	var why *C.char
	library := C.tg_open(name, &why)
	if library == nil {
		defer free(why)
		return &Failure{Code: CodeLibrary, Op: "load", Message: fmt.Sprintf("cannot load %s: %s; install Tandem again, or set TANDEM_LIBRARY to another libtandem.so",
			path, C.GoString(why))}
	}
	missing := int(C.tandem_go_bind(library))
	if found := version(); found == "" || older(found, HeaderVersion) {
		if found == "" {
			found = "unknown"
		}
		return &Failure{Code: CodeLibrary, Op: "load", Message: fmt.Sprintf(
			"%s is version %s and lacks %d functions; this gotorch needs libtandem %s or later: install that, or set TANDEM_LIBRARY to it",
			path, found, missing, HeaderVersion)}
	}
	loading.bound.Store(&path)
	return nil
}

// older tells whether version a, "1.2.3", comes before b.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	return false
}

// Shutdown aborts groups, stops loaders and joins native threads. Nothing was loaded: it does nothing.
func Shutdown(milliseconds int64) *Failure {
	if Path() == "" {
		return nil
	}
	shutdownAsked.Store(true)
	return failure(C.tdm_shutdown(C.int64_t(milliseconds)))
}

// LiveCount of handles of a type, see tandem.h.
func LiveCount(kind string) int64 {
	name := C.CString(kind)
	defer free(name)
	return int64(C.tdm_live_count(name))
}

func CUDADeviceCount() (int, *Failure) {
	if err := Load(); err != nil {
		return 0, err
	}
	var count C.int32_t
	err := failure(C.tdm_cuda_device_count(&count))
	return int(count), err
}
