// A program that forks while other threads make and free handles: the child finds no lock held by a thread that it
// lacks.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "capi/calls.h"

namespace fork_test {
namespace {

using namespace calls;

constexpr unsigned kPatience = 30;  // seconds, after which a child hangs

// Every kind of memory that handles have; so many tensors that threads exchange free slots with one another. No matter
// where it fails: of interest is that it ends.
void make_and_free(const tdm_tensor* one) {
  tdm_scope* scope = nullptr;
  tdm_error_free(tdm_scope_enter(&scope));
  std::vector<tdm_tensor*> tensors(5000);
  for (tdm_tensor*& tensor : tensors) tdm_error_free(tdm_tensor_share(one, &tensor));
  for (int i = 0; i < 300; ++i) {
    tdm_sampler* sampler = nullptr;
    tdm_error_free(tdm_sampler_sequential(1, &sampler));
    tdm_sampler_free(sampler);
    tdm_scope* inner = nullptr;
    tdm_error_free(tdm_scope_enter(&inner));
    tdm_scope_exit(inner);
  }
  for (tdm_tensor* tensor : tensors) tdm_tensor_free(tensor);
  tdm_scope_exit(scope);
}

TEST(Fork, ChildrenMakeAndFreeHandles) {
  const LeakCheck leaks;
  const Tensor one = tensor({1}, {1});
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) std::thread([&] { make_and_free(one.get()); }).join();
    });
  }
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kPatience);
      make_and_free(one.get());
      // A thread of its own would need more than handles: the state that one takes when it first calls.
      std::thread([&] { make_and_free(one.get()); }).join();
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
}

}  // namespace
}  // namespace fork_test
