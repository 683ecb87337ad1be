// Loaders that another thread aborts.
#include <atomic>
#include <future>
#include <string>

#include "capi/calls.h"

namespace loader_abort_test {
namespace {

// Samples that nobody gets before `gate` opens.
struct Gated {
  std::promise<void> entered, gate;
  std::shared_future<void> open{gate.get_future()};
  std::atomic<bool> first{true};

  static tdm_error* get(void* user_data, std::int64_t index, tdm_tensor** sample, std::size_t) {
    Gated& self = *static_cast<Gated*>(user_data);
    if (self.first.exchange(false)) self.entered.set_value();
    self.open.wait();
    return tdm_tensor_from_data(&index, sizeof index, TDM_DTYPE_INT64, nullptr, 0, sample);
  }
};

struct Failure {
  tdm_error_code code;
  std::string message;
};

// Of the next batch, which fails.
Failure next_of(tdm_loader* loader) {
  tdm_tensor* batch = nullptr;
  std::int32_t has_batch = 7;
  const calls::Error error(tdm_loader_next(loader, &batch, 1, &has_batch));
  EXPECT_EQ(has_batch, 7);
  return error ? Failure{tdm_error_get_code(error.get()), tdm_error_message(error.get())} : Failure{0, ""};
}

// The loader's thread is held in a callback from before the abort until after the call that waited has ended.
void expect_abort_ends_a_wait(Gated& gated, tdm_loader* loader) {
  auto waiting = std::async(std::launch::async, [&] { return next_of(loader); });
  gated.entered.get_future().wait();
  EXPECT_OK(tdm_loader_abort(loader));
  const Failure failure = waiting.get();
  EXPECT_EQ(failure.code, TDM_ERROR_ABORTED) << failure.message;
  EXPECT_OK(tdm_loader_abort(loader));
  EXPECT_EQ(next_of(loader).code, TDM_ERROR_ABORTED);
  gated.gate.set_value();
}

class LoaderAbort : public testing::Test {
 protected:
  LoaderAbort() {
    const char* const name = "id";
    EXPECT_OK(tdm_dataset_create(6, &name, 1, 0, Gated::get, &gated_, nullptr, &dataset_));
  }
  ~LoaderAbort() override {
    tdm_loader_free(loader_);
    tdm_dataset_free(dataset_);
  }

  calls::LeakCheck leaks_;
  Gated gated_;
  tdm_dataset* dataset_ = nullptr;
  tdm_loader* loader_ = nullptr;
};

TEST_F(LoaderAbort, EndsAWait) {
  ASSERT_OK(tdm_loader_create_from(dataset_, nullptr, &loader_));
  expect_abort_ends_a_wait(gated_, loader_);
  EXPECT_REFUSED(tdm_loader_start_epoch(loader_, 0, 0), TDM_ERROR_ABORTED, "this loader was aborted");
  tdm_string* state = nullptr;
  EXPECT_OK(tdm_loader_get_state(loader_, &state));
  tdm_string_free(state);
}

TEST_F(LoaderAbort, EndsAWaitOfTheDynamicPartition) {
  tdm_store* store = nullptr;
  ASSERT_OK(tdm_store_hash(&store));
  ASSERT_OK(tdm_loader_create_dynamic(dataset_, store, nullptr, nullptr, 0, nullptr, &loader_));
  tdm_store_free(store);
  std::int32_t has_step = 0;
  ASSERT_OK(tdm_loader_next_step(loader_, &has_step));
  expect_abort_ends_a_wait(gated_, loader_);
  EXPECT_REFUSED(tdm_loader_next_step(loader_, &has_step), TDM_ERROR_ABORTED, "");
}

}  // namespace
}  // namespace loader_abort_test
