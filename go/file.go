package gotorch

import (
	"cmp"
	"maps"
	"runtime"
	"slices"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Save writes tensors, and text with them, to a file in the safetensors format, which Python reads as well. The file
// appears under its name only when it is complete.
func Save(path string, tensors map[string]*Tensor, metadata ...map[string]string) error {
	return save(path, tensors, 0, metadata)
}

// SaveSharded is [Save] into files of at most shardBytes of tensors each (0: 5 GB), and an index of them, as Hugging
// Face lays them out: model-00001-of-00002.safetensors, model.safetensors.index.json. The index is written last; what
// fits one file becomes model.safetensors. A folder that has such files is ErrInvalidArgument.
func SaveSharded(folder string, tensors map[string]*Tensor, shardBytes int, metadata ...map[string]string) error {
	return save(folder, tensors, cmp.Or(shardBytes, 5_000_000_000), metadata)
}

func save(path string, tensors map[string]*Tensor, shardBytes int, metadata []map[string]string) error {
	pairs, err := bridge.One(metadata)
	if err != nil {
		return err
	}
	return Try(func() {
		names, list := handlesByName(tensors, "Save")
		keys := slices.Sorted(maps.Keys(pairs))
		values := make([]string, len(keys))
		for i, key := range keys {
			values[i] = pairs[key]
		}
		err := c.SaveTensors(path, names, list, keys, values, int64(shardBytes))
		runtime.KeepAlive(tensors)
		must(err)
	})
}

// handlesByName are those of tensors in the order of their names; it panics where one is nil or was closed.
func handlesByName(tensors map[string]*Tensor, op string) (names []string, list []c.Tensor) {
	names = slices.Sorted(maps.Keys(tensors))
	list = make([]c.Tensor, len(names))
	for i, name := range names {
		list[i] = tensors[name].handle(op)
	}
	return names, list
}

// OpenOptions of [Open].
type OpenOptions struct {
	Map bool // tensors refer to the files, which may not be cut off meanwhile; else they get memory of their own
}

// Open reads a safetensors file, or those of an index (*.json) or of a folder that [SaveSharded] wrote: tensors and the
// text with them. Of a mapped file nothing is read before it is used, processes share it, and what is written to a tensor
// changes no file. The tensors outlive any open scope. Errors: ErrNotFound, ErrDataLoss.
func Open(path string, options ...OpenOptions) (tensors map[string]*Tensor, metadata map[string]string, err error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, nil, err
	}
	list, metadata, failure := c.LoadTensors(path, o.Map)
	if failure != nil {
		return nil, nil, errorOf(failure)
	}
	tensors = make(map[string]*Tensor, len(list))
	for _, one := range list {
		tensors[one.Name] = adopt(one.Tensor)
	}
	return tensors, metadata, nil
}
