// Callbacks of works, through the C ABI.
#include <atomic>
#include <chrono>
#include <thread>

#include "capi/comm/ranks.h"

namespace work_callback_test {
namespace {

using namespace capi_comm;

// What a work's callback was told.
struct Ended {
  std::atomic<int> calls{0}, destroyed{0}, code{-1};
  std::thread::id thread{};

  static void call(void* ended, const tdm_error* error) {
    auto* self = static_cast<Ended*>(ended);
    self->thread = std::this_thread::get_id();
    self->code = error ? tdm_error_get_code(error) : 0;
    tensor_of({1}).release();  // goes with the callback's scope
    ++self->calls;
  }
  static void destroy(void* ended) {
    auto* self = static_cast<Ended*>(ended);
    EXPECT_EQ(self->calls, 1);
    ++self->destroyed;
  }
  void expect(int expected) const {
    for (int i = 0; i < 20000 && destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(destroyed, 1);
    EXPECT_EQ(code, expected);
  }
};

TEST(CapiWork, ItsCallbackIsCalledOnce) {
  const std::int64_t tensors = tdm_live_count("tensor"), callbacks = tdm_live_count("callback");
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor sum = tensor_of({1.0f + rank});
    Ended first, second, late;
    tdm_work* work = nullptr;
    EXPECT_OK(tdm_all_reduce(group, sum.get(), TDM_REDUCE_OP_SUM, &work));
    EXPECT_OK(tdm_work_on_completion(work, Ended::call, &first, Ended::destroy));
    EXPECT_OK(tdm_work_on_completion(work, Ended::call, &second, Ended::destroy));
    first.expect(0);
    second.expect(0);
    EXPECT_OK(tdm_work_wait(work, -1));
    EXPECT_THAT(values_of(sum.get()), ::testing::ElementsAre(3));
    EXPECT_OK(tdm_work_on_completion(work, Ended::call, &late, Ended::destroy));
    EXPECT_EQ(late.destroyed, 1) << "the work had ended";
    EXPECT_EQ(late.thread, std::this_thread::get_id());
    late.expect(0);
    EXPECT_EQ(take(tdm_work_on_completion(work, nullptr, nullptr, nullptr)).code, TDM_ERROR_INVALID_ARGUMENT);
    tdm_work_free(work);
    EXPECT_EQ(take(tdm_work_on_completion(work, Ended::call, &late, Ended::destroy)).code, TDM_ERROR_CLOSED);
    EXPECT_EQ(late.calls, 1);
    EXPECT_OK(tdm_barrier(group, nullptr));
  });
  EXPECT_EQ(tdm_live_count("tensor"), tensors);
  EXPECT_EQ(tdm_live_count("callback"), callbacks);
}

TEST(CapiWork, ItsCallbackIsToldOfTheGroupsEnd) {
  for (const bool aborted : {true, false}) {
    Ended received;
    std::atomic<bool> begun = false;
    run_ranks(2, [&](tdm_process_group* group, int rank) {
      EXPECT_OK(tdm_barrier(group, nullptr));  // an abort would cut a rank off that still connects
      if (rank == 1) {                         // sends nothing
        for (int i = 0; i < 20000 && !begun; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return;
      }
      const Tensor tensor = tensor_of({0});
      tdm_work* work = nullptr;
      EXPECT_OK(tdm_recv(group, tensor.get(), 1, 0, nullptr, &work));
      const Work owned(work);
      EXPECT_OK(tdm_work_on_completion(work, Ended::call, &received, Ended::destroy));
      begun = true;
      if (aborted) {
        EXPECT_OK(tdm_process_group_abort(group));
      }
      for (int i = 0; i < 20000 && received.destroyed == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      // Where rank 1 is gone before the abort, that is what ended it.
      EXPECT_TRUE(received.code == TDM_ERROR_ABORTED || received.code == TDM_ERROR_PEER_LOST) << received.code;
      // The work's failure is what is asked for, not what asking for it failed with.
      for (int i = 0; i < 20000 && !tdm_work_is_completed(work); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      tdm_error* reason = nullptr;
      EXPECT_OK(tdm_work_error(work, &reason));
      EXPECT_EQ(take(reason).code, received.code);
    });
    EXPECT_EQ(received.calls, 1);
    EXPECT_EQ(received.destroyed, 1);
  }
}

}  // namespace
}  // namespace work_callback_test
