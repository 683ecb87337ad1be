// Streams, events and memory of a GPU, through the C ABI.
#include "capi/calls.h"

namespace {

using namespace calls;

constexpr tdm_device kCuda{TDM_DEVICE_CUDA, -1};

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
