// Package signatures lists what a module's packages export, so that two modules can be compared.
package signatures

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// List has a line for each exported name of the packages under folder, sorted: the package, relative to the module's own
// and "." for that, then a function with the types it takes and gives, a method with its receiver, a type with its exported
// fields or methods, a constant or variable. In types, packages have the names that names gives to their paths, others the
// last part of it; names of parameters, tests, folders called internal and commands are left out.
func List(folder string, names map[string]string) (lines []string, err error) {
	err = filepath.WalkDir(folder, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		relative := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(at, folder), string(filepath.Separator)))
		if entry.Name() == "internal" || entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		found, err := listPackage(at, names)
		for _, line := range found {
			lines = append(lines, cmp.Or(relative, ".")+" "+line)
		}
		return err
	})
	slices.Sort(lines)
	return lines, err
}

func listPackage(folder string, names map[string]string) (lines []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if parsed.Name.Name == "main" {
			continue
		}
		lines = append(lines, (&file{packages: packagesOf(parsed, names)}).list(parsed)...)
	}
	return lines, nil
}

// packagesOf are the names that types have of the imported packages, by those that the file gives them.
func packagesOf(parsed *ast.File, names map[string]string) map[string]string {
	packages := map[string]string{}
	for _, spec := range parsed.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name := cmp.Or(names[imported], path.Base(imported))
		if spec.Name != nil {
			packages[spec.Name.Name] = name
		} else {
			packages[name] = name
		}
	}
	return packages
}

type file struct{ packages map[string]string }

func (f *file) list(parsed *ast.File) (lines []string) {
	for _, declaration := range parsed.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			lines = append(lines, f.function(d)...)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						lines = append(lines, "type "+s.Name.Name+" "+f.named(s.Type))
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							lines = append(lines, d.Tok.String()+" "+name.Name)
						}
					}
				}
			}
		}
	}
	return lines
}

func (f *file) function(d *ast.FuncDecl) []string {
	if !d.Name.IsExported() {
		return nil
	}
	if d.Recv == nil {
		return []string{"func " + d.Name.Name + f.signature(d.Type)}
	}
	receiver := f.text(d.Recv.List[0].Type)
	if !ast.IsExported(strings.TrimPrefix(receiver, "*")) {
		return nil
	}
	return []string{fmt.Sprintf("func (%s) %s%s", receiver, d.Name.Name, f.signature(d.Type))}
}

// signature is "(int64, ...gotorch.Tensor) bool".
func (f *file) signature(t *ast.FuncType) string {
	text := "(" + strings.Join(f.types(t.Params), ", ") + ")"
	switch results := f.types(t.Results); len(results) {
	case 0:
		return text
	case 1:
		return text + " " + results[0]
	default:
		return text + " (" + strings.Join(results, ", ") + ")"
	}
}

func (f *file) types(fields *ast.FieldList) (texts []string) {
	if fields == nil {
		return nil
	}
	for _, field := range fields.List {
		for range max(1, len(field.Names)) {
			texts = append(texts, f.text(field.Type))
		}
	}
	return texts
}

// named is what a type declaration says: of a struct its exported fields with their tags, of an interface its methods.
func (f *file) named(t ast.Expr) string {
	var parts []string
	switch t := t.(type) {
	case *ast.StructType:
		for _, field := range t.Fields.List {
			parts = append(parts, f.fields(field)...)
		}
		return "struct {" + strings.Join(parts, "; ") + "}"
	case *ast.InterfaceType:
		if len(t.Methods.List) == 0 {
			return f.text(t)
		}
		for _, method := range t.Methods.List {
			for _, name := range method.Names {
				parts = append(parts, name.Name+f.signature(method.Type.(*ast.FuncType)))
			}
		}
		return "interface {" + strings.Join(parts, "; ") + "}"
	}
	return f.text(t)
}

func (f *file) fields(field *ast.Field) (texts []string) {
	end := f.text(field.Type)
	if field.Tag != nil {
		end += " " + field.Tag.Value
	}
	if len(field.Names) == 0 {
		return []string{end}
	}
	for _, name := range field.Names {
		if name.IsExported() {
			texts = append(texts, name.Name+" "+end)
		}
	}
	return texts
}

func (f *file) text(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ellipsis:
		return "..." + f.text(t.Elt)
	case *ast.StarExpr:
		return "*" + f.text(t.X)
	case *ast.ArrayType:
		if t.Len == nil {
			return "[]" + f.text(t.Elt)
		}
	case *ast.MapType:
		return "map[" + f.text(t.Key) + "]" + f.text(t.Value)
	case *ast.FuncType:
		return "func" + f.signature(t)
	case *ast.InterfaceType:
		if len(t.Methods.List) == 0 {
			return "any"
		}
	case *ast.SelectorExpr:
		if name, ok := t.X.(*ast.Ident); ok && f.packages[name.Name] != "" {
			return f.packages[name.Name] + "." + t.Sel.Name
		}
	}
	return types.ExprString(t)
}
