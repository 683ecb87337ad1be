#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <tuple>

#include "base/invalid.h"
#include "data/loader/batch_steps.h"
#include "data/loader/positions.h"
#include "data/loader/prefetcher.h"
#include "data/loader/stream_epoch.h"
#include "tandem/error.h"
#include "tandem/loader.h"
#include "tandem/loader_state.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

template <typename Data>
std::shared_ptr<Data> require(std::shared_ptr<Data> dataset) {
  if (!dataset) invalid("there is no data set to load");
  return dataset;
}

constexpr std::int64_t kLongestTimeoutMs = std::int64_t{1} << 40;  // 35 years

LoaderOptions checked(LoaderOptions options) {
  if (options.threads < 0 || options.threads > 1024) {
    invalid("threads is " + std::to_string(options.threads) + ", but must be from 0 to 1024");
  }
  if (options.prefetch < 0) invalid("prefetch is " + std::to_string(options.prefetch) + ", but must not be negative");
  if (options.prefetch_bytes < 0) {
    invalid("prefetch_bytes is " + std::to_string(options.prefetch_bytes) + ", but must not be negative");
  }
  if (options.timeout.count() < 0 || options.timeout.count() > kLongestTimeoutMs) {
    invalid("timeout, in milliseconds, is " + std::to_string(options.timeout.count()) +
            ", but must be from 0, for none, to " + std::to_string(kLongestTimeoutMs));
  }
  if (options.per_rank && __builtin_mul_overflow(options.batch_size, options.world_size, &options.batch_size)) {
    invalid("batch_size × world_size is too large");
  }
  return options;
}

LoaderOptions checked_for_stream(const LoaderOptions& options) {
  if (options.shuffle || options.shuffle_block != 0) {
    invalid(
        "a stream comes in its own order, which a loader cannot shuffle; set shuffle to false, shuffle_block to 0, "
        "and have the stream follow from seed and epoch");
  }
  if (options.on_io_error == OnIoError::kSkip) {
    invalid("a stream cannot skip what cannot be read, for it has no place behind that; choose retry or fail");
  }
  if (options.order) invalid("a stream comes in its own order; a loader of it takes no other");
  return checked(options);
}

}  // namespace

const at::Tensor& LoadedBatch::operator[](std::string_view name) const {
  const auto found = names ? std::find(names->begin(), names->end(), name) : std::vector<std::string>::const_iterator();
  if (!names || found == names->end()) {
    throw Error(ErrorCode::kNotFound, "a batch of this data set has no tensor named '" + std::string(name) + "'");
  }
  return tensors[static_cast<std::size_t>(found - names->begin())];
}

std::vector<std::string> LoadedBatch::strings(std::string_view name) const {
  const at::Tensor& text = (*this)[name];
  const std::string field = "'" + std::string(name) + "'";
  if (text.scalar_type() != at::kByte || text.dim() != 2 || text.size(0) != rows) {
    invalid("field " + field + " has no texts: it is no uint8 tensor of a row a sample");
  }
  const std::string beside = std::string(name) + "_lengths";
  const bool padded = std::find(names->begin(), names->end(), beside) != names->end();
  const at::Tensor bytes = text.cpu().contiguous();
  const at::Tensor lengths =
      padded ? (*this)[beside].to(at::kCPU, at::kLong).contiguous() : at::full({rows}, text.size(1), at::kLong);
  std::vector<std::string> texts;
  if (lengths.numel() != rows) invalid("field '" + beside + "' has no length a sample");
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = lengths.const_data_ptr<std::int64_t>()[row];
    if (length < 0 || length > bytes.size(1)) {
      invalid("field " + field + " has texts of up to " + std::to_string(bytes.size(1)) + " bytes, but '" + beside +
              "' says " + std::to_string(length));
    }
    const auto* first = reinterpret_cast<const char*>(bytes.const_data_ptr<std::uint8_t>()) + row * bytes.size(1);
    texts.emplace_back(first, static_cast<std::size_t>(length));
  }
  return texts;
}

at::Tensor LoadedBatch::mask() const {
  const at::Tensor mask = at::empty({rows}, at::kBool);
  bool* first = mask.mutable_data_ptr<bool>();
  std::fill_n(std::fill_n(first, local_count, true), rows - local_count, false);
  return mask;
}

