package recordio_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/recordio"
)

func TestErrorsHaveNoSecretsOfURLs(t *testing.T) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"} {
		t.Setenv(name, "")
	}
	path := filepath.Join(t.TempDir(), "a.recordio")
	write(t, path, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) }))
	defer server.Close()
	r, err := recordio.Open(strings.Replace(server.URL, "http://", "http://user:geheim@", 1) + "/a?signature=geheim")
	if err != nil {
		t.Fatal(err)
	}
	_, outside := r.Record(99)
	r.Close()
	_, closed := r.Record(0)
	if !errors.Is(outside, gotorch.ErrOutOfRange) || !errors.Is(closed, gotorch.ErrClosed) {
		t.Fatal(outside, closed)
	}
	for _, err := range []error{outside, closed} {
		if text := err.Error(); strings.Contains(text, "geheim") || !strings.Contains(text, server.URL+"/a") {
			t.Error(text)
		}
	}
}
