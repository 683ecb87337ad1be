#include "exported/payload.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "exported/types.h"
#include "weights/mapped_storage.h"

namespace tandem::exported {
namespace {

constexpr std::size_t kMostDimensions = 64;

// A size of the schema that is a number.
std::int64_t fixed(const Json& value, const std::string& where) {
  const auto [kind, content] = one_of(value, where);
  if (kind != "as_int") damaged(where, "has a tensor whose place in the file is no number");
  const std::int64_t number = integer(content, where);
  if (number < 0) damaged(where, "has a tensor with the negative size, stride or offset " + std::to_string(number));
  return number;
}

std::vector<std::int64_t> numbers(const Json& meta, const char* name, const std::string& where) {
  const Json& values = list(meta, name, where);
  if (values.size() > kMostDimensions) damaged(where, "has a tensor of " + std::to_string(values.size()) + " dimensions");
  std::vector<std::int64_t> result;
  for (const Json& value : values) result.push_back(fixed(value, where));
  return result;
}

struct Place {
  at::ScalarType dtype;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset;

  bool operator<(const Place& other) const {
    return std::tie(dtype, sizes, strides, offset) < std::tie(other.dtype, other.sizes, other.strides, other.offset);
  }
};

Place place_of(const Json& meta, const std::string& where) {
  Place place{scalar_type(member(meta, "dtype", where), where), numbers(meta, "sizes", where),
              numbers(meta, "strides", where), fixed(member(meta, "storage_offset", where), where)};
  if (place.sizes.size() != place.strides.size()) damaged(where, "has not as many strides as sizes");
  if (layout(member(meta, "layout", where), where) != at::kStrided) {
    unsupported(where, "is a sparse tensor; save it as a strided one");
  }
  return place;
}

// One past its last element, in elements of its storage. Throws where that is no number of 64 bits.
std::uint64_t extent(const Place& place, const std::string& where) {
  if (std::find(place.sizes.begin(), place.sizes.end(), 0) != place.sizes.end()) return 0;
  std::uint64_t elements = 1, end = static_cast<std::uint64_t>(place.offset);
  bool too_large = false;
  for (std::size_t i = 0; i < place.sizes.size(); ++i) {
    std::uint64_t way = 0;
    const auto size = static_cast<std::uint64_t>(place.sizes[i]), stride = static_cast<std::uint64_t>(place.strides[i]);
    too_large |= __builtin_mul_overflow(elements, size, &elements);
    too_large |= size > 0 && __builtin_mul_overflow(size - 1, stride, &way);
    too_large |= __builtin_add_overflow(end, way, &end);
  }
  too_large |= __builtin_add_overflow(end, std::uint64_t{1}, &end) || elements > (std::uint64_t{1} << 62);
  // One number may stand for many, which whoever copies the tensor would write out.
  constexpr std::uint64_t kMostExpanded = std::uint64_t{1} << 30;
  if (too_large || (elements > end && elements > kMostExpanded)) {
    damaged(where, "says that it is larger than memory can be");
  }
  return end;
}

at::Storage storage_of(const Archive& archive, const weights::ZipMember& member) {
  constexpr std::uint64_t kAlign = 64;  // as LibTorch's own allocator aligns
  if (member.size > 0 && member.offset % kAlign == 0) {
    return weights::mapped_storage(archive.file(), member.offset, member.size);
  }
  const at::Tensor bytes = at::empty({static_cast<std::int64_t>(member.size)}, at::kByte);
  if (member.size > 0) std::memcpy(bytes.mutable_data_ptr(), archive.bytes(member).data(), member.size);
  archive.check(member);
  return bytes.storage();
}

}  // namespace

std::map<std::string, Payload> read_payloads(const Archive& archive, const std::string& folder,
                                             const std::string& config) {
  std::map<std::string, Payload> result;
  if (!archive.find(folder + config)) return result;
  const Json document = archive.json(folder + config);
  const std::string where = archive.name() + ": " + folder + config;
  std::map<std::string, std::pair<at::Storage, std::map<Place, at::Tensor>>> members;
  at::NoGradGuard no_grad;
  for (const auto& [name, entry] : object(document, "config", where).items()) {
    const std::string here = where + ": '" + name + "'";
    if (const Json* pickled = find(entry, "use_pickle"); pickled && boolean(*pickled, here)) {
      unsupported(here, "is a pickle of Python, which is not read: an object of a class of its own, or a tensor "
                        "subclass");
    }
    const std::string path = folder + text(entry, "path_name", here);
    const Place place = place_of(member(entry, "tensor_meta", here), here);
    const weights::ZipMember& found = archive.at(path);
    const std::uint64_t room = found.size / at::elementSize(place.dtype);
    if (extent(place, here) > room) {
      damaged(here, "does not lie in " + path + ", which has " + std::to_string(found.size) + " bytes");
    }
    auto [there, is_new] = members.try_emplace(path);
    auto& [storage, tensors] = there->second;
    if (is_new) storage = storage_of(archive, found);
    at::Tensor own;  // without elements no two are one
    at::Tensor& tensor = extent(place, here) == 0 ? own : tensors[place];
    if (!tensor.defined()) {
      try {
        tensor = at::empty({0}, place.dtype).set_(storage, place.offset, place.sizes, place.strides);
      } catch (const c10::Error& error) {
        damaged(here, std::string("cannot be: ") + error.what_without_backtrace());
      }
    }
    const Json& meta = member(entry, "tensor_meta", here);
    const auto flag = [&](const Json& of, const char* which) {
      const Json* value = find(of, which);
      return value && boolean(*value, here);
    };
    result.emplace(name, Payload{path, flag(entry, "is_param"), flag(meta, "requires_grad"),
                                 device(member(meta, "device", here), here), tensor});
  }
  return result;
}

}  // namespace tandem::exported
