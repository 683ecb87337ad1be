// Device meshes.
#include "tandem/device_mesh.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/call/strings.h"
#include "core/comm/groups.h"

struct tdm_device_mesh : tandem::capi::Handle<tandem::Kind::kDeviceMesh> {
  explicit tdm_device_mesh(std::shared_ptr<tandem::DeviceMesh> made) : mesh(std::move(made)) {}
  std::shared_ptr<tandem::DeviceMesh> mesh;
};

namespace tandem::capi {
namespace {

const DeviceMesh& mesh_of(const tdm_device_mesh* mesh) {
  return *not_null(mesh, "mesh")->mesh;
}

// Whether it is alive and has that dimension.
bool has_dimension(const tdm_device_mesh* mesh, std::int64_t dimension) {
  return if_live(mesh) && dimension >= 0 && dimension < mesh->mesh->dimensions();
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_device_mesh_create(tdm_process_group* world, const int64_t* shape, const char* const* names,
                                  size_t dimension_count, tdm_device_mesh** out) {
  return guard("tdm_device_mesh_create", [&] {
    const auto& shared = not_null(world, "world")->group;
    check_count(dimension_count, "names");
    if (dimension_count != 0) not_null(shape, "shape");
    not_null(out, "out");
    *out = new tdm_device_mesh(tandem::DeviceMesh::create(shared, {shape, shape + dimension_count},
                                                          to_strings(names, dimension_count, "names")));
  });
}

void tdm_device_mesh_free(tdm_device_mesh* mesh) {
  free_handle(mesh);
}

int64_t tdm_device_mesh_dimensions(const tdm_device_mesh* mesh) {
  return if_live(mesh) ? mesh->mesh->dimensions() : 0;
}
const char* tdm_device_mesh_name(const tdm_device_mesh* mesh, int64_t dimension) {
  return has_dimension(mesh, dimension) ? mesh->mesh->names()[dimension].c_str() : nullptr;
}
int64_t tdm_device_mesh_size(const tdm_device_mesh* mesh, int64_t dimension) {
  return has_dimension(mesh, dimension) ? mesh->mesh->shape()[dimension] : 0;
}
int64_t tdm_device_mesh_coordinate(const tdm_device_mesh* mesh, int64_t dimension) {
  return has_dimension(mesh, dimension) ? mesh->mesh->coordinate()[dimension] : -1;
}

tdm_error* tdm_device_mesh_group(const tdm_device_mesh* mesh, const char* name, tdm_process_group** out) {
  return guard("tdm_device_mesh_group", [&] {
    const tandem::DeviceMesh& native = mesh_of(mesh);
    not_null(name, "name");
    not_null(out, "out");
    hand_over_group(native.group(name), out, /*owns=*/false);
  });
}

tdm_error* tdm_device_mesh_submesh(const tdm_device_mesh* mesh, const char* const* names, size_t name_count,
                                   tdm_device_mesh** out) {
  return guard("tdm_device_mesh_submesh", [&] {
    const tandem::DeviceMesh& native = mesh_of(mesh);
    not_null(out, "out");
    *out = new tdm_device_mesh(native.submesh(to_strings(names, name_count, "names")));
  });
}

tdm_error* tdm_device_mesh_flatten(const tdm_device_mesh* mesh, const char* name, tdm_device_mesh** out) {
  return guard("tdm_device_mesh_flatten", [&] {
    const tandem::DeviceMesh& native = mesh_of(mesh);
    not_null(name, "name");
    not_null(out, "out");
    *out = new tdm_device_mesh(native.flatten(name));
  });
}
