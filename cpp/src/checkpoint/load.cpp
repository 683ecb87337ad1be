#include "checkpoint/load.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/invalid.h"
#include "checkpoint/checksum.h"
#include "checkpoint/manifest.h"
#include "checkpoint/parts.h"
#include "tandem/error.h"
#include "weights/safetensors_file.h"

namespace tandem::checkpoint {
namespace {

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kDataLoss, path + " is damaged: " + what);
}

// A file with what the manifest says of its tensors, by name.
class CheckedFile {
 public:
  CheckedFile(const std::string& folder, const FileRecord& record) : file_(folder + "/" + record.name) {
    if (file_.size() != record.bytes) {
      damaged(file_.path(), "it has " + std::to_string(file_.size()) + " bytes, not " + std::to_string(record.bytes));
    }
    if (checksum(file_.start()) != record.header_crc32) {
      damaged(file_.path(), "its header is not what its checksum was made of");
    }
    for (const TensorRecord& tensor : record.tensors) records_.emplace(tensor.name, &tensor);
    for (const auto& entry : file_.header().entries) {
      const auto found = records_.find(entry.name);
      if (found == records_.end())
        damaged(file_.path(), std::string(kManifest) + " lacks its tensor '" + entry.name + "'");
      if (!found->second->whole.empty() && found->second->sizes != entry.sizes) {
        damaged(file_.path(), std::string(kManifest) + " has other sizes for its tensor '" + entry.name + "'");
      }
    }
    if (file_.header().entries.size() != records_.size()) damaged(file_.path(), "it lacks a tensor");
  }

  const std::vector<safetensors::Entry>& entries() const { return file_.header().entries; }
  const TensorRecord& record(const safetensors::Entry& entry) const { return *records_.at(entry.name); }

  void read(const safetensors::Entry& entry, at::Tensor& to) const {
    std::uint32_t crc = 0;
    if (to.numel() != 0) {
      file_.read(entry, to.mutable_data_ptr(),
                 [&](const void* block, std::size_t size) { crc = checksum(block, size, crc); });
    }
    if (crc == record(entry).crc32) return;
    damaged(file_.path(), "tensor '" + entry.name + "' is not what its checksum was made of");
  }

 private:
  safetensors::OpenFile file_;
  std::map<std::string, const TensorRecord*> records_;
};

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_prefix(const std::string& name, const CheckpointRequest& request) {
  const auto& prefixes = request.prefixes;
  return prefixes.empty() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& one) { return name.starts_with(one); });
}

bool is_wanted(const std::string& section, const CheckpointRequest& request) {
  return (request.sections.empty() || is_among(section, request.sections)) && !is_among(section, request.without);
}

bool holds_wanted(const FileRecord& file, const CheckpointRequest& request) {
  return request.prefixes.empty() ||
         std::any_of(file.tensors.begin(), file.tensors.end(),
                     [&](const TensorRecord& one) { return has_prefix(one.name, request); });
}

// The tensors of one section as they come out of one file after the other.
class Section {
 public:
  Section(std::string name, const CheckpointRequest& request) : name_(std::move(name)), request_(request) {}

  void add(const CheckedFile& file) {
    for (const auto& entry : file.entries()) add(file, entry);
  }
  NamedTensors take() { return std::move(tensors_); }

 private:
  struct Wanted {
    Box box;  // of the whole tensor
    at::Tensor tensor;
  };

  void add(const CheckedFile& file, const safetensors::Entry& entry) {
    const TensorRecord& record = file.record(entry);
    if (!has_prefix(entry.name, request_)) return;
    const std::vector<std::int64_t>& whole = record.whole.empty() ? entry.sizes : record.whole;
    const std::vector<std::int64_t> first(whole.size(), 0);
    const Box here{record.whole.empty() ? first : record.begin, entry.sizes};
    const auto found = wanted_.find(entry.name);
    const at::TensorOptions options(safetensors::scalar_type(entry));
    Wanted* wanted = nullptr;
    if (found == wanted_.end()) {
      Wanted made{{first, whole}, {}};
      bool any = true;
      if (request_.part) any = ask(entry.name, whole, made.box);
      if (any) {
        made.tensor = at::empty(made.box.sizes, options);
        tensors_.emplace_back(entry.name, made.tensor);
      }
      wanted = &wanted_.emplace(entry.name, std::move(made)).first->second;
    } else {
      wanted = &found->second;
      if (wanted->tensor.defined() && wanted->tensor.dtype() != options.dtype()) {
        damaged("the section " + name_, "the parts of tensor '" + entry.name + "' are of several dtypes");
      }
    }
    if (!wanted->tensor.defined()) return;
    copy(file, entry, here, *wanted);
  }

