// Samples by number: what a loader makes batches of.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/record_source.h"

namespace tandem {

// A sample is a list of tensors, equally many in each sample. Derive from it for data of your own: size() and get() are
// all that is needed. The loader's threads call get() and get_batch() at once, for different samples.
class TANDEM_API Dataset {
 public:
  virtual ~Dataset();
  virtual std::int64_t size() const = 0;
  // Sample `index`, 0 ≤ index < size().
  virtual std::vector<at::Tensor> get(std::int64_t index) = 0;
  // One tensor for each of a sample's, of shape [rows, …], whose first rows are these samples; those behind, if there
  // are any, are zeros. Without samples the shapes are those of other samples. The default stacks what get() gives.
  // Errors: kInvalidArgument naming sample and shapes where samples differ in shape or dtype.
  virtual std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows);
  // get() for a data set whose samples are random (cut, mirrored), which follows from their sample_randomness() alone.
  // The default is get(), for all others. A data set made of others hands the randomness on.
  virtual std::vector<at::Tensor> get_random(std::int64_t index, std::uint64_t randomness);
  // What a loader calls: get_batch() for such a data set. The default is get_batch().
  virtual std::vector<at::Tensor> get_random_batch(std::span<const std::int64_t> samples,
                                                   std::span<const std::uint64_t> randomness, std::int64_t rows);
  // Of a batch's tensors; may be empty.
  virtual std::vector<std::string> names() const { return {}; }
  // Where sample `index` comes from, for messages.
  virtual std::string place(std::int64_t index) const { return "sample " + std::to_string(index); }
  // Tells data sets apart: the same in every process, and for every other data another number, as far as it can be told
  // cheaply. The default knows the size alone.
  virtual std::uint64_t fingerprint() const;
};

// One field of records of a fixed layout; fields follow one another without gaps, in the host's byte order. A batch has
// a tensor per field, of shape [batch, sizes…].
struct RecordField {
  std::string name;
  at::ScalarType dtype = at::kByte;  // in the record
  std::vector<std::int64_t> sizes;   // of one sample; empty: a scalar
  // Of the batch: dtype itself; float32 from any real type, as (x · scale − mean) / std; int64 from any integer type.
  at::ScalarType out_dtype = at::kByte;
  double mean = 0;
  double std = 1;
  double scale = 1;
};

// Records of that layout as samples. Errors: kInvalidArgument for fields that cannot be; a record of another size is an
// error of the batch that it is in.
TANDEM_API std::shared_ptr<Dataset> record_dataset(std::shared_ptr<RecordSource> source,
                                                   std::vector<RecordField> fields);
// Of the files that open_records() takes, one after the other. Errors: those of open_records().
TANDEM_API std::shared_ptr<Dataset> record_dataset(const std::vector<std::string>& paths,
                                                   std::vector<RecordField> fields);

// Row i of each tensor is sample i. Holds the tensors. Errors: kInvalidArgument for tensors of different first
// dimensions, without one, or that are not on the CPU.
TANDEM_API std::shared_ptr<Dataset> tensor_dataset(std::vector<at::Tensor> tensors,
                                                   std::vector<std::string> names = {});

}  // namespace tandem
