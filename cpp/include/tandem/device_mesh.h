// A grid of ranks with a name for each dimension, for programs that are parallel in more than one way.
//
//   auto mesh = tandem::DeviceMesh::create(world, {2, 2}, {"dp", "pp"});   // ranks 0 1 / 2 3
//   mesh->group("pp");   // of ranks 0 and 1 on those two, of 2 and 3 on the others
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/process_group.h"

namespace tandem {

// Ranks of a group in row-major order: the last dimension's neighbours are neighbours by rank. Has a group for each
// dimension, of the ranks that differ from this one in that coordinate alone, numbered by it. Thread-safe,
// but for flatten(). Source: torch.distributed.device_mesh.DeviceMesh.
class TANDEM_API DeviceMesh {
 public:
  // Of all ranks of `world`, which call it together with the same arguments. Blocks: connects the groups of each
  // dimension. Errors: kInvalidArgument for a shape whose product is not the group's size, sizes below 1, names that are
  // missing, empty or twice, and, on all ranks, for a shape or names that differ between ranks; those of
  // ProcessGroup::split().
  static std::shared_ptr<DeviceMesh> create(const std::shared_ptr<ProcessGroup>& world,
                                            const std::vector<std::int64_t>& shape,
                                            const std::vector<std::string>& names);

  int dimensions() const { return static_cast<int>(shape_.size()); }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  const std::vector<std::string>& names() const { return names_; }
  // How many ranks it has, and how many there are along a dimension.
  std::int64_t size() const { return static_cast<std::int64_t>(ranks_.size()); }
  std::int64_t size(const std::string& name) const { return shape_[index_of(name)]; }

  // Its ranks, row-major, as numbers in world().
  const std::vector<int>& ranks() const { return ranks_; }
  // This rank's place along a dimension, and along each.
  int local_rank(const std::string& name) const { return coordinate_[index_of(name)]; }
  const std::vector<int>& coordinate() const { return coordinate_; }

  // The ranks along a dimension that this one is among. Errors: kNotFound for a name that it lacks; it has them all listed.
  const std::shared_ptr<ProcessGroup>& group(const std::string& name) const { return groups_[index_of(name)]; }
  // Of all ranks of the mesh that this one was taken from.
  const std::shared_ptr<ProcessGroup>& world() const { return world_; }

  // The mesh of some dimensions, in this one's order, with this rank's coordinates along the others. Shares the groups;
  // asks no other rank. Errors: kNotFound as above; kInvalidArgument for names twice, or in another order.
  std::shared_ptr<DeviceMesh> submesh(const std::vector<std::string>& names) const;
  // All its dimensions as one, with a group of all its ranks. All ranks of world() call it, on meshes of the same
  // dimensions. Blocks. Errors: those of ProcessGroup::split().
  std::shared_ptr<DeviceMesh> flatten(const std::string& name) const;

 private:
  DeviceMesh() = default;
  std::size_t index_of(const std::string& name) const;

  std::shared_ptr<ProcessGroup> world_;
  std::vector<std::int64_t> world_shape_;
  std::vector<std::vector<std::size_t>> world_dimensions_;  // which of those each of its own is made of
  std::vector<std::int64_t> shape_;
  std::vector<std::string> names_;
  std::vector<int> ranks_, coordinate_;
  std::vector<std::shared_ptr<ProcessGroup>> groups_;
};

}  // namespace tandem
