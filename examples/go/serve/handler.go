package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// handler reads requests and writes replies; the batcher computes.
type handler struct {
	model   *model
	batcher *batcher
	room    chan struct{} // has an element for each request under way
	bytes   int64         // most of a request
}

// newHandler answers POST /predict, and GET /statistics with how much was computed. It refuses requests while as many as that
// are under way, so that their memory is bounded.
func newHandler(m *model, b *batcher, most int, bytes int64) http.Handler {
	h := &handler{m, b, make(chan struct{}, most), bytes}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /predict", h.predict)
	mux.HandleFunc("GET /statistics", h.statistics)
	return mux
}

func (h *handler) predict(w http.ResponseWriter, r *http.Request) {
	select {
	case h.room <- struct{}{}:
		defer func() { <-h.room }()
	default:
		http.Error(w, fmt.Sprintf("%d requests are under way; try again later", cap(h.room)), http.StatusServiceUnavailable)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.bytes))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		http.Error(w, fmt.Sprintf("a request has at most %d bytes", h.bytes), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rows, err := h.model.parse(text)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer rows.Close()
	results, err := h.batcher.predict(r.Context(), rows)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply(w, results)
}

func (h *handler) statistics(w http.ResponseWriter, _ *http.Request) {
	text, err := json.Marshal(map[string]int64{"requests": h.batcher.requests.Load(), "batches": h.batcher.batches.Load(),
		"largest_batch": h.batcher.largest.Load()})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply(w, text)
}

func reply(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // the client may have gone
}
