#include "tandem/pipeline.h"

#include <algorithm>

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

// What no reducer does for a stage without trainable parameters.
void make_alike(ProcessGroup& replicas, const PipelineStage& stage) {
  const at::NoGradGuard no_grad;
  const auto take_first = [&](at::Tensor tensor) {
    const at::Tensor value = tensor.detach().contiguous();
    replicas.broadcast(value, 0);
    tensor.copy_(value);
  };
  for (const auto& [name, tensor] : stage.parameters) take_first(tensor);
  for (const auto& [name, tensor] : stage.buffers) take_first(tensor);
}

// Null for a stage that does not train.
std::unique_ptr<DataParallelReducer> reducer_for(const PipelineStage& stage, const PipelineOptions& options) {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;
  bool trains = false;
  for (const auto& [name, tensor] : stage.parameters) {
    names.push_back(name);
    parameters.push_back(tensor);
    trains |= tensor.requires_grad();
  }
  if (!trains) {
    if (options.data_parallel.init_sync) make_alike(*options.replicas, stage);
    return nullptr;
  }
  std::vector<at::Tensor> buffers;
  for (const auto& [name, tensor] : stage.buffers) buffers.push_back(tensor);
  return std::make_unique<DataParallelReducer>(options.replicas, std::move(parameters), std::move(names),
                                               std::move(buffers), options.data_parallel, stage.sparse_gradients);
}

// Also where this rank names no dimension of the mesh, for it is to tell the others.
std::shared_ptr<ProcessGroup> group_on(const std::shared_ptr<DeviceMesh>& mesh, const std::string& dimension) {
  if (!mesh) invalid("a pipeline needs a device mesh");
  const auto& names = mesh->names();
  return mesh->group(std::ranges::find(names, dimension) != names.end() ? dimension : names.front());
}

PipelineOptions on_mesh(const std::shared_ptr<DeviceMesh>& mesh, const std::string& dimension, PipelineOptions options) {
  if (!mesh) invalid("a pipeline needs a device mesh");
  if (mesh->dimensions() > 2) {
    invalid("a pipeline takes a device mesh of its stages and their replicas; give a sub-mesh of two dimensions");
  }
  try {
    mesh->group(dimension);
  } catch (const Error& error) {
    if (!options.fault) options.fault = std::make_shared<const Error>(error);
    // Those of its pipeline wait in one of them.
    if (mesh->dimensions() > 1) {
      for (const std::string& name : mesh->names()) mesh->group(name)->abort();
    }
  }
  if (mesh->dimensions() == 1) return options;
  options.replicas = mesh->group(mesh->names()[group_on(mesh, dimension) == mesh->group(mesh->names()[0]) ? 1 : 0]);
  options.everyone = mesh->size() == mesh->world()->size() ? mesh->world() : mesh->flatten("pipeline")->group("pipeline");
  return options;
}

// Of what follows when another rank fails: a timeout, too, of what it did not send.
bool is_consequence(const Error& error) {
  return error.code() == ErrorCode::kAborted || error.code() == ErrorCode::kPeerLost || error.code() == ErrorCode::kTimeout;
}

constexpr const char* kBothGroups = "replicas everyone";

// One who has no group of all ranks could tell nobody but those of its own pipeline, who tell the others by ending theirs.
void check_groups(PipelineParts& parts) {
  const PipelineOptions& options = parts.options;
  const std::string mine = std::string(options.replicas ? "replicas" : "") + (options.everyone ? " everyone" : "");
  std::vector<std::string> all;
  try {
    all = parts.group->all_gather_bytes(mine);
  } catch (const Error&) {
    if (mine != kBothGroups) throw;
    return;  // one of them does not know its pipeline, see on_mesh(), and tells all ranks why
  }
  if (std::ranges::all_of(all, [&](const std::string& given) { return given == all.front(); }) &&
      (all.front().empty() || all.front() == kBothGroups)) {
    return;
  }
  const auto wrong = std::ranges::find_if(all, [&](const std::string& given) { return given != kBothGroups; });
  const std::string where =
      all.size() == 1 ? "" : "pipeline, rank " + std::to_string(wrong - all.begin()) + " of the pipeline's group: ";
  const Error error(ErrorCode::kInvalidArgument,
                    where + "a pipeline with replicas needs the group of a stage's replicas and that of all ranks; give both, "
                            "or a mesh, on all of its ranks");
  parts.abort_replicas();
  throw error;
}

// Replicas of a stage are those of one number in their pipelines, which all of them have to say of each other.
void check_replicas(const PipelineParts& parts) {
  std::string mine;
  for (const PipelineStage& stage : parts.stages) mine += (mine.empty() ? "" : ", ") + std::to_string(stage.index);
  const auto all = parts.options.replicas->all_gather_bytes(mine);
  for (std::size_t replica = 0; replica < all.size(); ++replica) {
    if (all[replica] == mine) continue;
    invalid("its replica " + std::to_string(replica) + " has the stages " + all[replica] + ", itself " + mine +
            "; `replicas` is the group of the ranks that have the same stages");
  }
}

// What replicas do together. An error of one rank is one of all.
void make_reducers(PipelineParts& parts) {
  std::shared_ptr<const Error> fault;
  const std::string who = "pipeline, rank " + std::to_string(parts.everyone().rank()) + ": ";
  try {
    check_replicas(parts);
    for (const PipelineStage& stage : parts.stages) {
      if (auto reducer = reducer_for(stage, parts.options)) parts.reducers[stage.index] = std::move(reducer);
    }
  } catch (const Error& error) {
    fault = std::make_shared<const Error>(error.code(), who + error.what());
  } catch (const c10::Error& error) {
    fault = std::make_shared<const Error>(ErrorCode::kInvalidArgument, who + error.what_without_backtrace());
  }
  if (fault) parts.options.replicas->abort();  // which may wait for what this rank does not do any more
  if (const auto chosen = chosen_of(parts.everyone().all_gather_bytes(tell(fault.get())))) throw *chosen;
}

}  // namespace

