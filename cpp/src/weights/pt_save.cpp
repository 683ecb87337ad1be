#include <ATen/ATen.h>

#include <map>
#include <set>

#include "tandem/error.h"
#include "tandem/pt_file.h"
#include "weights/pickle/pickler.h"
#include "weights/pickle/utf8.h"
#include "weights/scalar_types.h"
#include "weights/zip_writer.h"

namespace tandem {
namespace {

using pickle::DtypeFacts;
using pickle::Opcode;

constexpr int kDeepest = 200;

// The pickle of a value, and the storages that it names: each by the number that is its key.
class PtPickler {
 public:
  void value(const PtValue& value) {
    if (++depth_ > kDeepest) fail("values are nested more than " + std::to_string(kDeepest) + " deep");
    std::visit([this](const auto& one) { write(one); }, value.value);
    --depth_;
  }

  std::string finish() && { return std::move(out_).finish(); }

  struct Stored {
    at::Storage storage;
    std::size_t bytes;
  };
  const std::vector<Stored>& storages() const { return storages_; }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kInvalidArgument,
                "cannot save " + (place_.empty() ? "this" : "'" + place_ + "'") + ": " + what);
  }

  void write(std::monostate) { out_.none(); }
  void write(bool value) { out_.boolean(value); }
  void write(std::int64_t value) { out_.integer(value); }
  void write(double value) { out_.real(value); }
  void write(const std::complex<double>& value) {
    out_.global("__builtin__", "complex");
    out_.real(value.real());
    out_.real(value.imag());
    out_.opcode(Opcode::kTuple2);
    out_.opcode(Opcode::kReduce);
  }
  void write(const std::string& text) {
    if (text.size() > UINT32_MAX || !pickle::is_utf8(text)) {
      fail("a text is not UTF-8, or has 4 GiB or more");
    }
    out_.text(text);
  }
  void write(const PtBytes& value) {
    if (value.bytes.size() > UINT32_MAX / 2) fail("bytes are more than 2 GiB; save them as a tensor");
    out_.bytes(value.bytes);
  }
  void write(const PtList& list) { write_list(list.items); }
  void write(const PtTuple& tuple) {
    if (tuple.items.empty()) return out_.opcode(Opcode::kEmptyTuple);
    out_.opcode(Opcode::kMark);
    for (const PtValue& item : tuple.items) value(item);
    out_.opcode(Opcode::kTuple);
  }
  void write(const PtSet& set) {
    out_.global("__builtin__", "set");
    write_list(set.items);
    out_.opcode(Opcode::kTuple1);
    out_.opcode(Opcode::kReduce);
  }
  void write(const PtDict& dict) {
    if (!dict.ordered && !dict.attributes.empty()) fail("only an ordered dict has attributes");
    if (dict.ordered) {
      out_.ordered_dict();
    } else {
      out_.opcode(Opcode::kEmptyDict);
    }
    write_items(dict.items);
    if (dict.attributes.empty()) return;
    out_.opcode(Opcode::kEmptyDict);
    write_items(dict.attributes);
    out_.opcode(Opcode::kBuild);
  }
  void write(at::ScalarType type) { out_.global("torch", facts_of(type).name); }
  void write(const at::Device& device) {
    out_.global("torch", "device");
    out_.text(at::DeviceTypeName(device.type(), /*lower_case=*/true));
    if (device.has_index()) out_.integer(device.index());
    out_.opcode(device.has_index() ? Opcode::kTuple2 : Opcode::kTuple1);
    out_.opcode(Opcode::kReduce);
  }
  void write(const PtTensor& given) {
    check(given.tensor);
    if (!given.is_parameter) return write_tensor(given.tensor, given.tensor.requires_grad());
    out_.global("torch._utils", "_rebuild_parameter");
    out_.opcode(Opcode::kMark);
    write_tensor(given.tensor, false);
    out_.boolean(given.tensor.requires_grad());
    out_.ordered_dict();
    out_.opcode(Opcode::kTuple);
    out_.opcode(Opcode::kReduce);
  }

  void write_list(const std::vector<PtValue>& items) {
    out_.opcode(Opcode::kEmptyList);
    if (items.empty()) return;
    out_.opcode(Opcode::kMark);
    for (const PtValue& item : items) value(item);
    out_.opcode(Opcode::kAppends);
  }

  void write_items(const std::vector<PtItem>& items) {
    if (items.empty()) return;
    std::set<std::string> names;
    std::set<std::int64_t> numbers;
    out_.opcode(Opcode::kMark);
    for (const PtItem& item : items) {
      const std::size_t before = place_.size();
      const auto* const name = item.key.get_if<std::string>();
      const auto* const number = item.key.get_if<std::int64_t>();
      if (name) place_ += (before ? "." : "") + *name;
      if ((name && !names.insert(*name).second) || (number && !numbers.insert(*number).second)) {
        fail("a dict has the key " + (name ? "'" + *name + "'" : std::to_string(*number)) + " twice");
      }
      value(item.key);
      value(item.value);
      place_.resize(before);
    }
    out_.opcode(Opcode::kSetItems);
  }

