#include "tandem/activation_checkpoint.h"

#include <torch/csrc/autograd/saved_variable.h>

#include <mutex>
#include <sstream>

#include "nn/forward_state.h"
#include "nn/saved_tensor_hooks.h"
#include "tandem/error.h"

namespace tandem::nn {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::SavedVariableHooks;

// How a tensor looks, to find out whether the second run saves what the first did.
struct Looks {
  explicit Looks(const at::Tensor& tensor)
      : sizes(tensor.sizes().vec()), dtype(tensor.scalar_type()), device(tensor.device()) {}
  bool operator==(const Looks& other) const {
    return sizes == other.sizes && dtype == other.dtype && device == other.device;
  }
  std::string text() const {
    std::ostringstream text;
    text << dtype << " of sizes " << at::IntArrayRef(sizes) << " on " << device;
    return text.str();
  }

  std::vector<std::int64_t> sizes;
  at::ScalarType dtype;
  at::Device device;
};

// The place of a tensor that an operator saved. Owned by the operator's node.
struct Place {
  explicit Place(const at::Tensor& tensor) : looks(tensor) {}

  Looks looks;
  at::Tensor tensor;  // from when the function ran again until it is used
};

// In the second run: keeps each tensor for the one node that is made then, and in a list.
class Collecting final : public SavedTensorHooks {
 public:
  std::vector<at::Tensor> tensors;

  std::unique_ptr<SavedVariableHooks> make() override { return std::make_unique<Hooks>(*this); }

 private:
  struct Hooks final : SavedVariableHooks {
    explicit Hooks(Collecting& all) : all_(all) {}
    void call_pack_hook(const at::Tensor& tensor) override {
      tensor_ = tensor.detach();
      all_.tensors.push_back(tensor_);
    }
    at::Tensor call_unpack_hook() override { return tensor_; }

    Collecting& all_;
    at::Tensor tensor_;
  };
};

// One call of a checkpointed function, alive for as long as a node needs something of it.
class Frame {
 public:
  Frame(ActivationCheckpoint::Function function, const std::vector<at::Tensor>& inputs, bool random)
      : function_(std::move(function)), state_(inputs, random) {
    for (const auto& input : inputs) inputs_.emplace_back(input, false);
  }

  std::shared_ptr<Place> add(const at::Tensor& tensor) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    auto place = std::make_shared<Place>(tensor);
    places_.push_back(place);
    return place;
  }

  at::Tensor take(Place& place) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (!place.tensor.defined()) run_again();
    return std::exchange(place.tensor, at::Tensor());
  }

 private:
  void run_again() {
    if (running_) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a checkpointed function ran backward through its own first run while it was computed again");
    }
    running_ = true;
    const std::unique_ptr<bool, void (*)(bool*)> end(&running_, [](bool* running) { *running = false; });
    Collecting collecting;
    {
      const ForwardState::Again again(state_);
      function_(fresh_inputs());
    }
    compare(collecting.tensors);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (const auto place = places_[i].lock()) place->tensor = collecting.tensors[i];
    }
  }

  // Cut off from what came before: the second run has a graph of its own, which goes when it ends.
  std::vector<at::Tensor> fresh_inputs() const {
    std::vector<at::Tensor> fresh;
    for (const auto& input : inputs_) {
      const at::Tensor tensor = input.unpack();
      fresh.push_back(tensor.defined() ? tensor.detach().set_requires_grad(tensor.requires_grad()) : tensor);
    }
    return fresh;
  }

  void compare(const std::vector<at::Tensor>& tensors) const {
    std::string difference;
    if (tensors.size() != places_.size()) {
      difference = std::to_string(tensors.size()) + " tensors instead of " + std::to_string(places_.size());
    }
    for (std::size_t i = 0; difference.empty() && i < tensors.size(); ++i) {
      const auto place = places_[i].lock();
      if (!place || place->looks == Looks(tensors[i])) continue;
      difference = "as number " + std::to_string(i) + " a tensor that is " + Looks(tensors[i]).text() + " instead of " +
                   place->looks.text();
    }
    if (difference.empty()) return;
    throw Error(ErrorCode::kInvalidArgument, "a checkpointed function saved " + difference +
                                                 " when it was computed again; it must compute the same each time");
  }

  const ActivationCheckpoint::Function function_;
  const ForwardState state_;
  std::vector<SavedVariable> inputs_;
  std::recursive_mutex mutex_;
  std::vector<std::weak_ptr<Place>> places_;
  bool running_ = false;
};

}  // namespace

// In the first run: keeps nothing but places.
class ActivationCheckpoint::Forward final : public SavedTensorHooks {
 public:
  explicit Forward(std::shared_ptr<Frame> frame) : frame_(std::move(frame)) {}

  std::unique_ptr<SavedVariableHooks> make() override { return std::make_unique<Hooks>(frame_); }

 private:
  struct Hooks final : SavedVariableHooks {
    explicit Hooks(std::shared_ptr<Frame> frame) : frame_(std::move(frame)) {}
    void call_pack_hook(const at::Tensor& tensor) override { place_ = frame_->add(tensor); }
    at::Tensor call_unpack_hook() override { return frame_->take(*place_); }

    std::shared_ptr<Frame> frame_;
    std::shared_ptr<Place> place_;
  };

  std::shared_ptr<Frame> frame_;
};

// The frame first: its inputs are saved for whoever is around.
ActivationCheckpoint::ActivationCheckpoint(Function function, const std::vector<at::Tensor>& inputs,
                                           bool preserve_random)
    : forward_(std::make_unique<Forward>(std::make_shared<Frame>(std::move(function), inputs, preserve_random))) {}

ActivationCheckpoint::~ActivationCheckpoint() = default;

}  // namespace tandem::nn