// "code\ntext"
std::string tell(const Error* error) {
  return error ? std::to_string(static_cast<int>(error->code())) + "\n" + error->what() : std::string();
}

std::shared_ptr<const Error> chosen_of(const std::vector<std::string>& told) {
  std::shared_ptr<const Error> chosen;
  for (const std::string& said : told) {
    if (said.empty()) continue;
    const auto line = said.find('\n');
    int code = 0;
    for (const char digit : said.substr(0, std::min<std::size_t>(line, 4))) code = code * 10 + (digit - '0');
    const auto error = std::make_shared<const Error>(static_cast<ErrorCode>(code), said.substr(line + 1));
    if (!chosen || (is_consequence(*chosen) && !is_consequence(*error))) chosen = error;
  }
  return chosen;
}

const PipelineStage& PipelineParts::stage(int index) const {
  return *std::ranges::find_if(stages, [index](const PipelineStage& stage) { return stage.index == index; });
}

std::string PipelineParts::name_of(int stage) const {
  return "stage " + std::to_string(stage) + " (rank " + number_of(options.schedule.rank_of_stage[stage]) + ")";
}

std::string PipelineParts::number_of(int rank) const {
  return std::to_string(options.everyone ? options.everyone->rank_of(group->global_rank(rank)) : rank);
}

void PipelineParts::abort_replicas() {
  if (options.replicas) options.replicas->abort();
  if (options.everyone) options.everyone->abort();
}

void PipelineParts::abort_groups() {
  group->abort();
  abort_replicas();
  if (tied) tied->abort();
}

Pipeline::Pipeline(std::shared_ptr<ProcessGroup> group, std::vector<PipelineStage> stages, PipelineOptions options)
    : parts_(std::make_unique<PipelineParts>()) {
  if (!group) invalid("a pipeline needs a process group");
  std::ranges::sort(stages, {}, &PipelineStage::index);
  parts_->group = std::move(group);
  parts_->stages = std::move(stages);
  parts_->options = std::move(options);
  PipelineParts& parts = *parts_;
  check_groups(parts);
  const auto tied = compare_ranks(*parts.group, parts.everyone(), parts.stages, parts.options);
  for (std::size_t stage = 0; stage < tied.size(); ++stage) {
    for (const std::string& name : tied[stage]) parts.first_stage_of_tied.try_emplace(name, static_cast<int>(stage));
  }
  check_data_parallel(parts.options.data_parallel);  // on all ranks alike
  if (parts.options.replicas) make_reducers(parts);
  // After the reducers, which have replicas begin alike.
  parts.tied = std::make_unique<TiedParameters>(*parts.group, parts.options.schedule, tied, parts.stages);
}

Pipeline::Pipeline(const std::shared_ptr<DeviceMesh>& mesh, const std::string& dimension,
                   std::vector<PipelineStage> stages, PipelineOptions options)
    : Pipeline(group_on(mesh, dimension), std::move(stages), on_mesh(mesh, dimension, std::move(options))) {}

Pipeline::~Pipeline() = default;

const PipelineSchedule& Pipeline::schedule() const {
  return parts_->options.schedule;
}

const std::vector<PipelineStage>& Pipeline::stages() const {
  return parts_->stages;
}

bool Pipeline::is_first_with(const std::string& name) const {
  const auto tied = parts_->first_stage_of_tied.find(name);
  return tied == parts_->first_stage_of_tied.end() ||
         parts_->options.schedule.rank_of_stage[tied->second] == parts_->group->rank();
}

bool Pipeline::saves(const std::string& name) const {
  const auto& replicas = parts_->options.replicas;
  return (!replicas || replicas->rank() == 0) && is_first_with(name);
}

namespace {

struct Result {
  double loss = 0;
  std::vector<at::Tensor> outputs;
};

// What ranks tell each other at the end of a pass: that one has failed, whose error all throw, or the loss.
double agree(PipelineParts& parts, const PipelinePass& pass) {
  ProcessGroup& everyone = parts.everyone();
  const std::shared_ptr<const Error> failure = pass.failure();
  const at::Tensor told = at::tensor({failure ? 1.0 : 0.0, failure ? 0.0 : pass.loss()}, at::kDouble);
  everyone.all_reduce(told);
  if (told[0].item<double>() == 0) return told[1].item<double>() * parts.group->size() / everyone.size();
  throw *chosen_of(everyone.all_gather_bytes(tell(failure.get())));
}

Result run_pass(PipelineParts& parts, PipelinePass::Purpose purpose, const std::vector<at::Tensor>& inputs,
                const std::vector<at::Tensor>& targets) {
  ++parts.passes;
  PipelinePass pass(parts, purpose, inputs, targets);
  TiedParameters* const tied = purpose == PipelinePass::Purpose::kTrain ? parts.tied.get() : nullptr;
  Result result;
  bool is_over = false;  // for all ranks: none waits for another one's messages
  try {
    if (tied) tied->begin_pass();
    pass.run();
    is_over = true;
    result.loss = agree(parts, pass);
    result.outputs = pass.outputs();
    is_over = false;
    if (tied) tied->sum_gradients();
  } catch (...) {
    // Whoever waits for this rank in another group is to know.
    if (!is_over) parts.abort_groups();
    if (tied) tied->end_pass();
    throw;
  }
  if (tied) tied->end_pass();
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
  return run_pass(*parts_, PipelinePass::Purpose::kOutputs, inputs, {}).outputs;
}

}  // namespace tandem
