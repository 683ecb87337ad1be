#include "ddp/gradients/places.h"

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <unordered_map>
#include <utility>

#include "ddp/gradients/products.h"

namespace tandem {
namespace {

// Of all reducers of the process.
struct Registry {
  struct Entry {
    GradientPlaces* owner;
    std::weak_ptr<GradientPlaces> places;
    std::size_t number;
  };
  std::mutex mutex;
  std::unordered_map<const at::TensorImpl*, Entry> entries;
  std::atomic<std::size_t> size{0};  // read without the mutex by every product of matrices
};

Registry& registry() {
  static auto* const all = new Registry;  // tensors may be used until the process ends
  return *all;
}

// After a gradient was accumulated: the reducer's, and that of DataParallelReducer before it.
constexpr std::size_t kOwnHooks = 2;

// LibTorch's own; a function of a program's has another name at its end.
bool is_transposition(const torch::autograd::Node& node) {
  const std::string name = node.name();
  return name == "TBackward0" || name == "TransposeBackward0" || name == "PermuteBackward0";
}

bool has_hooks(torch::autograd::Node& node) {
  return !node.pre_hooks().empty() || !node.tensor_pre_hooks().empty() || !node.retains_grad_hooks().empty();
}

// Whether what `node` gives through `edge` comes to the parameter, as it is or transposed, without anybody seeing it on
// its way, who might keep what the exchange then overwrites.
bool only_comes_to(const at::Tensor& parameter, torch::autograd::Node& node, std::size_t edge) {
  if (!node.post_hooks().empty() || torch::autograd::impl::post_acc_grad_hooks(parameter)) return false;
  auto* next = node.next_edge(edge).function.get();
  if (next && is_transposition(*next)) {
    if (has_hooks(*next) || !next->post_hooks().empty()) return false;
    next = next->next_edge(0).function.get();
  }
  auto* const end = dynamic_cast<torch::autograd::AccumulateGrad*>(next);
  return end && end->variable.is_same(parameter) && !has_hooks(*end) && end->post_hooks().size() <= kOwnHooks;
}

}  // namespace

GradientPlaces::GradientPlaces(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {
  for (const at::Tensor& parameter : parameters_) may_have_one_.push_back(parameter.is_contiguous());
}

std::shared_ptr<GradientPlaces> GradientPlaces::make(std::vector<at::Tensor> parameters) {
  register_products();
  std::shared_ptr<GradientPlaces> places(new GradientPlaces(std::move(parameters)));
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (std::size_t i = 0; i < places->parameters_.size(); ++i) {
    all.entries[places->parameters_[i].unsafeGetTensorImpl()] = {places.get(), places, i};
  }
  all.size = all.entries.size();
  return places;
}

GradientPlaces::~GradientPlaces() {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (const at::Tensor& parameter : parameters_) {
    const auto found = all.entries.find(parameter.unsafeGetTensorImpl());
    if (found != all.entries.end() && found->second.owner == this) all.entries.erase(found);
  }
  all.size = all.entries.size();
}

bool GradientPlaces::known() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !views_.empty();
}

void GradientPlaces::set(std::vector<at::Tensor> views) {
  const std::lock_guard<std::mutex> lock(mutex_);
  views_ = std::move(views);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (!may_have_one_[i]) views_[i].reset();
  }
  taken_.assign(views_.size(), 0);
}

void GradientPlaces::forget() {
  set({});
  close();
}

void GradientPlaces::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::fill(taken_.begin(), taken_.end(), 0);
  open_ = true;
  backward_ = torch::autograd::get_current_graph_task_id();
}

void GradientPlaces::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  open_ = false;
}

at::Tensor GradientPlaces::take(std::size_t number, std::size_t edge) {
  const auto* const named = torch::autograd::get_current_graph_task_exec_info();
  const auto node = torch::autograd::get_current_node();
  const at::Tensor& parameter = parameters_[number];
  if (!named || !named->empty() || !node || parameter.grad().defined()) return {};
  if (!only_comes_to(parameter, *node, edge)) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!open_ || torch::autograd::get_current_graph_task_id() != backward_) return {};
  if (number >= views_.size() || !views_[number].defined()) return {};
  const at::Tensor& view = views_[number];
  const bool fits = view.sizes() == parameter.sizes() && view.scalar_type() == parameter.scalar_type() &&
                    parameter.is_contiguous() && view.is_contiguous();
  if (!fits || std::exchange(taken_[number], 1)) return {};
  return view.detach();  // a tensor of its own, which the parameter may take for its gradient
}

std::optional<GradientPlace> GradientPlace::of(const at::Tensor& parameter) {
  Registry& all = registry();
  if (all.size == 0) return std::nullopt;
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.entries.find(parameter.unsafeGetTensorImpl());
  if (found == all.entries.end()) return std::nullopt;
  std::shared_ptr<GradientPlaces> places = found->second.places.lock();
  if (!places) return std::nullopt;
  return GradientPlace{std::move(places), found->second.number};
}

}  // namespace tandem
