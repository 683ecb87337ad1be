#include "tandem/device_mesh.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/invalid.h"

namespace tandem {
namespace {

using Shape = std::vector<std::int64_t>;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

// "2 x 3 ('dp', 'pp')"
std::string shown(const Shape& shape, const std::vector<std::string>& names) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text + " (" + listed(names) + ")";
}

void check_grid(const Shape& shape, const std::vector<std::string>& names, int ranks) {
  const std::string what = "a device mesh of " + shown(shape, names);
  if (shape.empty()) invalid("a device mesh needs at least one dimension");
  if (names.size() != shape.size()) {
    invalid(what + ": " + std::to_string(shape.size()) + " sizes have " + std::to_string(names.size()) +
            " names; name each dimension");
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) invalid(what + ": a dimension's name is empty");
    if (!seen.insert(name).second) invalid(what + ": two dimensions are named '" + name + "'");
  }
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    if (size < 1) invalid(what + ": a dimension's size must be 1 or more");
    product = size > ranks / product ? std::int64_t{ranks} + 1 : product * size;
  }
  if (product != ranks) invalid(what + " does not have the " + std::to_string(ranks) + " ranks of its group");
}

std::vector<int> coordinates_of(int rank, const Shape& shape) {
  std::vector<int> coordinates(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    coordinates[i] = static_cast<int>(rank % shape[i]);
    rank = static_cast<int>(rank / shape[i]);
  }
  return coordinates;
}

// The ranks of a grid that differ in those dimensions alone, a list for each choice of the other coordinates.
std::vector<std::vector<int>> along(const Shape& shape, const std::vector<std::size_t>& dimensions, int ranks) {
  std::map<std::vector<int>, std::vector<int>> lists;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<int> others = coordinates_of(rank, shape);
    for (const std::size_t dimension : dimensions) others[dimension] = 0;
    lists[others].push_back(rank);
  }
  std::vector<std::vector<int>> result;
  for (auto& [others, list] : lists) result.push_back(std::move(list));
  return result;
}

std::vector<std::size_t> joined(const std::vector<std::vector<std::size_t>>& lists) {
  std::vector<std::size_t> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

const std::vector<int>& list_of(const std::vector<std::vector<int>>& lists, int rank) {
  return *std::ranges::find_if(lists, [rank](const auto& list) { return std::ranges::find(list, rank) != list.end(); });
}

}  // namespace

std::shared_ptr<DeviceMesh> DeviceMesh::create(const std::shared_ptr<ProcessGroup>& world, const Shape& shape,
                                               const std::vector<std::string>& names) {
  if (!world) invalid("a device mesh needs a process group");
  const std::string mine = shown(shape, names);
  const std::vector<std::string> all = world->all_gather_bytes(mine);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    invalid("rank " + std::to_string(rank) + " makes a device mesh of " + all[rank] + ", rank 0 one of " + all[0] +
            "; all ranks must give the same shape and names");
  }
  check_grid(shape, names, world->size());  // on all ranks alike
  std::shared_ptr<DeviceMesh> mesh(new DeviceMesh());
  mesh->world_ = world;
  mesh->world_shape_ = mesh->shape_ = shape;
  mesh->names_ = names;
  for (int rank = 0; rank < world->size(); ++rank) mesh->ranks_.push_back(rank);
  mesh->coordinate_ = coordinates_of(world->rank(), shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    mesh->world_dimensions_.push_back({i});
    mesh->groups_.push_back(world->split(along(shape, {i}, world->size()), world->name() + "/" + names[i]));
  }
  return mesh;
}

std::size_t DeviceMesh::index_of(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  throw Error(ErrorCode::kNotFound, "the device mesh has no dimension '" + name + "'; it has " + listed(names_));
}

std::shared_ptr<DeviceMesh> DeviceMesh::submesh(const std::vector<std::string>& names) const {
  if (names.empty()) invalid("a sub-mesh needs at least one dimension of " + listed(names_));
  std::shared_ptr<DeviceMesh> mesh(new DeviceMesh());
  mesh->world_ = world_;
  mesh->world_shape_ = world_shape_;
  std::size_t next = 0;
  for (const std::string& name : names) {
    const std::size_t index = index_of(name);
    if (index < next) {
      invalid("a sub-mesh of " + listed(names) + ": give each dimension once, in the mesh's order, " + listed(names_));
    }
    next = index + 1;
    mesh->world_dimensions_.push_back(world_dimensions_[index]);
    mesh->shape_.push_back(shape_[index]);
    mesh->names_.push_back(name);
    mesh->coordinate_.push_back(coordinate_[index]);
    mesh->groups_.push_back(groups_[index]);
  }
  const auto lists = along(world_shape_, joined(mesh->world_dimensions_), world_->size());
  mesh->ranks_ = list_of(lists, world_->rank());
  return mesh;
}

std::shared_ptr<DeviceMesh> DeviceMesh::flatten(const std::string& name) const {
  if (name.empty()) invalid("the name of a flattened device mesh is empty");
  const auto lists = along(world_shape_, joined(world_dimensions_), world_->size());
  std::shared_ptr<DeviceMesh> mesh(new DeviceMesh());
  mesh->groups_.push_back(world_->split(lists, world_->name() + "/" + name));
  mesh->world_ = world_;
  mesh->world_shape_ = world_shape_;
  mesh->world_dimensions_ = {joined(world_dimensions_)};
  mesh->shape_ = {size()};
  mesh->names_ = {name};
  mesh->ranks_ = ranks_;
  mesh->coordinate_ = {mesh->groups_.front()->rank()};
  return mesh;
}

}  // namespace tandem
