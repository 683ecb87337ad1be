// A program that forks, as Python's DataLoader does for its workers, while other threads allocate.
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tandem/resident.h"

namespace fork_test {
namespace {

constexpr unsigned kPatience = 30;  // seconds, after which a child hangs

void allocate_all_sizes() {
  std::vector<c10::DataPtr> blocks;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t bytes : {64u, 1000u, 1500u, 70000u, 300000u, 3000000u, 20000000u}) {
      blocks.push_back(c10::GetCPUAllocator()->allocate(bytes));
      std::memset(blocks.back().get(), round, 64);
    }
    for (int i = 0; i < 2000; ++i) blocks.push_back(c10::GetCPUAllocator()->allocate(128));
    if (round == 1) blocks.clear();
  }
}

template <typename Busy>
void fork_beside(Busy&& busy) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) busy();
    });
  }
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kPatience);
      allocate_all_sizes();
      tandem::drop_startup_pages();
      _exit(0);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
      ADD_FAILURE() << "child " << i << " ended with status " << status << (status == SIGALRM ? ", for it hung" : "");
      break;
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  allocate_all_sizes();
}

std::atomic<int> rounds{-1};  // that a busy thread has made; less than 0 before it may begin

// A fork calls the handlers in the order opposite to that in which they came: one that came before the library's first
// use runs after those of the library that came with it.
void let_others_begin() {
  rounds = 0;
  while (rounds < 1) std::this_thread::yield();
}

// Each in a process of its own, in which neither the allocator nor the dropping of pages has been used.
template <typename Busy>
void first_use_in_fork(Busy&& busy) {
  for (int i = 0; i < 20; ++i) {
    const pid_t fresh = fork();
    if (fresh == 0) {
      alarm(kPatience);
      pthread_atfork(let_others_begin, nullptr, nullptr);
      std::thread other([&] {
        while (rounds < 0) std::this_thread::yield();
        for (;; ++rounds) busy();
      });
      const pid_t child = fork();
      if (child == 0) {
        alarm(kPatience / 3);
        busy();
        _exit(0);
      }
      int status = -1;
      _exit(child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(fresh, &status, 0), fresh);
    ASSERT_EQ(status, 0) << "of process " << i;
  }
}

TEST(Fork, HasBegunWhenAnotherThreadDropsPagesForTheFirstTime) {
  first_use_in_fork([] { tandem::drop_startup_pages(); });
}

TEST(Fork, HasBegunWhenAnotherThreadBringsTheAllocator) {
  first_use_in_fork([] {
    tandem::cache_tensors();
    allocate_all_sizes();
  });
}

TEST(Fork, AChildAllocatesWhileAnotherThreadHadTheLockOfLargeBlocks) {
  tandem::cache_tensors();
  fork_beside([] {
    for (int i = 0; i < 1000; ++i) c10::GetCPUAllocator()->allocate(100000);
  });
}

TEST(Fork, AChildAllocatesWhileAnotherThreadHadTheLockOfSmallBlocks) {
  tandem::cache_tensors();
  fork_beside([] {
    std::vector<c10::DataPtr> blocks;
    for (int i = 0; i < 5000; ++i) blocks.push_back(c10::GetCPUAllocator()->allocate(128));
  });
}

TEST(Fork, AChildDropsPagesWhileAnotherThreadDroppedThem) {
  tandem::cache_tensors();
  fork_beside([] { tandem::drop_startup_pages(); });
}

}  // namespace
}  // namespace fork_test