// What the program sees of the loader, used by one thread at a time; threads see what make() captures.
struct DataLoader::Impl {
  Impl(std::shared_ptr<Dataset> dataset_in, const LoaderOptions& checked_options)
      : dataset(std::move(dataset_in)),
        options(checked_options),
        steps(dataset->names(), options.transforms, options.pin_memory, loader::DeviceCopies::to(options.device),
              {options.on_io_error, options.io_retry}),
        order(loader::order_of(dataset->size(), options)),
        whole(order->size(), options.batch_size, options.rank, options.world_size, options.tail),
        prefetcher({options.threads, std::max({1, options.prefetch, options.threads}), options.prefetch_bytes,
                    options.timeout, [all = steps] { return all.trouble(); }},
                   steps.copies()) {}

  static std::shared_ptr<Impl> of_stream(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options) {
    const auto any_epoch = std::make_shared<loader::StreamEpoch>(dataset, options, 0);
    auto impl = std::make_shared<Impl>(any_epoch, options);
    impl->iterable = std::move(dataset);
    return impl;
  }

  bool is_length_known() const { return dataset->size() != loader::kUnknownLength; }
  StaticPartition partition_from(std::int64_t origin) const {
    return {order->size(), options.batch_size, options.rank, options.world_size, options.tail, origin};
  }
  void start(std::int64_t at_epoch, const StaticPartition& from, std::int64_t first_batch);
  void begin();
  loader::Prefetcher::Make make_batches() const;
  void count_delivered();

  const std::shared_ptr<Dataset> dataset;
  std::shared_ptr<IterableDataset> iterable;  // what `dataset` stands for, where that is gone through
  LoaderOptions options;
  loader::BatchSteps steps;  // a copy of which each epoch has
  const std::shared_ptr<const SampleOrder> order;
  const StaticPartition whole;  // of an epoch from its start

  // The epoch that next() goes through, and its batches from where it was entered.
  bool begun = false;
  std::int64_t epoch = 0;
  StaticPartition partition = whole;
  std::int64_t delivered = 0;  // the batch of `partition` that next() gives next
  bool ended = false;          // before the last batch of `partition`: that was cut for an unknown length
  // What state() says. Position 0 of the epoch behind, rather than the end of an epoch.
  std::int64_t consumed_epoch = 0;
  std::int64_t consumed_position = 0;

  loader::Prefetcher prefetcher;  // last: its threads end before what they use
  std::optional<ShutdownHook> hook;
};

loader::Prefetcher::Make DataLoader::Impl::make_batches() const {
  const auto stream = iterable ? std::make_shared<loader::StreamEpoch>(iterable, options, epoch) : nullptr;
  const std::shared_ptr<Dataset> source = stream ? stream : dataset;
  return [data = source, stream, all = order, steps = steps, seed = options.seed, epoch = epoch, cut = partition,
          batch_size = options.batch_size](std::int64_t number) {
    const StaticPartition part =
        stream ? steps.reading([&] { return stream->partition(number, cut.begin(0)); }) : cut;
    const auto order = stream ? sequential_order(stream->size()) : all;
    const StaticPartition::Slice slice = part.slice(number);
    LoadedBatch batch;
    batch.epoch = epoch;
    batch.number = part.begin(number) / batch_size;
    batch.rows = slice.rows;
    batch.local_count = slice.size;
    batch.global_count = slice.global;
    batch.samples = loader::samples_at(*order, seed, epoch, slice.begin, slice.size);
    loader::require_samples(*order, batch.samples, data->size());
    batch.randomness.reserve(batch.samples.size());
    for (const std::int64_t sample : batch.samples) {
      batch.randomness.push_back(sample_randomness(seed, epoch, sample));
    }
    steps.fill(*data, batch);
    return batch;
  };
}

void DataLoader::Impl::start(std::int64_t at_epoch, const StaticPartition& from, std::int64_t first_batch) {
  if (at_epoch < 0) invalid("epoch is " + std::to_string(at_epoch) + ", but must not be negative");
  if (first_batch < 0 || first_batch > from.batches()) {
    throw Error(ErrorCode::kOutOfRange, "there is no batch " + std::to_string(first_batch) +
                                            " to start at: an epoch has " + std::to_string(from.batches()));
  }
  const auto before = std::make_tuple(epoch, partition, delivered, ended);
  epoch = at_epoch;
  partition = from;
  delivered = first_batch;
  ended = false;
  try {
    prefetcher.start(first_batch, partition.batches(), make_batches());
  } catch (...) {  // aborted: commit() and state() are about the epoch before
    std::tie(epoch, partition, delivered, ended) = before;
    throw;
  }
  begun = true;
  count_delivered();
}

