// What stands before a backend whose works follow a stream, as NCCL's do: with a backend that does what it is told.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <thread>

// Internals of the core, which exports none of them.
#include "../../../cpp/src/comm/collective.cpp"
#include "../../../cpp/src/comm/collective_check.cpp"
#include "../../../cpp/src/comm/device_future.cpp"
#include "../../../cpp/src/comm/finished_work.cpp"
#include "../../../cpp/src/comm/flight_recorder.cpp"
#include "../../../cpp/src/comm/gloo/failure.cpp"
#include "../../../cpp/src/comm/group_backend.cpp"
#include "../../../cpp/src/comm/group_state.cpp"
#include "../../../cpp/src/comm/guarded_work.cpp"
#include "../../../cpp/src/comm/local_reduction.cpp"
#include "../../../cpp/src/comm/message_handle.cpp"
#include "../../../cpp/src/comm/nccl/groups.cpp"
#include "../../../cpp/src/comm/staging.cpp"
#include "../../../cpp/src/comm/store/store_exchange.cpp"
#include "../../../cpp/src/comm/store/store_limit.cpp"
#include "../../../cpp/src/comm/waiters.cpp"
#include "cpp/comm/threads.h"

namespace tandem::testing {
namespace {

using ::testing::HasSubstr;
using std::chrono::milliseconds;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;

// Its wait orders streams: here it does nothing. The test says when the GPU is done.
class StreamWork final : public c10d::Work {
 public:
  StreamWork() : c10d::Work(0, c10d::OpType::ALLREDUCE) {}
  bool isCompleted() override { return done_; }
  bool wait(milliseconds) override {
    waits_ += 1;
    return true;
  }
  void synchronize() override {}
  c10::intrusive_ptr<c10::ivalue::Future> getFutureResult() override { return result_; }
  void end(c10d::WorkResult how) {
    done_ = how == c10d::WorkResult::SUCCESS;
    result_->markCompleted(c10::IValue(static_cast<std::int64_t>(how)));
  }

  std::atomic<bool> done_{false};
  std::atomic<int> waits_{0};

 private:
  const c10::intrusive_ptr<c10::ivalue::Future> result_ =
      c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
};

class StreamBackend final : public c10d::Backend {
 public:
  StreamBackend() : c10d::Backend(0, 2) {}
  const std::string getBackendName() const override { return "stream"; }
  WorkPtr allreduce(std::vector<at::Tensor>&, const c10d::AllreduceOptions&) override {
    if (refuses_) refuses_();
    last_ = c10::make_intrusive<StreamWork>();
    return last_;
  }
  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override { ++open_; }
  WorkPtr endCoalescing() override {
    --open_;
    last_ = c10::make_intrusive<StreamWork>();
    return last_;
  }
  WorkPtr send(std::vector<at::Tensor>&, int to, int) override {
    TORCH_CHECK(to == 1, "no rank ", to);
    return c10::make_intrusive<StreamWork>();
  }
  void abort() override { ++aborts_; }
  void shutdown() override { ++shutdowns_; }

  std::function<void()> refuses_;
  int open_ = 0;
  std::atomic<int> aborts_{0}, shutdowns_{0};
  c10::intrusive_ptr<StreamWork> last_;
};

class OnStream : public ::testing::Test {
 protected:
  class Control final : public BackendControl {
   public:
    explicit Control(c10::intrusive_ptr<StreamBackend> backend) : backend_(std::move(backend)) {}
    BackendTraits traits() const override {
      BackendTraits traits;
      traits.completes = false;
      return traits;
    }
    void finish(const std::string&) override { backend_->shutdown(); }
    void fail(const Error&) override { backend_->abort(); }
    void abort(const Error&) override { backend_->abort(); }

   private:
    const c10::intrusive_ptr<StreamBackend> backend_;
  };
  WorkPtr all_reduce() {
    std::vector<at::Tensor> tensors = {torch::ones({4})};
    return group_->allreduce(tensors, {});
  }

