#include "tandem/schema_dataset.h"

#include <algorithm>

#include "base/lost_pages.h"
#include "base/shown_path.h"
#include "data/formats/detect.h"
#include "data/loader/stage_clock.h"
#include "data/recordio/record_file.h"
#include "tandem/error.h"
#include "tandem/sample_order.h"

namespace tandem {
namespace {

using loader::InStage;
using loader::Stage;

class SchemaDataset final : public Dataset {
 public:
  SchemaDataset(std::shared_ptr<RecordSource> source, const SampleSchema& schema, const SchemaDatasetOptions& options)
      : source_(std::move(source)),
        decoder_(make_sample_decoder(schema, options.decoding)),
        collating_(options.collating),
        names_(collated_names(*decoder_, collating_)) {
    if (!source_) throw Error(ErrorCode::kInvalidArgument, "there is no source of records");
  }

  std::int64_t size() const override { return source_->size(); }
  std::vector<std::string> names() const override { return names_; }
  std::string place(std::int64_t index) const override { return source_->place(index); }
  std::uint64_t fingerprint() const override { return source_->fingerprint(); }

  std::vector<at::Tensor> get(std::int64_t index) override { return get_random(index, sample_randomness(0, 0, index)); }

  std::vector<at::Tensor> get_random(std::int64_t index, std::uint64_t randomness) override {
    auto batch = get_random_batch({&index, 1}, {&randomness, 1}, 1);
    of_rows(batch, [](at::Tensor& tensor) { tensor = tensor[0]; });
    return batch;
  }

  std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows) override {
    std::vector<std::uint64_t> randomness;
    for (const std::int64_t sample : samples) randomness.push_back(sample_randomness(0, 0, sample));
    return get_random_batch(samples, randomness, rows);
  }

  std::vector<at::Tensor> get_random_batch(std::span<const std::int64_t> samples,
                                           std::span<const std::uint64_t> randomness, std::int64_t rows) override {
    return without_lost_pages([&] { return read_batch(samples, randomness, rows); });
  }

 private:
  static constexpr std::size_t kPackedTensors = 4, kPaddedTensors = 2;  // of BatchBuilder, for a field

  std::vector<at::Tensor> read_batch(std::span<const std::int64_t> samples, std::span<const std::uint64_t> randomness,
                                     std::int64_t rows) {
    BatchBuilder builder(*decoder_, static_cast<std::int64_t>(samples.size()), collating_,
                         std::max<std::int64_t>(rows, 1));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Record record = read(samples[i]);
      try {
        builder.set(static_cast<std::int64_t>(i), record.bytes, randomness[i]);
      } catch (const Error& error) {
        throw Error(error.code(), "cannot decode " + source_->place(samples[i]) + ": " + error.what());
      }
    }
    std::vector<at::Tensor> batch = builder.finish().tensors;
    // It has one blank row then.
    if (rows == 0) of_rows(batch, [](at::Tensor& tensor) { tensor = tensor.narrow(0, 0, 0); });
    return batch;
  }

  Record read(std::int64_t sample) const {
    const InStage reading(Stage::kReading);
    try {
      return source_->read(sample);
    } catch (const Error& error) {
      throw Error(error.code(), "cannot load " + source_->place(sample) + ": " + error.what());
    }
  }

  // Does `change` to each tensor that has a row a sample, which those of packed fields have not.
  template <typename Change>
  void of_rows(std::vector<at::Tensor>& batch, const Change& change) const {
    std::size_t at = 0;
    for (const SchemaField& field : decoder_->fields()) {
      const bool packed = collating_.pack.contains(field.name);
      const std::size_t tensors = packed ? kPackedTensors : field.varies() ? kPaddedTensors : 1;
      for (std::size_t i = 0; i < tensors; ++i, ++at) {
        if (!packed) change(batch[at]);
      }
    }
  }

  std::shared_ptr<RecordSource> source_;
  std::unique_ptr<SampleDecoder> decoder_;
  CollateOptions collating_;
  std::vector<std::string> names_;
};

}  // namespace

std::shared_ptr<Dataset> schema_dataset(std::shared_ptr<RecordSource> source, const SampleSchema& schema,
                                        const SchemaDatasetOptions& options) {
  return std::make_shared<SchemaDataset>(std::move(source), schema, options);
}

std::shared_ptr<Dataset> schema_dataset(const std::vector<std::string>& paths, const SampleSchema& schema,
                                        const SchemaDatasetOptions& options) {
  return schema_dataset(std::shared_ptr<RecordSource>(open_records(paths, options.files)), schema, options);
}

SampleSchema schema_of_files(const std::vector<std::string>& paths, const OpenRecordsOptions& options) {
  const std::string first = expand_record_paths(paths).at(0);
  std::string schema;
  auto file = open_data_file(first, options.remote);
  const auto format = options.format == RecordFormat::kDetect ? detect_format(*file) : std::optional(options.format);
  if (format == RecordFormat::kRecordIO) {
    RecordIOReaderOptions reading;
    reading.index = options.index;
    schema = recordio::open_record_file(std::move(file), reading, nullptr)->metadata().schema;
  }
  if (schema.empty()) {
    throw Error(ErrorCode::kNotFound,
                shown_path(first) + " carries no schema, which RecordIO files of version 2 can; give one");
  }
  return SampleSchema::parse(schema);
}

}  // namespace tandem
