// Every optimizer's trajectory over 20 steps in double against Python's, as reference.py stored it.
#include "reference.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>

#include "support/test_device.h"
#include "tandem/optim.h"

namespace tandem::testing::optim_reference_test {
namespace {

using optim::make_optimizer;
using Sizes = std::vector<std::int64_t>;

// As in reference.py.
const std::map<std::string, std::vector<Sizes>> kSizes = {{"dense", {{2, 2}, {3}}},
                                                          {"complex", {{2}}},
                                                          {"sparse", {{5, 2}}},
                                                          {"matrices", {{3, 2}, {2, 4}}},
                                                          {"closure", {{2, 2}, {3}}}};

// Rosenbrock's function of all numbers.
at::Tensor loss_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& parameter : parameters) parts.push_back(parameter.reshape({-1}));
  const at::Tensor x = at::cat(parts), left = x.narrow(0, 0, x.numel() - 1), right = x.narrow(0, 1, x.numel() - 1);
  return (10 * (right - left.pow(2)).pow(2) + (1 - left).pow(2)).sum();
}

double start(std::int64_t parameter, std::int64_t element) {
  return static_cast<double>((element * 3 + parameter) % 7 - 3) / 4 + 0.5;
}

double gradient(std::int64_t parameter, std::int64_t step, std::int64_t element) {
  return static_cast<double>((step * 7 + element * 5 + parameter * 3) % 11 - 5) / 8;
}

template <typename Values>
at::Tensor made(const std::string& kind, Sizes sizes, const Values& values) {
  if (kind == "complex") sizes.push_back(2);
  const at::Tensor tensor = at::empty(sizes, at::kDouble);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.view(-1)[i] = values(i);
  return on_device(kind == "complex" ? at::view_as_complex(tensor) : tensor);
}

// Fused and foreach kernels take dense parameters alone; the others get every second element of a larger one.
enum class Layout { kDense, kStrided };

at::Tensor laid_out(const at::Tensor& tensor, Layout layout) {
  if (layout == Layout::kDense) return tensor;
  Sizes sizes = tensor.sizes().vec();
  sizes.back() *= 2;
  const at::Tensor view = at::zeros(sizes, tensor.options()).slice(-1, 0, sizes.back(), 2);
  return view.copy_(tensor);
}

std::vector<double> numbers(const at::Tensor& tensor) {
  const at::Tensor real = tensor.is_complex() ? at::view_as_real(tensor.detach()) : tensor.detach();
  const at::Tensor flat = real.to(at::kDouble).contiguous().view(-1).cpu();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

void set_gradients(const std::string& kind, const std::vector<at::Tensor>& parameters, std::int64_t step) {
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto place = static_cast<std::int64_t>(p);
    at::Tensor& grad = parameters[p].mutable_grad();
    grad = at::Tensor();
    if (kind == "dense" && p == 1 && step % 6 == 3) continue;
    const auto values = [&](std::int64_t i) { return gradient(place, step, i); };
    if (kind == "sparse") {
      const at::Tensor rows = on_device(torch::tensor({{step % 5, (2 * step + 1) % 5, step % 5}}));
      grad = at::sparse_coo_tensor(rows, made(kind, {3, 2}, values), parameters[p].sizes());
    } else {
      grad = made(kind, parameters[p].sizes().vec(), values);
    }
  }
}

bool near(const std::vector<double>& ours, const std::vector<double>& theirs, double tolerance) {
  if (ours.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    // Where sums cancel, what is left is as exact as what was summed.
    if (!(std::abs(ours[i] - theirs[i]) <= tolerance * std::abs(theirs[i]) + tolerance * 1e-4)) return false;
  }
  return true;
}

void follows(const nlohmann::json& one, Layout layout) {
  const auto kind = one["kind"].get<std::string>();
  const auto type = one["type"].get<std::string>();
  SCOPED_TRACE(type + " of " + kind + (layout == Layout::kDense ? "" : ", strided") + ", " + one["options"].dump());
  // Muon iterates in bfloat16. LBFGS divides by small differences of sums, which a GPU adds in another order than a CPU; what
  // it keeps are such differences, and CPUs do not all add alike either.
  const double tolerance = type == "Muon" ? 1e-2 : wants_gpu() && type == "LBFGS" ? 1e-6 : 1e-10;
  const double of_state = type == "LBFGS" ? 1e-6 : tolerance;
  std::vector<at::Tensor> parameters;
  for (const Sizes& sizes : kSizes.at(kind)) {
    const auto place = static_cast<std::int64_t>(parameters.size());
    const auto values = [&](std::int64_t i) { return start(place, i); };
    parameters.push_back(laid_out(made(kind, sizes, values), layout).set_requires_grad(true));
  }
  auto optimizer = make_optimizer(type, parameters, options_of(one["options"]));
  std::int64_t step = 0;
  for (const auto& theirs : one["steps"]) {
    if (step == 10) {  // goes on from what was saved
      const auto state = optimizer->state();
      optimizer = make_optimizer(type, parameters, options_of(one["options"]));
      optimizer->load_state(state);
    }
    if (kind == "closure") {
      optimizer->step([&] {
        optimizer->zero_grad();
        const at::Tensor loss = loss_of(parameters);
        loss.backward();
        return loss;
      });
    } else {
      set_gradients(kind, parameters, step);
      optimizer->step();
    }
    std::vector<double> ours;
    for (const at::Tensor& parameter : parameters) {
      const std::vector<double> part = numbers(parameter);
      ours.insert(ours.end(), part.begin(), part.end());
    }
    ASSERT_TRUE(near(ours, theirs.get<std::vector<double>>(), tolerance))
        << "step " << step << ": " << ::testing::PrintToString(ours) << ", not " << theirs;
    ++step;
  }
  EXPECT_EQ(step, 20);
  std::map<std::string, std::vector<double>> state;
  for (const auto& [name, tensor] : optimizer->state()) state[name] = numbers(tensor);
  for (const auto& [name, theirs] : one["state"].items()) {
    ASSERT_EQ(state.count(name), 1u) << name;
    EXPECT_TRUE(near(state[name], theirs.get<std::vector<double>>(), of_state))
        << name << " is " << ::testing::PrintToString(state[name]) << ", not " << theirs;
    state.erase(name);
  }
  EXPECT_TRUE(state.empty()) << state.begin()->first << " is unknown to Python";
}

TEST(OptimReference, TrajectoriesAreThoseOfPython) {
  const nlohmann::json cases = stored("trajectories.json");
  std::set<std::string> types;
  for (const auto& one : cases) {
    types.insert(one["type"].get<std::string>());
    follows(one, Layout::kDense);
    follows(one, Layout::kStrided);
  }
  EXPECT_EQ(types.size(), 15u);
}

}  // namespace
}  // namespace tandem::testing::optim_reference_test
