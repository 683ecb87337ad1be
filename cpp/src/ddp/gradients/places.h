// Where backward is to write parameters' gradients: in the buckets that are exchanged, so that nothing copies them there.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace tandem {

// The places of one reducer's gradients. A node of the graph that computes a parameter's gradient takes its place before
// it does; the reducer finds a gradient that lies in the bucket already, and leaves it there. What is computed elsewhere
// it copies, as ever: a place that nobody takes costs nothing. Needs gradients that stay views of the buckets.
class GradientPlaces {
 public:
  // Of parameters that may have one, by their numbers among `parameters`; products of matrices look for them from now on.
  static std::shared_ptr<GradientPlaces> make(std::vector<at::Tensor> parameters);
  ~GradientPlaces();
  GradientPlaces(const GradientPlaces&) = delete;
  GradientPlaces& operator=(const GradientPlaces&) = delete;

  bool known() const;
  // Views of the buckets, one a parameter, undefined for one without a place.
  void set(std::vector<at::Tensor> views);
  // Buckets are made anew, or their owner is gone. Graphs may still refer to this.
  void forget();

  // Within backward: from the beginning of one that exchanges its gradients to its end. Others' gradients, those of one
  // within it too, are not exchanged, and belong to the program alone.
  void open();
  void close();

  // Within backward, by the node of the graph that computes a parameter's gradient and gives it through `edge`: where to
  // write it, for a parameter that has no gradient yet, once in a backward. Undefined where it belongs to its maker: when
  // it is not only to be accumulated (grad(), inputs that were named), or a hook sees it, which may keep what the
  // exchange then overwrites. It shares the version of what lay there, for autograd to see that it is overwritten.
  at::Tensor take(std::size_t number, std::size_t edge);

 private:
  friend struct GradientPlace;
  explicit GradientPlaces(std::vector<at::Tensor> parameters);

  const std::vector<at::Tensor> parameters_;
  std::vector<char> may_have_one_;  // the reducer lays out a bucket as parameters were when they came to it
  mutable std::mutex mutex_;
  std::vector<at::Tensor> views_;
  std::vector<char> taken_;
  bool open_ = false;
  int backward_ = -1;  // for which it is, LibTorch's number of it
};

struct GradientPlace {
  std::shared_ptr<GradientPlaces> places;
  std::size_t number = 0;

  // Of a parameter under DistributedDataParallel; of several, the last one.
  static std::optional<GradientPlace> of(const at::Tensor& parameter);
  at::Tensor take(std::size_t edge) const { return places->take(number, edge); }
};

}  // namespace tandem
