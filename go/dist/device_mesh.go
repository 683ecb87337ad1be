package dist

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem.example/gotorch"
)

// DeviceMesh is a grid of ranks with a name for each dimension, for programs that are parallel in more than one way.
// Ranks of its group are in row-major order: the last dimension's neighbours are neighbours by rank. Source:
// torch.distributed.device_mesh.DeviceMesh.
type DeviceMesh struct {
	world      *ProcessGroup
	shape      []int
	names      []string
	coordinate []int
	groups     []*ProcessGroup
}

// NewDeviceMesh arranges all ranks of world in a grid, and makes a group for each dimension. All ranks call it, with the
// same shape and names. Close it before world. Errors: gotorch.ErrInvalidArgument for a shape whose product is not the
// group's size, for names that are missing or twice, and, on all ranks, where they differ.
func NewDeviceMesh(ctx context.Context, world *ProcessGroup, shape []int, names []string) (*DeviceMesh, error) {
	mesh := &DeviceMesh{world: world, shape: slices.Clone(shape), names: slices.Clone(names)}
	said, err := world.AllGatherBytes(ctx, []byte(mesh.String()))
	if err != nil {
		return nil, err
	}
	for rank, other := range said {
		if string(other) != string(said[0]) {
			return nil, meshMisuse(world, "rank %d makes a device mesh of %s, rank 0 one of %s; give the same on all ranks",
				rank, other, said[0])
		}
	}
	if err := checkGrid(world, shape, names); err != nil { // on all ranks alike
		return nil, err
	}
	mesh.coordinate = coordinates(world.Rank(), shape)
	for dimension, name := range names {
		group, err := world.Split(ctx, along(shape, dimension), world.Name()+"/"+name)
		if err != nil {
			mesh.Close()
			return nil, err
		}
		mesh.groups = append(mesh.groups, group)
	}
	return mesh, nil
}

func checkGrid(world *ProcessGroup, shape []int, names []string) error {
	product := 1
	for _, size := range shape {
		if size < 1 || product > world.Size() {
			product = -1
			break
		}
		product *= size
	}
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return meshMisuse(world, "a device mesh with the dimensions %q; give each a name of its own", names)
		}
	}
	if len(shape) == 0 || len(shape) != len(names) || product != world.Size() {
		return meshMisuse(world, "a device mesh of %v with the dimensions %q for a group of %d ranks; give a name for each "+
			"size, and sizes whose product is the number of ranks", shape, names, world.Size())
	}
	return nil
}

func meshMisuse(world *ProcessGroup, format string, values ...any) error {
	return &Error{Err: &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.NewDeviceMesh",
		Message: fmt.Sprintf(format, values...)}, Rank: world.Rank()}
}

func coordinates(rank int, shape []int) []int {
	place := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		place[i] = rank % shape[i]
		rank /= shape[i]
	}
	return place
}

// along are the ranks of a grid that differ in that dimension alone, a list for each choice of the others.
func along(shape []int, dimension int) [][]int {
	inner := 1
	for _, size := range shape[dimension+1:] {
		inner *= size
	}
	ranks := inner
	for _, size := range shape[:dimension+1] {
		ranks *= size
	}
	var lists [][]int
	for first := range ranks {
		if coordinates(first, shape)[dimension] != 0 {
			continue
		}
		var list []int
		for i := range shape[dimension] {
			list = append(list, first+i*inner)
		}
		lists = append(lists, list)
	}
	return lists
}

// String is "2 x 4 (dp, pp)".
func (m *DeviceMesh) String() string {
	sizes := make([]string, len(m.shape))
	for i, size := range m.shape {
		sizes[i] = fmt.Sprint(size)
	}
	return strings.Join(sizes, " x ") + " (" + strings.Join(m.names, ", ") + ")"
}

// Shape is the number of ranks along each dimension.
func (m *DeviceMesh) Shape() []int { return slices.Clone(m.shape) }

// Names are those of the dimensions.
func (m *DeviceMesh) Names() []string { return slices.Clone(m.names) }

// Coordinate is this rank's place along each dimension.
func (m *DeviceMesh) Coordinate() []int { return slices.Clone(m.coordinate) }

// LocalRank is this rank's place along a dimension. It panics with *gotorch.Error on a name that the mesh lacks.
func (m *DeviceMesh) LocalRank(name string) int { return m.coordinate[m.index(name)] }

// Group is the one of the ranks that differ from this one in that coordinate alone; it belongs to the mesh. It panics as
// [DeviceMesh.LocalRank] does.
func (m *DeviceMesh) Group(name string) *ProcessGroup { return m.groups[m.index(name)] }

// World is the group of all ranks.
func (m *DeviceMesh) World() *ProcessGroup { return m.world }

func (m *DeviceMesh) index(name string) int {
	if i := slices.Index(m.names, name); i >= 0 {
		return i
	}
	panic(&gotorch.Error{Code: gotorch.ErrNotFound, Op: "dist.DeviceMesh",
		Message: fmt.Sprintf("there is no dimension %q; there are %q", name, m.names)})
}

// Close closes the groups of its dimensions, not its world. A second Close does nothing.
func (m *DeviceMesh) Close() error {
	var first error
	for _, group := range m.groups {
		if err := group.Close(); first == nil {
			first = err
		}
	}
	return first
}
