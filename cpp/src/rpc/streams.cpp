#include "rpc/streams.h"

#include <ATen/core/jit_type.h>
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

std::vector<c10::Stream> current_streams(const Devices& devices) {
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

void finish_all(const Devices& devices) {
  for (const c10::Device& device : devices) {
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
  }
}

void hold_for_current_stream(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda() || tensor.is_sparse()) return;
  const c10::impl::VirtualGuardImpl guard(tensor.device().type());
  guard.recordDataPtrOnStream(tensor.storage().data_ptr(), guard.getStream(tensor.device()));
}

c10::intrusive_ptr<c10::ivalue::Future> computed_here(const at::IValue& value, const Devices& devices) {
  if (devices.empty()) return {};
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::AnyType::get(), devices);
  try {
    future->markCompleted(value);
    return future;
  } catch (const c10::Error&) {
    return {};
  }
}

}  // namespace tandem::rpc
