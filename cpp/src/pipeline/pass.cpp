#include "pipeline/pass.h"

#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <optional>
#include <utility>

#include "base/invalid.h"
#include "pipeline/failure.h"
#include "pipeline/result_of.h"
#include "pipeline/schedule.h"
#include "trace/recorder.h"

namespace tandem {
namespace {

using Kind = PipelineAction::Kind;
using Clock = std::chrono::steady_clock;

constexpr int kFirstTrack = 1000;  // of stages in a trace, above those of other rooms

// Hooks of tensors, which a program may hold for longer, until the end of a scope.
class HooksUntil {
 public:
  explicit HooksUntil(const std::vector<at::Tensor>& tensors) : tensors_(tensors), places_(tensors.size()) {}
  ~HooksUntil() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i]) tensors_[i].remove_hook(*places_[i]);
    }
  }
  HooksUntil(const HooksUntil&) = delete;
  HooksUntil& operator=(const HooksUntil&) = delete;
  template <typename Hook>
  void add(std::size_t i, Hook&& hook) {
    places_[i] = tensors_[i].register_hook(std::forward<Hook>(hook));
  }

 private:
  const std::vector<at::Tensor> tensors_;
  std::vector<std::optional<unsigned>> places_;
};

}  // namespace

PipelinePass::PipelinePass(PipelineParts& parts, Purpose purpose, const Tensors& inputs, const Tensors& targets)
    : parts_(parts), purpose_(purpose), actions_(actions_of(purpose)) {
  const int rank = parts.group->rank();
  const auto& rank_of_stage = parts.options.schedule.rank_of_stage;
  try {
    if (rank_of_stage.front() == rank) {
      if (inputs.empty()) invalid("the first stage's rank gives the inputs");
      rows_ = cut(inputs, "inputs", &inputs_);
    }
    if (rank_of_stage.back() == rank && purpose != Purpose::kOutputs) target_rows_ = cut(targets, "targets", &targets_);
  } catch (const std::exception& error) {
    failure_ = std::make_shared<const Error>(
        code_of(error), "pipeline, rank " + std::to_string(parts.everyone().rank()) + ": " + plain(error));
  }
}

std::int64_t PipelinePass::cut(const Tensors& batch, const char* what, std::vector<Tensors>* pieces) {
  const int count = parts_.options.schedule.micro_batches;
  pieces->resize(count);
  std::int64_t rows = -1;
  for (const at::Tensor& tensor : batch) {
    if (!tensor.defined() || tensor.dim() == 0) invalid(std::string(what) + " must be tensors with rows, one a sample");
    if (purpose_ == Purpose::kTrain && tensor.grad_fn()) {  // one backward a micro-batch would want its graph each time
      invalid(std::string(what) + " are results of operations that keep a graph; detach() them, for a pipeline takes no "
              "gradient further than the first stage");
    }
    if (rows >= 0 && tensor.size(0) != rows) {
      invalid(std::string(what) + " have " + std::to_string(rows) + " and " + std::to_string(tensor.size(0)) +
              " rows; give as many of each");
    }
    rows = tensor.size(0);
    if (rows < count) {
      invalid(std::string(what) + " of " + std::to_string(rows) + " rows do not divide into " + std::to_string(count) +
              " micro-batches; give a larger batch, or make a pipeline with fewer micro-batches");
    }
    const auto parts = tensor.tensor_split(count, 0);
    for (int i = 0; i < count; ++i) (*pieces)[i].push_back(parts[i]);
  }
  return rows;
}

std::vector<PipelineAction> PipelinePass::actions_of(Purpose purpose) const {
  std::vector<PipelineAction> actions;
  for (const PipelineAction& action : parts_.actions()) {
    if (purpose == Purpose::kTrain || action.kind == Kind::kForward) actions.push_back(action);
  }
  return actions;
}

DataParallelReducer* PipelinePass::reducer_of(int stage) const {
  const auto found = parts_.reducers.find(stage);
  return purpose_ == Purpose::kTrain && found != parts_.reducers.end() ? found->second.get() : nullptr;
}