  const std::shared_ptr<GroupState> state_ = GroupState::make("streams", 0, 2, milliseconds(20000));
  const c10::intrusive_ptr<StreamBackend> backend_ = c10::make_intrusive<StreamBackend>();
  const c10::intrusive_ptr<GroupBackend> group_ =
      GroupBackend::make(state_, {backend_, std::make_shared<Control>(backend_)}, nullptr);
};

// A work of which its backend tells nothing any more.
TEST(LostPeer, EndsACollectiveThatWouldWaitForItsTimeout) {
  const auto state = GroupState::make("deaf", 0, 2, milliseconds(60000));
  const auto never = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  Work work(GuardedWork::start(state, state->begin("all_reduce", {torch::ones({4})}),
                               {c10d::Work::create_from_future(never)}));
  EXPECT_FALSE(work.is_completed());
  state->end_untold(Error(ErrorCode::kPeerLost, "rank 1 closed its connection"));
  const Error error = error_of([&] { work.wait(); });
  EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
  EXPECT_THAT(error.what(), HasSubstr("all_reduce #0 of float[4] on group 'deaf' (rank 0 of 2)"));
  EXPECT_THAT(error.what(), HasSubstr("rank 1 closed its connection"));
  EXPECT_EQ(error_of([&] { state->check_usable("all_reduce"); }).code(), ErrorCode::kPeerLost);
  EXPECT_FALSE(state->wait_until_idle(milliseconds(1)));
  never->markCompleted(c10::IValue(std::vector<at::Tensor>{torch::ones({4})}));  // late, to nobody's harm
  EXPECT_TRUE(state->wait_until_idle(milliseconds(10000)));
  EXPECT_EQ(error_of([&] { work.wait(); }).code(), ErrorCode::kPeerLost);
}

TEST_F(OnStream, AWaitWithoutALimitDoesNotBlockAndSynchronizeDoes) {
  Work work(all_reduce());
  work.wait();
  EXPECT_EQ(backend_->last_->waits_, 1);
  EXPECT_FALSE(work.is_completed());
  EXPECT_EQ(error_of([&] { work.wait(milliseconds(50)); }).code(), ErrorCode::kTimeout);
  std::thread gpu([&] {
    std::this_thread::sleep_for(milliseconds(100));
    backend_->last_->done_ = true;
  });
  work.synchronize();
  EXPECT_TRUE(work.is_completed());
  gpu.join();
}

TEST_F(OnStream, WhatTheWatchdogFindsFailsTheGroupAndIsRecorded) {
  Work work(all_reduce());
  work.wait();
  backend_->last_->end(c10d::WorkResult::COMM_ERROR);
  const Error error = error_of([&] { work.synchronize(); });
  EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
  EXPECT_THAT(error.what(), HasSubstr("all_reduce #0 of float[4] on group 'streams' (rank 0 of 2)"));
  EXPECT_EQ(error_of([&] { all_reduce(); }).code(), ErrorCode::kPeerLost);
  EXPECT_THAT(FlightRecorder::instance().json(), HasSubstr("\"failed\""));
}

TEST_F(OnStream, ATimeoutIsOne) {
  Work work(all_reduce());
  backend_->last_->end(c10d::WorkResult::TIMEOUT);
  EXPECT_EQ(error_of([&] { work.synchronize(); }).code(), ErrorCode::kTimeout);
}

TEST_F(OnStream, WhatTheBackendRefusesIsNotTheCallersMistake) {
  backend_->refuses_ = [] { C10_THROW_ERROR(DistBackendError, "the communicator was aborted on another rank"); };
  const Error error = error_of([&] { all_reduce(); });
  EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
  EXPECT_THAT(error.what(), HasSubstr("aborted on another rank"));
}

TEST_F(OnStream, LackOfMemoryIsNoLostPeer) {
  backend_->refuses_ = [] { throw std::bad_alloc(); };
  EXPECT_EQ(error_of([&] { all_reduce(); }).code(), ErrorCode::kOutOfMemory);
}

// A text that speaks of a timeout is none: its time has only begun.
TEST_F(OnStream, WhetherATimeoutItWasSaysTheClock) {
  backend_->refuses_ = [] { throw ::gloo::IoException("the other side closed after a timeout"); };
  EXPECT_EQ(error_of([&] { all_reduce(); }).code(), ErrorCode::kPeerLost);
}

TEST_F(OnStream, ABrokenGpuEndsTheGroup) {
  backend_->refuses_ = [] { throw c10::AcceleratorError({"here", "file", 1}, 700, "an illegal memory access"); };
  EXPECT_EQ(error_of([&] { all_reduce(); }).code(), ErrorCode::kInternal);
  backend_->refuses_ = nullptr;
  EXPECT_EQ(error_of([&] { all_reduce(); }).code(), ErrorCode::kInternal);
}

// The abort that a failure brings ends the kernels of the others as if they were done: their sums are parts.
TEST_F(OnStream, AFailureIsThatOfAllThatHadNotEnded) {
  Work ended(all_reduce());
  backend_->last_->done_ = true;
  Work fails(all_reduce());
  const auto failing = backend_->last_;
  Work looked_at(all_reduce()), waited_for(all_reduce()), told(all_reduce());
  const auto last = backend_->last_;
  failing->end(c10d::WorkResult::COMM_ERROR);
  last->end(c10d::WorkResult::SUCCESS);
  EXPECT_EQ(backend_->aborts_, 1);
  EXPECT_FALSE(ended.error().has_value());
  EXPECT_THAT(error_of([&] { fails.synchronize(); }).what(), HasSubstr("a connection to another rank broke"));
  EXPECT_EQ(looked_at.error()->code(), ErrorCode::kPeerLost);
  EXPECT_EQ(error_of([&] { waited_for.wait(); }).code(), ErrorCode::kPeerLost);
  EXPECT_EQ(error_of([&] { told.synchronize(); }).code(), ErrorCode::kPeerLost);
}

// The future that the backend tells by may never be completed; it knows the work all the same.
TEST_F(OnStream, WhatNeverEndsOnTheGpuKeepsNothingAfterAnAbort) {
  const at::Tensor tensor = torch::ones({4});
  std::vector<at::Tensor> tensors = {tensor};
  WorkPtr work = group_->allreduce(tensors, {});
  tensors.clear();
  group_->abort();
  work.reset();
  backend_->last_.reset();
  EXPECT_EQ(tensor.use_count(), 1);
}

// NCCL's own groups, but for their backend.
class NcclGroup {
 public:
  explicit NcclGroup(const std::string& name)
      : state_(GroupState::make(name, 0, 2, milliseconds(20000))),
        backend_(c10::make_intrusive<StreamBackend>()),
        group_(GroupBackend::make(state_, {backend_, NcclGroups::instance().add(state_, backend_)}, nullptr)) {}

