package gotorch

import (
	"maps"
	"runtime"
	"slices"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Save writes tensors, and text with them, to a file in the safetensors format, which Python reads as well. The file
// appears under its name only when it is complete.
func Save(path string, tensors map[string]*Tensor, metadata ...map[string]string) error {
	pairs, err := bridge.One(metadata)
	if err != nil {
		return err
	}
	return Try(func() {
		names := slices.Sorted(maps.Keys(tensors))
		list := make([]c.Tensor, len(names))
		for i, name := range names {
			list[i] = tensors[name].handle("Save")
		}
		keys := slices.Sorted(maps.Keys(pairs))
		values := make([]string, len(keys))
		for i, key := range keys {
			values[i] = pairs[key]
		}
		err := c.SaveTensors(path, names, list, keys, values)
		runtime.KeepAlive(tensors)
		must(err)
	})
}

// Open reads a safetensors file: its tensors and the text with them. The tensors outlive any open scope.
// Errors: ErrNotFound, ErrDataLoss.
func Open(path string) (tensors map[string]*Tensor, metadata map[string]string, err error) {
	list, metadata, failure := c.LoadTensors(path)
	if failure != nil {
		return nil, nil, errorOf(failure)
	}
	tensors = make(map[string]*Tensor, len(list))
	for _, one := range list {
		tensors[one.Name] = adopt(one.Tensor)
	}
	return tensors, metadata, nil
}
