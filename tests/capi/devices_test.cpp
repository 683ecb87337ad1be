// Devices: what a machine without a GPU says, what the CPU does, and streams where there is a GPU.
#include <cmath>

#include "capi/calls.h"

namespace {

using namespace calls;

constexpr tdm_device kCpu{TDM_DEVICE_CPU, -1}, kCuda{TDM_DEVICE_CUDA, -1}, kMeta{TDM_DEVICE_META, -1};

std::int32_t gpus() {
  std::int32_t count = 0;
  EXPECT_OK(tdm_cuda_device_count(&count));
  return count;
}

struct FreeStream {
  void operator()(tdm_stream* stream) const { tdm_stream_free(stream); }
};
struct FreeEvent {
  void operator()(tdm_event* event) const { tdm_event_free(event); }
};

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

TEST(Devices, StreamsAndEventsOfAGpu) {
  if (gpus() == 0) GTEST_SKIP() << "needs a GPU";
  LeakCheck leaks;
  tdm_stream* made = nullptr;
  ASSERT_OK(tdm_stream_create(kCuda, 0, &made));
  const std::unique_ptr<tdm_stream, FreeStream> stream(made);
  tdm_event *first = nullptr, *second = nullptr;
  ASSERT_OK(tdm_event_create(TDM_DEVICE_CUDA, 1, &first));
  const std::unique_ptr<tdm_event, FreeEvent> start(first);
  ASSERT_OK(tdm_event_create(TDM_DEVICE_CUDA, 1, &second));
  const std::unique_ptr<tdm_event, FreeEvent> end(second);
  tdm_value gpu{};
  gpu.tag = TDM_VALUE_DEVICE;
  gpu.as.device = {TDM_DEVICE_CUDA, 0};
  tdm_mode* mode = nullptr;
  ASSERT_OK(tdm_mode_enter_stream(stream.get(), &mode));
  ASSERT_OK(tdm_event_record(start.get(), nullptr));
  const Tensor x = call("aten::ones", "", {ints({512, 512}), tagged(TDM_VALUE_NONE), tagged(TDM_VALUE_NONE), gpu});
  const Tensor product = call("aten::mm", "", {of(x), of(x)});
  ASSERT_OK(tdm_event_record(end.get(), stream.get()));
  ASSERT_OK(tdm_mode_exit(mode));
  ASSERT_OK(tdm_event_synchronize(end.get()));
  double elapsed = -1;
  ASSERT_OK(tdm_event_elapsed_ms(start.get(), end.get(), &elapsed));
  EXPECT_GT(elapsed, 0);
  tdm_stream* usual = nullptr;
  ASSERT_OK(tdm_stream_default(kCuda, &usual));
  const std::unique_ptr<tdm_stream, FreeStream> owned(usual);
  ASSERT_OK(tdm_stream_wait_event(usual, end.get()));
  ASSERT_OK(tdm_stream_record_tensor(usual, product.get()));
  ASSERT_OK(tdm_device_synchronize(kCuda));
  EXPECT_EQ(floats(product.get())[0], 512);
  tdm_device_memory memory = TDM_DEVICE_MEMORY_INIT;
  ASSERT_OK(tdm_device_get_memory(kCuda, &memory));
  EXPECT_GE(memory.allocated, 2 * 512 * 512 * 4);
  EXPECT_GE(memory.reserved, memory.allocated);
  EXPECT_GT(memory.total, memory.free);
  ASSERT_OK(tdm_cuda_empty_cache());
  tdm_cuda_settings settings = TDM_CUDA_SETTINGS_INIT;
  settings.cudnn_benchmark = 1;
  ASSERT_OK(tdm_cuda_set_settings(&settings));
  ASSERT_OK(tdm_cuda_get_settings(&settings));
  EXPECT_EQ(settings.cudnn_benchmark, 1);
  tdm_mode* past = nullptr;
  EXPECT_REFUSED(tdm_mode_enter_device({TDM_DEVICE_CUDA, gpus()}, &past), TDM_ERROR_OUT_OF_RANGE, "counted from 0");
}

}  // namespace
