package gotorch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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
	return outputOf(t, command)
}

func outputOf(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return string(output)
}

// loadFrom is loadIn for a copy of the program at a path.
func loadFrom(t *testing.T, path string, variables ...string) string {
	t.Helper()
	variables = append([]string{"TANDEM_LIBRARY=", "GOTORCH_TEST_NO_CHECKOUT=1", "HOME=" + t.TempDir()}, variables...)
	command := testmain.Command(t, "load", variables...)
	if _, err := os.Stat(path); err != nil {
		copyProgram(t, command.Path, path)
	}
	command.Path = path
	return outputOf(t, command)
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	program, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
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

func skipIfInstalled(t *testing.T) {
	t.Helper()
	for _, folder := range []string{"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"} {
		if found, _ := filepath.Glob(folder + "/libtandem.so*"); len(found) > 0 {
			t.Skip("libtandem is installed: ", found)
		}
	}
}

func TestMissingLibraryTellsWhereItLooked(t *testing.T) {
	skipIfInstalled(t)
	home := t.TempDir()
	text := loadIn(t, "HOME="+home)
	wantAll(t, text, "cannot find libtandem.so", "TANDEM_LIBRARY", "install Tandem", "(beside the program)",
		filepath.Join(home, ".local/lib"), "/usr/local/lib")
	wantAll(t, loadFrom(t, filepath.Join(t.TempDir(), "bin", "program")), "cannot find libtandem.so", "../lib of the program")
}

func TestRelativeTandemLibraryIsRefused(t *testing.T) {
	for _, path := range []string{"libtandem.so", "./libtandem.so", "."} {
		wantAll(t, loadIn(t, "TANDEM_LIBRARY="+path), "TANDEM_LIBRARY="+path+" is a relative path", "give an absolute one")
	}
}

// A folder above the program's may be anybody's, but for bin/ and lib/ of one prefix.
func TestLibBesideTheProgramsFolder(t *testing.T) {
	skipIfInstalled(t)
	prefix := t.TempDir()
	if err := os.Mkdir(filepath.Join(prefix, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	fakeLibrary(t, filepath.Join(prefix, "lib", "libtandem.so"), `"0.0.7"`)
	wantAll(t, loadFrom(t, filepath.Join(prefix, "programs", "program")), "cannot find libtandem.so")
	wantAll(t, loadFrom(t, filepath.Join(prefix, "bin", "program")), "lib/libtandem.so is version 0.0.7")
}

// As a setuid program of root's is started by a user who sets the environment.
func TestProgramsWithMoreRightsTakeNothingFromTheEnvironment(t *testing.T) {
	skipIfInstalled(t)
	folder := t.TempDir()
	var system syscall.Statfs_t
	const noSuid, noExec = 2, 8
	if os.Geteuid() != 0 || syscall.Statfs(folder, &system) != nil || system.Flags&(noSuid|noExec) != 0 {
		t.Skip("only root, on a file system without nosuid and noexec, gives a program to another group")
	}
	home := t.TempDir()
	lib := filepath.Join(home, ".local", "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(lib, "libtandem.so.0"), filepath.Join(folder, "libtandem-fake.so")} {
		fakeLibrary(t, path, `"0.0.7"`)
	}
	program := filepath.Join(folder, "program")
	copyProgram(t, testmain.Command(t, "load").Path, program)
	if err := os.Chown(program, 0, 65534); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(program, 0o755|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	text := loadFrom(t, program, "HOME="+home, "TANDEM_LIBRARY="+filepath.Join(folder, "libtandem-fake.so"))
	wantAll(t, text, "cannot find libtandem.so")
	if strings.Contains(text, home) {
		t.Fatal("it looked in the user's home: ", text)
	}
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
