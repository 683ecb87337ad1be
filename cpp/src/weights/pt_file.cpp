#include "tandem/pt_file.h"

#include <cstring>
#include <set>

#include "base/crc32c.h"
#include "base/mapped_file.h"
#include "tandem/error.h"
#include "weights/mapped_storage.h"
#include "weights/pickle/utf8.h"
#include "weights/pt_layout.h"
#include "weights/scalar_types.h"

namespace tandem {
namespace {

using pickle::Kind;
using pickle::Object;
using pickle::Ref;

// As LibTorch's own allocator aligns.
constexpr std::uint64_t kAlign = 64;

at::Storage copied_storage(const MappedFile& file, std::uint64_t offset, std::uint64_t size) {
  const at::Tensor bytes = at::empty({static_cast<std::int64_t>(size)}, at::kByte);
  if (size > 0) std::memcpy(bytes.mutable_data_ptr(), &file.bytes()[offset], size);
  return bytes.storage();
}

// Values of a layout whose limits were checked.
class Builder {
 public:
  Builder(const std::string& path, const weights::PtLayout& layout, std::vector<at::Storage> storages)
      : path_(path), layout_(layout), storages_(std::move(storages)) {}

  PtValue value(Ref ref) const {
    const Object& object = layout_.pickle.object(ref);
    switch (object.kind) {
      case Kind::kNone:
        return {};
      case Kind::kBool:
        return object.integer != 0;
      case Kind::kInteger:
        return object.integer;
      case Kind::kReal:
        return object.real;
      case Kind::kComplex:
        return std::complex<double>(object.real, object.imaginary);
      case Kind::kString:
        return std::string(object.text);
      case Kind::kBytes:
        return PtBytes{std::string(object.text)};
      case Kind::kLatin1: {
        PtBytes bytes;
        pickle::latin1_of(object.text, &bytes.bytes);
        return bytes;
      }
      case Kind::kList:
        return PtList{values(object.items)};
      case Kind::kTuple:
        return PtTuple{values(object.items)};
      case Kind::kSet:
        return PtSet{values(object.items)};
      case Kind::kDict:
      case Kind::kOrderedDict: {
        PtDict dict{items(object.items), object.kind == Kind::kOrderedDict, {}};
        if (object.attributes != pickle::kNoneRef) {
          dict.attributes = items(layout_.pickle.object(object.attributes).items);
        }
        return dict;
      }
      case Kind::kDevice:
        return device(object);
      case Kind::kStorage:
        return PtTensor{whole_storage(static_cast<std::size_t>(object.integer)), false};
      case Kind::kTensor:
        return tensor(layout_.pickle.tensors[static_cast<std::size_t>(object.integer)]);
      case Kind::kGlobal:
        if (object.global.name == pickle::Name::kDtype) return weights::scalar_type_of(object.global.dtype);
        fail("holds a class or function of Python", ErrorCode::kUnsupported);
      case Kind::kObject:
        break;  // of TorchScript alone
      case Kind::kLongInteger:
        fail("holds an integer of more than 64 bits", ErrorCode::kUnsupported);
    }
    fail("holds what is not known", ErrorCode::kInternal);
  }

 private:
  [[noreturn]] void fail(const std::string& what, ErrorCode code) const { throw Error(code, path_ + " " + what); }

  std::vector<PtValue> values(const std::vector<Ref>& refs) const {
    std::vector<PtValue> result;
    result.reserve(refs.size());
    for (const Ref ref : refs) result.push_back(value(ref));
    return result;
  }

  // Of two equal keys Python would keep the last, which hides the other.
  std::vector<PtItem> items(const std::vector<Ref>& refs) const {
    std::set<std::string_view> names;
    std::set<std::int64_t> numbers;
    std::vector<PtItem> result;
    result.reserve(refs.size() / 2);
    for (std::size_t i = 0; i + 1 < refs.size(); i += 2) {
      const Object& key = layout_.pickle.object(refs[i]);
      if (key.kind == Kind::kString && !names.insert(key.text).second) {
        fail("has a dict with the key '" + std::string(key.text.substr(0, 200)) + "' twice", ErrorCode::kDataLoss);
      }
      if (key.kind == Kind::kInteger && !numbers.insert(key.integer).second) {
        fail("has a dict with the key " + std::to_string(key.integer) + " twice", ErrorCode::kDataLoss);
      }
      result.push_back({value(refs[i]), value(refs[i + 1])});
    }
    return result;
  }