// At the place that restore() or what came before left: the end of an epoch is the start of the next.
void DataLoader::Impl::begin() {
  start(consumed_epoch, partition_from(consumed_position), 0);
}

void DataLoader::Impl::count_delivered() {
  const bool at_end = ended || delivered == partition.batches();
  consumed_epoch = at_end ? epoch + 1 : epoch;
  consumed_position = at_end ? 0 : partition.begin(delivered);
}

DataLoader::DataLoader(std::shared_ptr<Dataset> dataset, const LoaderOptions& options)
    : DataLoader(std::make_shared<Impl>(require(std::move(dataset)), checked(options))) {}

DataLoader::DataLoader(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options)
    : DataLoader(Impl::of_stream(require(std::move(dataset)), checked_for_stream(options))) {}

DataLoader::DataLoader(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {
  // The hook keeps the state alive: shutdown() may be in its stop() while another thread destroys the loader.
  impl_->hook.emplace("DataLoader", [impl = std::weak_ptr<Impl>(impl_)] {
    if (const auto alive = impl.lock()) alive->prefetcher.stop();
  });
}

DataLoader::~DataLoader() {
  impl_->prefetcher.stop();
  impl_->hook.reset();
}

std::int64_t DataLoader::sample_count() const {
  return impl_->is_length_known() ? impl_->dataset->size() : -1;
}

std::int64_t DataLoader::batch_count() const {
  return impl_->is_length_known() ? impl_->whole.batches() : -1;
}

const std::vector<std::string>& DataLoader::names() const {
  return *impl_->steps.names();
}

void DataLoader::add_transform(std::shared_ptr<BatchTransform> transform) {
  if (impl_->begun) invalid("this loader has begun already; add transforms before its first epoch");
  impl_->steps.add(std::move(transform));
}

void DataLoader::start_epoch(std::int64_t epoch, std::int64_t first_batch) {
  impl_->start(epoch, impl_->whole, first_batch);
}

void DataLoader::start_epoch(std::int64_t epoch) {
  Impl& self = *impl_;
  const bool restored = !self.begun && epoch == self.consumed_epoch;
  self.start(epoch, restored ? self.partition_from(self.consumed_position) : self.whole, 0);
}

std::optional<LoadedBatch> DataLoader::next() {
  Impl& self = *impl_;
  if (!self.begun) self.begin();
  self.count_delivered();
  if (self.ended) return std::nullopt;
  try {
    auto batch = self.prefetcher.next();
    if (batch) ++self.delivered;
    return batch;
  } catch (const loader::EndOfEpoch&) {
    self.ended = true;
    self.count_delivered();
    return std::nullopt;
  }
}

void DataLoader::abort() {
  impl_->prefetcher.abort();
}

DataLoader::Epoch DataLoader::epoch(std::int64_t epoch) {
  start_epoch(epoch);
  return Epoch(this);
}

void DataLoader::commit() {
  if (impl_->begun) impl_->count_delivered();
}

std::string DataLoader::state() const {
  const Impl& self = *impl_;
  return loader::state_of(*self.dataset, *self.order, self.options.seed, self.options.batch_size, self.consumed_epoch,
                          self.consumed_position)
      .bytes();
}

void DataLoader::restore(std::string_view bytes) {
  Impl& self = *impl_;
  if (self.begun) {
    invalid("this loader has begun already; restore a loader right after it was made, and make a new one to go back");
  }
  const LoaderState state = loader::checked_state(bytes, *self.dataset, *self.order);
  self.options.seed = state.seed;
  self.consumed_epoch = state.epoch;
  self.consumed_position = state.position;
}

std::int64_t DataLoader::current_epoch() const {
  return impl_->consumed_epoch;
}

LoaderStatistics DataLoader::statistics() const {
  return impl_->prefetcher.statistics();
}

}  // namespace tandem
