// Devices: what a machine without a GPU says, and what the CPU does.
#include <cmath>

#include "capi/calls.h"

namespace devices_test {
namespace {

using namespace calls;

constexpr tdm_device kCpu{TDM_DEVICE_CPU, -1}, kCuda{TDM_DEVICE_CUDA, -1}, kMeta{TDM_DEVICE_META, -1};

std::int32_t gpus() {
  std::int32_t count = 0;
  EXPECT_OK(tdm_cuda_device_count(&count));
  return count;
}

TEST(Devices, WithoutAGpuEachCallSaysSo) {
  if (gpus() > 0) GTEST_SKIP() << "this machine has a GPU";
  LeakCheck leaks;
  tdm_device device{};
  tdm_mode* mode = nullptr;
  tdm_stream* stream = nullptr;
  tdm_event* event = nullptr;
  tdm_device_memory memory = TDM_DEVICE_MEMORY_INIT;
  tdm_cuda_settings settings = TDM_CUDA_SETTINGS_INIT;
  for (tdm_error* error :
       {tdm_device_current(TDM_DEVICE_CUDA, &device), tdm_mode_enter_device(kCuda, &mode),
        tdm_device_synchronize(kCuda), tdm_device_get_memory(kCuda, &memory), tdm_device_reset_peak_memory(kCuda),
        tdm_cuda_empty_cache(), tdm_stream_create(kCuda, 0, &stream), tdm_stream_current(kCuda, &stream),
        tdm_stream_default(kCuda, &stream), tdm_event_create(TDM_DEVICE_CUDA, 1, &event),
        tdm_cuda_get_settings(&settings), tdm_cuda_set_settings(&settings)}) {
    const std::string operation = error ? tdm_error_operation(error) : "no error";
    SCOPED_TRACE(operation);
    const std::string text = message(error, TDM_ERROR_UNSUPPORTED);
    EXPECT_THAT(text, testing::HasSubstr("needs a GPU, but "));
    EXPECT_THAT(text, testing::HasSubstr("compute on the CPU, or run this where there is a GPU"));
  }
  EXPECT_EQ(mode, nullptr);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(event, nullptr);
}

TEST(Devices, TheCpuHasOneAndNoStreams) {
  LeakCheck leaks;
  tdm_device device{};
  ASSERT_OK(tdm_device_current(TDM_DEVICE_CPU, &device));
  EXPECT_EQ(device.type, TDM_DEVICE_CPU);
  EXPECT_EQ(device.index, 0);
  EXPECT_OK(tdm_device_synchronize(kCpu));
  tdm_mode* mode = nullptr;
  ASSERT_OK(tdm_mode_enter_device(kCpu, &mode));
  ASSERT_OK(tdm_mode_exit(mode));
  tdm_stream* stream = nullptr;
  tdm_event* event = nullptr;
  tdm_device_memory memory = TDM_DEVICE_MEMORY_INIT;
  EXPECT_REFUSED(tdm_stream_create(kCpu, 0, &stream), TDM_ERROR_UNSUPPORTED,
                 "a stream is a GPU's, and the CPU has none");
  EXPECT_REFUSED(tdm_event_create(TDM_DEVICE_CPU, 0, &event), TDM_ERROR_UNSUPPORTED, "an event is a GPU's");
  EXPECT_REFUSED(tdm_device_get_memory(kCpu, &memory), TDM_ERROR_UNSUPPORTED, "a count of memory is a GPU's");
  EXPECT_REFUSED(tdm_device_synchronize(kMeta), TDM_ERROR_INVALID_ARGUMENT, "the meta device");
  EXPECT_REFUSED(tdm_stream_create(kMeta, 0, &stream), TDM_ERROR_INVALID_ARGUMENT, "'device' has type 14");
  EXPECT_REFUSED(tdm_event_record(nullptr, nullptr), TDM_ERROR_INVALID_ARGUMENT, "'event' is NULL");
  EXPECT_REFUSED(tdm_stream_synchronize(nullptr), TDM_ERROR_INVALID_ARGUMENT, "'stream' is NULL");
  tdm_stream_free(nullptr);
  tdm_event_free(nullptr);
}

// put_ without accumulation has no deterministic form, on any device.
tdm_error* put() {
  const Tensor x = tensor({0, 0, 0}, {3}), source = tensor({1, 2}, {2});
  const std::int64_t two = 2, places[] = {0, 2};
  tdm_tensor* index = nullptr;
  EXPECT_OK(tdm_tensor_from_data(places, sizeof places, TDM_DTYPE_INT64, &two, 1, &index));
  const Tensor owned(index);
  tdm_value result{};
  tdm_error* error = call(find("aten::put_"), {of(x), of(owned), of(source)}, &result);
  tdm_value_clear(&result);
  return error;
}

TEST(Devices, DeterminismHoldsOnTheCpu) {
  LeakCheck leaks;
  tdm_determinism now = -1;
  ASSERT_OK(tdm_get_determinism(&now));
  EXPECT_EQ(now, TDM_DETERMINISM_OFF);
  EXPECT_OK(put());
  ASSERT_OK(tdm_set_determinism(TDM_DETERMINISM_ON));
  ASSERT_OK(tdm_get_determinism(&now));
  EXPECT_EQ(now, TDM_DETERMINISM_ON);
  EXPECT_THAT(message(put(), TDM_ERROR_INVALID_ARGUMENT), testing::HasSubstr("deterministic"));
  ASSERT_OK(tdm_set_determinism(TDM_DETERMINISM_WARN));
  ASSERT_OK(tdm_get_determinism(&now));
  EXPECT_EQ(now, TDM_DETERMINISM_WARN);
  EXPECT_OK(put());
  EXPECT_REFUSED(tdm_set_determinism(3), TDM_ERROR_INVALID_ARGUMENT, "no TDM_DETERMINISM");
  ASSERT_OK(tdm_set_determinism(TDM_DETERMINISM_OFF));
  EXPECT_OK(put());
}

TEST(Devices, ThreadsBesideOneAnother) {
  std::int32_t threads = 0;
  EXPECT_REFUSED(tdm_set_num_interop_threads(0), TDM_ERROR_INVALID_ARGUMENT, "at least 1");
  ASSERT_OK(tdm_set_num_interop_threads(3));
  ASSERT_OK(tdm_get_num_interop_threads(&threads));
  EXPECT_EQ(threads, 3);
  EXPECT_THAT(message(tdm_set_num_interop_threads(4), TDM_ERROR_INVALID_ARGUMENT),
              testing::HasSubstr("number of interop"));
}

}  // namespace
}  // namespace devices_test