void PipelinePass::run() {
  const at::AutoGradMode grad(purpose_ == Purpose::kTrain);
  if (purpose_ == Purpose::kOutputs) outputs_.resize(parts_.options.schedule.micro_batches);
  messenger_.emplace(parts_, actions_);
  for (const PipelineAction& action : actions_) {
    StageMessage message;
    if (const auto source = source_of(action, parts_.options.schedule.stages())) message = messenger_->take(*source);
    if (!failure_) failure_ = message.failure;
    const auto begun = Clock::now();
    is_sent_ = false;
    StageMessage result;
    if (!failure_) {
      const std::string inputs = shapes(message.tensors);
      try {
        if (action.kind == Kind::kForward) {
          result = forward(action, std::move(message));
        } else {
          backward(action, std::move(message));
        }
      } catch (const std::exception& error) {
        std::string text = "pipeline: " + describe(action) + " (rank " +
                           std::to_string(parts_.everyone().rank()) + ") failed: " + plain(error);
        if (const auto source = source_of(action, parts_.options.schedule.stages())) {
          text += "\nIt was given " + inputs + " by " + parts_.name_of(source->stage);
        }
        failure_ = std::make_shared<const Error>(code_of(error), text);
      }
      trace(action, begun);
    }
    if (failure_) {
      result.failure = failure_;
      // This rank will not exchange gradients, for which those of its replicas would wait.
      if (purpose_ == Purpose::kTrain && parts_.options.replicas) parts_.options.replicas->abort();
    }
    if (!is_sent_) messenger_->send(action, std::move(result));
    // The stage after has what this one sent it forward, since its gradients are here.
    if (action.kind == Kind::kBackward) messenger_->settle({Kind::kForward, action.stage, action.micro_batch});
  }
  if (purpose_ == Purpose::kOutputs && !failure_) {
    try {
      join_outputs();
    } catch (const std::exception& error) {
      const std::string where = "pipeline, rank " + std::to_string(parts_.everyone().rank()) + ": ";
      failure_ = std::make_shared<const Error>(code_of(error),
                                               where + "outputs of micro-batches do not join: " + plain(error));
    }
  }
  messenger_->finish();
}

void PipelinePass::join_outputs() {
  for (std::size_t i = 0; i < outputs_.front().size(); ++i) {
    Tensors pieces;
    for (const Tensors& outputs : outputs_) {
      if (outputs.size() != outputs_.front().size()) {
        invalid("one gives " + std::to_string(outputs_.front().size()) + " tensors, another " +
                std::to_string(outputs.size()));
      }
      pieces.push_back(outputs[i]);
    }
    joined_.push_back(at::cat(pieces));
  }
}

at::Tensor PipelinePass::loss_of(const Tensors& outputs, int micro_batch, const StageMessage& message) {
  // Others would be cut at other rows than the inputs.
  if (!targets_[micro_batch].empty() && target_rows_ != message.batch_rows) {
    invalid("targets have " + std::to_string(target_rows_) + " rows, the inputs " + std::to_string(message.batch_rows) +
            "; give as many of each, one a sample");
  }
  const at::Tensor loss = parts_.options.loss(outputs, targets_[micro_batch]);
  if (!loss.defined() || loss.numel() != 1) invalid("the loss of a micro-batch is one number, not " + shapes({loss}));
  const double weight = static_cast<double>(message.rows) / static_cast<double>(message.batch_rows);
  const at::Tensor scaled = parts_.options.average_losses ? loss * weight : loss;
  loss_ += scaled.item<double>();
  return scaled;
}

