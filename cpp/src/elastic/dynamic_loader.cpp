#include "tandem/dynamic_loader.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/invalid.h"
#include "base/mix.h"
#include "data/loader/batch_steps.h"
#include "data/loader/positions.h"
#include "elastic/part_threads.h"
#include "tandem/error.h"
#include "tandem/loader_state.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

using elastic::MadePart;
using elastic::PartSource;
using elastic::PartThreads;
using std::chrono::milliseconds;
using Place = PartThreads::Place;

void check_between(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  invalid(std::string(what) + " is " + std::to_string(value) + ", but must be from " + std::to_string(least) + " to " +
          std::to_string(most));
}

DynamicLoaderOptions checked_options(const DynamicLoaderOptions& options) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // milliseconds, 35 years
  check_between("threads", options.threads, 1, 1024);
  check_between("prefetch", options.prefetch, 0, 1 << 20);
  check_between("prefetch_bytes", options.prefetch_bytes, 0, std::numeric_limits<std::int64_t>::max() / 2);
  check_between("most_quarantined", options.most_quarantined, 0, 10000);
  check_between("lost_after, in milliseconds,", options.lost_after.count(), 1, kLongest);
  check_between("timeout, in milliseconds,", options.timeout.count(), 1, kLongest);
  return options;
}

std::shared_ptr<Dataset> require(std::shared_ptr<Dataset> dataset) {
  if (!dataset) invalid("there is no data set to load");
  return dataset;
}

// What makes a part's batch; the threads share it.
struct Maker {
  std::shared_ptr<Dataset> dataset;
  std::shared_ptr<const SampleOrder> order;
  loader::BatchSteps steps;
  std::uint64_t seed;
  LeasePlan plan;
  PartSource& parts;

  std::optional<elastic::MadeBatch> operator()(const Lease& part) const;
  std::set<std::int64_t> left_out(Place step) const;
  bool is_given_back(const Lease& part, const LoadedBatch& batch) const;
};

std::set<std::int64_t> Maker::left_out(Place step) const {
  std::set<std::int64_t> samples;
  for (const Quarantined& item : parts.quarantine()) {
    if (Place(item.epoch, item.step) <= step) samples.insert(item.sample);
  }
  return samples;
}

// The places of a part's samples that are not in `left`, which is in their order.
std::vector<CommittedStep::Skipped> runs_without(const std::vector<std::int64_t>& places,
                                                 const std::vector<std::int64_t>& samples,
                                                 const std::vector<std::int64_t>& left, std::int32_t micro) {
  std::vector<CommittedStep::Skipped> runs;
  std::size_t next = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (next < left.size() && left[next] == samples[i]) {
      ++next;
    } else if (!runs.empty() && runs.back().first + runs.back().count == places[i]) {
      ++runs.back().count;
    } else {
      runs.push_back({micro, places[i], 1});
    }
  }
  return runs;
}

std::optional<elastic::MadeBatch> Maker::operator()(const Lease& part) const {
  LoadedBatch batch;
  batch.epoch = part.epoch;
  batch.number = part.step;
  batch.samples = loader::samples_at(*order, seed, part.epoch, part.begin, part.size);
  loader::require_samples(*order, batch.samples, dataset->size());
  const std::set<std::int64_t> excluded = left_out({part.epoch, part.step});
  std::vector<CommittedStep::Skipped> skipped = parts.skipped(part);  // when this run was recorded
  std::vector<std::int64_t> places, samples;
  for (std::int64_t place = 0; place < static_cast<std::int64_t>(batch.samples.size()); ++place) {
    const std::int64_t sample = batch.samples[static_cast<std::size_t>(place)];
    const bool was_skipped = std::any_of(skipped.begin(), skipped.end(), [place](const CommittedStep::Skipped& run) {
      return place >= run.first && place - run.first < run.count;
    });
    if (was_skipped) ++batch.skipped;
    if (was_skipped || excluded.contains(sample)) continue;
    places.push_back(place);
    samples.push_back(sample);
  }
  batch.samples = samples;
  if (batch.samples.empty()) {
    parts.complete(part, 0, skipped);
    return std::nullopt;
  }
  for (const std::int64_t sample : batch.samples) {
    batch.randomness.push_back(sample_randomness(seed, part.epoch, sample));
  }
  batch.rows = batch.local_count = static_cast<std::int64_t>(batch.samples.size());
  const std::int64_t behind = plan.positions - (part.begin - part.micro * plan.micro_batch);
  batch.global_count = plan.tail == Tail::kShort ? std::min(plan.batch_size, behind) : plan.batch_size;
  for (int attempt = 1;; ++attempt) {
    try {
      steps.load(*dataset, batch);
      break;
    } catch (const std::exception& error) {
      if (loader::failure_of(error) != loader::LoadFailure::kData) throw;
      if (is_given_back(part, batch)) return std::nullopt;
      // Each of them can be loaded: what failed may have passed, unless it is that they cannot be together.
      if (attempt >= plan.most_failures) throw;
    }
  }
  if (batch.samples.size() < samples.size()) {
    const auto more = runs_without(places, samples, batch.samples, part.micro);
    skipped.insert(skipped.end(), more.begin(), more.end());
  }
  if (batch.samples.empty()) {  // none of them can be read now, and they are to be skipped
    parts.complete(part, 0, skipped);
    return std::nullopt;
  }
  steps.finish(*dataset, batch);
  return elastic::MadeBatch{std::move(batch), std::move(skipped)};
}

