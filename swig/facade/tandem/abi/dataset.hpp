// Data sets: of files, of tensors, and those made of others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/abi/fields.hpp"
#include "tandem/abi/tensor.hpp"

namespace tandem::abi {

// How files of records are opened. What follows `attempts`, and that itself, is for http://, https:// and s3:// alone.
struct FileOptions {
  std::string format;                  // "recordio", "tfrecord" and so on; "": what each file's first bytes say
  int64_t skip = 0;                    // records to leave out at the beginning of each file: a CSV file's header
  uint64_t memory_bytes = 256u << 20;  // of decompressed and of fetched chunks, of all files together
  uint64_t most_chunk_bytes = 1u << 30;  // memory that a compressed chunk may take once it is decompressed
  bool use_index = true;               // whether FILE.idx beside RecordIO v1 is read, and written where that saves time
  int32_t attempts = 6;                // how often a request is made before its failure is an error
  int64_t connect_timeout_ms = 15000;  // for the connection of one attempt
  int64_t stall_timeout_ms = 30000;    // how long a reply may stand still, or be slower than least_speed
  int64_t least_speed = 1024;          // bytes a second
  int64_t request_timeout_ms = 600000; // of a request with all its attempts
  std::string cache_folder;            // where what was fetched is kept; "": as in tdm_open_records_options
  int64_t cache_bytes = -1;            // of all that lies there, about; 0: nothing is kept; -1: as there
  std::string s3_endpoint;             // of services like S3's, "http://minio:9000"; "": as there
  std::string s3_region;               // "": as there

  // Its texts are this object's.
  tdm_open_records_options raw() const {
    tdm_open_records_options raw = TDM_OPEN_RECORDS_OPTIONS_INIT;
    raw.format = or_null(format);
    raw.skip = skip;
    raw.cache_bytes = memory_bytes;
    raw.use_index = use_index;
    raw.attempts = attempts;
    raw.connect_timeout_ms = connect_timeout_ms;
    raw.stall_timeout_ms = stall_timeout_ms;
    raw.least_speed = least_speed;
    raw.request_timeout_ms = request_timeout_ms;
    raw.most_chunk_bytes = most_chunk_bytes;
    raw.cache_folder = or_null(cache_folder);
    raw.cache_folder_bytes = cache_bytes;
    raw.s3_endpoint = or_null(s3_endpoint);
    raw.s3_region = or_null(s3_region);
    return raw;
  }
};

// Of records that a schema describes; docs/samples.md has the JSON of all three.
struct SchemaOptions {
  std::string schema;     // "": the one that the first file carries, of RecordIO version 2
  std::string decoding;   // how pictures are fitted; "": the defaults
  std::string collating;  // how fields of varying size are padded or packed; "": the defaults
};

// Samples by number, each a list of tensors with a name each. Any thread may use it. What is made of it, a loader or
// another data set, keeps what it needs: this object may go right after. Those of the program's own: own_dataset.hpp.
class Dataset {
 public:
  explicit Dataset(tdm_dataset* owned) : handle_(owned) {}

  // Records of files of any format, of that layout: paths, patterns, lists and URLs.
  static Dataset from_records(const std::vector<std::string>& paths, const Fields& fields,
                              const FileOptions& options = {}) {
    const auto pointers = c_strings(paths);
    const tdm_open_records_options files = options.raw();
    Dataset made(nullptr);
    check(tdm_dataset_from_records(pointers.data(), pointers.size(), fields.data(), fields.size(), &files,
                                   made.handle_.out()));
    return made;
  }
  static Dataset from_schema(const std::vector<std::string>& paths, const SchemaOptions& options = {},
                             const FileOptions& file_options = {}) {
    const auto pointers = c_strings(paths);
    const tdm_open_records_options files = file_options.raw();
    tdm_schema_options raw = TDM_SCHEMA_OPTIONS_INIT;
    raw.schema = or_null(options.schema);
    raw.decoding = or_null(options.decoding);
    raw.collating = or_null(options.collating);
    raw.files = &files;
    Dataset made(nullptr);
    check(tdm_dataset_from_schema(pointers.data(), pointers.size(), &raw, made.handle_.out()));
    return made;
  }
  // Sample i is row i of each tensor: dense ones on the CPU, of equally many rows, as they are now.
  static Dataset from_tensors(const TensorList& tensors, const std::vector<std::string>& names) {
    if (names.size() != tensors.size()) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "Dataset::from_tensors",
                  std::to_string(names.size()) + " names for " + std::to_string(tensors.size()) + " tensors");
    }
    const auto pointers = c_strings(names);
    Dataset made(nullptr);
    check(tdm_dataset_from_tensors(tensors.data(), tensors.size(), pointers.data(), made.handle_.out()));
    return made;
  }
  // One after the other; their tensors have the same names.
  static Dataset concat(const std::vector<const Dataset*>& parts) {
    std::vector<const tdm_dataset*> pointers;
    for (const Dataset* part : parts) pointers.push_back(part->raw());
    Dataset made(nullptr);
    check(tdm_dataset_concat(pointers.data(), pointers.size(), made.handle_.out()));
    return made;
  }

  // -1: unknown, of samples that come one after the other.
  int64_t size() const { return tdm_dataset_size(raw()); }
  // Tensors of a sample, and the name of each.
  size_t field_count() const { return tdm_dataset_field_count(raw()); }
  std::vector<std::string> field_names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < field_count(); ++i) names.emplace_back(tdm_dataset_field_name(raw(), i));
    return names;
  }
  std::vector<Tensor> get(int64_t index) const {
    std::vector<tdm_tensor*> given(field_count());
    check(tdm_dataset_get(raw(), index, given.data(), given.size()));
    std::vector<Tensor> sample;
    for (tdm_tensor* tensor : given) sample.emplace_back(tensor);
    return sample;
  }

  // These samples of it, in this order.
  Dataset subset(const std::vector<int64_t>& samples) const {
    Dataset made(nullptr);
    check(tdm_dataset_subset(raw(), samples.data(), samples.size(), made.handle_.out()));
    return made;
  }
  // Parts of these sizes, which are size() together: each sample is in one of them, drawn by the seed.
  std::vector<Dataset> random_split(const std::vector<int64_t>& sizes, uint64_t seed) const {
    std::vector<tdm_dataset*> given(sizes.size());
    check(tdm_dataset_random_split(raw(), sizes.data(), sizes.size(), seed, given.data()));
    std::vector<Dataset> parts;
    for (tdm_dataset* part : given) parts.emplace_back(part);
    return parts;
  }
  // The sizes for that by fractions, which are 1 together: rounded down, and what that leaves goes to the first parts.
  std::vector<int64_t> split_sizes(const std::vector<double>& fractions) const {
    std::vector<int64_t> sizes(fractions.size());
    check(tdm_dataset_split_sizes(raw(), fractions.data(), fractions.size(), sizes.data()));
    return sizes;
  }

  tdm_dataset* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_dataset, tdm_dataset_free> handle_;
};

}  // namespace tandem::abi