StageMessage PipelinePass::forward(const PipelineAction& action, StageMessage message) {
  const int i = action.micro_batch;
  const PipelineStage& stage = parts_.stage(action.stage);
  Saved saved;
  StageMessage result;
  if (action.stage == 0) {
    message.tensors = inputs_[i];
    message.rows = inputs_[i].front().size(0);
    message.batch_rows = rows_;
  } else {
    for (std::size_t k = 0; k < message.tensors.size(); ++k) {
      at::Tensor& tensor = message.tensors[k];
      if (!tensor.defined()) continue;
      if (tensor.device() != parts_.options.device) tensor = tensor.to(parts_.options.device);
      if (purpose_ != Purpose::kTrain || !message.requires_grad[k]) continue;
      tensor = tensor.detach().requires_grad_(true);
      saved.inputs.push_back(tensor);
      tensor = result_of(tensor);
    }
  }
  result.rows = message.rows;
  result.batch_rows = message.batch_rows;
  DataParallelReducer* const reducer = reducer_of(action.stage);
  if (reducer) {
    reducer->set_require_backward_grad_sync(false);
    reducer->prepare_forward(/*training=*/true);
  }
  Tensors outputs = stage.forward(message.tensors);
  if (reducer) reducer->prepare_backward(outputs);
  if (is_last(action.stage)) {
    if (purpose_ == Purpose::kOutputs) {
      outputs_[i] = std::move(outputs);
    } else {
      saved.outputs = {loss_of(outputs, i, message)};
    }
  } else {
    for (const at::Tensor& output : outputs) {
      result.tensors.push_back(output.defined() ? output.detach() : output);
      result.requires_grad.push_back(output.defined() && output.requires_grad());
      if (result.requires_grad.back()) saved.outputs.push_back(output);
    }
  }
  try {
    make_ready(result);
  } catch (const Error& error) {
    throw Error(error.code(), "at the cut to " + parts_.name_of(action.stage + 1) + ": " + error.what());
  }
  if (purpose_ == Purpose::kTrain) saved_[{action.stage, i}] = std::move(saved);
  return result;
}

void PipelinePass::backward(const PipelineAction& action, StageMessage message) {
  Saved saved = std::move(saved_.extract({action.stage, action.micro_batch}).mapped());
  Tensors roots, gradients;
  if (is_last(action.stage)) {
    if (saved.outputs[0].requires_grad()) roots = saved.outputs;
  } else {
    if (message.tensors.size() != saved.outputs.size()) {
      invalid("stage " + std::to_string(action.stage + 1) + " gives " + std::to_string(message.tensors.size()) +
              " gradients for " + std::to_string(saved.outputs.size()) + " tensors");
    }
    for (std::size_t i = 0; i < saved.outputs.size(); ++i) {
      if (!message.tensors[i].defined()) continue;
      roots.push_back(saved.outputs[i]);
      gradients.push_back(message.tensors[i].to(saved.outputs[i].device()));
    }
  }
  DataParallelReducer* const reducer = reducer_of(action.stage);
  const bool is_last_one = ++backwards_[action.stage] == parts_.options.schedule.micro_batches;
  if (is_last_one && reducer) {
    if (roots.empty()) invalid("no gradient comes to this stage, so that its replicas would wait for its gradients");
    reducer->set_require_backward_grad_sync(true);
    reducer->prepare_forward(/*training=*/true);
    reducer->prepare_backward(roots);
  }
  // Each input's gradient is complete when its hook runs; with the last one all leave, before buckets are waited for.
  StageMessage result;
  result.tensors.resize(saved.inputs.size());
  std::size_t missing = saved.inputs.size();
  const auto send = [&] {
    make_ready(result);
    is_sent_ = true;
    messenger_->send(action, std::move(result));
  };
  HooksUntil hooks(saved.inputs);
  for (std::size_t i = 0; i < saved.inputs.size(); ++i) {
    hooks.add(i, [&, i](const at::Tensor& gradient) {
      if (!result.tensors[i].defined() && gradient.defined()) {
        result.tensors[i] = gradient;
        if (--missing == 0) send();
      }
      return gradient;
    });
  }
  saved.outputs.clear();
  if (!roots.empty()) torch::autograd::backward(roots, gradients);
  if (!is_sent_) send();
  if (!is_last_one) return;
  parts_.tied->check_gradients();
  if (!reducer) return;
  // Without an exchange this only looks whether the one that was had all gradients.
  reducer->set_require_backward_grad_sync(false);
  reducer->prepare_forward(/*training=*/false);
}

void PipelinePass::trace(const PipelineAction& action, Clock::time_point begun) const {
  TraceRecorder& recorder = TraceRecorder::instance();
  if (!recorder.on()) return;
  const std::string stage = std::to_string(action.stage), micro_batch = std::to_string(action.micro_batch);
  recorder.span(kFirstTrack + action.stage, "pipeline stage " + stage,
                (action.kind == Kind::kForward ? "forward " : "backward ") + micro_batch, begun, Clock::now(),
                "\"step\": " + std::to_string(parts_.passes) + ", \"stage\": " + stage +
                    ", \"micro_batch\": " + micro_batch);
}

}  // namespace tandem