// Because of the first sample that cannot be loaded alone, with which something is wrong: what cannot be read now is no
// fault of the sample's.
bool Maker::is_given_back(const Lease& part, const LoadedBatch& batch) const {
  bool waited = false;  // as long as the policy says: an outage is waited for once
  for (std::size_t i = 0; i < batch.samples.size(); ++i) {
    const std::int64_t sample = batch.samples[i];
    const auto load = [&] { return dataset->get_random_batch({&sample, 1}, {&batch.randomness[i], 1}, 1); };
    try {
      if (waited) {
        load();
      } else {
        steps.reading(load);
      }
    } catch (const std::exception& error) {
      const loader::LoadFailure failure = loader::failure_of(error);
      if (failure == loader::LoadFailure::kIo && steps.io().on_error == OnIoError::kSkip) {
        waited = true;
        continue;
      }
      if (failure != loader::LoadFailure::kData) throw;
      parts.fail(part, sample, error.what());
      return true;
    }
  }
  return false;
}

}  // namespace

// What the program sees of the loader, used by one thread at a time.
struct DynamicLoader::Impl {
  Impl(std::shared_ptr<Dataset> dataset, const DynamicLoaderOptions& options, std::string_view state,
       const std::vector<Quarantined>& quarantine);

  void enter(std::int64_t at_epoch, std::int64_t position);
  std::int64_t position() const { return partition->begin(step - first_step); }
  elastic::RunStart start() const { return {epoch, position(), quarantine}; }

  const std::shared_ptr<Dataset> dataset;
  const DynamicLoaderOptions options;
  const std::shared_ptr<const SampleOrder> order;
  loader::BatchSteps steps;  // a copy of which the threads have
  LeasePlan plan;            // which nothing changes once this is made
  std::uint64_t seed;
  bool begun = false;  // the threads

  // Where the model is, and the step that is open.
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::int64_t first_step = 0;               // of the epoch's partition
  std::optional<StaticPartition> partition;  // of the epoch from where it was entered, for all ranks together
  std::vector<Quarantined> quarantine;
  bool open = false;
  bool ended = false;  // an epoch, and next_step() did not say so yet
  std::optional<Lease> held;
  std::int64_t held_count = 0;
  std::vector<CommittedStep::Skipped> held_skipped;
  std::int64_t local = 0;
  std::exception_ptr failure;           // of a commit
  std::optional<CommittedStep> record;  // of the step begun last, once all ranks' parts are computed

  std::unique_ptr<PartSource> parts;
  std::optional<PartThreads> threads;  // end before what they use
  std::optional<ShutdownHook> hook;
};

DynamicLoader::Impl::Impl(std::shared_ptr<Dataset> dataset_in, const DynamicLoaderOptions& options_in,
                          std::string_view bytes, const std::vector<Quarantined>& quarantine_in)
    : dataset(require(std::move(dataset_in))),
      options(checked_options(options_in)),
      order(loader::order_of(dataset->size(), options)),
      steps(dataset->names(), options.transforms, options.pin_memory, loader::DeviceCopies::to(options.device),
            {options.on_io_error, options.io_retry}),
      plan{order->size(), options.batch_size,    options.micro_batch,
           options.tail,  options.most_failures, options.most_quarantined},
      seed(options.seed),
      quarantine(quarantine_in) {
  const LeaseQueue possible(plan);
  std::int64_t position = 0;
  if (!bytes.empty()) {
    const LoaderState state = loader::checked_state(bytes, *dataset, *order);
    seed = state.seed;
    epoch = state.epoch;
    position = state.position;
  }
  plan.content = mix(mix(dataset->fingerprint(), order->name()), seed);
  enter(epoch, position);
  if (partition->batches() == 0) enter(epoch + 1, 0);
}

void DynamicLoader::Impl::enter(std::int64_t at_epoch, std::int64_t position) {
  epoch = at_epoch;
  step = first_step = position / plan.batch_size;
  partition.emplace(plan.positions, plan.batch_size, 0, 1, plan.tail, position);
}

DynamicLoader::DynamicLoader(std::shared_ptr<Dataset> dataset, const DynamicLoaderOptions& options,
                             const LeaseMembership& membership, std::string_view state,
                             const std::vector<Quarantined>& quarantine)
    : impl_(std::make_shared<Impl>(std::move(dataset), options, state, quarantine)) {
  begin(elastic::shared_parts(impl_->plan, membership, options.lost_after, options.timeout, impl_->start()));
}

