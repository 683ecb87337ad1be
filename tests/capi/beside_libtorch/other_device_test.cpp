// Large work of a thread without an OpenMP pool: the CPU's goes to the compute thread, another device's does not, for
// which device and stream are current is known on the caller's thread alone.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <functional>

#include "capi/beside_libtorch/where.h"
#include "capi/calls.h"

namespace {

using namespace calls;
using tandem::testing::fake_device::device;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kLarge = 1 << 16;

at::Tensor on_fake(const at::Tensor& like) {
  return at::empty(like.sizes(), like.options().device(device(1)));
}

at::Tensor note_one(const at::Tensor& x) {
  where::note();
  return at::empty_like(x);
}

at::Tensor note_list(at::TensorList list, std::int64_t) {
  where::note();
  return at::empty_like(list[0]);
}

at::Tensor note_device(const at::Tensor& x, at::Device) {
  where::note();
  return at::empty_like(x);
}

at::Tensor note_pinned(const at::Tensor& x, bool) {
  where::note();
  return at::empty_like(x);
}

at::Tensor note_index(const at::Tensor& x, const c10::List<std::optional<at::Tensor>>&) {
  where::note();
  return at::empty_like(x);
}

at::Tensor& note_add(at::Tensor& x, const at::Tensor&, const at::Scalar&) {
  where::note();
  return x;
}

// To the fake device and back to the CPU, as a graph.
struct ToFake : torch::autograd::Function<ToFake> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x) { return on_fake(x); }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    return {at::ones(gradients[0].sizes())};
  }
};
struct ToCpu : torch::autograd::Function<ToCpu> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x) { return at::ones(x.sizes()); }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    where::note();
    return {on_fake(gradients[0])};
  }
};
// The same without leaving the CPU.
struct Stay : torch::autograd::Function<Stay> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x) { return x.clone(); }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    where::note();
    return {gradients[0]};
  }
};

at::Tensor there_and_back(const at::Tensor& x) {
  return ToCpu::apply(ToFake::apply(x));
}
at::Tensor stay(const at::Tensor& x) {
  return Stay::apply(x);
}

TORCH_LIBRARY(beside_devices, m) {
  m.def("on_fake(Tensor like) -> Tensor", on_fake);
  m.def("one(Tensor x) -> Tensor", note_one);
  m.def("list(Tensor[] list, int number) -> Tensor", note_list);
  m.def("device(Tensor x, Device device) -> Tensor", note_device);
  m.def("pinned(Tensor x, bool pin_memory) -> Tensor", note_pinned);
  m.def("there_and_back(Tensor x) -> Tensor", there_and_back);
  m.def("stay(Tensor x) -> Tensor", stay);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("relu", note_one);
  m.impl("index.Tensor", note_index);
  m.impl("add_.Tensor", note_add);
}

Tensor large() { return tensor(std::vector<float>(kLarge, 1), {kLarge}); }
Tensor fake() { return call("beside_devices::on_fake", "", {of(large())}); }

class OtherDevice : public testing::Test {
 protected:
  void SetUp() override {
    tandem::testing::fake_device::install();
    ASSERT_OK(tdm_get_num_threads(&before_));
    ASSERT_OK(tdm_set_num_threads(3));
    // This thread is the first with large work, and keeps the pool.
    call("aten::exp", "", {of(large())});
  }
  void TearDown() override { EXPECT_OK(tdm_set_num_threads(before_)); }

  // Runs `work` on a new thread with another device and stream than the first; where it computed, and where it was to.
  struct Seen {
    std::optional<where::Place> wanted, computed;
  };
  static Seen elsewhere(const std::function<void()>& work) {
    where::last.reset();
    Seen seen;
    std::thread([&] {
      const c10::impl::VirtualGuardImpl guard(c10::DeviceType::PrivateUse1);
      guard.setDevice(device(1));
      guard.exchangeStream(guard.getStreamFromGlobalPool(device(1), false));
      seen.wanted = where::Place::here();
      work();
    }).join();
    seen.computed = where::last;
    return seen;
  }
  static void expect_here(const std::function<void()>& work) {
    const Seen seen = elsewhere(work);
    ASSERT_TRUE(seen.computed) << "nothing computed";
    EXPECT_TRUE(*seen.computed == *seen.wanted) << "on another thread: " << seen.computed->device << ", stream "
                                                << seen.computed->stream.id() << ", not " << seen.wanted->device
                                                << ", stream " << seen.wanted->stream.id();
  }
  static void expect_handed_over(const std::function<void()>& work) {
    const Seen seen = elsewhere(work);
    ASSERT_TRUE(seen.computed) << "nothing computed";
    EXPECT_NE(seen.computed->thread, seen.wanted->thread);
    EXPECT_EQ(seen.computed->openmp_threads, 3);
  }

