#include "tandem/pipeline.h"

#include <algorithm>
#include <optional>

#include "base/invalid.h"
#include "pipeline/parts.h"
#include "pipeline/pass.h"

namespace tandem {
namespace {

void check_data_parallel(const DataParallelOptions& options) {
  const auto refuse_option = [](const char* name) {
    throw Error(ErrorCode::kUnsupported, std::string("a pipeline's replicas do not go together with ") + name);
  };
  if (options.average_by_samples) refuse_option("average_by_samples");
  if (options.static_graph) refuse_option("static_graph");
  const MixedPrecision& precision = options.mixed_precision;
  if (precision.param_dtype || precision.reduce_dtype || precision.buffer_dtype) refuse_option("mixed_precision");
}

std::unique_ptr<DataParallelReducer> reducer_for(const PipelineStage& stage, const PipelineOptions& options) {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;
  bool trains = false;
  for (const auto& [name, tensor] : stage.parameters) {
    names.push_back(name);
    parameters.push_back(tensor);
    trains |= tensor.requires_grad();
  }
  if (!trains) return nullptr;
  return std::make_unique<DataParallelReducer>(options.replicas, std::move(parameters), std::move(names), stage.buffers,
                                               options.data_parallel, stage.sparse_gradients);
}

PipelineOptions on_mesh(const std::shared_ptr<DeviceMesh>& mesh, const std::string& dimension, PipelineOptions options) {
  if (!mesh) invalid("a pipeline needs a device mesh");
  mesh->group(dimension);  // throws where there is none
  if (mesh->dimensions() > 2) {
    invalid("a pipeline takes a device mesh of its stages and their replicas; give a sub-mesh of two dimensions");
  }
  if (mesh->dimensions() == 1) return options;
  options.replicas = mesh->group(mesh->names()[mesh->names()[0] == dimension ? 1 : 0]);
  options.everyone = mesh->size() == mesh->world()->size() ? mesh->world() : mesh->flatten("pipeline")->group("pipeline");
  return options;
}

// "code\ntext", as ranks tell each other.
Error parse_failure(const std::string& said) {
  const auto line = said.find('\n');
  int code = 0;
  for (const char digit : said.substr(0, line)) code = code * 10 + (digit - '0');
  return Error(static_cast<ErrorCode>(code), said.substr(line + 1));
}

// Of what follows when another rank fails.
bool is_consequence(const Error& error) {
  return error.code() == ErrorCode::kAborted || error.code() == ErrorCode::kPeerLost;
}

}  // namespace

const PipelineStage& PipelineParts::stage(int index) const {
  return *std::ranges::find_if(stages, [index](const PipelineStage& stage) { return stage.index == index; });
}

std::string PipelineParts::name_of(int stage) const {
  const int global = group->global_rank(options.schedule.rank_of_stage[stage]);
  const int rank = options.everyone ? options.everyone->rank_of(global) : options.schedule.rank_of_stage[stage];
  return "stage " + std::to_string(stage) + " (rank " + std::to_string(rank) + ")";
}

void PipelineParts::abort_groups() {
  group->abort();
  if (options.replicas) options.replicas->abort();
  if (options.everyone) options.everyone->abort();
}

Pipeline::Pipeline(std::shared_ptr<ProcessGroup> group, std::vector<PipelineStage> stages, PipelineOptions options)
    : parts_(std::make_unique<PipelineParts>()) {
  if (!group) invalid("a pipeline needs a process group");
  if (!options.replicas != !options.everyone) {
    invalid("a pipeline with replicas needs the group of a stage's replicas and that of all ranks; give both, or a mesh");
  }
  std::ranges::sort(stages, {}, &PipelineStage::index);
  parts_->group = std::move(group);
  parts_->stages = std::move(stages);
  parts_->options = std::move(options);
  PipelineParts& parts = *parts_;
  const auto tied = compare_ranks(*parts.group, parts.everyone(), parts.stages, parts.options);
  check_data_parallel(parts.options.data_parallel);  // on all ranks alike
  if (parts.options.replicas) {
    for (const PipelineStage& stage : parts.stages) {
      if (auto reducer = reducer_for(stage, parts.options)) parts.reducers[stage.index] = std::move(reducer);
    }
  }
  // After the reducers, which have replicas begin alike.
  parts.tied = std::make_unique<TiedParameters>(*parts.group, parts.options.schedule, tied, parts.stages);
}

Pipeline::Pipeline(const std::shared_ptr<DeviceMesh>& mesh, const std::string& dimension,
                   std::vector<PipelineStage> stages, PipelineOptions options)
    : Pipeline(mesh ? mesh->group(dimension) : nullptr, std::move(stages), on_mesh(mesh, dimension, std::move(options))) {}

Pipeline::~Pipeline() = default;

const PipelineSchedule& Pipeline::schedule() const {
  return parts_->options.schedule;
}

namespace {

struct Result {
  double loss = 0;
  std::vector<std::vector<at::Tensor>> outputs;  // of each micro-batch
};

// What ranks tell each other at the end of a pass: that one has failed, whose error all throw, or the loss.
double agree(PipelineParts& parts, const PipelinePass& pass) {
  ProcessGroup& everyone = parts.everyone();
  const std::shared_ptr<const Error> failure = pass.failure();
  const at::Tensor told = at::tensor({failure ? 1.0 : 0.0, failure ? 0.0 : pass.loss()}, at::kDouble);
  everyone.all_reduce(told);
  if (told[0].item<double>() == 0) return told[1].item<double>() * parts.group->size() / everyone.size();
  const auto texts = everyone.all_gather_bytes(
      failure ? std::to_string(static_cast<int>(failure->code())) + "\n" + failure->what() : std::string());
  std::optional<Error> chosen;
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    const Error error = parse_failure(text);
    if (!chosen || (is_consequence(*chosen) && !is_consequence(error))) chosen.emplace(error.code(), error.what());
  }
  throw *chosen;
}

Result run_pass(PipelineParts& parts, PipelinePass::Purpose purpose, const std::vector<at::Tensor>& inputs,
                const std::vector<at::Tensor>& targets) {
  ++parts.passes;
  PipelinePass pass(parts, purpose, inputs, targets);
  const bool trains = purpose == PipelinePass::Purpose::kTrain;
  if (trains) parts.tied->begin_pass();
  try {
    pass.run();
  } catch (...) {
    if (trains) parts.tied->end_pass(/*succeeded=*/false);
    // Whoever waits for this rank in another group is to know.
    parts.abort_groups();
    throw;
  }
  Result result;
  try {
    result.loss = agree(parts, pass);
  } catch (...) {
    if (trains) parts.tied->end_pass(/*succeeded=*/false);
    throw;
  }
  result.outputs = pass.outputs();
  if (trains) parts.tied->end_pass(/*succeeded=*/true);
  return result;
}

}  // namespace

double Pipeline::step(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& targets) {
  return run_pass(*parts_, PipelinePass::Purpose::kTrain, inputs, targets).loss;
}

double Pipeline::evaluate(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& targets) {
  return run_pass(*parts_, PipelinePass::Purpose::kLoss, inputs, targets).loss;
}

std::vector<at::Tensor> Pipeline::forward(const std::vector<at::Tensor>& inputs) {
  const Result result = run_pass(*parts_, PipelinePass::Purpose::kOutputs, inputs, {});
  std::vector<at::Tensor> joined;
  if (result.outputs.empty() || result.outputs.front().empty()) return joined;
  for (std::size_t i = 0; i < result.outputs.front().size(); ++i) {
    std::vector<at::Tensor> pieces;
    for (const auto& outputs : result.outputs) pieces.push_back(outputs.at(i));
    joined.push_back(at::cat(pieces));
  }
  return joined;
}

}  // namespace tandem