DynamicLoader::DynamicLoader(std::shared_ptr<Dataset> dataset, const DynamicLoaderOptions& options, std::int32_t rank,
                             const std::vector<CommittedStep>& log, std::string_view state,
                             const std::vector<Quarantined>& quarantine)
    : impl_(std::make_shared<Impl>(std::move(dataset), options, state, quarantine)) {
  if (rank < 0) invalid("there is no rank " + std::to_string(rank));
  begin(elastic::recorded_parts(impl_->plan, rank, log, impl_->start()));
}

void DynamicLoader::begin(std::unique_ptr<PartSource> parts) {
  Impl& self = *impl_;
  self.parts = std::move(parts);
  const DynamicLoaderOptions& options = self.options;
  self.threads.emplace(*self.parts,
                       PartThreads::Options{options.threads, options.prefetch, options.prefetch_bytes, options.timeout,
                                            [all = self.steps] { return all.trouble(); }},
                       self.steps.copies(), Place(self.epoch, self.step));
  // The hook keeps the state alive: shutdown() may be in its stop() while another thread destroys the loader.
  self.hook.emplace("DynamicLoader", [impl = std::weak_ptr<Impl>(impl_)] {
    if (const auto alive = impl.lock()) alive->threads->stop();
  });
}

DynamicLoader::~DynamicLoader() {
  impl_->threads->stop();
  impl_->hook.reset();
}

void DynamicLoader::add_transform(std::shared_ptr<BatchTransform> transform) {
  if (impl_->begun) invalid("this loader has begun already; add transforms before its first step");
  impl_->steps.add(std::move(transform));
}

bool DynamicLoader::next_step() {
  Impl& self = *impl_;
  self.threads->check();
  if (!self.begun) {
    self.begun = true;
    self.threads->start(Maker{self.dataset, self.order, self.steps, self.seed, self.plan, *self.parts});
  }
  if (self.open) invalid("step " + std::to_string(self.step) + " is open; commit() it before the next");
  if (self.ended) {
    self.ended = false;
    return false;
  }
  if (self.failure) std::rethrow_exception(self.failure);
  self.open = true;
  self.local = 0;
  self.record.reset();
  return true;
}

std::optional<LoadedBatch> DynamicLoader::next() {
  Impl& self = *impl_;
  self.threads->check();  // before the part counts as computed: whoever gave up does not join the exchange
  if (!self.open) invalid("there is no open step; call next_step() before");
  if (self.record) return std::nullopt;
  if (self.held) {
    self.parts->complete(*self.held, self.held_count, self.held_skipped);
    self.held.reset();
    self.local += self.held_count;
  }
  auto made = self.threads->next({self.epoch, self.step});
  if (!made) {
    self.record = self.parts->record(self.epoch, self.step);
    return std::nullopt;
  }
  self.held = made->lease;
  self.held_count = made->batch.local_count;
  self.held_skipped = std::move(made->skipped);
  return std::move(made->batch);
}

void DynamicLoader::fail(std::int64_t sample, const std::string& reason) {
  Impl& self = *impl_;
  self.threads->check();
  if (!self.held) invalid("there is no part to give back; call fail() after next() gave one");
  const std::vector<std::int64_t> samples =
      loader::samples_at(*self.order, self.seed, self.held->epoch, self.held->begin, self.held->size);
  if (std::find(samples.begin(), samples.end(), sample) == samples.end()) {
    invalid("sample " + std::to_string(sample) + " is not in the part that next() gave last");
  }
  self.parts->fail(*self.held, sample, reason);
  self.held.reset();
}

CommittedStep DynamicLoader::commit() {
  Impl& self = *impl_;
  if (!self.open) invalid("there is no open step to commit; call next_step() before");
  if (!self.record) {
    invalid("step " + std::to_string(self.step) + " cannot be committed before next() gave nothing");
  }
  const CommittedStep& record = *self.record;
  self.open = false;
  self.quarantine.insert(self.quarantine.end(), record.left_out.begin(), record.left_out.end());
  if (++self.step - self.first_step == self.partition->batches()) {
    self.enter(self.epoch + 1, 0);
    self.ended = true;
  }
  try {
    self.parts->commit(record.epoch, record.step);
  } catch (...) {
    self.failure = std::current_exception();
  }
  return record;
}

void DynamicLoader::abort() {
  impl_->threads->interrupt();
}

std::int64_t DynamicLoader::epoch() const {
  return impl_->epoch;
}
std::int64_t DynamicLoader::step() const {
  return impl_->step;
}
std::int64_t DynamicLoader::local_count() const {
  return impl_->local;
}
std::int64_t DynamicLoader::global_count() const {
  return impl_->record ? impl_->record->samples() : 0;
}
std::int64_t DynamicLoader::sample_count() const {
  return impl_->dataset->size();
}
const std::vector<std::string>& DynamicLoader::names() const {
  return *impl_->steps.names();
}

LoaderStatistics DynamicLoader::statistics() const {
  return impl_->threads->statistics();
}

std::string DynamicLoader::state() const {
  const Impl& self = *impl_;
  return loader::state_of(*self.dataset, *self.order, self.seed, self.plan.batch_size, self.epoch, self.position())
      .bytes();
}

std::vector<Quarantined> DynamicLoader::quarantine() const {
  return impl_->quarantine;
}

}  // namespace tandem
