#include "tandem/profiler.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/atomic_file.h"
#include "comm/clocks.h"
#include "profiler/table.h"
#include "tandem/error.h"
#include "tandem/runtime.h"
#include "trace/recorder.h"

namespace torch::autograd::profiler {
// Its header needs Kineto's own.
TORCH_API void addMetadataJson(const std::string& key, const std::string& value);
}  // namespace torch::autograd::profiler

namespace tandem {
namespace {

namespace impl = torch::profiler::impl;
using torch::autograd::profiler::KinetoEvent;
using torch::autograd::profiler::ProfilerResult;

struct State {
  std::mutex mutex;
  bool on = false;
};

State& state() {
  static auto* instance = new State;
  return *instance;
}

template <typename Clock>
std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

// Kineto's times are those of the system's clock.
std::int64_t shift_of(const TraceIdentity& identity) {
  const std::int64_t system = now<std::chrono::system_clock>(), steady = now<std::chrono::steady_clock>();
  return identity.offset_ns - identity.epoch_ns - (system - steady);
}

TraceIdentity identify(ProcessGroup* group) {
  // All ranks go through this, whichever of them traces.
  const TraceIdentity found = group ? align_clocks(*group) : local_identity();
  return TraceRecorder::instance().identity().value_or(found);
}

// Appears whole or not at all. Kineto writes files by their names, and does not say when it cannot.
void save(ProfilerResult& result, const std::string& path) {
  AtomicFile file(path);
  result.save(file.temporary());
  file.reopen();
  file.commit();
}

std::vector<ProfiledSpan> spans_of(const ProfilerResult& result) {
  std::vector<ProfiledSpan> spans;
  for (const KinetoEvent& event : result.events()) {
    const bool is_on_gpu = event.deviceType() != c10::kCPU;
    const std::uint64_t thread =
        is_on_gpu ? ~static_cast<std::uint64_t>(event.deviceResourceId()) : event.startThreadId();
    spans.push_back({event.name(), thread, static_cast<std::int64_t>(event.startNs()),
                     static_cast<std::int64_t>(event.endNs()), !is_on_gpu && !event.isAsync()});
  }
  return spans;
}

}  // namespace

void start_profiler(const ProfilerOptions& options, ProcessGroup* group) {
  if (options.cuda.value_or(false)) require_cuda("the profiler's cuda");
  const TraceIdentity identity = identify(group);
  State& all = state();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.on) throw Error(ErrorCode::kInvalidArgument, "the profiler is on already; stop it before the next profile");
  impl::ExperimentalConfig detail;
  detail.profile_all_threads = true;
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, options.record_shapes, /*profile_memory=*/false,
                                    /*with_stack=*/false, options.with_flops, /*with_modules=*/false, detail);
  std::set<impl::ActivityType> activities = {impl::ActivityType::CPU};
  if (options.cuda.value_or(has_cuda())) activities.insert(impl::ActivityType::CUDA);
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities,
                                            {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                                             at::RecordScope::USER_SCOPE, at::RecordScope::TORCHSCRIPT_FUNCTION});
  torch::autograd::profiler::addMetadataJson("tandem", identity.json("profile", shift_of(identity), 0));
  all.on = true;
}

std::string stop_profiler(const std::string& path) {
  State& all = state();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (!all.on) throw Error(ErrorCode::kInvalidArgument, "the profiler is not on; start it first");
  all.on = false;
  const std::unique_ptr<ProfilerResult> result = torch::autograd::profiler::disableProfiler();
  if (!path.empty()) save(*result, path);
  return profile_table(spans_of(*result));
}

}  // namespace tandem
