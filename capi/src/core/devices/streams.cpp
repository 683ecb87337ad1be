// Streams and events of GPUs.
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include "core/autograd/modes.h"
#include "core/devices/gpu.h"
#include "core/handles/handles.h"
#include "tandem/runtime.h"

struct tdm_stream : tandem::capi::Handle<tandem::Kind::kStream> {
  explicit tdm_stream(c10::Stream made) : stream(made) {}
  c10::Stream stream;
};

struct tdm_event : tandem::capi::Handle<tandem::Kind::kEvent> {
  tdm_event(c10::DeviceType type, c10::EventFlag flag) : event(type, flag) {}
  c10::Event event;
};

using namespace tandem::capi;

namespace {

struct CurrentStream final : tdm_mode {
  explicit CurrentStream(c10::Stream stream) : before(gpu_guard().exchangeStream(stream)) {}
  ~CurrentStream() override { gpu_guard().exchangeStream(before); }

  c10::Stream before;
};

}  // namespace

tdm_error* tdm_stream_create(tdm_device device, std::int32_t high_priority, tdm_stream** out) {
  return guard("tdm_stream_create", [&] {
    not_null(out, "out");
    const at::Device gpu = to_gpu(device, "a stream");
    *out = new tdm_stream(gpu_guard().getStreamFromGlobalPool(gpu, high_priority != 0));
  });
}

tdm_error* tdm_stream_current(tdm_device device, tdm_stream** out) {
  return guard("tdm_stream_current", [&] {
    not_null(out, "out");
    const at::Device gpu = to_gpu(device, "a stream");
    *out = new tdm_stream(gpu_guard().getStream(gpu));
  });
}

tdm_error* tdm_stream_default(tdm_device device, tdm_stream** out) {
  return guard("tdm_stream_default", [&] {
    not_null(out, "out");
    const at::Device gpu = to_gpu(device, "a stream");
    *out = new tdm_stream(gpu_guard().getDefaultStream(gpu));
  });
}

void tdm_stream_free(tdm_stream* stream) {
  tandem::capi::free_handle(stream);
}

tdm_error* tdm_mode_enter_stream(const tdm_stream* stream, tdm_mode** out) {
  return guard("tdm_mode_enter_stream", [&] {
    not_null(out, "out");
    *out = open_mode(std::make_unique<CurrentStream>(not_null(stream, "stream")->stream));
  });
}

tdm_error* tdm_stream_query(const tdm_stream* stream, std::int32_t* out) {
  return guard("tdm_stream_query", [&] {
    not_null(stream, "stream");
    *not_null(out, "out") = stream->stream.query();
  });
}

tdm_error* tdm_stream_synchronize(const tdm_stream* stream) {
  return guard("tdm_stream_synchronize", [&] { not_null(stream, "stream")->stream.synchronize(); });
}

tdm_error* tdm_stream_wait_event(const tdm_stream* stream, const tdm_event* event) {
  return guard("tdm_stream_wait_event", [&] {
    not_null(stream, "stream");
    not_null(event, "event")->event.block(stream->stream);
  });
}

tdm_error* tdm_stream_record_tensor(const tdm_stream* stream, const tdm_tensor* tensor) {
  return guard("tdm_stream_record_tensor", [&] {
    not_null(stream, "stream");
    const at::Tensor& t = unwrap(tensor, "tensor");
    if (!t.is_cuda()) invalid("argument 'tensor' is on " + t.device().str() + "; streams use tensors on GPUs");
    t.record_stream(stream->stream);
  });
}

tdm_error* tdm_event_create(tdm_device_type type, std::int32_t enable_timing, tdm_event** out) {
  return guard("tdm_event_create", [&] {
    not_null(out, "out");
    const at::Device gpu = to_gpu({type, -1}, "an event");
    *out = new tdm_event(gpu.type(), enable_timing ? c10::EventFlag::BACKEND_DEFAULT : c10::EventFlag::PYTORCH_DEFAULT);
  });
}

void tdm_event_free(tdm_event* event) {
  tandem::capi::free_handle("tdm_event_free", event);
}

tdm_error* tdm_event_record(tdm_event* event, const tdm_stream* stream) {
  return guard("tdm_event_record", [&] {
    not_null(event, "event");
    const auto guard = gpu_guard();
    event->event.record(stream ? not_null(stream, "stream")->stream : guard.getStream(guard.getDevice()));
  });
}

tdm_error* tdm_event_query(const tdm_event* event, std::int32_t* out) {
  return guard("tdm_event_query", [&] {
    not_null(event, "event");
    *not_null(out, "out") = event->event.query();
  });
}

tdm_error* tdm_event_synchronize(const tdm_event* event) {
  return guard("tdm_event_synchronize", [&] { not_null(event, "event")->event.synchronize(); });
}

tdm_error* tdm_event_elapsed_ms(const tdm_event* start, const tdm_event* end, double* out) {
  return guard("tdm_event_elapsed_ms", [&] {
    not_null(start, "start");
    not_null(end, "end");
    *not_null(out, "out") = start->event.elapsedTime(end->event);
  });
}
