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
    if (refuses_) C10_THROW_ERROR(DistBackendError, "the communicator was aborted on another rank");
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

  bool refuses_ = false;
  int open_ = 0, aborts_ = 0, shutdowns_ = 0;
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
  backend_->refuses_ = true;
  const Error error = error_of([&] { all_reduce(); });
  EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
  EXPECT_THAT(error.what(), HasSubstr("aborted on another rank"));
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
}

}  // namespace
}  // namespace tandem::testing
