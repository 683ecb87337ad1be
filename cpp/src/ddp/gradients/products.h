// Products of matrices whose weight's gradient is written where it is exchanged.
#pragma once

namespace tandem {

// From now on, on CPUs, at::mm() and at::addmm() of a weight that has a place (GradientPlace), or of its transpose, as
// torch::nn::Linear, at::linear(), at::matmul() and LSTMs call them: LibTorch's numbers, and its gradients. Every other
// call goes to LibTorch. Once a process.
void register_products();

}  // namespace tandem
