package gotorch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/testmain"
)

// loadIn runs a program that calls Load, in a folder that has a libtandem.so which must not be taken.
func loadIn(t *testing.T, variables ...string) string {
	t.Helper()
	folder := t.TempDir()
	fakeLibrary(t, filepath.Join(folder, "libtandem.so"), `"9.9.9"`)
	variables = append([]string{"TANDEM_LIBRARY=", "GOTORCH_TEST_NO_CHECKOUT=1", "HOME=" + t.TempDir()}, variables...)
	command := testmain.Command(t, "load", variables...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return string(output)
}

// fakeLibrary is a libtandem of another version, without any other function.
func fakeLibrary(t *testing.T, path, version string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "fake.c")
	if err := os.WriteFile(source, []byte("const char* tdm_version(void) { return "+version+"; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

func wantAll(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Fatalf("%q is missing in: %s", part, text)
		}
	}
}

func TestMissingLibraryTellsWhereItLooked(t *testing.T) {
	for _, folder := range []string{"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"} {
		if found, _ := filepath.Glob(folder + "/libtandem.so*"); len(found) > 0 {
			t.Skip("libtandem is installed: ", found)
		}
	}
	home := t.TempDir()
	text := loadIn(t, "HOME="+home)
	wantAll(t, text, "cannot find libtandem.so", "TANDEM_LIBRARY", "install Tandem", "(beside the program)",
		"../lib of the program", filepath.Join(home, ".local/lib"), "/usr/local/lib")
}

func TestPerUserInstallIsFound(t *testing.T) {
	home := t.TempDir()
	lib := filepath.Join(home, ".local", "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	fakeLibrary(t, filepath.Join(lib, "libtandem.so.0"), `"0.0.7"`)
	wantAll(t, loadIn(t, "HOME="+home), lib+"/libtandem.so.0 is version 0.0.7", "needs libtandem")
}

func TestTooOldLibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libtandem.so")
	fakeLibrary(t, path, `"0.0.1"`)
	wantAll(t, loadIn(t, "TANDEM_LIBRARY="+path), path+" is version 0.0.1", "needs libtandem", "or later")
}

func TestLibraryThatLacksFunctions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libtandem.so")
	fakeLibrary(t, path, `"9.9.9"`)
	wantAll(t, loadIn(t, "TANDEM_LIBRARY="+path), path, "lacks tdm_load")
}

func TestWrongTandemLibrary(t *testing.T) {
	folder := t.TempDir()
	wantAll(t, loadIn(t, "TANDEM_LIBRARY="+folder), "TANDEM_LIBRARY="+folder, "neither libtandem.so nor a folder")
	path := filepath.Join(folder, "libtandem.so")
	if err := os.WriteFile(path, []byte("no library\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantAll(t, loadIn(t, "TANDEM_LIBRARY="+folder), "cannot load "+path, "install Tandem again")
}

func TestWrongLibTorch(t *testing.T) {
	if err := gotorch.Load(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	wantAll(t, loadIn(t, "TANDEM_LIBRARY="+gotorch.LibraryPath(), "TANDEM_LIBTORCH="+folder), folder, "TANDEM_LIBTORCH")
}

func TestLoadedVersions(t *testing.T) {
	if err := gotorch.Load(); err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(gotorch.LibraryPath()) || !strings.HasPrefix(gotorch.LibTorchVersion(), "2.") {
		t.Fatal(gotorch.LibraryPath(), gotorch.LibTorchVersion())
	}
}
