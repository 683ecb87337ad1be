package dist

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// DeviceMesh is a grid of ranks with a name for each dimension, for programs that are parallel in more than one way.
// Ranks of its group are in row-major order: the last dimension's neighbours are neighbours by rank. Source:
// torch.distributed.device_mesh.DeviceMesh.
type DeviceMesh struct {
	world             *ProcessGroup
	names             []string
	shape, coordinate []int
	groups            []*ProcessGroup
	whole             *DeviceMesh // that this one is a part of, whose the groups are; nil: of none

	mutex  sync.Mutex   // Close may come while another goroutine flattens it
	handle c.DeviceMesh // of a whole one
	watch  *leak.Watch
}

// NewDeviceMesh arranges all ranks of world in a grid, and makes a group for each dimension. All ranks call it, with the
// same shape and names. When ctx ends the groups are aborted. Close it before world. Errors, on all ranks:
// gotorch.ErrInvalidArgument for a shape whose product is not the group's size, for names that are missing or twice, and
// where ranks differ.
func NewDeviceMesh(ctx context.Context, world *ProcessGroup, shape []int, names []string) (mesh *DeviceMesh, err error) {
	err = world.blocking(ctx, "device_mesh_create", func(group c.ProcessGroup) *c.Failure {
		handle, failure := c.CreateDeviceMesh(group, shape, names)
		if failure == nil {
			mesh, failure = adoptMesh(ctx, world, handle)
		}
		return failure
	})
	if err != nil {
		return nil, err
	}
	mesh.watch = leak.Track(mesh, "dist.DeviceMesh")
	return mesh, nil
}

func adoptMesh(ctx context.Context, world *ProcessGroup, handle c.DeviceMesh) (*DeviceMesh, *c.Failure) {
	mesh := &DeviceMesh{world: world, handle: handle}
	mesh.names, mesh.shape, mesh.coordinate = c.DeviceMeshDimensions(handle)
	for _, name := range mesh.names {
		group, failure := c.DeviceMeshGroup(handle, name)
		if failure != nil {
			mesh.free()
			return nil, failure
		}
		mesh.groups = append(mesh.groups, world.adoptSubgroup(ctx, group))
	}
	return mesh, nil
}

// Submesh is the mesh of some dimensions, in this one's order, with this rank's coordinates along the others. It shares the
// groups, is closed with this mesh and not by itself, and asks no other rank. It panics with *gotorch.Error on a name that the
// mesh lacks, and on another order. Source: DeviceMesh.__getitem__.
func (m *DeviceMesh) Submesh(names ...string) *DeviceMesh {
	part := &DeviceMesh{world: m.world, whole: cmp.Or(m.whole, m)}
	next := 0
	for _, name := range names {
		i := m.index(name)
		if i < next {
			panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.DeviceMesh.Submesh", Message: fmt.Sprintf(
				"%q: give each dimension once, in the mesh's order, %q", names, m.names)})
		}
		next = i + 1
		part.names, part.shape = append(part.names, name), append(part.shape, m.shape[i])
		part.coordinate, part.groups = append(part.coordinate, m.coordinate[i]), append(part.groups, m.groups[i])
	}
	if len(names) == 0 {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.DeviceMesh.Submesh", Message: fmt.Sprintf(
			"give at least one dimension of %q", m.names)})
	}
	return part
}

// Flatten has all dimensions as one, with a group of all ranks of the mesh. All ranks of World call it, on meshes of the same
// dimensions. Close it by itself.
func (m *DeviceMesh) Flatten(ctx context.Context, name string) (flat *DeviceMesh, err error) {
	part, err := m.submesh()
	if err != nil {
		return nil, err
	}
	defer c.FreeDeviceMesh(part)
	err = m.world.blocking(ctx, "device_mesh_flatten", func(c.ProcessGroup) *c.Failure {
		handle, failure := c.FlattenDeviceMesh(part, name)
		if failure == nil {
			flat, failure = adoptMesh(ctx, m.world, handle)
		}
		return failure
	})
	runtime.KeepAlive(m)
	if err != nil {
		return nil, err
	}
	flat.watch = leak.Track(flat, "dist.DeviceMesh")
	return flat, nil
}

// submesh is this one as the core has it, with groups that it shares.
func (m *DeviceMesh) submesh() (c.DeviceMesh, error) {
	whole := cmp.Or(m.whole, m)
	whole.mutex.Lock()
	defer whole.mutex.Unlock()
	if whole.handle == nil {
		return nil, closed("dist.DeviceMesh.Flatten", "device mesh")
	}
	part, failure := c.DeviceSubmesh(whole.handle, m.names)
	return part, bridge.Error(failure)
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

// Size is the number of its ranks.
func (m *DeviceMesh) Size() int {
	size := 1
	for _, one := range m.shape {
		size *= one
	}
	return size
}

// Coordinate is this rank's place along each dimension.
func (m *DeviceMesh) Coordinate() []int { return slices.Clone(m.coordinate) }

// LocalRank is this rank's place along a dimension. It panics with *gotorch.Error on a name that the mesh lacks.
func (m *DeviceMesh) LocalRank(name string) int { return m.coordinate[m.index(name)] }

// Group is the one of the ranks that differ from this one in that coordinate alone; it belongs to the mesh. It panics as
// [DeviceMesh.LocalRank] does.
func (m *DeviceMesh) Group(name string) *ProcessGroup { return m.groups[m.index(name)] }

// World is the group of all ranks of the mesh that this one was taken from.
func (m *DeviceMesh) World() *ProcessGroup { return m.world }

func (m *DeviceMesh) index(name string) int {
	if i := slices.Index(m.names, name); i >= 0 {
		return i
	}
	panic(&gotorch.Error{Code: gotorch.ErrNotFound, Op: "dist.DeviceMesh",
		Message: fmt.Sprintf("there is no dimension %q; there are %q", name, m.names)})
}

// Close closes the groups of its dimensions, not its world; of a sub-mesh it does nothing, and a second one does nothing.
func (m *DeviceMesh) Close() error {
	if m.whole != nil || !m.watch.Done() {
		return nil
	}
	return m.free()
}

func (m *DeviceMesh) free() (first error) {
	for _, group := range m.groups {
		if err := group.Close(); first == nil {
			first = err
		}
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	c.FreeDeviceMesh(m.handle)
	m.handle = nil
	return first
}
