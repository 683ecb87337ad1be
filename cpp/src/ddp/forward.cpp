// A forward of DataParallelReducer, up to where backward comes back to its outputs.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

#include "comm/shared_tensors.h"
#include "ddp/parameters.h"
#include "ddp/parts.h"
#include "ddp/timed_backend.h"
#include "tandem/error.h"
#include "tandem/resident.h"

namespace tandem {
namespace {

// All outputs through one node: a gradient for one of them is a gradient (undefined) for all, so that parameters that
// only lead to the others are reported to the reducer as unused.
struct Sink : torch::autograd::Function<Sink> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context, at::TensorList inputs) {
    context->set_materialize_grads(false);
    return inputs.vec();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return gradients;
  }
};

void check_samples(std::int64_t samples) {
  if (samples >= 0) return;
  throw Error(ErrorCode::kInvalidArgument, "a batch has " + std::to_string(samples) + " samples; give 0 or more");
}

}  // namespace

void DataParallelReducer::Parts::rebuild_buckets() {
  if (rebuilt || !reducer->should_rebuild_buckets()) return;
  const SharedTensors buckets(*group);
  if (places) places->forget();
  rebuilt = reducer->rebuild_buckets();
}

// In the buckets that will stay.
void DataParallelReducer::Parts::find_places() {
  if (!places || places->known() || reducer->should_rebuild_buckets()) return;
  std::vector<at::Tensor> views(trained.size());
  for (const c10d::GradBucket& bucket : buckets()) {
    const std::vector<at::Tensor> parameters = bucket.getParameters();
    const at::Tensor buffer = bucket.getBuffer();
    if (!buffer.defined() || buffer.layout() != at::kStrided) continue;
    const std::vector<at::Tensor> gradients = gradients_of(bucket);
    for (std::size_t i = 0; i < parameters.size(); ++i) views[number_of(parameters[i])] = gradients[i];
  }
  places->set(std::move(views));
}

int DataParallelReducer::Parts::count_averaged(RollCall& call) const {
  const bool over_present = joins && !join.divide_by_initial_world_size && !options.average_by_samples;
  return over_present ? call.present() : group->size();
}

bool DataParallelReducer::Parts::sends_buffers(bool training) const {
  return training && require_forward_sync && options.broadcast_buffers && !buffers.empty() && !pass->pending;
}

void DataParallelReducer::Parts::call_roll(bool training) {
  roll.reset();
  const bool grad = at::GradMode::is_enabled();
  if (grad && require_backward_sync && !pass->pending) average_over(group->size());
  if (!joins && !options.average_by_samples) return;
  Announcement mine;
  mine.present = true;
  mine.sends_buffers = sends_buffers(training);
  mine.synchronizes = grad && require_backward_sync && !pass->pending;
  mine.first_of_static = first_of_static;
  mine.samples = samples;
  const bool counts = options.average_by_samples && grad;
  if (!mine.sends_buffers && !mine.synchronizes && !counts) return;
  if (joins && counts && pass->pending) {
    // Ranks that are out of inputs take part in the backward that follows a forward at once.
    throw Error(ErrorCode::kUnsupported,
                "average_by_samples in a join takes one forward before each backward; call backward after each "
                "forward, in no_sync() after all but the last");
  }
  roll = std::make_shared<RollCall>(*group, mine, device());
  if (!joins) return;
  const int present = roll->present();
  if (join.throw_on_early_termination && present < group->size()) {
    throw Error(ErrorCode::kAborted, "a rank is out of inputs, and join was told to end all ranks then");
  }
  if (mine.synchronizes) average_over(count_averaged(*roll));
}

// The reducer divides by what it was told last, until it is told otherwise.
void DataParallelReducer::Parts::average_over(int ranks) {
  if (averaged_over == ranks) return;
  averaged_over = ranks;
  if (averages_itself) return;
  auto count = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  count->markCompleted(c10::IValue(std::vector<at::Tensor>{at::tensor(ranks)}));
  reducer->set_forward_pass_work_handle(c10d::Work::create_from_future(count), /*useStaticWorldSize=*/false);
}

