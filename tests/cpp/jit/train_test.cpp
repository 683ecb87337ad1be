// Modules of Python's train under DDP as they do there.
#include <cstdlib>

#include "cpp/comm/threads.h"
#include "cpp/jit/files.h"
#include "support/rank_processes.h"
#include "tandem/ddp.h"
#include "tandem/optim.h"

namespace tandem::testing::jit_train_test {
namespace {

using test::expect_close;
using test::jit_expected;
using test::jit_file;

constexpr int kRanks = 2, kSteps = 20;

using Holder = std::shared_ptr<jit::ScriptModule>;

std::vector<at::Tensor> unique(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) {
    if (std::none_of(all.begin(), all.end(), [&](const at::Tensor& one) { return one.is_same(tensor); }))
      all.push_back(tensor);
  }
  return all;
}

// As models.py trains; gives rank 0's module, where this process has that rank.
Holder train(const std::string& file) {
  Holder trained;
  run_ranks_of_test(kRanks, [&](const std::shared_ptr<ProcessGroup>& group) {
    const int rank = group->rank();
    const Holder module = jit::load(jit_file(file));
    module->to(test_device());
    DistributedDataParallel<Holder> ddp(module, group);
    const auto optimizer = optim::make_optimizer("SGD", unique(module->parameters()), {{"lr", 0.1}, {"momentum", 0.9}});
    for (int step = 0; step < kSteps; ++step) {
      optimizer->zero_grad();
      const at::Tensor output = ddp.forward(on_device(jit_expected("inputs")[rank][step])).toTensor();
      at::mse_loss(output, on_device(jit_expected("targets")[rank][step])).backward();
      optimizer->step();
    }
    if (rank == 0) trained = module;
  });
  return trained;
}

void expect_trained(const jit::ScriptModule& module, const std::string& name) {
  for (const auto& list : {module.named_parameters(), module.named_buffers()}) {
    for (const auto& one : list)
      expect_close(one.value().detach().cpu(), jit_expected(name + ".trained." + one.key()), one.key());
  }
}

TEST(JitTrain, AsPythonsDdp) {
  if (ran_in_processes(kRanks)) return;
  for (const std::string name : {"mlp", "norm", "tied"}) {
    SCOPED_TRACE(name);
    if (const Holder trained = train(name + ".pt")) expect_trained(*trained, name);
  }
  SCOPED_TRACE("traced");
  if (const Holder trained = train("traced.pt")) expect_trained(*trained, "mlp");
}

TEST(JitTrain, TrainedModulesAreSavedAndLoaded) {
  const test::TempDir dir;
  train("norm.pt")->save(dir / "norm.pt");
  expect_trained(*jit::load(dir / "norm.pt"), "norm");
}

TEST(JitTrain, NestedResultsLeadToGradients) {
  const Store store = hash_store();
  const std::shared_ptr<ProcessGroup> group = ProcessGroup::create(options_for(0, 1), store);
  const Holder module = jit::load(jit_file("nested.pt"));
  DataParallelOptions options;
  options.find_unused_parameters = true;
  DistributedDataParallel<Holder> ddp(module, group, options);
  const at::Tensor x = at::ones({2}, at::kDouble);
  c10::impl::GenericDict named(c10::StringType::get(), c10::TensorType::get());
  named.insert("a", x);
  named.insert("b", x);
  const auto result = ddp.forward(std::make_tuple(x, x), std::vector<at::Tensor>{x, 3 * x}, at::IValue(named));
  result.toGenericDict().at("all").toTupleRef().elements()[1].toTensorVector()[1].sum().backward();
  EXPECT_EQ(module->parameters()[0].grad().item<double>(), 6);
}

// For `models.py check`.
TEST(JitTrain, FilesForPython) {
  const char* const folder = std::getenv("TANDEM_JIT_FOLDER");
  if (!folder) GTEST_SKIP() << "no TANDEM_JIT_FOLDER to write to";
  const std::string begin = std::string(folder) + "/";
  for (const std::string name : {"mlp", "norm", "tied"}) train(name + ".pt")->save(begin + name + ".pt");
  jit::compile("def inner(x):\n    return x + x\n\ndef doubled(x):\n    return inner(x)\n")
      ->save(begin + "compiled.pt");
  jit::trace([](const auto& inputs) { return std::vector<at::Tensor>{at::tanh(inputs[0].toTensor()) * 2 + 1}; },
             {at::ones({2, 2}, at::kDouble)})
      ->save(begin + "traced_function.pt");
}

}  // namespace
}  // namespace tandem::testing::jit_train_test