  PtValue device(const Object& object) const {
    try {
      at::Device device{std::string(object.text)};
      if (object.integer >= 0) device.set_index(static_cast<at::DeviceIndex>(object.integer));
      return device;
    } catch (const c10::Error&) {
      fail("names a device that LibTorch does not know: '" + std::string(object.text.substr(0, 100)) + "'",
           ErrorCode::kUnsupported);
    }
  }

  const at::Storage& storage(std::size_t reference) const { return storages_[layout_.storage_of[reference]]; }

  at::Tensor whole_storage(std::size_t reference) const {
    const pickle::StorageRef& named = layout_.pickle.storages[reference];
    return at::empty({0}, weights::scalar_type_of(named.dtype))
        .set_(storage(reference), 0, {static_cast<std::int64_t>(named.elements)}, {1});
  }

  std::vector<std::int64_t> numbers(Ref tuple) const {
    std::vector<std::int64_t> result;
    for (const Ref ref : layout_.pickle.object(tuple).items) result.push_back(layout_.pickle.object(ref).integer);
    return result;
  }

  PtTensor tensor(const pickle::TensorRef& named) const {
    const at::ScalarType type = weights::scalar_type_of(named.dtype);
    at::Tensor made =
        at::empty({0}, type).set_(storage(named.storage), named.offset, numbers(named.sizes), numbers(named.strides));
    if ((named.conjugate && !made.is_complex()) ||
        (named.requires_grad && !c10::isFloatingType(type) && !c10::isComplexType(type))) {
      fail("has a tensor of dtype " + std::string(at::toString(type)) + " that is conjugate or requires gradients",
           ErrorCode::kDataLoss);
    }
    if (named.conjugate) made._set_conj(true);
    if (named.negative) made._set_neg(true);
    if (named.requires_grad) made.set_requires_grad(true);
    return {std::move(made), named.is_parameter};
  }

  const std::string& path_;
  const weights::PtLayout& layout_;
  const std::vector<at::Storage> storages_;
};

void check_crc(const std::string& path, const MappedFile& file, const weights::PtStorage& storage) {
  if (storage.crc == 0 || crc32(file.bytes().subspan(storage.offset, storage.size)) == storage.crc) return;
  throw Error(ErrorCode::kDataLoss, path + " is damaged: the storage 'data/" + storage.key +
                                        "' does not have the checksum that it was written with");
}

}  // namespace

PtFile::PtFile(const std::string& path, const PtReadOptions& options) {
  const auto file = std::make_shared<const MappedFile>(path, MappedFile::Access::kCopyOnWrite);
  LostReads lost;
  const auto check_lost = [&] {
    file->look_for_end(file->bytes().size());
    if (lost.any()) file->check(0, file->bytes().size());
  };
  try {
    pickle::Limits limits;
    limits.most_values = options.most_values;
    const weights::PtLayout layout = weights::read_pt_layout(file->bytes(), path, limits);
    std::vector<at::Storage> storages;
    for (const weights::PtStorage& storage : layout.storages) {
      if (options.check_crc) check_crc(path, *file, storage);
      const bool maps = !options.copy && storage.offset % kAlign == 0 && storage.size > 0;
      storages.push_back(maps ? weights::mapped_storage(file, storage.offset, storage.size)
                              : copied_storage(*file, storage.offset, storage.size));
      if (maps) file_ = file;
    }
    value_ = Builder(path, layout, std::move(storages)).value(layout.pickle.root);
  } catch (const Error&) {
    check_lost();  // zeros in the place of what was cut off are why
    throw;
  }
  check_lost();
}

void PtFile::check() const {
  if (!file_) return;
  file_->look_for_end(file_->bytes().size());
  file_->check(0, file_->bytes().size());
}

PtValue load_pt(const std::string& path, const PtReadOptions& options) {
  return PtFile(path, options).value();
}

}  // namespace tandem
