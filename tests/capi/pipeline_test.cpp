// A pipeline through the C ABI: stages are callbacks of the program, here all on one rank.
#include <chrono>
#include <functional>
#include <thread>

#include "capi/calls.h"

namespace pipeline_test {
namespace {

using namespace calls;
using testing::ElementsAre;
using testing::HasSubstr;

struct FreePipeline {
  void operator()(tdm_pipeline* one) const { tdm_pipeline_free(one); }
};
using Pipeline = std::unique_ptr<tdm_pipeline, FreePipeline>;

Tensor parameter(const std::vector<float>& values) {
  Tensor made = tensor(values, {static_cast<std::int64_t>(values.size())});
  EXPECT_OK(tdm_tensor_set_requires_grad(made.get(), 1));
  return made;
}

// Each of two stages multiplies its input by its weight; the loss is the mean of the products with the targets.
class PipelineOfOneRank : public testing::Test {
 public:  // for functions of C
  void SetUp() override {
    tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
    options.backend = "none";
    options.rank = 0;
    options.world_size = 1;
    ASSERT_OK(tdm_process_group_create(&options, nullptr, &group_));
    weights_.push_back(parameter({2, 3}));
    weights_.push_back(parameter({5, 7}));
  }
  void TearDown() override {
    weights_.clear();
    tdm_process_group_free(group_);
  }

  tdm_error* create(const tdm_pipeline_options& options, const std::vector<std::int32_t>& stages, tdm_pipeline** out) {
    const auto tensors = borrowed(weights_);
    const char* const names[] = {"first", "second"};
    return tdm_pipeline_create(
        group_, tensors.data(), names, stages.data(), nullptr, nullptr, tensors.size(), nullptr, nullptr, nullptr, nullptr, 0,
        &options,
        [](void* self, const tdm_pipeline_call* call) {
          return static_cast<PipelineOfOneRank*>(self)->compute(*call);
        },
        [](void*, const tdm_pipeline_call* call) -> tdm_error* {
          EXPECT_EQ(call->target_count, 1u);
          const Tensor product = calls::call("aten::mul", "Tensor", {of(call->inputs[0]), of(call->targets[0])});
          call->outputs[0] = calls::call("aten::mean", "", {of(product), tagged(TDM_VALUE_NONE)}).release();
          *call->output_count = 1;
          return nullptr;
        },
        this, [](void* self) { ++static_cast<PipelineOfOneRank*>(self)->freed_; }, out);
  }
  tdm_error* compute(const tdm_pipeline_call& call) {
    if (call.stage == fails_) return tdm_error_create(TDM_ERROR_NOT_FOUND, nullptr, "no such word", nullptr, nullptr);
    EXPECT_EQ(call.input_count, 1u);
    EXPECT_EQ(call.target_count, 0u);
    call.outputs[0] = calls::call("aten::mul", "Tensor", {of(call.inputs[0]), of(weights_[call.stage])}).release();
    *call.output_count = 1;
    return nullptr;
  }
  std::vector<float> gradient(int stage) {
    tdm_tensor* made = nullptr;
    EXPECT_OK(tdm_tensor_grad(weights_[stage].get(), &made));
    const Tensor owned(made);
    return owned ? floats(made) : std::vector<float>();
  }

