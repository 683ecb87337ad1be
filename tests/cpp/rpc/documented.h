// What docs/rpc.md shows.
#pragma once

#include <ATen/ATen.h>  // what functions do with tensors
#include <tandem/rpc.h>

#include <cstdlib>
#include <string>

inline at::Tensor call_worker1(const at::Tensor& a, const at::Tensor& b) {
  tandem::rpc::register_function("twice", [](const auto& arguments) { return arguments[0].toTensor() * 2; });
  tandem::rpc::init("worker" + std::string(std::getenv("RANK")));  // under `tandem run`
  at::IValue sum = tandem::rpc::rpc_sync("worker1", "aten::add", {a, b});
  tandem::rpc::Future later = tandem::rpc::rpc_async("worker1", "twice", {a});
  tandem::rpc::RRef there = tandem::rpc::remote("worker1", "aten::mul", {sum, later.wait()});
  at::Tensor product = there.to_here().toTensor();
  tandem::rpc::shutdown();
  return product;
}
