#include "tandem/loader.h"

#include <ATen/ops/empty.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "data/convert.h"
#include "tandem/error.h"
#include "tandem/recordio.h"
#include "tandem/runtime.h"
#include "tandem/sample_order.h"

namespace tandem {
namespace {

static_assert(static_cast<int>(Element::kBool) == static_cast<int>(at::kBool) &&
              static_cast<int>(Element::kUInt32) == static_cast<int>(at::kUInt32) &&
              static_cast<int>(Element::kFloat64) == static_cast<int>(at::kDouble));

constexpr std::size_t kMaxRecordBytes = 0xffffffffu;

// A field, and how its elements get from a record into a batch.
struct Column {
  std::int64_t elements = 1;  // of one sample
  std::size_t offset = 0;     // in the record
  std::size_t bytes = 0;      // in the record
  std::size_t out_bytes = 0;  // in the batch
  Convert convert = nullptr;  // NULL: a copy
  float multiply = 1;
  float add = 0;
};

[[noreturn]] void invalid(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

Column make_column(const RecordField& field, std::size_t offset) {
  const std::string name = "field '" + field.name + "'";
  Column column;
  column.offset = offset;
  for (const std::int64_t size : field.sizes) {
    if (size < 1) invalid(name + " has a size of " + std::to_string(size) + "; sizes must be at least 1");
    if (__builtin_mul_overflow(column.elements, size, &column.elements)) invalid(name + " is too large");
  }
  const auto element_bytes = static_cast<std::int64_t>(c10::elementSize(field.dtype));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(column.elements, element_bytes, &bytes) ||
      static_cast<std::size_t>(bytes) > kMaxRecordBytes - offset) {
    invalid(name + " does not fit into a record: RecordIO's limit is 4 GiB");
  }
  column.bytes = static_cast<std::size_t>(bytes);
  column.out_bytes = static_cast<std::size_t>(column.elements) * c10::elementSize(field.out_dtype);
  const auto from = static_cast<Element>(field.dtype);
  if (field.out_dtype == at::kFloat) {
    if (!(field.std > 0)) invalid(name + " has std " + std::to_string(field.std) + "; it must be positive");
    if (field.scale == 0) invalid(name + " has scale 0, which would make all its values equal; no scaling is 1");
    column.multiply = static_cast<float>(field.scale / field.std);
    column.add = static_cast<float>(-field.mean / field.std);
    const bool plain = field.dtype == at::kFloat && column.multiply == 1 && column.add == 0;
    column.convert = find_conversion_to_float(from);
    if (column.convert && plain)
      column.convert = nullptr;
    else if (!column.convert)
      invalid(name + " cannot be converted to float32 from " + c10::toString(field.dtype));
  } else if (field.out_dtype != field.dtype) {
    if (field.out_dtype == at::kLong) column.convert = find_conversion_to_int64(from);
    if (!column.convert) {
      invalid(name + " cannot be converted from " + c10::toString(field.dtype) + " to " +
              c10::toString(field.out_dtype) + "; a batch has the record's type, float32 or int64");
    }
  }
  return column;
}

// A batch, or why there is none.
struct Filled {
  std::vector<at::Tensor> tensors;
  std::exception_ptr error;
};

// Signals of the process are for the program's own threads.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

struct RecordIODataLoader::Impl {
  Impl(const std::vector<std::string>& paths, std::vector<RecordField> fields_in, const LoaderOptions& options_in);

  std::vector<at::Tensor> fill(const Permutation& order, std::int64_t batch);
  void copy_sample(std::int64_t sample, std::int64_t row, const std::vector<std::uint8_t*>& to);
  void start(std::int64_t at_epoch, std::int64_t first_batch);  // with the lock held
  void work();
  void stop();
  [[noreturn]] static void stopped();

  // Constant once made.
  std::vector<RecordField> fields;
  LoaderOptions options;
  std::vector<Column> columns;
  std::size_t record_bytes = 0;
  std::vector<std::unique_ptr<RecordIOReader>> files;
  std::vector<std::int64_t> first_sample;  // of each file, and the total
  std::optional<StaticPartition> partition;
  std::int64_t window = 1;  // batches that may be filled, or being filled, at a time