// What would have ranks drift apart without a word.
void DataParallelReducer::Parts::check_before_forward() {
  check_finished();
  for (const auto& [tensor, name] : frozen) {
    if (!tensor.requires_grad()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                called(name) +
                    " requires a gradient now, but did not when DistributedDataParallel was made, which therefore does "
                    "not exchange it; make a new DistributedDataParallel after requires_grad has changed, or name the "
                    "parameter in parameters_to_ignore");
  }
  for (std::size_t i = 0; i < trained.size(); ++i) {
    if (trained[i].device() == devices[i]) continue;
    throw Error(ErrorCode::kInvalidArgument,
                called(trained_names[i]) + " is on " + trained[i].device().str() + " now, but was on " +
                    devices[i].str() +
                    " when DistributedDataParallel was made, whose buckets stay there; move modules before, or make a new "
                    "DistributedDataParallel");
  }
  if (first_of_static && bypassed) {
    throw Error(ErrorCode::kInvalidArgument,
                "with static_graph, the first backward came to parameters without coming from what forward returned, "
                "so that gradients were not exchanged; compute the loss from forward's outputs");
  }
}

void DataParallelReducer::set_batch_samples(std::optional<std::int64_t> samples) {
  if (samples) check_samples(*samples);
  parts_->batch_samples = samples;
}

void DataParallelReducer::prepare_forward(bool training, std::int64_t samples) {
  Parts& parts = *parts_;
  if (parts.batch_samples) samples = *parts.batch_samples;
  check_samples(samples);
  parts.samples = samples;
  if (!parts.options.static_graph) parts.shadowed_usage.reset();  // of this iteration only
  const bool grad = at::GradMode::is_enabled();
  if (parts.places) parts.places->close();  // a backward that failed has not
  if (parts.static_begun && *parts.static_begun) {
    parts.first_of_static = false;
    parts.static_begun.reset();
  }
  if (grad && !parts.refused) parts.check_before_forward();
  if (parts.iterations > 1) first_iterations_are_over();  // the second planned buckets
  // Gradients that were summed up without an exchange wait in the reducer, which is not to be changed then.
  const bool is_between = parts.require_forward_sync && !parts.pass->pending && !parts.refused;
  if (parts.trial_options && grad && is_between) parts.advance_trial();
  const bool times = parts.timer && grad && parts.require_backward_sync;
  if (times) parts.timer->begin_forward(/*continues=*/parts.pass->pending && !parts.refused);
  if (std::exchange(parts.refused, false)) {
    // The reducer expects gradients still, also those of a backward in no_sync. After its own reset it would say of
    // buckets what they were made of before. A new one makes buckets for parameters and gradients as it finds them.
    if (parts.lowered) parts.lowered->restore();
    for (const at::Tensor& parameter : parts.trained) {
      at::Tensor& gradient = parameter.mutable_grad();
      if (gradient.defined() && gradient.requires_grad()) gradient = gradient.detach();
    }
    parts.make_reducer_anew();
    parts.pass->pending = false;
    if (parts.in_backward) parts.in_backward->forget();
    if (parts.weights) parts.weights->forget();
  }
  if (grad && parts.first_of_static) {
    if (parts.require_backward_sync && parts.accumulated_first) parts.make_reducer();
    parts.accumulated_first = !parts.require_backward_sync;
  }
  if (grad) parts.set_hook();
  if (grad && parts.require_backward_sync) {
    // A static graph's first iteration lasts until its backward, however many forwards come before.
    if (!parts.first_of_static || !std::exchange(parts.static_prepared, true)) {
      if (!parts.is_multi_device) parts.logger->set_runtime_stats_and_log();  // it would warn that it cannot
      parts.reducer->prepare_for_forward();
    }
    parts.bypassed = false;
  }
  parts.call_roll(training);
  // Together with ranks that are out of inputs, which a forward without an exchange tells nothing.
  if (grad && parts.require_backward_sync) {
    parts.rebuild_buckets();
    parts.find_places();
  }
  if (parts.sends_buffers(training)) {
    parts.broadcast(parts.buffers, parts.joins ? parts.roll->lowest_present() : 0);
  }
  if (times) parts.timer->forward_exchanged();
  if (!parts.lowered) return;
  if (parts.lowered->lowered() && !parts.pass->pending) parts.lowered->restore();  // the last forward had no backward
  parts.lowered->lower();
}