  void check(const at::Tensor& tensor) const {
    if (!tensor.defined()) fail("the tensor is undefined");
    if (tensor.layout() != at::kStrided || tensor.is_nested() || tensor.is_quantized()) {
      fail("the tensor is sparse, nested or quantized; save what it is made of");
    }
    if (tensor.is_meta() || !tensor.has_storage()) fail("the tensor has no elements: it is of the device meta");
    static_cast<void>(facts_of(tensor.scalar_type()));
  }

  const DtypeFacts& facts_of(at::ScalarType type) const {
    const auto dtype = weights::dtype_of(type);
    if (!dtype)
      fail(std::string("the dtype ") + at::toString(type) + " is not among those that torch.save writes here");
    return pickle::facts_of(*dtype);
  }

  void write_tensor(const at::Tensor& given, bool requires_grad) {
    const at::Tensor tensor = given.is_conj() || given.is_neg() ? given.detach().resolve_conj().resolve_neg() : given;
    const DtypeFacts& facts = facts_of(tensor.scalar_type());
    const bool typed = !facts.storage.empty();
    out_.global("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    out_.opcode(Opcode::kMark);
    write_storage(tensor.storage(), facts);
    out_.integer(tensor.storage_offset());
    out_.tuple(tensor.sizes());
    out_.tuple(tensor.strides());
    out_.boolean(requires_grad);
    out_.ordered_dict();
    if (!typed) out_.global("torch", facts.name);
    out_.opcode(Opcode::kTuple);
    out_.opcode(Opcode::kReduce);
  }

  // A key has one dtype when Python reads it: a storage that is seen in several is written for each.
  void write_storage(const at::Storage& storage, const DtypeFacts& facts) {
    const bool typed = !facts.storage.empty();
    const auto seen_as = typed ? facts.dtype : pickle::Dtype::kUInt8;
    const std::size_t element = typed ? facts.bytes : 1, elements = storage.nbytes() / element;
    const auto [known, is_new] = keys_.emplace(std::pair{storage.unsafeGetStorageImpl(), seen_as}, storages_.size());
    if (is_new) storages_.push_back({storage, elements * element});
    out_.opcode(Opcode::kMark);
    out_.text("storage");
    out_.global(typed ? "torch" : "torch.storage", typed ? facts.storage : "UntypedStorage");
    out_.text(std::to_string(known->second));
    out_.text("cpu");
    out_.integer(static_cast<std::int64_t>(elements));
    out_.opcode(Opcode::kTuple);
    out_.opcode(Opcode::kBinPersId);
  }

  pickle::Pickler out_;
  std::vector<Stored> storages_;
  std::map<std::pair<const c10::StorageImpl*, pickle::Dtype>, std::size_t> keys_;
  std::string place_;  // names of dicts on the way, for messages
  int depth_ = 0;
};

// One at a time in the CPU's memory, if they lie elsewhere.
void add_storage(weights::ZipWriter& zip, const std::string& name, const PtPickler::Stored& stored) {
  if (stored.storage.device_type() == at::kCPU) {
    const void* const data = stored.bytes > 0 ? stored.storage.data() : "";
    return zip.add(name, data, stored.bytes);
  }
  const auto options = at::TensorOptions(at::kByte);
  const at::Tensor there = at::empty({0}, options.device(stored.storage.device()))
                               .set_(stored.storage, 0, {static_cast<std::int64_t>(stored.bytes)}, {1});
  const at::Tensor here = there.to(at::kCPU);
  zip.add(name, stored.bytes > 0 ? here.const_data_ptr() : "", stored.bytes);
}

}  // namespace

void save_pt(const std::string& path, const PtValue& value) {
  at::NoGradGuard no_grad;
  PtPickler pickler;
  pickler.value(value);
  const auto storages = pickler.storages();
  const std::string bytes = std::move(pickler).finish();
  weights::ZipWriter zip(path);
  const auto add_text = [&](const char* name, std::string_view text) { zip.add(name, text.data(), text.size()); };
  add_text("data.pkl", bytes);
  add_text(".format_version", "1");
  add_text(".storage_alignment", "64");
  add_text("byteorder", "little");
  for (std::size_t i = 0; i < storages.size(); ++i) add_storage(zip, "data/" + std::to_string(i), storages[i]);
  zip.commit();
}

}  // namespace tandem
