// The threads of replicas, and what each of them has.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <dirent.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "cpp/comm/threads.h"
#include "cpp/ddp/data_parallel_models.h"
#include "tandem/activation_checkpoint.h"
#include "tandem/runtime.h"

namespace tandem::testing::data_parallel_threads_test {
namespace {

using ::testing::HasSubstr;

int threads_of_process() {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

// By their name: a sanitizer starts a thread of its own with the first.
int replica_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (std::getline(file, name)) count += name.starts_with("replica-");
  }
  return count;
}

// A thread that was joined stays listed for a moment.
int settled(int (*threads)(), int expected) {
  for (int i = 0; i < 1000 && threads() != expected; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return threads();
}

TEST(ReplicaThreads, EndWithTheModuleAndItsGraphs) {
  Mlp module;
  const at::Tensor x = numbers({4, 6});
  at::Tensor loss;
  {
    DataParallel<Mlp> parallel(module, replicas(3));
    EXPECT_EQ(replica_threads(), 0);  // nothing to do yet
    loss = parallel.forward(x).sum();
    EXPECT_EQ(replica_threads(), 3);
  }
  EXPECT_EQ(replica_threads(), 3);
  loss.backward();
  EXPECT_TRUE(module->a->weight.grad().defined());
  loss.reset();
  EXPECT_EQ(settled(replica_threads, 0), 0);
}

// Large products, which OpenMP and MKL would share among the threads that the program has set.
TEST(ReplicaThreads, ComputeWithAsManyThreadsAsTheyAreGiven) {
  at::set_num_threads(3);
  std::mutex mutex;
  std::multiset<int> seen;
  std::set<std::thread::id> ids;
  Doing module([&](DoingImpl& self, const at::Tensor& x) {
    const at::Tensor product = torch::ones({300, 300}).mm(torch::ones({300, 300}));
    const at::Tensor sum = torch::ones({1 << 18}).add(1).sum();
    const std::lock_guard<std::mutex> lock(mutex);
    seen.insert(at::get_num_threads());
    ids.insert(std::this_thread::get_id());
    return x * self.weight + (product[0][0] + sum).to(torch::kDouble) * 0;
  });
  const int before = threads_of_process();
  {
    DataParallel<Doing> parallel(module, replicas(3));
    for (int i = 0; i < 3; ++i) parallel.forward(numbers({6, 2})).sum().backward();
    EXPECT_EQ(seen.count(1), 9u);
    EXPECT_EQ(ids.size(), 3u);
    EXPECT_EQ(ids.count(std::this_thread::get_id()), 0u);
    EXPECT_EQ(threads_of_process(), before + 3);
  }
  EXPECT_EQ(settled(threads_of_process, before), before);
  seen.clear();
  ReplicaOptions two = replicas(2);
  two.threads = 2;
  DataParallel<Doing> wide(module, two);
  wide.forward(numbers({6, 2}));
  EXPECT_EQ(seen.count(2), 2u);
  EXPECT_EQ(at::get_num_threads(), 3);
  at::set_num_threads(1);
}

TEST(ReplicaThreads, RunBackwardToo) {
  std::mutex mutex;
  std::set<std::thread::id> forward, backward;
  Doing module([&](DoingImpl& self, const at::Tensor& x) {
    const at::Tensor y = x * self.weight;
    const std::lock_guard<std::mutex> lock(mutex);
    forward.insert(std::this_thread::get_id());
    if (y.requires_grad()) {
      y.register_hook([&](const at::Tensor&) {
        const std::lock_guard<std::mutex> guard(mutex);
        backward.insert(std::this_thread::get_id());
      });
    }
    return y;
  });
  DataParallel<Doing> parallel(module, replicas(2));
  parallel.forward(numbers({4, 2})).sum().backward();
  EXPECT_EQ(forward.size(), 2u);
  EXPECT_EQ(backward, forward);
}

struct CheckpointedImpl : torch::nn::Cloneable<CheckpointedImpl> {
  explicit CheckpointedImpl(bool saves_memory) : checkpoints(saves_memory) { reset(); }
  void reset() override {
    layer = register_module("layer", torch::nn::Linear(6, 6));
    to(torch::kDouble);
  }
  at::Tensor forward(const at::Tensor& x) {
    auto compute = [l = layer](const at::Tensor& y) mutable { return torch::dropout(torch::tanh(l(y)), 0.5, true); };
    if (!checkpoints) return compute(x);
    const nn::ActivationCheckpoint checkpoint([compute](const auto& inputs) mutable { compute(inputs[0]); }, {x});
    return compute(x);
  }

  bool checkpoints;
  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Checkpointed);

TEST(ReplicaThreads, DrawTheSameNumbersAgainForACheckpoint) {
  Checkpointed plain(false), saving(true);
  {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < 2; ++i) saving->parameters()[i].copy_(plain->parameters()[i]);
  }
  const at::Tensor x = numbers({32, 6});
  std::vector<std::vector<at::Tensor>> seen;
  for (Checkpointed& module : std::initializer_list<std::reference_wrapper<Checkpointed>>{plain, saving}) {
    DataParallel<Checkpointed> parallel(module, replicas(4));
    torch::manual_seed(3);
    const at::Tensor y = parallel.forward(x);
    y.pow(2).sum().backward();
    seen.push_back(take_gradients(*module));
    seen.back().push_back(y.detach());
  }
  expect_close(seen[1], seen[0]);
}

// Operators that draw, on two threads at once, and where none of the arguments is a tensor.
TEST(ReplicaThreads, DrawFromGeneratorsOfTheirOwn) {
  const std::vector<std::function<at::Tensor()>> draws = {
      [] { return torch::rand({2}, torch::kDouble); },
      [] { return torch::randn({2}, torch::kDouble); },
      [] { return torch::randint(1000000, {2}).to(torch::kDouble); },
      [] { return torch::randperm(1000).slice(0, 0, 2).to(torch::kDouble); },
      [] {
        return torch::bernoulli(torch::full({64}, 0.5))
            .view({2, 32})
            .matmul(torch::arange(32).exp2().to(torch::kFloat))
            .to(torch::kDouble);
      },
      [] { return torch::multinomial(torch::ones({1000}), 2).to(torch::kDouble); },
      [] { return torch::empty({2}, torch::kDouble).exponential_(); },
      [] {
        return torch::dropout(torch::ones({64}), 0.5, true)
            .view({2, 32})
            .matmul(torch::arange(32).exp2().to(torch::kFloat))
            .to(torch::kDouble);
      },
      [] { return torch::poisson(torch::full({2}, 1000.0, torch::kDouble)); }};
  for (std::size_t i = 0; i < draws.size(); ++i) {
    Doing module([&, i](DoingImpl&, const at::Tensor& x) { return draws[i]().view({1, 2}).expand_as(x); });
    DataParallel<Doing> parallel(module, replicas(4));
    const at::Tensor x = torch::zeros({4, 2}, torch::kDouble);
    torch::manual_seed(11);
    const at::Tensor first = parallel.forward(x), later = torch::rand({3});
    for (int again = 0; again < 5; ++again) {
      torch::manual_seed(11);
      EXPECT_TRUE(parallel.forward(x).equal(first)) << i;
      EXPECT_TRUE(torch::rand({3}).equal(later)) << i;
    }
    EXPECT_FALSE(first[0].equal(first[1])) << i;
  }
  // A generator that is given stays the one that is drawn from.
  at::Generator own = at::make_generator<at::CPUGeneratorImpl>(5);
  std::mutex mutex;
  Doing module([&](DoingImpl&, const at::Tensor& x) {
    const std::lock_guard<std::mutex> lock(mutex);
    return torch::rand({1, 2}, own, torch::kDouble).expand_as(x);
  });
  DataParallel<Doing> parallel(module, replicas(2));
  const at::Tensor drawn = parallel.forward(torch::zeros({2, 2}, torch::kDouble));
  own = at::make_generator<at::CPUGeneratorImpl>(5);
  const at::Tensor a = torch::rand({2}, own, torch::kDouble), b = torch::rand({2}, own, torch::kDouble);
  EXPECT_TRUE((drawn[0].equal(a) && drawn[1].equal(b)) || (drawn[0].equal(b) && drawn[1].equal(a)));
}

// Last: shutdown() is for good.
TEST(ReplicaThreadsAtTheEnd, AreJoinedByShutdown) {
  Mlp module;
  DataParallel<Mlp> parallel(module, replicas(2));
  const at::Tensor loss = parallel.forward(numbers({4, 6})).sum();
  EXPECT_EQ(replica_threads(), 2);
  shutdown(std::chrono::seconds(10));
  EXPECT_EQ(settled(replica_threads, 0), 0);
  EXPECT_EQ(error_of([&] { parallel.forward(numbers({4, 6})); }).code(), ErrorCode::kClosed);
  EXPECT_EQ(error_of([&] { loss.backward(); }).code(), ErrorCode::kClosed);
}

}  // namespace
}  // namespace tandem::testing::data_parallel_threads_test
