// Package snippets checks the Go code of the documentation.
package snippets

import (
	"fmt"
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

var block = regexp.MustCompile("(?ms)^ *```go\n(.*?)^ *```")

// Who copies code from a page must not copy a lost error with it.
func TestPagesDropNoErrors(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) == 0 {
		t.Skip("the documentation is not beside the module")
	}
	fails, seen := functionsWithErrors(t), 0
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range block.FindAllStringSubmatch(string(text), -1) {
			seen++
			for _, problem := range dropped(found[1], fails) {
				t.Errorf("%s: %s\n%s", filepath.Base(page), problem, found[1])
			}
		}
	}
	if seen < 15 {
		t.Fatal("only", seen, "snippets were found")
	}
}

// Comments' code is what `go doc` shows.
func TestCommentsDropNoErrors(t *testing.T) {
	fails, seen := functionsWithErrors(t), 0
	sources(t, func(path string, file *ast.File) {
		for _, comment := range file.Comments {
			var code strings.Builder
			for line := range strings.SplitSeq(comment.Text(), "\n") {
				if indented, ok := strings.CutPrefix(line, "\t"); ok {
					code.WriteString(indented + "\n")
				}
			}
			if code.Len() == 0 || !strings.Contains(code.String(), ":=") && !strings.Contains(code.String(), ".") {
				continue
			}
			if _, err := parse(code.String()); err != nil {
				continue // a schema
			}
			seen++
			for _, problem := range dropped(code.String(), fails) {
				t.Errorf("%s: %s\n%s", path, problem, code.String())
			}
		}
	})
	if seen < 10 {
		t.Fatal("only", seen, "comments with code were found")
	}
}

func TestDroppedErrorsAreFound(t *testing.T) {
	fails := map[string]bool{"Step0": true, "Open1": true}
	for code, want := range map[string]int{
		"optimizer.Step()\n": 1, "_ = optimizer.Step()\n": 1, "x, _ := data.Open(path)\n": 1, "defer l.Close()\n": 0,
		"if err := optimizer.Step(); err != nil {\n\treturn err\n}\n": 0, "for _, p := range all {\n\tp.Use()\n}\n": 0,
		"func f() {\n\to.Step()\n}\n": 1, "_, ok := x.(T)\n": 0, "y, _ := x.Max()\n": 0, "a, err := f()\nb, err := g()\n": 1,
		"a, err := f()\nerr = errors.Join(err, g())\n": 0, "for range x {\n\t…\n\to.Step()\n": 1, "go func() { _ = o.Step() }()\n": 1,
	} {
		if got := dropped(code, fails); len(got) != want {
			t.Errorf("%q: %q, want %d", code, got, want)
		}
	}
}

// parse takes a file, declarations or statements, of which the end may be missing. An ellipsis stands for what is left out.
func parse(code string) (file *ast.File, err error) {
	code = strings.ReplaceAll(code, "…", "")
	for _, end := range []string{"", "}", "}}"} {
		for _, whole := range []string{code, "package p\n" + code, "package p\nfunc _() {\n" + code + "\n}\n"} {
			if file, err = parser.ParseFile(token.NewFileSet(), "", whole+end, parser.SkipObjectResolution); err == nil {
				return file, nil
			}
		}
	}
	return nil, err
}

// dropped are the places where errors get lost.
func dropped(code string, fails map[string]bool) (problems []string) {
	file, err := parse(code)
	if err != nil {
		return []string{"it is no Go: " + err.Error()}
	}
	failing := func(e ast.Expr) string {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return ""
		}
		name := ""
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			name = f.Sel.Name
		case *ast.Ident:
			name = f.Name
		}
		if !fails[fmt.Sprint(name, len(call.Args))] {
			return ""
		}
		return name
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.BlockStmt:
			for i := range n.List[:max(len(n.List)-1, 0)] {
				if setsError(n.List[i]) && setsError(n.List[i+1]) && !mentionsError(n.List[i+1]) {
					problems = append(problems, "an error is overwritten by the next statement's")
				}
			}
		case *ast.ExprStmt:
			if name := failing(n.X); name != "" {
				problems = append(problems, "the error of "+name+" is not looked at")
			}
		case *ast.AssignStmt:
			last, blank := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
			if name := failing(n.Rhs[len(n.Rhs)-1]); blank && last.Name == "_" && name != "" {
				problems = append(problems, "the error of "+name+" is dropped")
			}
		}
		return true
	})
	return problems
}

func setsError(statement ast.Stmt) bool {
	assignment, ok := statement.(*ast.AssignStmt)
	if !ok {
		return false
	}
	last, ok := assignment.Lhs[len(assignment.Lhs)-1].(*ast.Ident)
	return ok && last.Name == "err"
}

func mentionsError(statement ast.Stmt) (found bool) {
	for _, value := range statement.(*ast.AssignStmt).Rhs {
		ast.Inspect(value, func(node ast.Node) bool {
			name, ok := node.(*ast.Ident)
			found = found || ok && name.Name == "err"
			return true
		})
	}
	return found
}

// sources visits the module's packages.
func sources(t *testing.T, visit func(path string, file *ast.File)) {
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// compat panics where the packages of the same names return errors.
		if entry.IsDir() && slices.Contains([]string{"compat", "internal", "testdata"}, entry.Name()) {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err == nil {
			visit(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// functionsWithErrors are the module's exported functions and methods, as their name and number of arguments, whose last
// result is an error wherever they are declared.
func functionsWithErrors(t *testing.T) map[string]bool {
	with, without := map[string]bool{}, map[string]bool{}
	sources(t, func(_ string, file *ast.File) {
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			into := without
			if results := f.Type.Results; results != nil && isError(results.List[len(results.List)-1].Type) {
				into = with
			}
			least, most := arguments(f.Type.Params)
			for n := least; n <= most; n++ {
				into[fmt.Sprint(f.Name.Name, n)] = true
			}
		}
	})
	for name := range without { // a name that may be either tells nothing
		delete(with, name)
	}
	for _, name := range []string{"Backward0", "Step0", "NewDDP2", "NewDDP3", "Load2", "LoadState1"} {
		if !with[name] {
			t.Fatal(name, "is not known to return an error")
		}
	}
	return with
}

// arguments that a call may have; of those that end in … a few.
func arguments(parameters *ast.FieldList) (least, most int) {
	for _, one := range parameters.List {
		most += max(len(one.Names), 1)
		if _, ok := one.Type.(*ast.Ellipsis); ok {
			return most - 1, most + 2
		}
	}
	return most, most
}

func isError(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "error"
}