  std::mutex mutex;
  std::condition_variable work_changed;   // for threads: there may be a batch to fill
  std::condition_variable batch_changed;  // for next()
  std::optional<Permutation> order;       // of the epoch; empty before the first
  std::int64_t generation = 0;            // counts start_epoch(): what an older one filled is dropped
  std::int64_t next_to_fill = 0;
  std::int64_t next_to_deliver = 0;
  std::map<std::int64_t, Filled> filled;
  bool stopping = false;

  std::mutex threads_mutex;
  std::vector<std::thread> threads;
  std::optional<ShutdownHook> hook;
};

RecordIODataLoader::Impl::Impl(const std::vector<std::string>& paths, std::vector<RecordField> fields_in,
                               const LoaderOptions& options_in)
    : fields(std::move(fields_in)), options(options_in) {
  if (paths.empty()) invalid("a loader needs at least one RecordIO file");
  if (fields.empty()) invalid("a loader needs at least one field");
  if (options.threads < 0 || options.threads > 1024) {
    invalid("threads is " + std::to_string(options.threads) + ", but must be from 0 to 1024");
  }
  if (options.prefetch < 0) invalid("prefetch is " + std::to_string(options.prefetch) + ", but must not be negative");
  for (const RecordField& field : fields) {
    columns.push_back(make_column(field, record_bytes));
    record_bytes += columns.back().bytes;
  }
  first_sample.push_back(0);
  for (const std::string& path : paths) {
    files.push_back(std::make_unique<RecordIOReader>(path));
    first_sample.push_back(first_sample.back() + files.back()->size());
  }
  partition.emplace(first_sample.back(), options.batch_size, options.rank, options.world_size, options.drop_last);
  window = std::max({1, options.prefetch, options.threads});
}

void RecordIODataLoader::Impl::copy_sample(std::int64_t sample, std::int64_t row,
                                           const std::vector<std::uint8_t*>& to) {
  const std::size_t file =
      std::upper_bound(first_sample.begin(), first_sample.end(), sample) - first_sample.begin() - 1;
  const std::int64_t index = sample - first_sample[file];
  const auto where = [&] { return "record " + std::to_string(index) + " of " + files[file]->path(); };
  std::span<const std::uint8_t> record;
  try {
    record = (*files[file])[index];
  } catch (const Error& error) {
    throw Error(error.code(), "cannot load record " + std::to_string(index) + ": " + error.what());
  }
  if (record.size() != record_bytes) {
    invalid(where() + " has " + std::to_string(record.size()) + " bytes, but the loader's fields take " +
            std::to_string(record_bytes));
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    std::uint8_t* out = to[i] + static_cast<std::size_t>(row) * column.out_bytes;
    if (column.convert) {
      column.convert(record.data() + column.offset, out, static_cast<std::size_t>(column.elements), column.multiply,
                     column.add);
    } else {
      std::memcpy(out, record.data() + column.offset, column.bytes);
    }
  }
}

std::vector<at::Tensor> RecordIODataLoader::Impl::fill(const Permutation& permutation, std::int64_t batch) {
  const StaticPartition::Slice slice = partition->slice(batch);
  std::vector<at::Tensor> tensors;
  std::vector<std::uint8_t*> to;
  for (const RecordField& field : fields) {
    std::vector<std::int64_t> sizes{slice.size};
    sizes.insert(sizes.end(), field.sizes.begin(), field.sizes.end());
    tensors.push_back(at::empty(sizes, at::TensorOptions(field.out_dtype)));
    to.push_back(static_cast<std::uint8_t*>(tensors.back().mutable_data_ptr()));
  }
  const std::int64_t samples = first_sample.back();
  for (std::int64_t row = 0; row < slice.size; ++row) {
    const std::int64_t position = (slice.begin + row) % samples;
    copy_sample(options.shuffle ? permutation(position) : position, row, to);
  }
  return tensors;
}

void RecordIODataLoader::Impl::start(std::int64_t epoch, std::int64_t first_batch) {
  if (epoch < 0) invalid("epoch is " + std::to_string(epoch) + ", but must not be negative");
  if (first_batch < 0 || first_batch > partition->batches()) {
    throw Error(ErrorCode::kOutOfRange, "there is no batch " + std::to_string(first_batch) +
                                            " to start at: an epoch has " + std::to_string(partition->batches()));
  }
  ++generation;
  filled.clear();
  order.emplace(first_sample.back(), options.seed, static_cast<std::uint64_t>(epoch));
  next_to_fill = next_to_deliver = first_batch;
  work_changed.notify_all();
  batch_changed.notify_all();
}

void RecordIODataLoader::Impl::work() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    work_changed.wait(lock, [&] {
      return stopping || (order && next_to_fill < partition->batches() && next_to_fill < next_to_deliver + window);
    });
    if (stopping) return;
    const std::int64_t batch = next_to_fill++;
    const std::int64_t mine = generation;
    const Permutation permutation = *order;
    lock.unlock();
    Filled result;
    try {
      result.tensors = fill(permutation, batch);
    } catch (...) {
      result.error = std::current_exception();
    }
    lock.lock();
    if (mine == generation) {
      filled.emplace(batch, std::move(result));
      batch_changed.notify_all();
    }
  }
}

