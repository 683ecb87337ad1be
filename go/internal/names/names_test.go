package names

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// Every name of the C ABI that a string literal of the library has may stand in an error.
func TestEveryNameInAMessageHasOneInGo(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, "capi/src")); err != nil {
		t.Skip("the library's sources are not beside the module")
	}
	literal := regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
	name := regexp.MustCompile(`\b(?:tdm|TDM)_\w+`)
	seen := 0
	for _, folder := range []string{"capi/src", "cpp/src"} {
		files(t, filepath.Join(root, folder), func(path, text string) {
			if strings.Contains(path, "launch/doctor") { // it opens the library by these names
				return
			}
			for _, quoted := range literal.FindAllString(text, -1) {
				for _, one := range name.FindAllString(quoted, -1) {
					seen++
					if _, ok := table[one]; ok == slices.Contains(internal, one) {
						t.Errorf("%s: %s must stand in the table of Go's names or in the list of internal ones, not in both", path, one)
					}
				}
			}
		})
	}
	if seen < 200 {
		t.Fatal("only", seen, "names were found")
	}
}

// What the table promises must be there.
func TestEveryGoNameIsOfTheAPI(t *testing.T) {
	declared := map[string]bool{}
	files(t, "../..", func(path, text string) {
		relative, _ := filepath.Rel("../..", path)
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(relative, "internal") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		prefix := file.Name.Name + "."
		if prefix == "gotorch." {
			prefix = ""
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				declared[prefix+receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						declared[prefix+s.Name.Name] = true
					case *ast.ValueSpec:
						for _, one := range s.Names {
							declared[prefix+one.Name] = true
						}
					}
				}
			}
		}
	})
	for ofC, ofGo := range table {
		if !declared[ofGo] {
			t.Errorf("%s is called %s, which package gotorch and those beside it do not have", ofC, ofGo)
		}
	}
}

// Every option of the C ABI that may stand in an error has Go's name, which a struct of Go has as a field.
func TestEveryOptionHasItsNameInGo(t *testing.T) {
	header, err := os.ReadFile("../c/tandem.h")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	comment := regexp.MustCompile(`(?s)/\*.*?\*/`)
	for _, options := range regexp.MustCompile(`(?s)typedef struct tdm_\w+_options \{(.*?)\n\}`).FindAllSubmatch(header, -1) {
		for _, field := range regexp.MustCompile(`(\w+)(?:\[\w+\])?;`).FindAllSubmatch(comment.ReplaceAll(options[1], nil), -1) {
			name := string(field[1])
			if !strings.Contains(name, "_") || name == "struct_size" {
				continue
			}
			seen[name] = true
			if _, ok := fields[name]; ok == slices.Contains(ofC, name) {
				t.Errorf("%s must stand in the table of options or in the list of those that are C's alone, not in both", name)
			}
		}
	}
	if len(seen) < 60 {
		t.Fatal("only", len(seen), "options were found")
	}
	for _, name := range ofC {
		if !seen[name] {
			t.Errorf("tandem.h has no option %s", name)
		}
	}
	inGo := map[string]bool{}
	files(t, "../..", func(path, text string) {
		if !strings.HasSuffix(path, ".go") || strings.Contains(path, "internal/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.TypeSpec:
				if object, ok := n.Type.(*ast.StructType); ok {
					for _, field := range object.Fields.List {
						for _, name := range field.Names {
							inGo[name.Name], inGo[n.Name.Name+"."+name.Name] = true, true
						}
					}
				}
			case *ast.FuncType:
				for _, parameter := range n.Params.List {
					for _, name := range parameter.Names {
						inGo[name.Name] = true
					}
				}
			}
			return true
		})
	})
	for ofC, ofGo := range fields {
		if !inGo[ofGo] {
			t.Errorf("%s is called %s, which is no option of Go's", ofC, ofGo)
		}
	}
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	return of.(*ast.Ident).Name + "."
}

func files(t *testing.T, folder string, visit func(path, text string)) {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		visit(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMessagesSpeakGo(t *testing.T) {
	for text, want := range map[string]string{
		"call tdm_loader_next() before":   "call data.Loader.Epoch before",
		"9, which is no tdm_reduce_op":    "9, which is no dist.ReduceOp",
		"keep it with tdm_scope_keep()":   "keep it with gotorch.Keep",
		"tdm_unknown() stays":             "tdm_unknown() stays",
		"Set allow_unused=True if":        "Set GradOptions.AllowUnused if",
		"argument 'tensor' is NULL":       "argument 'tensor' is nil",
		"autocast computes in TDM_DTYPE_": "autocast computes in TDM_DTYPE_",

		"CallOptions::retries are":                          "CallOptions.Retries are",
		"ParameterServerOptions::most_bytes is -1":          "ParameterServerOptions.MostBytes is -1",
		"beyond most_bytes, 1048576; add servers":           "beyond MostBytes, 1048576; add servers",
		"let the others go on (lost_trainers)":              "let the others go on (GoOnWithoutLost)",
		"Options::device_maps of worker 'b'":                "Options.DeviceMaps of worker 'b'",
		"in Options::address or TP_SOCKET_IFNAME":           "in Options.Address or TP_SOCKET_IFNAME",
		"as many as Options::most_outstanding allows":       "as many as Options.MostOutstanding allows",
		"Call ParameterClient::leave() there":               "Call rpc.ParameterClient.Leave there",
		"step() again, which waits on, before load()":       "step() again, which waits on, before load()",
		"call step() again, which waits on, before leave()": "call Step again, which waits on, before Leave",
		"All workers call shutdown() when they have done":   "All workers call rpc.Shutdown when they have done",

		"bucket_cap_mb is -1.0; it must be 0 or more":        "BucketCapMB is -1.0; it must be 0 or more",
		"options->io_retry_ms is -7, but must be":            "options.IORetry is -7, but must be",
		"argument 'world_size' is -1; it must":               "argument 'worldSize' is -1; it must",
		"mixed_precision's reduce_dtype is a hook itself":    "MixedPrecision.Reduce is a hook itself",
		"there is no file /data/batch_size/x":                "there is no file /data/batch_size/x",
		"no key 'world_size' in batch_size.txt: no such":     "no key 'world_size' in batch_size.txt: no such",
		"set shuffle to false, shuffle_block to 0, and have": "set shuffle to false, ShuffleBlock to 0, and have",
	} {
		if got := Message(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