 private:
  std::int32_t before_ = 0;
};

TEST_F(OtherDevice, OperatorsComputeOnTheCallersThread) {
  const Tensor x = large(), there = fake();
  expect_handed_over([&] { call("beside_devices::one", "", {of(x)}); });
  expect_here([&] { call("beside_devices::one", "", {of(there)}); });
}

TEST_F(OtherDevice, ListsOfTensorsAreLookedThrough) {
  const Tensor x = large(), there = fake();
  const std::vector<tdm_tensor*> cpu{x.get(), x.get()}, mixed{x.get(), there.get()};
  const auto over = [](const std::vector<tdm_tensor*>& list) {
    call("beside_devices::list", "", {calls::list(TDM_VALUE_TENSOR_LIST, list), of(1)});
  };
  expect_handed_over([&] { over(cpu); });
  expect_here([&] { over(mixed); });
}

TEST_F(OtherDevice, DevicesAndPinnedMemoryThatAreAskedForCount) {
  const Tensor x = large();
  const auto on = [&](tdm_device_type type) {
    tdm_value device = tagged(TDM_VALUE_DEVICE);
    device.as.device = {type, -1};
    call("beside_devices::device", "", {of(x), device});
  };
  expect_handed_over([&] { on(TDM_DEVICE_CPU); });
  expect_here([&] { on(TDM_DEVICE_META); });
  expect_handed_over([&] { call("beside_devices::pinned", "", {of(x), of(false)}); });
  expect_here([&] { call("beside_devices::pinned", "", {of(x), of(true)}); });
}

TEST_F(OtherDevice, IndexingComputesOnTheCallersThread) {
  const Tensor there = fake();
  const std::int64_t place = 3, one = 1;
  tdm_tensor* made = nullptr;
  ASSERT_OK(tdm_tensor_from_data(&place, sizeof place, TDM_DTYPE_INT64, &one, 1, &made));
  const Tensor on_cpu(made);
  const Tensor indices = call("beside_devices::on_fake", "", {of(on_cpu)});
  expect_here([&] {
    tdm_index index = TDM_INDEX_INIT;
    index.kind = TDM_INDEX_TENSOR;
    index.tensor = indices.get();
    tdm_tensor* out = nullptr;
    EXPECT_OK(tdm_tensor_index(there.get(), &index, 1, &out));
    tdm_tensor_free(out);
  });
}

TEST_F(OtherDevice, ModulesComputeOnTheCallersThread) {
  const Tensor there = fake();
  const Module relu = module("ReLU", {});
  expect_here([&] { forward(relu, {of(there)}); });
}

TEST_F(OtherDevice, OptimizersComputeOnTheCallersThread) {
  const Tensor parameter = fake(), gradient = fake();
  ASSERT_OK(tdm_tensor_set_requires_grad(parameter.get(), 1));
  ASSERT_OK(tdm_tensor_set_grad(parameter.get(), gradient.get()));
  tdm_optimizer* made = nullptr;
  tdm_tensor* const list[] = {parameter.get()};
  const tdm_option rate = option("lr", of(0.1));
  ASSERT_OK(tdm_optimizer_create("SGD", list, 1, &rate, 1, &made));
  const Optimizer sgd(made);
  expect_here([&] { EXPECT_OK(tdm_optimizer_step(sgd.get())); });
}

TEST_F(OtherDevice, BackwardOfAGraphWithAnotherDeviceStartsOnTheCallersThread) {
  const Tensor x = large();
  ASSERT_OK(tdm_tensor_set_requires_grad(x.get(), 1));
  const auto backward = [&](const char* op) {
    const Tensor loss = call("aten::sum", "", {of(call(op, "", {of(x)}))});
    tdm_tensor* const root = loss.get();
    EXPECT_OK(tdm_autograd_backward(&root, nullptr, 1, 0, 0));
  };
  expect_handed_over([&] { backward("beside_devices::stay"); });
  expect_here([&] { backward("beside_devices::there_and_back"); });
}

}  // namespace