void RecordIODataLoader::Impl::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    work_changed.notify_all();
    batch_changed.notify_all();
  }
  std::lock_guard<std::mutex> lock(threads_mutex);
  for (auto& thread : threads) thread.join();
  threads.clear();
}

void RecordIODataLoader::Impl::stopped() {
  throw Error(ErrorCode::kAborted, "this loader was stopped by shutdown");
}

RecordIODataLoader::RecordIODataLoader(const std::vector<std::string>& paths, std::vector<RecordField> fields,
                                       const LoaderOptions& options)
    : impl_(std::make_shared<Impl>(paths, std::move(fields), options)) {
  // The hook keeps the state alive: shutdown() may be in its stop() while another thread destroys the loader.
  impl_->hook.emplace("RecordIODataLoader of " + paths.front(), [impl = std::weak_ptr<Impl>(impl_)] {
    if (const auto alive = impl.lock()) alive->stop();
  });
  const BlockSignals block;
  try {
    for (int i = 0; i < options.threads; ++i) {
      impl_->threads.emplace_back([impl = impl_.get()] {
        pthread_setname_np(pthread_self(), "tandem-loader");
        impl->work();
      });
    }
  } catch (const std::exception& error) {
    impl_->stop();
    throw Error(ErrorCode::kIo, std::string("cannot start a loader's thread: ") + error.what());
  }
}

RecordIODataLoader::~RecordIODataLoader() {
  impl_->stop();
  impl_->hook.reset();
}

std::int64_t RecordIODataLoader::sample_count() const {
  return impl_->first_sample.back();
}

std::int64_t RecordIODataLoader::batch_count() const {
  return impl_->partition->batches();
}

const std::vector<RecordField>& RecordIODataLoader::fields() const {
  return impl_->fields;
}

void RecordIODataLoader::start_epoch(std::int64_t epoch, std::int64_t first_batch) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  if (impl_->stopping) Impl::stopped();
  impl_->start(epoch, first_batch);
}

std::optional<std::vector<at::Tensor>> RecordIODataLoader::next() {
  Impl& self = *impl_;
  std::unique_lock<std::mutex> lock(self.mutex);
  if (self.stopping) Impl::stopped();
  if (!self.order) self.start(0, 0);
  if (self.options.threads == 0) {
    if (self.next_to_deliver >= self.partition->batches()) return std::nullopt;
    auto tensors = self.fill(*self.order, self.next_to_deliver);
    ++self.next_to_deliver;
    return tensors;
  }
  const auto at_end = [&] { return self.next_to_deliver >= self.partition->batches(); };
  self.batch_changed.wait(lock, [&] { return self.stopping || at_end() || self.filled.count(self.next_to_deliver); });
  if (self.stopping) Impl::stopped();
  if (at_end()) return std::nullopt;
  auto found = self.filled.find(self.next_to_deliver);
  if (found->second.error) std::rethrow_exception(found->second.error);
  auto tensors = std::move(found->second.tensors);
  self.filled.erase(found);
  ++self.next_to_deliver;
  self.work_changed.notify_one();
  return tensors;
}

}  // namespace tandem
