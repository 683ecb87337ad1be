#include "rpc/streams.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace tandem::rpc {
namespace {

c10::Stream default_stream_of(const c10::Device& device) {
  return c10::impl::VirtualGuardImpl(device.type()).getDefaultStream(device);
}

void order(const c10::Stream& first, const c10::Stream& second) {
  if (first == second) return;
  c10::Event reached(first.device_type());
  reached.record(first);
  reached.block(second);
}

}  // namespace

std::vector<c10::Stream> current_streams(const std::vector<c10::Device>& devices) {
  std::vector<c10::Stream> streams;
  for (const c10::Device& device : devices) {
    streams.push_back(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  }
  return streams;
}

void after_default_streams(const std::vector<c10::Stream>& streams) {
  for (const c10::Stream& stream : streams) order(default_stream_of(stream.device()), stream);
}

void before_default_streams(const std::vector<c10::Stream>& streams) {
  for (const c10::Stream& stream : streams) order(stream, default_stream_of(stream.device()));
}

}  // namespace tandem::rpc
