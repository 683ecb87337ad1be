#include "checkpoint/save.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/atomic_file.h"
#include "base/invalid.h"
#include "checkpoint/checksum.h"
#include "checkpoint/manifest.h"
#include "checkpoint/parts.h"
#include "weights/safetensors_file.h"

namespace tandem::checkpoint {

namespace {

constexpr const char* kNotSaved = " was not saved: ";

// Each block is written while the checksum still has it in the core's cache.
std::uint32_t append(AtomicFile& file, const void* data, std::size_t size) {
  std::uint32_t crc = 0;
  for (std::size_t done = 0; done < size; done += safetensors::kBlock) {
    const std::size_t now = std::min(safetensors::kBlock, size - done);
    const auto* block = static_cast<const char*>(data) + done;
    crc = checksum(block, now, crc);
    file.append(block, now);
  }
  return crc;
}

// `records`: of the same tensors, with what is known of them already.
FileRecord write_file(const std::string& folder, FileRecord record, const NamedTensors& tensors,
                      const std::vector<TensorRecord>& records) {
  const auto layout = safetensors::lay_out(tensors, {{"section", record.section}});
  AtomicFile file(folder + "/" + record.name);
  record.header_crc32 = append(file, layout.start.data(), layout.start.size());
  record.bytes = layout.start.size();
  for (const std::size_t i : layout.order) {
    const at::Tensor plain = safetensors::plain(tensors[i].second);
    record.tensors.push_back(records[i]);
    if (plain.numel() != 0) record.tensors.back().crc32 = append(file, plain.const_data_ptr(), plain.nbytes());
    record.bytes += plain.nbytes();
  }
  file.commit();
  return record;
}

void check_part(const std::string& section, const OwnTensor& own) {
  if (own.whole.empty() && own.begin.empty()) return;
  const std::string name = "tensor '" + own.name + "' of the section '" + section + "'";
  if (!own.tensor.defined()) invalid(name + " is an empty handle");
  const auto dimensions = static_cast<std::size_t>(own.tensor.dim());
  if (own.whole.size() != dimensions || own.begin.size() != dimensions || dimensions == 0) {
    invalid(name + " has " + std::to_string(dimensions) + " dimensions, the tensor that it is a part of " +
            std::to_string(own.whole.size()) + ", its place in that " + std::to_string(own.begin.size()));
  }
  if (lies_within({own.begin, own.tensor.sizes().vec()}, own.whole)) return;
  invalid(name + ": its " + c10::str(own.tensor.sizes()) + " at " + c10::str(at::IntArrayRef(own.begin)) +
          " is outside of " + c10::str(at::IntArrayRef(own.whole)));
}

void check_section(const std::string& section) {
  if (!is_section_name(section)) {
    invalid("a section cannot be called '" + section + "': it names a file; use letters, digits, '_' and '-'");
  }
}

std::vector<FileRecord> write_files(const std::string& folder, const Ranks& ranks, const CheckpointContent& content) {
  std::vector<FileRecord> files;
  if (ranks.rank() == 0) {
    for (const auto& [section, tensors] : content.replicated) {
      check_section(section);
      std::vector<TensorRecord> records;
      for (const auto& [name, tensor] : tensors) records.push_back({name, 0, {}, {}, {}});
      files.push_back(write_file(folder, {file_name(section), section, 0, 0, 0, {}}, tensors, records));
    }
  }
  for (const auto& [section, own] : content.own) {
    check_section(section);
    NamedTensors tensors;
    std::vector<TensorRecord> records;
    for (const OwnTensor& each : own) {
      check_part(section, each);
      tensors.emplace_back(each.name, each.tensor);
      records.push_back({each.name, 0, each.whole, each.begin, {}});
      if (!each.whole.empty()) records.back().sizes = each.tensor.sizes().vec();
    }
    const std::string name = file_name(section, ranks.rank(), ranks.size());
    files.push_back(write_file(folder, {name, section, ranks.rank(), 0, 0, {}}, tensors, records));
  }
  return files;
}

// Rank 0's, once it has all ranks' records.
void write_manifest(const std::string& folder, std::int64_t step, const std::vector<std::string>& records,
                    const std::string& values) {
  Manifest manifest;
  manifest.step = step;
  manifest.world_size = static_cast<int>(records.size());
  for (const std::string& text : records) {
    for (FileRecord& file : parse_files(text)) manifest.files.push_back(std::move(file));
  }
  if (const std::string wrong = what_is_wrong(manifest.files); !wrong.empty()) invalid(wrong);
  AtomicFile values_file(folder + "/" + kValues);
  manifest.values_crc32 = append(values_file, values.data(), values.size());
  manifest.values_bytes = values.size();
  values_file.commit();
  const std::string text = format(manifest);
  if (text.size() > kLongestManifest) {
    invalid("the checkpoint has too many tensors: what says where they are would take " + std::to_string(text.size()) +
            " bytes");
  }
  AtomicFile file(folder + "/" + kManifest);
  file.append(text.data(), text.size());
  file.commit();
}

}  // namespace

void save(const Folder& folder, const Ranks& ranks, const CheckpointOptions& options, std::int64_t step,
          const std::function<const CheckpointContent&()>& content) {
  if (step < 0) invalid("a checkpoint's step is counted from 0, not " + std::to_string(step));
  const std::string place = folder.unfinished(step);
  std::string failed = kNotSaved;
  bool is_saved = false;
  const auto what = [&] { return "checkpoint " + step_name(step) + " in " + folder.path() + failed; };
  // Of rank 0, as all ranks hear it.
  const auto why_not = [&] { return ranks.rank() == 0 && options.why_not ? options.why_not() : std::string(); };
  try {
    const auto begins = ranks.together([&]() -> std::string {
      const CheckpointContent& mine = content();
      if (std::string why = why_not(); !why.empty()) return why;
      if (ranks.rank() == 0) {
        check_values(mine.values);
        folder.begin(step);
      }
      return {};
    });
    if (!begins[0].empty()) throw NotPermitted(what(), begins[0]);
    const auto records = ranks.together([&] { return format_files(write_files(place, ranks, content())); });
    failed = " may not have been saved: ";  // where a rank is lost now
    const auto ends = ranks.together([&]() -> std::string {
      if (ranks.rank() == 0) {
        write_manifest(place, step, records, content().values);
        if (std::string why = why_not(); !why.empty()) return why;
        folder.publish(step);
      }
      return {};
    });
    if (!ends[0].empty()) {
      failed = kNotSaved;
      throw NotPermitted(what(), ends[0]);
    }
    failed = " is saved, but older ones could not be removed: ";
    is_saved = true;
    ranks.together([&]() -> std::string {
      if (ranks.rank() == 0) folder.prune(options.keep);
      return {};
    });
  } catch (const NotPermitted&) {  // what lies there under a temporary name may be another's by now: begin() removes it
    throw;
  } catch (const Error& error) {
    if (ranks.rank() == 0) folder.discard(step);
    if (is_saved) throw OlderOnesStay(error.code(), what() + error.what());
    throw Error(error.code(), what() + error.what());
  }
}

}  // namespace tandem::checkpoint
