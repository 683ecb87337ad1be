// How many threads OpenMP gives to the program's own parallel regions is the program's, whatever Tandem computes with.
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/library.h>

#include <functional>
#include <thread>

#include "capi/beside_libtorch/where.h"
#include "capi/calls.h"

namespace {

using namespace calls;

// Of the library that LibTorch computes with.
int openmp_threads() {
  static const auto get = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return get();
}
void set_openmp_threads(int threads) {
  static const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  set(threads);
}

// Before any other call of Tandem's or LibTorch's on this thread.
const int after_loading = [] {
  set_openmp_threads(7);
  tdm_error_free(tdm_load(nullptr));
  return openmp_threads();
}();

at::Tensor note(const at::Tensor& x) {
  where::note();
  return x.clone();
}

TORCH_LIBRARY(beside_threads, m) {
  m.def("note(Tensor x) -> Tensor", note);
}

constexpr int kTandems = 3, kPrograms = 5;

class HostThreads : public testing::Test {
 protected:
  void SetUp() override {
    tandem::testing::fake_device::install();
    ASSERT_OK(tdm_get_num_threads(&before_));
    ASSERT_OK(tdm_set_num_threads(kTandems));
    // This thread is the first with large work, and keeps the pool.
    call("aten::exp", "", {of(large_)});
  }
  void TearDown() override { EXPECT_OK(tdm_set_num_threads(before_)); }

 public:
  // Threads that LibTorch had in a small operator called here.
  int inside() const {
    call("beside_threads::note", "", {of(small_)});
    return where::last->openmp_threads;
  }
  void expect_the_programs() const {
    EXPECT_EQ(openmp_threads(), kPrograms);
    EXPECT_EQ(at::get_num_threads(), kPrograms);
  }
  void compute() const {
    call("aten::add", "Tensor", {of(small_), of(small_)});
    expect_the_programs();
    call("aten::exp", "", {of(large_)});
    expect_the_programs();
    const Module linear = module("Linear", {option("in_features", of(2)), option("out_features", of(2))});
    expect_the_programs();
    const Tensor y = forward(linear, {of(small_)});
    expect_the_programs();
    const Tensor loss = call("aten::sum", "", {of(y)});
    tdm_tensor* const root = loss.get();
    EXPECT_OK(tdm_autograd_backward(&root, nullptr, 1, 0, 0));
    expect_the_programs();
    tdm_value result{};
    EXPECT_NE(Error(calls::call(find("aten::mm"), {of(small_), of(large_)}, &result)), nullptr);
    expect_the_programs();
  }

  const Tensor small_ = tensor({1, 2}, {2});
  const Tensor large_ = tensor(std::vector<float>(1 << 16, 1), {1 << 16});

 private:
  std::int32_t before_ = 0;
};

TEST_F(HostThreads, LoadingLeavesThemAlone) { EXPECT_EQ(after_loading, 7); }

TEST_F(HostThreads, CallsLeaveThemAlone) {
  std::thread([&] {
    set_openmp_threads(kPrograms);
    compute();
    EXPECT_EQ(inside(), 1);
    expect_the_programs();
  }).join();
}

TEST_F(HostThreads, CallsLeaveThemAloneOnTheThreadWithTandemsPool) {
  const int outside = openmp_threads();
  set_openmp_threads(kPrograms);
  compute();
  EXPECT_EQ(inside(), kTandems);
  expect_the_programs();
  // What the program sets between two calls is not forgotten either.
  set_openmp_threads(4);
  EXPECT_EQ(inside(), kTandems);
  EXPECT_EQ(openmp_threads(), 4);
  set_openmp_threads(outside);
}

TEST_F(HostThreads, AreTheProgramsInACallback) {
  std::thread([&] {
    set_openmp_threads(kPrograms);
    struct Seen {
      const HostThreads* test;
      int outside = 0, inside = 0, set = 0;
    } seen{this};
    const Tensor x = tensor({1, 2}, {2});
    ASSERT_OK(tdm_tensor_set_requires_grad(x.get(), 1));
    tdm_hook* made = nullptr;
    const auto hook = [](void* data, tdm_tensor*, tdm_tensor**) -> tdm_error* {
      auto& now = *static_cast<Seen*>(data);
      now.outside = openmp_threads();
      now.inside = now.test->inside();
      set_openmp_threads(kPrograms + 1);
      return nullptr;
    };
    ASSERT_OK(tdm_tensor_register_hook(x.get(), hook, &seen, nullptr, &made));
    const Hook owned(made);
    const Tensor loss = call("aten::sum", "", {of(x)});
    tdm_tensor* const root = loss.get();
    EXPECT_OK(tdm_autograd_backward(&root, nullptr, 1, 0, 0));
    EXPECT_EQ(seen.outside, kPrograms);
    EXPECT_EQ(seen.inside, 1);
    EXPECT_EQ(openmp_threads(), kPrograms + 1) << "as the callback left them";
    tdm_hook_remove(made);
  }).join();
}

}  // namespace
