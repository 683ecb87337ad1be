// What goes from one stage to the next, and what does not.
#include <gmock/gmock.h>
#include <tandem/pipeline_split.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "cpp/comm/threads.h"
#include "cpp/pipeline/small_model.h"

namespace tandem::testing::pipeline_cuts_test {
namespace {

using namespace pipelines;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two ranks, of which the first one's stage gives `outputs` of what it is given: what all say of the step.
std::string refusal(const std::function<Tensors(const at::Tensor&)>& outputs) {
  const Store store = hash_store();
  std::vector<std::string> said(2);
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    bool on = true;
    PipelineOptions options;
    options.schedule = one_forward_one_backward_schedule(2, 2);
    options.loss = [](const Tensors& given, const Tensors&) { return given[0].sum(); };
    PipelineStage stage;
    stage.index = rank;
    stage.forward = [&](const Tensors& inputs) { return rank == 0 && on ? outputs(inputs[0]) : inputs; };
    Pipeline pipeline(group, {stage}, options);
    const Tensors inputs = rank == 0 ? Tensors{torch::ones({4, 3})} : Tensors{};
    const Error error = error_of([&] { pipeline.step(inputs); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    said[rank] = error.what();
    on = false;
    EXPECT_EQ(pipeline.step(inputs), 6);  // the mean of two micro-batches' sums: the group lives on
    group->barrier();
  });
  EXPECT_EQ(said[0], said[1]);
  EXPECT_THAT(said[0], HasSubstr("forward of micro-batch 0 on stage 0 (rank 0) failed: at the cut to stage 1 (rank 1): "));
  return said[0];
}

TEST(PipelineCuts, NameWhatNoMessageHolds) {
  EXPECT_THAT(refusal([](const at::Tensor& x) { return Tensors(60, x); }),
              AllOf(HasSubstr("Float[2, 3]"), HasSubstr("60 tensors of these dimensions are too many")));
  EXPECT_THAT(refusal([](const at::Tensor& x) { return Tensors{x.new_ones({}).expand({1 << 21, 1 << 21})}; }),
              AllOf(HasSubstr("Float[2097152, 2097152]"), HasSubstr("at most 2^40 elements")));
  EXPECT_THAT(refusal([](const at::Tensor& x) { return Tensors{at::quantize_per_tensor(x, 0.5, 0, at::kQInt8)}; }),
              HasSubstr("dequantize()"));
  EXPECT_THAT(refusal([](const at::Tensor& x) { return Tensors{at::_nested_tensor_from_tensor_list({x, x})}; }),
              HasSubstr("no nested tensors"));
}

PipelineStage layer_of(const std::function<Tensors(const Tensors&)>& forward) {
  PipelineStage layer;
  layer.forward = forward;
  return layer;
}

// Between the second layer and the third go more tensors than a message holds, wherever the time would have it cut.
TEST(PipelineCuts, AreWhereMessagesHoldWhatCrosses) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
    const auto slow = [](const Tensors& inputs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      return inputs;
    };
    const auto many = [&](const Tensors& inputs) { return Tensors(60, slow(inputs)[0]); };
    const auto few = [&](const Tensors& inputs) { return Tensors{slow(inputs)[0]}; };
    const auto none = [](const Tensors& inputs) { return inputs; };
    PipelineSplitOptions options;
    options.repeats = 1;
    const Tensors x = {torch::ones({2, 3})};
    // By time 0, 2.
    EXPECT_THAT(where_to_split(*group, {layer_of(none), layer_of(many), layer_of(few)}, x, options), ElementsAre(0, 1));
    const Error error = error_of([&] { where_to_split(*group, {layer_of(many), layer_of(few)}, x, options); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0: 2 layers do not divide into 2 stages"),
                                    HasSubstr("no stage begins with layer 1: a message between stages does not hold Float[2, 3]")));
    group->barrier();
  });
}

// A layer that gives no tensor, and a module that would leave some of what it is given out.
TEST(PipelineCuts, AreBetweenTensors) {
  const auto group = ProcessGroup::create(options_for(0, 1, "none"), hash_store());
  const at::Tensor x = torch::ones({2, 4, 3});
  const auto said = [&](const std::vector<PipelineStage>& layers, const Tensors& inputs) {
    const Error error = error_of([&] { where_to_split(*group, layers, inputs); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return std::string(error.what());
  };
  const torch::nn::Sequential recurrent(torch::nn::Linear(3, 3), torch::nn::LSTM(3, 3));
  EXPECT_THAT(said(pipeline_layers(recurrent), {x}),
              AllOf(HasSubstr("layer 1 of 2 fails"), HasSubstr("layer '1' of the Sequential (torch::nn::LSTMImpl) gives std::tuple"),
                    HasSubstr("stages give tensors")));
  const torch::nn::Sequential plain(torch::nn::Linear(3, 3));
  EXPECT_THAT(said(pipeline_layers(plain), {x, x}), HasSubstr("takes one tensor here, not 2"));
  EXPECT_THAT(said({pipeline_stage(0, torch::nn::Linear(3, 3))}, {}), HasSubstr("takes one tensor here, not 0"));
}

}  // namespace
}  // namespace tandem::testing::pipeline_cuts_test