// Has the backward that comes to `output` begin as it must; gives what to use instead of it.
at::Tensor DataParallelReducer::Parts::watch_output(const at::Tensor& output) {
  // A hook on a leaf would stay for ever.
  const at::Tensor watched = output.is_leaf() ? output.view_as(output) : output;
  if (first_of_static && require_backward_sync && !static_begun) {
    static_begun = std::make_shared<std::atomic<bool>>(false);
  }
  watched.register_hook([pass = pass, times = require_backward_sync ? timer : nullptr,
                         begun = require_backward_sync ? static_begun : nullptr,
                         places = require_backward_sync ? places : nullptr,
                         weak = std::weak_ptr<c10d::Reducer>(reducer), weights = weights,
                         roll = roll](const at::Tensor& gradient) {
    if (pass->pending.exchange(false)) {
      if (times) times->begin_backward();
      if (places) {
        places->open();
        torch::autograd::Engine::get_default_engine().queue_callback([places] { places->close(); });
      }
      const std::lock_guard<std::mutex> lock(pass->mutex);
      pass->outputs.clear();
    }
    if (begun && !begun->exchange(true)) {
      torch::autograd::Engine::get_default_engine().queue_callback([weak] {
        const ExchangesAtOnce waited_for;
        if (const auto alive = weak.lock()) alive->delay_all_reduce();
      });
    }
    if (weights && roll && gradient.defined()) weights->begin(roll);
    return gradient;
  });
  return watched;
}

void DataParallelReducer::cancel_forward() {
  if (parts_->lowered && !parts_->pass->pending) parts_->lowered->restore();
}

void DataParallelReducer::prepare_backward(std::vector<at::Tensor>& outputs) {
  Parts& parts = *parts_;
  const bool grad = at::GradMode::is_enabled();
  if (parts.timer && grad && parts.require_backward_sync) parts.timer->end_forward();
  const bool nothing =
      std::none_of(outputs.begin(), outputs.end(), [](const at::Tensor& one) { return one.defined(); });
  const auto may_train = [](const at::Tensor& one) {
    return one.defined() && torch::autograd::isDifferentiableType(one.scalar_type());
  };
  if (!grad || std::none_of(outputs.begin(), outputs.end(), may_train)) cancel_forward();  // no backward follows
  if (grad && nothing) {
    throw Error(ErrorCode::kInvalidArgument,
                "forward gave no tensor, so no gradient can come back through it; return the tensors that the loss is "
                "computed from, or the loss, or switch gradients off where nothing is trained");
  }
  if (grad) {  // what one rank evaluates alone changes nothing that ranks do together
    parts.require_forward_sync = parts.require_backward_sync;
    parts.armed = parts.require_backward_sync;
  }
  if (!grad || (!parts.require_backward_sync && !parts.options.average_by_samples)) return;
  if (parts.weights && parts.roll) parts.weights->expect(parts.roll);

  for (at::Tensor& output : outputs) {
    if (output.defined() && output.requires_grad()) output = parts.watch_output(output);
  }
  if (!parts.require_backward_sync) return;
  const bool search = parts.options.find_unused_parameters && !parts.options.static_graph;
  std::vector<at::Tensor> searched;
  {
    const std::lock_guard<std::mutex> lock(parts.pass->mutex);
    for (const at::Tensor& output : outputs) {
      if (!output.defined() || !output.grad_fn()) continue;
      parts.pass->pending = true;
      if (!search) continue;
      parts.pass->outputs.emplace_back(WeakNodePointer(output.grad_fn()), output.output_nr());
    }
    // Of the forwards before this one that wait for the same backward, too.
    for (const auto& [weak, number] : parts.pass->outputs) {
      const NodePointer node = weak.lock();
      if (!node) continue;
      searched.push_back(at::empty({0}));
      torch::autograd::impl::set_gradient_edge(searched.back(), torch::autograd::Edge(node, number));
    }
  }
  ++parts.iterations;
  parts.reducer->prepare_for_backward(searched);
  if (!search) return;

  std::vector<std::size_t> places;
  torch::autograd::variable_list through;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].grad_fn()) continue;
    places.push_back(i);
    through.push_back(outputs[i]);
  }
  if (through.size() < 2) return;  // a single output is what the loss comes from
  through = Sink::apply(at::TensorList(through));
  for (std::size_t i = 0; i < places.size(); ++i) outputs[places[i]] = through[i];
}

}  // namespace tandem
