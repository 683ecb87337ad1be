#include <ATen/ops/empty.h>

#include <algorithm>

#include "data/loader/prefetcher.h"
#include "tandem/error.h"
#include "tandem/loader.h"
#include "tandem/loader_state.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

[[noreturn]] void invalid(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

std::shared_ptr<Dataset> require(std::shared_ptr<Dataset> dataset) {
  if (!dataset) invalid("there is no data set to load");
  return dataset;
}

LoaderOptions checked(LoaderOptions options) {
  if (options.threads < 0 || options.threads > 1024) {
    invalid("threads is " + std::to_string(options.threads) + ", but must be from 0 to 1024");
  }
  if (options.prefetch < 0) invalid("prefetch is " + std::to_string(options.prefetch) + ", but must not be negative");
  if (options.prefetch_bytes < 0) {
    invalid("prefetch_bytes is " + std::to_string(options.prefetch_bytes) + ", but must not be negative");
  }
  if (options.shuffle_block < 0) {
    invalid("shuffle_block is " + std::to_string(options.shuffle_block) + ", but must not be negative");
  }
  if (options.per_rank && __builtin_mul_overflow(options.batch_size, options.world_size, &options.batch_size)) {
    invalid("batch_size × world_size is too large");
  }
  return options;
}

std::shared_ptr<const SampleOrder> order_of(std::int64_t samples, const LoaderOptions& options) {
  if (!options.shuffle) return sequential_order(samples);
  if (options.shuffle_block == 0) return shuffled_order(samples);
  return block_shuffled_order(samples, options.shuffle_block, options.shuffle_window);
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

const at::Tensor& LoadedBatch::operator[](std::string_view name) const {
  const auto found = names ? std::find(names->begin(), names->end(), name) : std::vector<std::string>::const_iterator();
  if (!names || found == names->end()) {
    throw Error(ErrorCode::kNotFound, "a batch of this data set has no tensor named '" + std::string(name) + "'");
  }
  return tensors[static_cast<std::size_t>(found - names->begin())];
}

at::Tensor LoadedBatch::mask() const {
  const at::Tensor mask = at::empty({rows}, at::kBool);
  bool* first = mask.mutable_data_ptr<bool>();
  std::fill_n(std::fill_n(first, local_count, true), rows - local_count, false);
  return mask;
}

// What the program sees of the loader, used by one thread at a time; threads see what make() captures.
struct DataLoader::Impl {
  Impl(std::shared_ptr<Dataset> dataset_in, const LoaderOptions& options_in)
      : dataset(require(std::move(dataset_in))),
        options(checked(options_in)),
        names(std::make_shared<const std::vector<std::string>>(dataset->names())),
        order(order_of(dataset->size(), options)),
        whole(order->size(), options.batch_size, options.rank, options.world_size, options.tail),
        prefetcher({options.threads, std::max({1, options.prefetch, options.threads}), options.prefetch_bytes}) {}

  StaticPartition partition_from(std::int64_t origin) const {
    return {order->size(), options.batch_size, options.rank, options.world_size, options.tail, origin};
  }
  void start(std::int64_t at_epoch, const StaticPartition& from, std::int64_t first_batch);
  void begin();
  loader::Prefetcher::Make make_batches() const;
  void count_delivered();

  const std::shared_ptr<Dataset> dataset;
  LoaderOptions options;
  const std::shared_ptr<const std::vector<std::string>> names;
  const std::shared_ptr<const SampleOrder> order;
  const StaticPartition whole;  // of an epoch from its start

  // The epoch that next() goes through, and its batches from where it was entered.
  bool begun = false;
  std::int64_t epoch = 0;
  StaticPartition partition = whole;
  std::int64_t delivered = 0;  // the batch of `partition` that next() gives next
  // What state() says. Position 0 of the epoch behind, rather than the end of an epoch.
  std::int64_t consumed_epoch = 0;
  std::int64_t consumed_position = 0;

  loader::Prefetcher prefetcher;  // last: its threads end before what they use
  std::optional<ShutdownHook> hook;
};

loader::Prefetcher::Make DataLoader::Impl::make_batches() const {
  return [data = dataset, order = order, names = names, seed = options.seed, epoch = epoch, part = partition,
          batch_size = options.batch_size](std::int64_t number) {
    const StaticPartition::Slice slice = part.slice(number);
    LoadedBatch batch;
    batch.epoch = epoch;
    batch.number = part.begin(number) / batch_size;
    batch.rows = slice.rows;
    batch.local_count = slice.size;
    batch.global_count = slice.global;
    batch.names = names;
    batch.samples.resize(static_cast<std::size_t>(slice.size));
    // What a tail repeats begins again at the epoch's start.
    std::span<std::int64_t> left(batch.samples);
    for (std::int64_t position = slice.begin % order->size(); !left.empty(); position = 0) {
      const auto here = std::min(left.size(), static_cast<std::size_t>(order->size() - position));
      order->samples(seed, epoch, position, left.first(here));
      left = left.subspan(here);
    }
    batch.randomness.reserve(batch.samples.size());
    for (const std::int64_t sample : batch.samples) {
      batch.randomness.push_back(sample_randomness(seed, epoch, sample));
    }
    batch.tensors = data->get_batch(batch.samples, slice.rows);
    return batch;
  };
}

void DataLoader::Impl::start(std::int64_t at_epoch, const StaticPartition& from, std::int64_t first_batch) {
  if (at_epoch < 0) invalid("epoch is " + std::to_string(at_epoch) + ", but must not be negative");
  if (first_batch < 0 || first_batch > from.batches()) {
    throw Error(ErrorCode::kOutOfRange, "there is no batch " + std::to_string(first_batch) +
                                            " to start at: an epoch has " + std::to_string(from.batches()));
  }
  epoch = at_epoch;
  partition = from;
  delivered = first_batch;
  prefetcher.start(first_batch, partition.batches(), make_batches());
  begun = true;
  count_delivered();
}

// At the place that restore() or what came before left: the end of an epoch is the start of the next.
void DataLoader::Impl::begin() {
  start(consumed_epoch, partition_from(consumed_position), 0);
}

void DataLoader::Impl::count_delivered() {
  const bool at_end = delivered == partition.batches();
  consumed_epoch = at_end ? epoch + 1 : epoch;
  consumed_position = at_end ? 0 : partition.begin(delivered);
}

DataLoader::DataLoader(std::shared_ptr<Dataset> dataset, const LoaderOptions& options)
    : impl_(std::make_shared<Impl>(std::move(dataset), options)) {
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
  return impl_->dataset->size();
}

std::int64_t DataLoader::batch_count() const {
  return impl_->whole.batches();
}

const std::vector<std::string>& DataLoader::names() const {
  return *impl_->names;
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
  auto batch = self.prefetcher.next();
  if (batch) ++self.delivered;
  return batch;
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
  LoaderState state;
  state.fingerprint = self.dataset->fingerprint();
  state.samples = self.dataset->size();
  state.positions = self.order->size();
  state.seed = self.options.seed;
  state.epoch = self.consumed_epoch;
  state.position = self.consumed_position;
  state.batch_size = self.options.batch_size;
  state.order = self.order->name();
  return state.bytes();
}

void DataLoader::restore(std::string_view bytes) {
  Impl& self = *impl_;
  const LoaderState state = LoaderState::parse(bytes);
  if (self.begun) {
    invalid("this loader has begun already; restore a loader right after it was made, and make a new one to go back");
  }
  const std::uint64_t fingerprint = self.dataset->fingerprint();
  if (state.fingerprint != fingerprint || state.samples != self.dataset->size()) {
    invalid("the state is of another data set, of " + std::to_string(state.samples) + " samples with fingerprint " +
            hexadecimal(state.fingerprint) + "; this loader's has " + std::to_string(self.dataset->size()) +
            " with fingerprint " + hexadecimal(fingerprint) + ": open the files that the checkpoint was made with");
  }
  if (state.order != self.order->name() || state.positions != self.order->size()) {
    invalid("the state is of the order '" + state.order + "' with " + std::to_string(state.positions) +
            " positions an epoch, but this loader's is '" + self.order->name() + "' with " +
            std::to_string(self.order->size()) + ": give the loader the same options");
  }
  self.options.seed = state.seed;
  self.consumed_epoch = state.epoch;
  self.consumed_position = state.position;
}

std::int64_t DataLoader::current_epoch() const {
  return impl_->consumed_epoch;
}

}  // namespace tandem
