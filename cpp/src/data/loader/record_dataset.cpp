#include "base/lost_pages.h"
#include "data/loader/record_layout.h"
#include "data/loader/stage_clock.h"
#include "tandem/dataset.h"
#include "tandem/error.h"
#include "tandem/open_records.h"

namespace tandem {
namespace {

class RecordDataset : public Dataset {
 public:
  RecordDataset(std::shared_ptr<RecordSource> source, std::vector<RecordField> fields)
      : source_(std::move(source)), layout_(std::move(fields)) {
    if (!source_) throw Error(ErrorCode::kInvalidArgument, "there is no source of records");
  }

  std::int64_t size() const override { return source_->size(); }

  std::vector<at::Tensor> get(std::int64_t index) override {
    auto batch = get_batch({&index, 1}, 1);
    for (at::Tensor& tensor : batch) tensor = tensor[0];
    return batch;
  }

  std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows) override {
    return without_lost_pages([&] { return read_batch(samples, rows); });
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const RecordField& field : layout_.fields()) names.push_back(field.name);
    return names;
  }

  std::string place(std::int64_t index) const override { return source_->place(index); }
  std::uint64_t fingerprint() const override { return source_->fingerprint(); }

 private:
  // A record that lies in memory as long as the source.
  struct Mapped {
    std::span<const std::uint8_t> bytes;
    std::int64_t row;
  };

  static constexpr std::size_t kAhead = 2;  // records on their way from memory while one is converted

  std::vector<at::Tensor> read_batch(std::span<const std::int64_t> samples, std::int64_t rows) {
    auto tensors = layout_.allocate(rows, static_cast<std::int64_t>(samples.size()));
    std::vector<std::uint8_t*> to;
    for (const at::Tensor& tensor : tensors) to.push_back(static_cast<std::uint8_t*>(tensor.mutable_data_ptr()));
    std::vector<Mapped> mapped;
    mapped.reserve(samples.size());
    {
      const loader::InStage reading(loader::Stage::kReading);
      for (std::size_t row = 0; row < samples.size(); ++row) {
        const Record record = read(samples[row]);
        if (record.bytes.size() != layout_.record_bytes()) refuse_size(samples[row], record.bytes.size());
        if (!record.owner) {
          mapped.push_back({record.bytes, static_cast<std::int64_t>(row)});
          continue;
        }
        // A chunk goes with its record: shuffled samples of a batch may be of as many chunks.
        const loader::InStage converting(loader::Stage::kDecoding);
        layout_.copy(record.bytes.data(), static_cast<std::int64_t>(row), to);
      }
    }
    for (std::size_t i = 0; i < mapped.size(); ++i) {
      if (i + kAhead < mapped.size()) fetch(mapped[i + kAhead].bytes);
      layout_.copy(mapped[i].bytes.data(), mapped[i].row, to);
    }
    return tensors;
  }

  static void fetch(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t kLine = 64, kLines = 16;  // the processor sees what comes next by then
    for (std::size_t at = 0; at < std::min(bytes.size(), kLine * kLines); at += kLine) {
      __builtin_prefetch(bytes.data() + at);
    }
  }

  Record read(std::int64_t sample) const {
    try {
      return source_->read(sample);
    } catch (const Error& error) {
      throw Error(error.code(), "cannot load " + source_->place(sample) + ": " + error.what());
    }
  }

  [[noreturn]] void refuse_size(std::int64_t sample, std::size_t bytes) const {
    throw Error(ErrorCode::kInvalidArgument, source_->place(sample) + " has " + std::to_string(bytes) +
                                                 " bytes, but the loader's fields take " +
                                                 std::to_string(layout_.record_bytes()));
  }

  std::shared_ptr<RecordSource> source_;
  loader::RecordLayout layout_;
};

}  // namespace

std::shared_ptr<Dataset> record_dataset(std::shared_ptr<RecordSource> source, std::vector<RecordField> fields) {
  return std::make_shared<RecordDataset>(std::move(source), std::move(fields));
}

std::shared_ptr<Dataset> record_dataset(const std::vector<std::string>& paths, std::vector<RecordField> fields) {
  return record_dataset(std::shared_ptr<RecordSource>(open_records(paths)), std::move(fields));
}

}  // namespace tandem
