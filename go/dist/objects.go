package dist

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/c"
)

// BroadcastBytes gives root's data to all ranks. Of all calls with bytes: lengths may differ from rank to rank; together
// more than 2 GiB in one call is gotorch.ErrInvalidArgument on all ranks.
func (g *ProcessGroup) BroadcastBytes(ctx context.Context, data []byte, root int) (all []byte, err error) {
	err = g.blocking(ctx, "broadcast_bytes", func(group c.ProcessGroup) (failure *c.Failure) {
		all, failure = c.BroadcastBytes(group, data, root)
		return failure
	})
	return all, err
}

// AllGatherBytes gives every rank's data to all, in order of rank.
func (g *ProcessGroup) AllGatherBytes(ctx context.Context, data []byte) (all [][]byte, err error) {
	err = g.blocking(ctx, "all_gather_bytes", func(group c.ProcessGroup) (failure *c.Failure) {
		all, failure = c.AllGatherBytes(group, data, g.size)
		return failure
	})
	return all, err
}

// GatherBytes gives every rank's data to root, in order of rank; nil elsewhere.
func (g *ProcessGroup) GatherBytes(ctx context.Context, data []byte, root int) (all [][]byte, err error) {
	room := 0
	if g.rank == root {
		room = g.size
	}
	err = g.blocking(ctx, "gather_bytes", func(group c.ProcessGroup) (failure *c.Failure) {
		all, failure = c.GatherBytes(group, data, root, room)
		return failure
	})
	if g.rank != root {
		all = nil
	}
	return all, err
}

// ScatterBytes gives each rank its own of root's data, one for each rank; elsewhere data is nil.
func (g *ProcessGroup) ScatterBytes(ctx context.Context, data [][]byte, root int) (own []byte, err error) {
	err = g.blocking(ctx, "scatter_bytes", func(group c.ProcessGroup) (failure *c.Failure) {
		own, failure = c.ScatterBytes(group, data, root)
		return failure
	})
	return own, err
}

// What a rank could not encode, instead of leaving the others to wait: its length is 0, which gob never has.
func encode(op string, value any) ([]byte, error) {
	var buffer bytes.Buffer
	if err := gob.NewEncoder(&buffer).Encode(value); err != nil {
		return nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op,
			Message: fmt.Sprintf("gob cannot encode a %T: %v", value, err)}
	}
	return buffer.Bytes(), nil
}

func decode[T any](op string, rank int, data []byte) (value T, err error) {
	if len(data) == 0 {
		err = fmt.Errorf("rank %d could not encode it", rank)
	} else {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&value)
	}
	if err != nil {
		return value, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op,
			Message: fmt.Sprintf("no %T came from rank %d: %v", value, rank, err)}
	}
	return value, nil
}

// BroadcastObject gives root's value to all ranks. Values of all calls with objects travel as encoding/gob has them, so
// that types may be anything it takes; what it does not take is gotorch.ErrInvalidArgument on all ranks that wait for it.
func BroadcastObject[T any](ctx context.Context, g *ProcessGroup, value T, root int) (all T, err error) {
	var data []byte
	var failed error
	if g.rank == root {
		data, failed = encode("broadcast_object", value)
	}
	if data, err = g.BroadcastBytes(ctx, data, root); err != nil {
		return all, err
	}
	if failed != nil {
		return all, failed
	}
	return decode[T]("broadcast_object", root, data)
}

// AllGatherObject gives every rank's value to all, in order of rank.
func AllGatherObject[T any](ctx context.Context, g *ProcessGroup, value T) ([]T, error) {
	data, failed := encode("all_gather_object", value)
	all, err := g.AllGatherBytes(ctx, data)
	return decodeAll[T]("all_gather_object", all, err, failed)
}

// GatherObject gives every rank's value to root, in order of rank; nil elsewhere.
func GatherObject[T any](ctx context.Context, g *ProcessGroup, value T, root int) ([]T, error) {
	data, failed := encode("gather_object", value)
	all, err := g.GatherBytes(ctx, data, root)
	return decodeAll[T]("gather_object", all, err, failed)
}

func decodeAll[T any](op string, all [][]byte, err, failed error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	var values []T
	for rank, data := range all {
		value, err := decode[T](op, rank, data)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// ScatterObject gives each rank its own of root's values, one for each rank; elsewhere values is nil.
func ScatterObject[T any](ctx context.Context, g *ProcessGroup, values []T, root int) (own T, err error) {
	var list [][]byte
	var failed error
	for i := range values {
		data, err := encode("scatter_object", values[i])
		if err != nil {
			failed = err
		}
		list = append(list, data)
	}
	data, err := g.ScatterBytes(ctx, list, root)
	if err != nil {
		return own, err
	}
	if failed != nil {
		return own, failed
	}
	return decode[T]("scatter_object", root, data)
}