  void copy(const CheckedFile& file, const safetensors::Entry& entry, const Box& here, Wanted& wanted) const {
    const Box both = common(here, wanted.box);
    if (!both.sizes.empty() && is_empty(both)) return;
    at::Tensor place = within(wanted.tensor, both, wanted.box);
    // Straight to where it belongs, if its elements lie there one after the other.
    if (both.sizes == here.sizes && place.is_contiguous()) return file.read(entry, place);
    at::Tensor part = at::empty(here.sizes, place.options());
    file.read(entry, part);
    place.copy_(within(part, both, here));
  }

  // Of a tensor that is `of` of the whole one, what is `box` of that.
  static at::Tensor within(at::Tensor tensor, const Box& box, const Box& of) {
    for (std::size_t i = 0; i < box.sizes.size(); ++i) {
      tensor = tensor.narrow(static_cast<std::int64_t>(i), box.begin[i] - of.begin[i], box.sizes[i]);
    }
    return tensor;
  }

  // Whether anything is wanted of it, and what.
  bool ask(const std::string& tensor, const std::vector<std::int64_t>& whole, Box& box) const {
    const auto part = request_.part(name_, tensor, whole);
    if (!part) return false;
    box = {part->begin, part->sizes};
    if (lies_within(box, whole)) return true;
    invalid("what is wanted of tensor '" + tensor + "' of the section '" + name_ + "' does not lie in its " +
            c10::str(at::IntArrayRef(whole)));
  }

  const std::string name_;
  const CheckpointRequest& request_;
  std::map<std::string, Wanted> wanted_;
  NamedTensors tensors_;
};

std::string read_values(const std::string& folder, const Manifest& manifest) {
  const std::string path = folder + "/" + kValues;
  std::string values = read_text(path, kLongestManifest);
  if (values.size() != manifest.values_bytes || checksum(values) != manifest.values_crc32) {
    damaged(path, "it is not what its checksum was made of");
  }
  return values;
}

}  // namespace

Checkpoint read(const Folder& folder, std::int64_t step, const CheckpointRequest& request) {
  const std::string place = folder.path_of(step);
  const std::string manifest_path = place + "/" + kManifest;
  const Manifest manifest = parse(read_text(manifest_path, kLongestManifest), manifest_path);
  if (manifest.step != step) damaged(manifest_path, "it is that of step " + std::to_string(manifest.step));
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.world_size = manifest.world_size;
  checkpoint.values = read_values(place, manifest);
  at::NoGradGuard no_grad;
  std::map<std::string, Section> sections;
  for (const FileRecord& record : manifest.files) {
    if (!is_wanted(record.section, request)) continue;
    Section& section = sections.try_emplace(record.section, record.section, request).first->second;
    if (holds_wanted(record, request)) section.add(CheckedFile(place, record));
  }
  for (auto& [name, section] : sections) checkpoint.sections.emplace(name, section.take());
  for (const std::string& name : request.sections) {
    if (checkpoint.sections.contains(name) || is_among(name, request.without)) continue;
    std::set<std::string> saved;  // ranks may each have a file of one
    for (const FileRecord& record : manifest.files) saved.insert(record.section);
    std::string known;
    for (const std::string& section : saved) known += (known.empty() ? "" : ", ") + section;
    throw Error(ErrorCode::kInvalidArgument,
                "checkpoint " + place + " has no section '" + name + "'" + (known.empty() ? "" : "; it has " + known));
  }
  return checkpoint;
}

}  // namespace tandem::checkpoint