  const LeakCheck leaks_;
  tdm_process_group* group_ = nullptr;
  std::vector<Tensor> weights_;
  int fails_ = -1, freed_ = 0;
};

TEST_F(PipelineOfOneRank, TrainsAndTellsLossAndOutputs) {
  tdm_pipeline_options options = TDM_PIPELINE_OPTIONS_INIT;
  options.schedule = "interleaved1f1b";
  options.micro_batches = 2;
  options.stages_per_rank = 2;
  tdm_pipeline* made = nullptr;
  ASSERT_OK(create(options, {0, 1}, &made));
  Pipeline pipeline(made);
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {3, 2}), y = tensor({1, 0, 0, 1, 1, 1}, {3, 2});
  tdm_tensor *inputs[] = {x.get()}, *targets[] = {y.get()};
  double loss = 0, again = 0;
  ASSERT_OK(tdm_pipeline_step(made, inputs, 1, targets, 1, &loss));
  EXPECT_NEAR(loss, (1 * 10 + 4 * 21 + 5 * 10 + 6 * 21) / 6.0, 1e-4);
  EXPECT_THAT(gradient(0), ElementsAre(testing::FloatNear(6 * 5 / 6.0f, 1e-5), testing::FloatNear(10 * 7 / 6.0f, 1e-5)));
  EXPECT_THAT(gradient(1), ElementsAre(testing::FloatNear(6 * 2 / 6.0f, 1e-5), testing::FloatNear(10 * 3 / 6.0f, 1e-5)));
  ASSERT_OK(tdm_pipeline_evaluate(made, inputs, 1, targets, 1, &again));
  EXPECT_EQ(loss, again);
  tdm_tensor* outputs[2] = {};
  std::size_t count = 2;
  ASSERT_OK(tdm_pipeline_forward(made, inputs, 1, outputs, &count));
  ASSERT_EQ(count, 1u);
  const Tensor owned(outputs[0]);
  EXPECT_THAT(floats(outputs[0]), ElementsAre(10, 42, 30, 84, 50, 126));
  count = 0;
  EXPECT_THAT(message(tdm_pipeline_forward(made, inputs, 1, nullptr, &count), TDM_ERROR_INVALID_ARGUMENT),
              HasSubstr("there is room for 0"));
  pipeline.reset();
  EXPECT_EQ(freed_, 1);
}

TEST_F(PipelineOfOneRank, SaysWhoSaves) {
  tdm_pipeline_options options = TDM_PIPELINE_OPTIONS_INIT;
  options.schedule = "gpipe";
  options.stages_per_rank = 2;
  tdm_pipeline* made = nullptr;
  ASSERT_OK(create(options, {0, 1}, &made));
  const Pipeline pipeline(made);
  std::int32_t saves = 0;
  ASSERT_OK(tdm_pipeline_saves(made, "second", 0, &saves));
  EXPECT_EQ(saves, 1);
  EXPECT_THAT(message(tdm_pipeline_saves(made, nullptr, 0, &saves), TDM_ERROR_INVALID_ARGUMENT), HasSubstr("name"));
}

// What a rank says of itself is what all fail with.
TEST_F(PipelineOfOneRank, AFaultOfTheProgramsOwn) {
  tdm_pipeline_options options = TDM_PIPELINE_OPTIONS_INIT;
  options.fault = "there is no such stage";
  options.fault_code = TDM_ERROR_NOT_FOUND;
  tdm_pipeline* made = nullptr;
  EXPECT_THAT(message(create(options, {0, 5}, &made), TDM_ERROR_NOT_FOUND), HasSubstr("rank 0: there is no such stage"));
  options.fault_code = 12345;
  EXPECT_THAT(message(create(options, {0, 5}, &made), TDM_ERROR_INVALID_ARGUMENT), HasSubstr("no such stage"));
}

// Layers are measured where they are: the callback is told which.
TEST_F(PipelineOfOneRank, IsSplitByTime) {
  const auto tensors = borrowed(weights_);
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  tdm_tensor* inputs[] = {x.get()};
  tdm_pipeline_split_options options = TDM_PIPELINE_SPLIT_OPTIONS_INIT;
  options.stages_per_rank = 2;
  options.repeats = 1;
  std::int64_t first[2] = {-1, -1};
  std::size_t count = 2;
  const auto split = [&](std::int64_t layers) {
    return tdm_pipeline_split_by_time(
        group_, layers, tensors.data(), tensors.size(), inputs, 1, nullptr, 0, &options,
        [](void* self, const tdm_pipeline_call* call) {
          if (call->stage == 2) std::this_thread::sleep_for(std::chrono::milliseconds(40));
          auto layer = *call;
          layer.stage %= 2;
          return static_cast<PipelineOfOneRank*>(self)->compute(layer);
        },
        nullptr, this, [](void* self) { ++static_cast<PipelineOfOneRank*>(self)->freed_; }, first, &count);
  };
  ASSERT_OK(split(3));
  EXPECT_EQ(count, 2u);
  EXPECT_THAT(first, ElementsAre(0, 2));
  EXPECT_EQ(freed_, 1);
  EXPECT_THAT(gradient(0), ElementsAre());
  EXPECT_THAT(message(split(1), TDM_ERROR_INVALID_ARGUMENT), HasSubstr("1 layers do not divide into 2 stages"));
  EXPECT_THAT(message(split(-1), TDM_ERROR_INVALID_ARGUMENT), HasSubstr("layer_count"));
  options.fault = "there is no such layer";
  options.fault_code = TDM_ERROR_NOT_FOUND;
  EXPECT_THAT(message(split(3), TDM_ERROR_NOT_FOUND), HasSubstr("rank 0: there is no such layer"));
  options.fault = nullptr;
  count = 1;
  EXPECT_THAT(message(split(3), TDM_ERROR_INVALID_ARGUMENT), HasSubstr("room for 1"));
  fails_ = 1;
  count = 2;
  EXPECT_THAT(message(split(3), TDM_ERROR_CALLBACK), testing::AllOf(HasSubstr("layer 1 of 3"), HasSubstr("no such word")));
  EXPECT_EQ(freed_, 1);
}

TEST_F(PipelineOfOneRank, NamesWhatFailedAndGoesOn) {
  tdm_pipeline_options options = TDM_PIPELINE_OPTIONS_INIT;
  options.schedule = "gpipe";
  options.stages_per_rank = 2;
  tdm_pipeline* made = nullptr;
  ASSERT_OK(create(options, {0, 1}, &made));
  const Pipeline pipeline(made);
  const Tensor x = tensor({1, 2}, {1, 2}), y = tensor({1, 1}, {1, 2});
  tdm_tensor *inputs[] = {x.get()}, *targets[] = {y.get()};
  double loss = -1;
  fails_ = 1;
  EXPECT_THAT(message(tdm_pipeline_step(made, inputs, 1, targets, 1, &loss), TDM_ERROR_CALLBACK),
              testing::AllOf(HasSubstr("forward of micro-batch 0 on stage 1 (rank 0) failed"), HasSubstr("no such word")));
  EXPECT_EQ(loss, -1);
  fails_ = -1;
  EXPECT_OK(tdm_pipeline_step(made, inputs, 1, targets, 1, &loss));
}

TEST_F(PipelineOfOneRank, RefusesWhatDoesNotFit) {
  tdm_pipeline_options options = TDM_PIPELINE_OPTIONS_INIT;
  tdm_pipeline* made = nullptr;
  EXPECT_THAT(message(create(options, {0, 1}, &made), TDM_ERROR_INVALID_ARGUMENT),
              HasSubstr("rank 0: parameter 'second' is said to be of stage 1"));
  options.schedule = "2f2b";
  EXPECT_THAT(message(create(options, {0, 0}, &made), TDM_ERROR_NOT_FOUND), HasSubstr("gpipe, 1f1b"));
  options.schedule = nullptr;
  options.micro_batches = 0;
  EXPECT_THAT(message(create(options, {0, 0}, &made), TDM_ERROR_INVALID_ARGUMENT), HasSubstr("0 micro-batches"));
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(freed_, 0);
}

}  // namespace
}  // namespace pipeline_test
