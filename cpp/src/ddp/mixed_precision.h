// Parameters that a module computes with in a smaller dtype from forward to the end of backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace tandem {

// The module's tensors themselves change their data, for nobody else can be told to use other ones: to a copy of the
// smaller dtype at lower(), and back at restore(). Gradients are kept in the parameters' own dtype.
class LoweredParameters {
 public:
  // `all`: what is cast. `trained`: those of them that require a gradient, as the reducer numbers them. `on_gradient`
  // takes such a number once its gradient is there.
  LoweredParameters(at::ScalarType dtype, std::vector<at::Tensor> all, std::vector<at::Tensor> trained,
                    std::function<void(std::size_t)> on_gradient);
  ~LoweredParameters();
  LoweredParameters(const LoweredParameters&) = delete;
  LoweredParameters& operator=(const LoweredParameters&) = delete;

  bool lowered() const;
  // Does nothing while lowered.
  void lower();
  void restore();
  // Some of them already, within backward, once it has passed them: their data of full size, until the next lower().
  void restore(const std::vector<at::Tensor>& some);

 private:
  struct Parts;
  const std::shared_ptr<Parts> parts_;
};

// Casts buffers of floating point for good.
void cast_buffers(const std::vector<at::Tensor>& buffers, at::ScalarType dtype);

}  // namespace tandem
