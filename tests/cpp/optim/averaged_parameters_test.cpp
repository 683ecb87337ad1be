// Averages of weights against Python's AveragedModel, as reference.py stored them.
#include "tandem/averaged_parameters.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>

#include "reference.h"
#include "tandem/error.h"

namespace tandem::testing::averaged_parameters_test {
namespace {

using optim::AveragedOptions;
using optim::AveragedParameters;
using optim::Averaging;
using ::testing::HasSubstr;

struct Model {
  std::vector<at::Tensor> parameters{torch::zeros({2, 2}, at::kDouble).set_requires_grad(true),
                                     torch::zeros({2}, at::kComplexDouble).set_requires_grad(true)};
  std::vector<at::Tensor> buffers{torch::zeros({3}, at::kDouble), torch::zeros({}, at::kLong)};

  // As in reference.py.
  void fill(std::int64_t step) {
    at::NoGradGuard no_grad;
    const auto value = [&](std::int64_t element) { return static_cast<double>((step * 5 + element * 3) % 7 - 2) / 4; };
    std::int64_t element = 0;
    for (const at::Tensor& tensor : {parameters[0], at::view_as_real(parameters[1]), buffers[0]}) {
      for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.view(-1)[i] = value(element++);
    }
    buffers[1].fill_(step * 10);
  }
};

std::vector<double> numbers(const AveragedParameters& averages) {
  std::vector<double> all;
  const auto add = [&](const at::Tensor& tensor) {
    const at::Tensor flat = tensor.to(at::kDouble).contiguous().view(-1);
    all.insert(all.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  };
  add(averages.parameters()[0]);
  add(at::view_as_real(averages.parameters()[1]));
  for (const at::Tensor& buffer : averages.buffers()) add(buffer);
  return all;
}

TEST(AveragedParameters, AreThoseOfPython) {
  int cases = 0;
  for (const auto& one : stored("averages.json")) {
    SCOPED_TRACE(std::to_string(++cases));
    AveragedOptions options;
    options.averaging = one["average"] == "ema" ? Averaging::kEma : Averaging::kSwa;
    options.decay = one["decay"].get<double>();
    options.use_buffers = one["use_buffers"].get<bool>();
    Model model;
    std::optional<AveragedParameters> averages(std::in_place, model.parameters, model.buffers, options);
    std::int64_t step = 0;
    for (const auto& theirs : one["steps"]) {
      model.fill(step);
      averages->update();
      const std::vector<double> ours = numbers(*averages);
      ASSERT_EQ(ours.size(), theirs.size());
      for (std::size_t i = 0; i < ours.size(); ++i) {
        const double expected = theirs[i].get<double>();
        // Whole numbers of SWA: Python's kernel refuses to average them.
        if (i + 1 == ours.size() && options.use_buffers && options.averaging == Averaging::kSwa) continue;
        EXPECT_NEAR(ours[i], expected, 1e-10 * std::abs(expected) + 1e-14) << "step " << step << ", number " << i;
      }
      if (++step == 5) {  // goes on from what was saved
        std::vector<std::pair<std::string, at::Tensor>> state;
        for (const auto& [name, tensor] : averages->state()) state.emplace_back(name, tensor.clone());
        averages.emplace(model.parameters, model.buffers, options);
        averages->load_state(state);
      }
    }
    EXPECT_EQ(averages->n_averaged(), 10);
  }
  EXPECT_EQ(cases, 5);
}

TEST(AveragedParameters, WholeNumbersAreRoundedTowardsZero) {
  const at::Tensor count = torch::tensor({0, 10});
  AveragedParameters averages({}, {count}, {.use_buffers = true});
  averages.update();
  count.add_(5);
  averages.update();
  EXPECT_TRUE(averages.buffers()[0].equal(torch::tensor({2, 12})));
}

TEST(AveragedParameters, SwapExchangesNumbersAndChangesNoTensor) {
  Model model;
  model.fill(0);
  AveragedParameters averages(model.parameters, model.buffers, {.averaging = Averaging::kEma, .decay = 0.5});
  averages.update();
  model.fill(1);
  averages.update();
  const at::Tensor weight = model.parameters[0].detach().clone(), average = averages.parameters()[0].clone();
  EXPECT_FALSE(weight.equal(average));
  averages.swap();
  EXPECT_TRUE(model.parameters[0].equal(average));
  EXPECT_TRUE(averages.parameters()[0].equal(weight));
  EXPECT_TRUE(model.parameters[0].requires_grad());
  EXPECT_FALSE(averages.parameters()[0].requires_grad());
  averages.swap();
  EXPECT_TRUE(model.parameters[0].equal(weight));
}

TEST(AveragedParameters, ErrorsNameWhatIsWrongAndChangeNothing) {
  Model model;
  const auto refusal = [](const auto& body) -> std::string {
    try {
      body();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(refusal([&] { AveragedParameters(model.parameters, {}, {.decay = 1.5}); }), HasSubstr("decay is 1.5"));
  EXPECT_THAT(refusal([&] { AveragedParameters({torch::eye(2).to_sparse()}, {}, {}); }),
              HasSubstr("parameter 0 is sparse"));
  EXPECT_THAT(refusal([&] { AveragedParameters({}, {at::Tensor()}, {}); }), HasSubstr("buffer 0 is undefined"));
  model.fill(3);
  AveragedParameters averages(model.parameters, model.buffers, {});
  averages.update();
  const std::vector<double> before = numbers(averages);
  auto state = averages.state();
  for (auto& [name, tensor] : state) tensor = torch::ones_like(tensor);
  state.pop_back();
  EXPECT_THAT(refusal([&] { averages.load_state(state); }), HasSubstr("'buffer.1' is missing"));
  state.emplace_back("buffer.1", torch::ones({2}));
  EXPECT_THAT(refusal([&] { averages.load_state(state); }), HasSubstr("'buffer.1' has other sizes"));
  state.back().second = torch::ones({});
  state.emplace_back("buffer.2", torch::ones({2}));
  EXPECT_THAT(refusal([&] { averages.load_state(state); }), HasSubstr("'buffer.2' is of nothing"));
  EXPECT_EQ(numbers(averages), before);
}

}  // namespace
}  // namespace tandem::testing::averaged_parameters_test