  WorkPtr all_reduce() {
    std::vector<at::Tensor> tensors = {torch::ones({4})};
    return group_->allreduce(tensors, {});
  }
  StreamBackend& backend() { return *backend_; }
  GroupBackend& group() { return *group_; }
  // Aborts run on threads of their own.
  bool is_aborted() const {
    for (int look = 0; look < 2000 && backend_->aborts_ == 0; ++look) std::this_thread::sleep_for(milliseconds(5));
    return backend_->aborts_ == 1;
  }

 private:
  const std::shared_ptr<GroupState> state_;
  const c10::intrusive_ptr<StreamBackend> backend_;
  const c10::intrusive_ptr<GroupBackend> group_;
};

TEST(NcclGroupsOfAProcess, FailTogether) {
  NcclGroup first("first"), second("second");
  Work fails(first.all_reduce()), held_up(second.all_reduce());
  first.backend().last_->end(c10d::WorkResult::COMM_ERROR);
  EXPECT_TRUE(first.is_aborted());
  EXPECT_TRUE(second.is_aborted());
  EXPECT_EQ(held_up.error()->code(), ErrorCode::kPeerLost);
  const Error error = error_of([&] { second.all_reduce(); });
  EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
  EXPECT_THAT(error.what(), HasSubstr("another NCCL group of this process failed"));
}

TEST(NcclGroupsOfAProcess, AreAbortedOneByOne) {
  NcclGroup first("first"), second("second");
  first.group().abort();
  EXPECT_TRUE(first.is_aborted());
  EXPECT_EQ(second.backend().aborts_, 0);
  Work goes_on(second.all_reduce());
  second.backend().last_->end(c10d::WorkResult::SUCCESS);
  goes_on.synchronize();
}

// Whose store may hold the port of the job's server.
TEST(NcclGroupsOfAProcess, KeepNoBackendThatNobodyUses) {
  struct Counted final : public c10d::Backend {
    explicit Counted(bool* gone) : c10d::Backend(0, 2), gone_(gone) {}
    ~Counted() override { *gone_ = true; }
    const std::string getBackendName() const override { return "counted"; }
    void abort() override {}
    bool* const gone_;
  };
  bool gone = false;
  {
    const auto state = GroupState::make("aborted", 0, 2, milliseconds(20000));
    auto backend = c10::make_intrusive<Counted>(&gone);
    const auto control = NcclGroups::instance().add(state, backend);
    backend->abort();
  }
  EXPECT_TRUE(gone);
}

TEST_F(OnStream, AnAbortEndsWhatIsWaitedFor) {
  Work work(all_reduce());
  std::thread aborter([&] {
    std::this_thread::sleep_for(milliseconds(50));
    group_->abort();
  });
  EXPECT_EQ(error_of([&] { work.synchronize(); }).code(), ErrorCode::kAborted);
  aborter.join();
  EXPECT_EQ(backend_->aborts_, 1);
}

TEST_F(OnStream, AShutdownLetsEndWhatTheProgramTakesForDone) {
  Work work(all_reduce());
  work.wait();
  std::thread gpu([&] {
    std::this_thread::sleep_for(milliseconds(100));
    backend_->last_->end(c10d::WorkResult::SUCCESS);
  });
  group_->shutdown();
  gpu.join();
  EXPECT_TRUE(backend_->last_->done_);
  EXPECT_EQ(backend_->shutdowns_, 1);
  EXPECT_EQ(backend_->aborts_, 0);
  EXPECT_FALSE(work.error().has_value());
}

TEST_F(OnStream, AShutdownAbortsWhatNobodyHasWaitedFor) {
  Work work(all_reduce());
  group_->shutdown();
  EXPECT_EQ(backend_->shutdowns_, 0);
  EXPECT_EQ(backend_->aborts_, 1);
  EXPECT_EQ(work.error()->code(), ErrorCode::kAborted);
}

TEST_F(OnStream, AFailureInABatchLeavesNoGroupOpen) {
  const at::Tensor tensor = torch::ones({2});
  EXPECT_EQ(error_of([&] { group_->exchange({{tensor, 1, true, 0}, {tensor, 5, true, 0}}); }).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(backend_->open_, 0);
  group_->exchange({{tensor, 1, true, 0}});
  EXPECT_EQ(backend_->open_, 0);
  backend_->last_->end(c10d::WorkResult::SUCCESS);  // else the group would hold it for ever
}

}  // namespace
}  // namespace tandem::testing
