// Handles, scopes and modes on threads that they do not belong to, and mistakes from many threads at once.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "capi/calls.h"

namespace threads_test {
namespace {

using namespace calls;
using testing::HasSubstr;

// Runs `body` on another thread, to its end.
template <typename Body>
void elsewhere(Body&& body) {
  std::thread(body).join();
}

class Threads : public testing::Test {
 protected:
  const LeakCheck leaks;
};

TEST_F(Threads, AModeIsLeftWhereItWasEntered) {
  tdm_mode* mode = nullptr;
  EXPECT_OK(tdm_mode_enter_grad(0, &mode));
  elsewhere([&] { EXPECT_REFUSED(tdm_mode_exit(mode), TDM_ERROR_INVALID_ARGUMENT, "argument 'mode'"); });
  EXPECT_OK(tdm_mode_exit(mode));
  EXPECT_REFUSED(tdm_mode_exit(mode), TDM_ERROR_INVALID_ARGUMENT, "argument 'mode' is not open on this thread");
}

TEST_F(Threads, ModesEndWithTheirThread) {
  elsewhere([] {
    tdm_mode* mode = nullptr;
    EXPECT_OK(tdm_mode_enter_grad(0, &mode));
    EXPECT_OK(tdm_mode_enter_anomaly(1, &mode));
    EXPECT_OK(tdm_mode_enter_autocast(TDM_DEVICE_CPU, TDM_DTYPE_BFLOAT16, 1, &mode));
    EXPECT_OK(tdm_mode_enter_inference(1, &mode));
  });
  EXPECT_EQ(tdm_live_count("mode"), 0);
  tdm_modes modes = TDM_MODES_INIT;
  EXPECT_OK(tdm_get_modes(&modes));
  EXPECT_EQ(modes.anomaly, 0) << "the process's";
}

TEST_F(Threads, AHandleIsFreedTwiceByTwoThreads) {
  tdm_scope* scope = nullptr;
  EXPECT_OK(tdm_scope_enter(&scope));
  tdm_tensor* inside = tensor({1}, {1}).release();
  elsewhere([&] {
    tdm_tensor_free(inside);
    tdm_tensor_free(inside);
    tdm_scope_keep(inside);
    EXPECT_EQ(tdm_tensor_numel(inside), 0);
    EXPECT_REFUSED(tdm_tensor_item_double(inside, nullptr), TDM_ERROR_INVALID_ARGUMENT, "argument 'out' is NULL");
    double number = 0;
    EXPECT_REFUSED(tdm_tensor_item_double(inside, &number), TDM_ERROR_CLOSED, "argument 'tensor'");
  });
  tdm_tensor_free(inside);
  tdm_scope_exit(scope);
  tdm_tensor_free(inside);
}

TEST_F(Threads, AScopeThatAnotherThreadLeaves) {
  tdm_scope* scope = nullptr;
  EXPECT_OK(tdm_scope_enter(&scope));
  tdm_tensor* inside = tensor({1}, {1}).release();
  elsewhere([&] {
    tdm_scope_exit(scope);
    tdm_scope_exit(scope);
  });
  double number = 0;
  EXPECT_OK(tdm_tensor_item_double(inside, &number));  // its own thread ends it, at its next scope
  tdm_scope_exit(scope);
  EXPECT_REFUSED(tdm_tensor_item_double(inside, &number), TDM_ERROR_CLOSED, "argument 'tensor'");
  EXPECT_EQ(tdm_scope_current(), 0u);
}

// Of two that free, one does.
// Two threads in step, for so many rounds, or seconds where they do not run at once.
class Rounds {
 public:
  // This thread's part of a round, then the other's beside the rest of it.
  void run(const std::function<void()>& first, const std::function<void()>& rest,
           const std::function<void(int)>& beside) {
    std::thread other([&] {
      for (int round = 1;; ++round) {
        while (begun_ != round) {
          if (over_) return;
          std::this_thread::yield();
        }
        beside(round);
        done_ = round;
      }
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (count_ < 4000 && std::chrono::steady_clock::now() < end) {
      first();
      begun_ = ++count_;
      rest();
      while (done_ != count_) std::this_thread::yield();
    }
    over_ = true;
    other.join();
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
  std::atomic<int> begun_{0}, done_{0};
  std::atomic<bool> over_{false};
};

TEST_F(Threads, FreeingRacesTheEndOfTheScope) {
  constexpr int kTensors = 8;
  static std::atomic<int> ended;
  ended = 0;
  static float memory = 1;
  std::vector<tdm_tensor*> handles(kTensors);
  tdm_scope* scope = nullptr;
  Rounds rounds;
  rounds.run(
      [&] {
        EXPECT_OK(tdm_scope_enter(&scope));
        for (tdm_tensor*& handle : handles) {
          EXPECT_OK(tdm_tensor_from_blob(
              &memory, sizeof memory, TDM_DTYPE_FLOAT32, nullptr, 0, [](void*) { ++ended; }, nullptr, &handle));
        }
      },
      [&] { tdm_scope_exit(scope); },
      [&](int round) {
        for (tdm_tensor* handle : handles) {
          if (round % 3 == 0) tdm_scope_keep(handle);
          tdm_tensor_free(handle);
        }
      });
  EXPECT_EQ(ended, rounds.count() * kTensors);
}

TEST_F(Threads, FreeingRacesFreeing) {
  static std::atomic<int> ended;
  ended = 0;
  static float memory = 1;
  tdm_tensor* handle = nullptr;
  Rounds rounds;
  rounds.run(
      [&] {
        EXPECT_OK(tdm_tensor_from_blob(
            &memory, sizeof memory, TDM_DTYPE_FLOAT32, nullptr, 0, [](void*) { ++ended; }, nullptr, &handle));
      },
      [&] { tdm_tensor_free(handle); }, [&](int) { tdm_tensor_free(handle); });
  EXPECT_EQ(ended, rounds.count());
}

// What a tensor's memory is given back to may end scopes, that one and those around it too, and open some.
TEST_F(Threads, TheEndOfAScopeMayEndScopes) {
  static tdm_scope *outer, *inner;
  static float memory = 1;
  const std::int64_t scopes = tdm_live_count("scope"), tensors = tdm_live_count("tensor");
  ASSERT_OK(tdm_scope_enter(&outer));
  tdm_tensor *other = nullptr, *calls = nullptr;
  ASSERT_OK(tdm_tensor_from_data(&memory, sizeof memory, TDM_DTYPE_FLOAT32, nullptr, 0, &other));
  ASSERT_OK(tdm_scope_enter(&inner));
  ASSERT_OK(tdm_tensor_from_data(&memory, sizeof memory, TDM_DTYPE_FLOAT32, nullptr, 0, &other));
  ASSERT_OK(tdm_tensor_from_blob(
      &memory, sizeof memory, TDM_DTYPE_FLOAT32, nullptr, 0,
      [](void*) {
        tdm_scope* left_open = nullptr;
        EXPECT_OK(tdm_scope_enter(&left_open));
        tdm_tensor* in_it = nullptr;
        EXPECT_OK(tdm_tensor_from_data(&memory, sizeof memory, TDM_DTYPE_FLOAT32, nullptr, 0, &in_it));
        tdm_scope_exit(inner);
        tdm_scope_exit(outer);
      },
      nullptr, &calls));
  tdm_scope_exit(inner);
  EXPECT_EQ(tdm_live_count("scope"), scopes);
  EXPECT_EQ(tdm_live_count("tensor"), tensors);
  tdm_scope *first = nullptr, *second = nullptr;
  ASSERT_OK(tdm_scope_enter(&first));
  ASSERT_OK(tdm_scope_enter(&second));
  EXPECT_NE(tdm_scope_id(first), tdm_scope_id(second));
  EXPECT_NE(first, second);
  tdm_scope_exit(second);
  EXPECT_EQ(tdm_scope_current(), tdm_scope_id(first));
  tdm_scope_exit(first);
}

// A handle's memory is another one's right after it was freed.
TEST_F(Threads, AStaleHandleIsNobodyElses) {
  tdm_tensor* stale = tensor({1}, {1}).release();
  tdm_tensor_free(stale);
  for (int i = 0; i < 100; ++i) {
    const Tensor next = tensor({2}, {1});
    EXPECT_NE(next.get(), stale);
    tdm_tensor_free(stale);
    tdm_scope_keep(stale);
    double number = 0;
    EXPECT_OK(tdm_tensor_item_double(next.get(), &number));
    EXPECT_EQ(number, 2);
    EXPECT_REFUSED(tdm_tensor_item_double(stale, &number), TDM_ERROR_CLOSED,
                   "argument 'tensor' is a tensor handle that was freed, by tdm_tensor_free() or at the end of its "
                   "scope, and what it was made of is in use for another tensor");
    EXPECT_EQ(tdm_tensor_numel(stale), 0);
    EXPECT_EQ(tdm_tensor_scope_id(stale), 0u);
    tdm_module* clone = nullptr;
    EXPECT_REFUSED(tdm_module_clone(reinterpret_cast<tdm_module*>(next.get()), &clone), TDM_ERROR_INVALID_ARGUMENT,
                   "argument 'module' is a tensor handle; it takes a module");
  }
}

TEST_F(Threads, WhatAScopeFreedIsNobodyElses) {
  tdm_scope* scope = nullptr;
  EXPECT_OK(tdm_scope_enter(&scope));
  tdm_tensor* stale = tensor({1}, {1}).release();
  tdm_scope_exit(scope);
  const Tensor next = tensor({2}, {1});
  tdm_tensor_free(stale);
  EXPECT_EQ(tdm_tensor_numel(next.get()), 1);
}

TEST_F(Threads, AScopeEndsOnce) {
  tdm_scope *first = nullptr, *second = nullptr;
  EXPECT_OK(tdm_scope_enter(&first));
  tdm_scope_exit(first);
  EXPECT_OK(tdm_scope_enter(&second));
  EXPECT_NE(first, second);
  const Tensor inside = tensor({1}, {1});
  tdm_scope_exit(first);
  EXPECT_EQ(tdm_scope_id(first), 0u);
  elsewhere([&] { tdm_scope_exit(first); });
  EXPECT_NE(tdm_scope_id(second), 0u);
  EXPECT_EQ(tdm_scope_current(), tdm_scope_id(second));
  tdm_scope* inner = nullptr;  // what other threads asked for is done at the next scope
  EXPECT_OK(tdm_scope_enter(&inner));
  tdm_scope_exit(inner);
  EXPECT_EQ(tdm_scope_current(), tdm_scope_id(second));
  EXPECT_EQ(tdm_tensor_numel(inside.get()), 1);
  tdm_scope_exit(second);
  EXPECT_EQ(tdm_scope_current(), 0u);
}

TEST_F(Threads, MistakesFromManyAtOnce) {
  const Tensor shared = tensor({1, 2, 3}, {3});
  const Module linear = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  std::atomic<int> refused{0};
  const auto expect = [&](tdm_error* error) {
    if (error && tdm_error_get_code(error) != TDM_ERROR_INTERNAL) ++refused;
    tdm_error_free(error);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 50; ++j) {
        tdm_value result{};
        const tdm_op* op = nullptr;
        tdm_tensor* out = nullptr;
        tdm_module* made = nullptr;
        expect(tdm_op_find(("aten::none_of_" + std::to_string(i)).c_str(), "", &op));
        expect(call(find("aten::add", "Tensor"), {of(shared), of("text")}, &result));
        expect(call(find("aten::mm"), {of(shared), of(shared)}, &result));
        expect(tdm_tensor_share(reinterpret_cast<tdm_tensor*>(linear.get()), &out));
        expect(tdm_module_create("NoSuchModule", nullptr, 0, &made));
        Tensor own = tensor({1}, {1});
        tdm_tensor* freed = own.get();
        own.reset();
        expect(tdm_tensor_share(freed, &out));
        tdm_string* text = nullptr;
        EXPECT_OK(tdm_tensor_to_string(shared.get(), &text));
        tdm_string_free(text);
        tdm_string_free(text);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(refused, 4 * 50 * 6);
}

}  // namespace
}  // namespace threads_test
