// Calls for which there is no memory, at whichever of their allocations: each ends in a status. This program's malloc,
// which its operator new is above, fails on command, for the thread that says so.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>

#include "capi/calls.h"

namespace {

thread_local long allocations_left = -1;  // before all fail; -1: none does
thread_local bool new_fails = false;      // operator new alone: without malloc the C library itself ends a new thread

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* memory = new_fails ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* memory = nullptr;
  if (new_fails || posix_memalign(&memory, static_cast<std::size_t>(alignment), bytes) != 0) throw std::bad_alloc();
  return memory;
}
// The library's operator delete gives it to free(), as it has it from malloc().

extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  if (allocations_left == 0) {
    errno = ENOMEM;
    return nullptr;
  }
  if (allocations_left > 0) --allocations_left;
  return __libc_malloc(bytes);
}

namespace {

using namespace calls;
using testing::AnyOf;

class NoMemory : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(tdm_load(nullptr)); }
  void TearDown() override { allocations_left = -1; }
  const LeakCheck leaks;
};

// Makes a call that fails with `code` again and again, with memory for one allocation more each time, until it has
// enough: before that it may say instead that there is no memory.
template <typename Call>
void expect_status(tdm_error_code code, Call&& call) {
  for (long allocations = 0; allocations < 5000; ++allocations) {
    allocations_left = allocations;
    tdm_error* error = call();
    const bool enough = allocations_left > 0;
    allocations_left = -1;
    ASSERT_NE(error, nullptr) << "with memory for " << allocations << " allocations";
    EXPECT_THAT(tdm_error_get_code(error), AnyOf(code, TDM_ERROR_OUT_OF_MEMORY)) << tdm_error_message(error);
    EXPECT_STRNE(tdm_error_message(error), "");
    if (enough) {
      EXPECT_EQ(tdm_error_get_code(error), code) << tdm_error_message(error);
    }
    tdm_error_free(error);
    if (enough) return;
  }
  FAIL() << "it never has enough memory";
}

TEST_F(NoMemory, ForAnErrorOfTandems) {
  const std::int64_t sizes[] = {-1};
  tdm_tensor* made = nullptr;
  expect_status(TDM_ERROR_INVALID_ARGUMENT,
                [&] { return tdm_tensor_from_data(nullptr, 0, TDM_DTYPE_FLOAT32, sizes, 1, &made); });
  tdm_module* module = nullptr;
  expect_status(TDM_ERROR_NOT_FOUND, [&] { return tdm_module_create("NoSuchModule", nullptr, 0, &module); });
  const tdm_op* op = nullptr;
  expect_status(TDM_ERROR_NOT_FOUND, [&] { return tdm_op_find("aten::none", "", &op); });
  expect_status(TDM_ERROR_NOT_FOUND, [&] { return tdm_load_library("/no/such/library.so"); });
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(module, nullptr);
  EXPECT_EQ(op, nullptr);
}

TEST_F(NoMemory, ForAnErrorOfLibTorchs) {
  const Tensor two = tensor({1, 2}, {2}), three = tensor({1, 2, 3}, {3});
  const tdm_op* const add = find("aten::add", "Tensor");
  const tdm_value arguments[] = {of(two), of(three)};
  tdm_value result{};
  expect_status(TDM_ERROR_INVALID_ARGUMENT, [&] { return tdm_op_call(add, arguments, 2, &result, 1); });
  EXPECT_EQ(result.tag, TDM_VALUE_NONE);
}

TEST_F(NoMemory, ForTheErrorItself) {
  allocations_left = 0;
  tdm_error* error = tdm_error_create(TDM_ERROR_IO, "operation", "message", nullptr, nullptr);
  allocations_left = -1;
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(tdm_error_get_code(error), TDM_ERROR_OUT_OF_MEMORY);
  EXPECT_STREQ(tdm_error_message(error), "out of memory, also for the error that was to be told");
  tdm_error_free(error);  // it is everybody's, and stays
  EXPECT_EQ(tdm_error_get_code(error), TDM_ERROR_OUT_OF_MEMORY);
}

// A thread's first call makes what is kept for the thread. A few threads find some in reserve.
TEST_F(NoMemory, ForAThreadsFirstCall) {
  constexpr int kThreads = 12;
  std::atomic<int> called{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const std::int64_t sizes[] = {1};
      const float number = 1;
      tdm_tensor* made = nullptr;
      new_fails = true;
      tdm_error* error = tdm_tensor_from_data(&number, sizeof number, TDM_DTYPE_FLOAT32, sizes, 1, &made);
      new_fails = false;
      EXPECT_NE(error, nullptr);
      EXPECT_EQ(tdm_error_get_code(error), TDM_ERROR_OUT_OF_MEMORY) << tdm_error_message(error);
      tdm_error_free(error);
      // What is kept for a thread that has ended is another's.
      for (++called; called != kThreads;) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Threads that free or keep what others made, as their first call: nothing ends them, and what they could not free
// stays.
TEST_F(NoMemory, ForAThreadThatOnlyFrees) {
  constexpr int kThreads = 40;
  const Tensor one = tensor({1}, {1});
  std::vector<tdm_string*> texts(kThreads);
  std::vector<tdm_tensor*> tensors(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_OK(tdm_tensor_to_string(one.get(), &texts[i]));
    ASSERT_OK(tdm_tensor_share(one.get(), &tensors[i]));
  }
  std::atomic<int> called{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      new_fails = true;
      EXPECT_EQ(tdm_scope_current(), 0u);
      tdm_scope_keep(tensors[i]);
      tdm_string_free(texts[i]);
      tdm_tensor_free(tensors[i]);
      tdm_scope_exit(nullptr);
      new_fails = false;
      for (++called; called != kThreads;) std::this_thread::yield();  // their states are theirs as long
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(tdm_live_count("string"), 0) << "all threads had memory";
  for (int i = 0; i < kThreads; ++i) {
    tdm_string_free(texts[i]);
    tdm_tensor_free(tensors[i]);
  }
}

// Freed handles are put by for a while, which takes no memory.
TEST_F(NoMemory, ForFreeing) {
  const float number = 1;
  std::vector<tdm_string*> texts(2000);
  const Tensor one = tensor({number}, {1});
  for (tdm_string*& text : texts) ASSERT_OK(tdm_tensor_to_string(one.get(), &text));
  allocations_left = 0;
  for (tdm_string* text : texts) tdm_string_free(text);
  allocations_left = -1;
}

}  // namespace
