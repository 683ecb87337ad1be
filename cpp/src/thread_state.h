// What the core keeps for each thread that calls it: the call in flight, the open scope, counts of live handles.
//
// Only the thread itself writes its state, with relaxed atomics and no read-modify-write, so that a call costs a few
// nanoseconds; others read. A count that one thread raises and another lowers is right in the sum over all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

struct tdm_scope;
namespace tandem::capi {
struct TensorSlot;
}

namespace tandem {

// Types of handle that tdm_live_count() knows, in the order of kind_name().
enum class Kind : int {
  kTensor,
  kModule,
  kOptimizer,
  kStore,
  kProcessGroup,
  kWork,
  kDdp,
  kRecordIOWriter,
  kRecordIOReader,
  kLoader,
  kScope,
  kNamedTensors,
  kString,
  kStrings,
  kMode,
  kHook,
  kCallback,
  kGenerator,
  kStream,
  kEvent,
  kGradScaler,
  kModelAverager,
  kSummaryWriter,
  kDataParallel,
  kDataset,
  kSampler,
  kCheckpointFolder,
  kCheckpoint,
  kLrScheduler,
  kAveragedParameters,
  kElastic,
  kPipeline,
  kDeviceMesh,
  kRpcFuture,
  kRpcResult,
  kRRef,
  kDistributedOptimizer,
  kParameterServer,
  kParameterClient,
  kOwnTensors,
};
inline constexpr int kKindCount = 40;
const char* kind_name(Kind kind);

struct alignas(64) ThreadState {
  std::atomic<const char*> operation{nullptr};  // the outermost call in flight
  std::atomic<std::int64_t> live_bytes{0};
  std::atomic<std::int64_t> live[kKindCount] = {};
  tdm_scope* scope = nullptr;          // innermost open one
  capi::TensorSlot* free_tensors = nullptr;  // for reuse
  std::size_t free_tensor_count = 0;
  void* stack = nullptr;             // of operator calls, for reuse
  int intra_op_threads = 0;          // that OpenMP uses on this thread; 0: not set yet
  int programs_threads = 0;          // the same outside of Tandem's calls; 0: outside
  bool has_pool = false;             // whether OpenMP may keep threads for this one
  bool threads_are_fixed = false;    // this thread's owner has set how many OpenMP uses, whatever the program sets
  ThreadState* next = nullptr;       // of all that were ever made
  ThreadState* next_idle = nullptr;  // of those whose thread has ended

  void count(Kind kind, std::int64_t amount) { add(live[static_cast<int>(kind)], amount); }
  static void add(std::atomic<std::int64_t>& counter, std::int64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

extern __thread ThreadState* current_thread_state __attribute__((tls_model("initial-exec"), visibility("hidden")));
ThreadState& make_thread_state();

inline ThreadState& thread_state() {
  ThreadState* state = current_thread_state;
  return state ? *state : make_thread_state();
}

// For what cannot fail: NULL where this thread calls for the first time, and there is no memory for what is kept for
// it.
inline ThreadState* thread_state_if_memory() noexcept {
  if (ThreadState* state = current_thread_state) [[likely]]
    return state;
  try {
    return &make_thread_state();
  } catch (...) {
    return nullptr;
  }
}

// Head of the list of all states.
ThreadState* first_thread_state();

// Called with the state of a thread that calls for the first time. Set once, at load.
void set_thread_begin_handler(void (*handler)(ThreadState&));
// Called with the state of a thread that ends, before another thread may take it over. Set once, at load.
void set_thread_end_handler(void (*handler)(ThreadState&));

std::int64_t live_count(Kind kind);
std::int64_t live_bytes();

// ------------------------------------------------------------------------------------------------- calls in flight

// Nonzero once the core is closed: set by shutdown() and when the process begins to exit.
extern std::atomic<int> core_closed;
// Set when the process tears itself down; what is freed from then on is left to the system.
extern std::atomic<bool> process_exits;

// Marks this thread as inside a call. The mark is stored before the flag is read, and shutdown() sets the flag, makes
// every thread's stores visible (membarrier(2)), then reads the marks: it sees either a mark, or a call that was
// refused. Nested calls (from a callback) keep the outermost mark.
class CallMark {
 public:
  explicit CallMark(const char* operation) : CallMark(thread_state(), operation) {}
  CallMark(ThreadState& state, const char* operation) noexcept : state_(state), outer_(load()) {
    if (!outer_) state_.operation.store(operation, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~CallMark() {
    if (!outer_) state_.operation.store(nullptr, std::memory_order_release);
  }
  CallMark(const CallMark&) = delete;
  CallMark& operator=(const CallMark&) = delete;

  ThreadState& state() { return state_; }
  static bool refused() { return core_closed.load(std::memory_order_relaxed) != 0; }

 private:
  const char* load() const { return state_.operation.load(std::memory_order_relaxed); }

  ThreadState& state_;
  const char* outer_;
};

}  // namespace tandem
