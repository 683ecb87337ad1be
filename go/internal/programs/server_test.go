package programs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/leaktest"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
)

// A server answers requests from one model, whose goroutines all use it at once.

type server struct{ model nn.Layer }

func newServer() *server {
	model := nn.NewSequential(nn.NewConv2d(1, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewFlatten(), nn.NewDropout(0.5),
		nn.NewLinear(4*6*6, 10))
	nn.Eval(model)
	return &server{model}
}

const pixels = 8 * 8

func (s *server) predict(picture []float32) (probabilities []float32, err error) {
	if len(picture) != pixels {
		return nil, fmt.Errorf("a picture has %d pixels, not %d", pixels, len(picture))
	}
	err = gotorch.Try(func() {
		gotorch.InferenceMode(func() {
			gotorch.Scope(func() {
				x := gotorch.From(picture, 1, 1, 8, 8)
				probabilities = gotorch.ToSlice[float32](F.Softmax(s.model.Forward(x), 1))
			})
		})
	})
	return probabilities, err
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var picture []float32
	if err := json.NewDecoder(r.Body).Decode(&picture); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	probabilities, err := s.predict(picture)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	json.NewEncoder(w).Encode(probabilities)
}

func picture(seed int) []float32 {
	values := make([]float32, pixels)
	for i := range values {
		values[i] = float32((i*seed)%17) / 17
	}
	return values
}

func ask(url string, picture []float32) (probabilities []float32, status int, err error) {
	body, err := json.Marshal(picture)
	if err != nil {
		return nil, 0, err
	}
	reply, err := http.Post(url, "application/json", strings.NewReader(string(body)))
	if err != nil {
		return nil, 0, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, reply.StatusCode, nil
	}
	return probabilities, reply.StatusCode, json.NewDecoder(reply.Body).Decode(&probabilities)
}

func TestServer(t *testing.T) {
	const clients, requests = 64, 10
	leaktest.Check(t)
	s := newServer()
	expected := make([][]float32, clients)
	for client := range clients {
		var err error
		if expected[client], err = s.predict(picture(client)); err != nil {
			t.Fatal(err)
		}
	}
	site := httptest.NewServer(s)
	defer site.Close()
	var done sync.WaitGroup
	for client := range clients {
		done.Go(func() {
			for request := range requests {
				if request == 3 { // one bad request in between harms nobody
					if _, status, err := ask(site.URL, picture(client)[1:]); err != nil || status != http.StatusBadRequest {
						t.Errorf("client %d: a picture too small: status %d, %v", client, status, err)
					}
				}
				got, status, err := ask(site.URL, picture(client))
				if err != nil || status != http.StatusOK || !slices.Equal(got, expected[client]) {
					t.Errorf("client %d, request %d: status %d, %v: %v instead of %v", client, request, status, err, got,
						expected[client])
					return
				}
			}
		})
	}
	done.Wait()
	if slices.Equal(expected[1], expected[2]) {
		t.Error("all pictures look the same to the model")
	}
}
