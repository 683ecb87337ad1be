#include "comm/none_backend.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include "comm/device_future.h"

namespace tandem {
namespace {

using WorkPtr = NoneBackend::WorkPtr;
using Tensors = NoneBackend::Tensors;

WorkPtr completed(Tensors tensors) {
  auto future = make_list_future(tensors);
  future->markCompleted(c10::IValue(std::move(tensors)));
  return c10d::Work::create_from_future(future);
}

WorkPtr copied(const Tensors& to, const at::Tensor& from) {
  at::NoGradGuard no_grad;
  for (const at::Tensor& tensor : to) tensor.detach().copy_(from);
  return completed(to);
}

}  // namespace

WorkPtr NoneBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions&) {
  return completed(tensors);
}

WorkPtr NoneBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions&) {
  return completed(tensors);
}

WorkPtr NoneBackend::reduce(Tensors& tensors, const c10d::ReduceOptions&) {
  return completed(tensors);
}

WorkPtr NoneBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions&) {
  return copied(outputs.at(0), inputs.at(0));
}

WorkPtr NoneBackend::_allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions&) {
  return copied({output.view({getSize(), -1})}, input.view({-1}));
}

WorkPtr NoneBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions&) {
  return copied(outputs.empty() ? Tensors() : outputs[0], inputs.at(0));
}

WorkPtr NoneBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions&) {
  return inputs.empty() ? completed(outputs) : copied(outputs, inputs[0].at(getRank()));
}

WorkPtr NoneBackend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ReduceScatterOptions&) {
  return copied(outputs, inputs.at(0).at(getRank()));
}

WorkPtr NoneBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions&) {
  return copied({output.view({-1})}, input.view({getSize(), -1})[getRank()]);
}

WorkPtr NoneBackend::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>&, std::vector<int64_t>&,
                                   const c10d::AllToAllOptions&) {
  if (output.numel() == input.numel()) return copied({output.view({-1})}, input.view({-1}));
  return completed({output});
}

WorkPtr NoneBackend::send(Tensors& tensors, int, int) {
  return completed(tensors);
}

WorkPtr NoneBackend::recv(Tensors& tensors, int, int) {
  return completed(tensors);
}

WorkPtr NoneBackend::recvAnysource(Tensors& tensors, int) {
  return completed(tensors);
}

WorkPtr NoneBackend::barrier(const c10d::BarrierOptions&) {
  return completed({});
}

}  // namespace tandem
