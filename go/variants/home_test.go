package variants_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Variants are of this package alone, and nothing that gotorch shows is a type of an internal package.
func TestFrontPagesHaveNoVariants(t *testing.T) {
	for _, folder := range []string{"..", "../linalg", "../fft", "../special", "../nn/functional"} {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatal(folder, "has no files:", err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, declaration := range file.Decls {
				switch d := declaration.(type) {
				case *ast.FuncDecl:
					if name := d.Name.Name; d.Name.IsExported() && (strings.HasSuffix(name, "Out") || strings.HasSuffix(name, "Copy") && name != "IndexCopy") {
						t.Errorf("%s: %s belongs into package variants", path, name)
					}
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						if one, ok := spec.(*ast.TypeSpec); ok && one.Name.IsExported() && one.Assign.IsValid() {
							t.Errorf("%s: %s is another package's type", path, one.Name.Name)
						}
					}
				}
			}
		}
	}
}
