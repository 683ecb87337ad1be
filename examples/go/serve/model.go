package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/nn"
)

// model is a program that takes one tensor [rows, …] and gives one [rows, …].
type model struct {
	program     *export.Program
	dtype       gotorch.DType
	shape       []int // of a row
	least, most int   // rows that it takes at once
}

// What [export.Program.Inputs] says of a tensor whose first size alone may vary.
var rowsInput = regexp.MustCompile(`^(\w+)\[[^,]+((?:, \d+)*)\]$`)

var dtypes = map[string]gotorch.DType{"Float": gotorch.Float32, "Double": gotorch.Float64, "Long": gotorch.Int64,
	"Int": gotorch.Int32, "Byte": gotorch.Uint8}

// loadModel reads the archive, and the weights of a checkpoint where a folder is given, and finds out how many rows, up to
// mostRows, the program takes at once.
func loadModel(ctx context.Context, path, checkpoints string, mostRows int) (*model, error) {
	program, err := export.Load(path)
	if err != nil {
		return nil, err
	}
	m := &model{program: program}
	if err := gotorch.Try(func() { nn.Eval(program) }); err != nil {
		return nil, err
	}
	inputs := program.Inputs()
	var parts []string
	if len(inputs) == 1 {
		parts = rowsInput.FindStringSubmatch(inputs[0].Description)
	}
	known := false
	if parts != nil {
		m.dtype, known = dtypes[parts[1]]
	}
	if !known {
		var all []string
		for _, input := range inputs {
			all = append(all, input.Name+": "+input.Description)
		}
		return nil, fmt.Errorf("%s takes %s; it must take one tensor of numbers, whose first size alone may vary", path,
			strings.Join(all, ", "))
	}
	for _, size := range strings.Split(parts[2], ", ")[1:] {
		n, err := strconv.Atoi(size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		m.shape = append(m.shape, n)
	}
	if checkpoints != "" {
		if err := m.loadWeights(ctx, checkpoints); err != nil {
			return nil, err
		}
	}
	return m, m.findRange(path, mostRows)
}

func (m *model) loadWeights(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	folder, err := checkpoint.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	loaded, err := folder.Load(ctx, &checkpoint.State{Model: m.program})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if loaded == nil {
		return fmt.Errorf("%s has no checkpoint", path)
	}
	for _, why := range loaded.Refused {
		fmt.Println("not used:", why)
	}
	fmt.Printf("weights of checkpoint %d\n", loaded.Step)
	return nil
}

// findRange tries zeros: what is outside of the range of rows that the program was exported for, it refuses at once.
func (m *model) findRange(path string, mostRows int) error {
	try := func(rows int) error {
		_, err := m.predict([]*gotorch.Tensor{gotorch.Zeros(append([]int{rows}, m.shape...), m.options())})
		return err
	}
	var refused error
	for m.most = mostRows; m.most > 0; m.most-- {
		err := try(m.most)
		if err == nil {
			break
		}
		if refused == nil {
			refused = err
		}
	}
	if m.most == 0 {
		return fmt.Errorf("%s refuses 1 to %d rows, each %s: %w", path, mostRows, m.row(), refused)
	}
	for m.least = 1; m.least < m.most && try(m.least) != nil; {
		m.least++
	}
	return nil
}

func (m *model) options() gotorch.TensorOptions {
	return gotorch.TensorOptions{DType: gotorch.Some(m.dtype)}
}

// row describes one: "float32 [3, 32, 32]".
func (m *model) row() string {
	sizes := make([]string, len(m.shape))
	for i, n := range m.shape {
		sizes[i] = strconv.Itoa(n)
	}
	return fmt.Sprintf("%v [%s]", m.dtype, strings.Join(sizes, ", "))
}

// parse reads rows from JSON. Close what it gives.
func (m *model) parse(text []byte) (*gotorch.Tensor, error) {
	tensor, err := json.Marshal(struct {
		DType gotorch.DType   `json:"dtype"`
		Data  json.RawMessage `json:"data"`
	}{m.dtype, text})
	if err != nil {
		return nil, fmt.Errorf("the request is no JSON: %w", err)
	}
	rows := new(gotorch.Tensor)
	if err := json.Unmarshal(tensor, rows); err != nil {
		return nil, err
	}
	if err := m.check(rows.Shape()); err != nil {
		rows.Close()
		return nil, err
	}
	return rows, nil
}

func (m *model) check(shape []int) error {
	if len(shape) == 0 || shape[0] == 0 {
		return fmt.Errorf("the request has no rows: send an array of them, each %s", m.row())
	}
	if fmt.Sprint(shape[1:]) != fmt.Sprint(m.shape) {
		return fmt.Errorf("rows have the shape %v; each must be %s", shape[1:], m.row())
	}
	if shape[0] > m.most {
		return fmt.Errorf("the request has %d rows; send at most %d", shape[0], m.most)
	}
	return nil
}

// predict computes requests' rows as one batch, filled up with zeros where they are too few, and gives each request's results as
// JSON.
func (m *model) predict(requests []*gotorch.Tensor) ([]json.RawMessage, error) {
	return gotorch.Infer(func() ([]json.RawMessage, error) {
		count := 0
		for _, rows := range requests {
			count += rows.Size(0)
		}
		parts := requests
		if missing := m.least - count; missing > 0 {
			parts = append(parts[:len(parts):len(parts)], gotorch.Zeros(append([]int{missing}, m.shape...), m.options()))
		}
		x := parts[0]
		if len(parts) > 1 {
			x = gotorch.Cat(parts, 0)
		}
		y := m.program.Forward(x)
		if y.Dim() == 0 || y.Size(0) != x.Size(0) {
			return nil, fmt.Errorf("the program gives %v for %d rows, and not a result for each", y.Shape(), x.Size(0))
		}
		results, begin := make([]json.RawMessage, len(requests)), 0
		for i, rows := range requests {
			var part struct{ Data json.RawMessage }
			text, err := y.Narrow(0, begin, rows.Size(0)).MarshalJSON()
			if err == nil {
				err = json.Unmarshal(text, &part)
			}
			if err != nil {
				return nil, err
			}
			results[i] = part.Data
			begin += rows.Size(0)
		}
		return results, nil
	})
}
