// Writing an archive with the present tensors.
#include <cstring>
#include <set>

#include "base/shown_path.h"
#include "exported/model.h"
#include "weights/zip_writer.h"

namespace tandem::exported {
namespace {

// Members that LibTorch's writer adds itself.
bool is_writers_own(const std::string& member) {
  return member.starts_with(".data/") || member == "version";
}

// The bytes of a storage of the archive, with these tensors in the places that the archive's have in it.
at::Tensor storage_bytes(const Archive& archive, const weights::ZipMember& member,
                         const std::vector<std::pair<at::Tensor, at::Tensor>>& places_and_values) {
  at::Tensor bytes = at::empty({static_cast<std::int64_t>(member.size)}, at::kByte);
  if (member.size > 0) std::memcpy(bytes.mutable_data_ptr(), archive.bytes(member).data(), member.size);
  archive.check(member);
  for (const auto& [place, value] : places_and_values) {
    at::Tensor there = at::empty({0}, place.options().requires_grad(false))
                           .set_(bytes.storage(), place.storage_offset(), place.sizes(), place.strides());
    at::Tensor present = value.detach();
    for (std::int64_t i = 0; i < there.dim(); ++i) {
      if (there.stride(i) != 0 || there.size(i) < 2) continue;  // else one number stands for all
      there = there.narrow(i, 0, 1);
      present = present.narrow(i, 0, 1);
    }
    there.copy_(present);
  }
  return bytes;
}

}  // namespace

void Model::save(const std::string& path) const {
  const Archive& archive = *program().archive();
  if (has_other_dtype()) {
    unsupported(shown_path(path), std::string("cannot be written: the model was exported as ") + at::toString(exported_dtype_) +
                                      " and is " + at::toString(state_.at(real_).scalar_type()) +
                                      " now, which its graph does not know; save its tensors alone");
  }
  at::NoGradGuard no_grad;
  std::map<std::string, std::vector<std::pair<at::Tensor, at::Tensor>>> changed;
  for (const auto& [folder, config] :
       {std::pair{kWeightsFolder, kWeightsConfig}, std::pair{kConstantsFolder, kConstantsConfig}}) {
    for (const auto& [name, payload] : read_payloads(archive, folder, config)) {
      auto& places = changed[payload.member];
      const auto in_state = state_.find(name);
      const auto in_constants = constants_[present_].find(name);
      if (in_state != state_.end()) {
        places.emplace_back(payload.tensor, in_state->second);
      } else if (in_constants != constants_[present_].end()) {
        places.emplace_back(payload.tensor, in_constants->second);
      }
    }
  }
  weights::ZipWriter writer(path);
  for (const weights::ZipMember& member : archive.members()) {
    if (is_writers_own(member.name)) continue;
    const auto found = changed.find(member.name);
    if (found == changed.end()) {
      writer.add(member.name, archive.bytes(member).data(), member.size);
      archive.check(member);
    } else {
      const at::Tensor bytes = storage_bytes(archive, member, found->second);
      writer.add(member.name, bytes.const_data_ptr(), member.size);
    }
  }
  writer.commit();
}

}  // namespace tandem::exported
