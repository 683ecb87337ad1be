#include "pipeline/tied_parameters.h"

#include <algorithm>
#include <map>
#include <set>

namespace tandem {

TiedParameters::TiedParameters(ProcessGroup& group, const PipelineSchedule& schedule,
                               const std::vector<std::vector<std::string>>& names_of_stages,
                               const std::vector<PipelineStage>& stages) {
  std::map<std::string, std::vector<int>> ranks_of;  // in order of stages
  for (std::size_t stage = 0; stage < names_of_stages.size(); ++stage) {
    for (const std::string& name : names_of_stages[stage]) {
      auto& ranks = ranks_of[name];
      const int rank = schedule.rank_of_stage[stage];
      if (std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(rank);
    }
  }
  std::map<std::vector<int>, std::shared_ptr<ProcessGroup>> groups;
  for (const auto& [name, ranks] : ranks_of) {
    if (ranks.size() > 1 && !groups.contains(ranks)) groups[ranks] = group.new_group(ranks);
  }
  for (const auto& [name, ranks] : ranks_of) {
    Tied one;
    one.name = name;
    for (const PipelineStage& stage : stages) {
      if (std::ranges::find(stage.tied, name) == stage.tied.end()) continue;
      for (const NamedTensors* tensors : {&stage.parameters, &stage.buffers}) {
        for (const auto& [own_name, tensor] : *tensors) {
          const bool known = std::ranges::any_of(one.own, [&](const at::Tensor& other) { return other.is_same(tensor); });
          if (own_name == name && !known) one.own.push_back(tensor);
        }
      }
    }
    if (one.own.empty()) continue;
    if (ranks.size() > 1) one.group = groups[ranks];
    const at::NoGradGuard no_grad;
    if (one.group) {
      const at::Tensor value = one.own.front().detach().contiguous();
      one.group->broadcast(value, 0);  // the lowest stage's rank is the first of `ranks`
      one.own.front().copy_(value);
    }
    for (std::size_t i = 1; i < one.own.size(); ++i) one.own[i].copy_(one.own.front());
    one.trains = one.own.front().requires_grad();
    tied_.push_back(std::move(one));
  }
}

void TiedParameters::begin_pass() {
  const at::NoGradGuard no_grad;
  for (Tied& one : tied_) {
    one.before.clear();
    for (at::Tensor& tensor : one.own) {
      const at::Tensor gradient = tensor.grad();
      one.before.push_back(gradient.defined() ? gradient.clone() : gradient);
      if (!gradient.defined()) continue;
      if (gradient.layout() == at::kStrided) {
        tensor.mutable_grad().zero_();  // it may be a view of a bucket
      } else {
        tensor.mutable_grad().reset();
      }
    }
  }
}

void TiedParameters::end_pass() {
  const at::NoGradGuard no_grad;
  for (Tied& one : tied_) {
    for (std::size_t i = 0; i < one.before.size(); ++i) {
      if (!one.before[i].defined()) continue;
      if (one.own[i].grad().defined()) {
        one.own[i].mutable_grad().add_(one.before[i]);
      } else {
        one.own[i].mutable_grad() = one.before[i];
      }
    }
    one.before.clear();
  }
}

void TiedParameters::check_gradients() const {
  for (const Tied& one : tied_) {
    for (const at::Tensor& tensor : one.own) {
      if (!tensor.grad().defined() || tensor.grad().layout() == at::kStrided) continue;
      throw Error(ErrorCode::kUnsupported, "the tied parameter '" + one.name +
                                               "' has a sparse gradient; make the embedding without sparse gradients");
    }
  }
}

void TiedParameters::abort() {
  for (const Tied& one : tied_) {
    if (one.group) one.group->abort();
  }
}

void TiedParameters::sum_gradients() {
  const at::NoGradGuard no_grad;
  for (Tied& one : tied_) {
    if (!one.trains) continue;
    at::Tensor sum;
    for (const at::Tensor& tensor : one.own) {
      if (!tensor.grad().defined()) continue;
      const at::Tensor gradient = tensor.grad();
      sum = sum.defined() ? sum + gradient : gradient.clone(at::MemoryFormat::Contiguous);
    }
    if (!sum.defined()) sum = at::zeros_like(one.own.front(), at::MemoryFormat::Contiguous);
    try {
      if (one.group) one.group->all_reduce(sum);
    } catch (const Error& error) {
      throw Error(error.code(), "pipeline: summing the gradients of the tied parameter '" + one.name + "': " + error.what());
    }
    for (at::Tensor& tensor : one.own) {
      if (tensor.grad().defined()) {
        tensor.mutable_grad().copy_(sum);  // it may be a view of a bucket
      } else {
        tensor.mutable_grad() = sum.clone();
      }
    }
  }
}

}  // namespace tandem
