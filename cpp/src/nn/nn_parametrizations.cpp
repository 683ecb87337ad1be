#include "tandem/nn_parametrizations.h"

#include "nn/parametrizations.h"
#include "options.h"
#include "tandem/nn_functional.h"

namespace tandem::nn {
namespace {

at::Tensor as_parameter(const at::Tensor& value, bool requires_grad) {
  return value.detach().clone().set_requires_grad(requires_grad);
}

class WeightNorm : public Parametrization {
 public:
  WeightNorm(const at::Tensor& g, const at::Tensor& v, std::int64_t dim)
      : g_(register_parameter("original0", g, g.requires_grad())),
        v_(register_parameter("original1", v, v.requires_grad())),
        dim_(dim) {}

  at::Tensor compute() override { return at::_weight_norm(v_, g_, dim_); }
  const at::Tensor& like() const override { return v_; }
  std::shared_ptr<Parametrization> copy() const override {
    return std::make_shared<WeightNorm>(as_parameter(g_, g_.requires_grad()), as_parameter(v_, v_.requires_grad()),
                                        dim_);
  }

 private:
  at::Tensor g_, v_;
  std::int64_t dim_;  // -1: none
};

class SpectralNorm : public Parametrization {
 public:
  struct Settings {
    std::int64_t n_power_iterations;
    double eps;
    std::int64_t dim;
  };

  SpectralNorm(const at::Tensor& original, const Settings& settings)
      : original_(register_parameter("original", original, original.requires_grad())),
        settings_(settings),
        vectors_(register_module("0", std::make_shared<torch::nn::Module>())) {}

  // Vectors that 15 steps bring near to the singular ones.
  void begin() {
    if (original_.dim() < 2) return;
    const at::NoGradGuard no_grad;
    const at::Tensor matrix = this->matrix();
    const at::Tensor u = at::empty({matrix.size(0)}, matrix.options()).normal_(0, 1);
    const at::Tensor v = at::empty({matrix.size(1)}, matrix.options()).normal_(0, 1);
    set_vectors(unit(u), unit(v));
    iterate(matrix, 15);
  }

  at::Tensor compute() override {
    if (original_.dim() < 2) return unit(original_);
    const at::Tensor matrix = this->matrix();
    if (is_training()) iterate(matrix, settings_.n_power_iterations);
    // Copies, since later forwards change them in place and this one's backward needs them.
    const at::Tensor u = u_.clone(), v = v_.clone();
    return original_ / at::vdot(u, at::mv(matrix, v));
  }

  const at::Tensor& like() const override { return original_; }

  std::shared_ptr<Parametrization> copy() const override {
    auto made = std::make_shared<SpectralNorm>(as_parameter(original_, original_.requires_grad()), settings_);
    if (u_.defined()) made->set_vectors(u_.clone(), v_.clone());
    return made;
  }

 private:
  void set_vectors(const at::Tensor& u, const at::Tensor& v) {
    u_ = vectors_->register_buffer("_u", u);
    v_ = vectors_->register_buffer("_v", v);
  }

  at::Tensor unit(const at::Tensor& vector) const { return functional::normalize(vector, 2, 0, settings_.eps); }

  at::Tensor matrix() const { return original_.movedim(settings_.dim, 0).flatten(1); }

  void iterate(const at::Tensor& matrix, std::int64_t steps) {
    const at::NoGradGuard no_grad;
    for (std::int64_t i = 0; i < steps; ++i) {
      u_.copy_(unit(at::mv(matrix, v_)));
      v_.copy_(unit(at::mv(matrix.mH(), u_)));
    }
  }

  at::Tensor original_;
  Settings settings_;
  std::shared_ptr<torch::nn::Module> vectors_;
  at::Tensor u_, v_;
};

std::int64_t dimension(const at::Tensor& weight, std::int64_t dim, const char* caller) {
  if (dim < -weight.dim() || dim >= weight.dim()) {
    throw Error(ErrorCode::kInvalidArgument, std::string(caller) + ": dim is one of the " +
                                                 std::to_string(weight.dim()) + " dimensions of the parameter, not " +
                                                 std::to_string(dim));
  }
  return dim < 0 ? dim + weight.dim() : dim;
}

}  // namespace

void weight_norm(Module& module, const std::string& name, std::optional<std::int64_t> dim) {
  const at::Tensor weight = Parametrizations::parameter(module, name);
  const std::int64_t kept = dim ? dimension(weight, *dim, "weight_norm") : -1;
  const at::NoGradGuard no_grad;
  const at::Tensor norm = at::norm_except_dim(weight, 2, kept);
  Parametrizations::add(module, name,
                        std::make_shared<WeightNorm>(as_parameter(norm, weight.requires_grad()), weight, kept));
}

void spectral_norm(Module& module, const std::string& name, std::int64_t n_power_iterations, double eps,
                   std::optional<std::int64_t> dim) {
  const at::Tensor weight = Parametrizations::parameter(module, name);
  if (n_power_iterations < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "spectral_norm: n_power_iterations is positive, not " + std::to_string(n_power_iterations));
  }
  const bool transposed = module.type().rfind("ConvTranspose", 0) == 0;
  const std::int64_t rows = dimension(weight, dim.value_or(transposed ? 1 : 0), "spectral_norm");
  auto made = std::make_shared<SpectralNorm>(weight, SpectralNorm::Settings{n_power_iterations, eps, rows});
  made->begin();
  made->train(module.get().is_training());
  {
    const at::NoGradGuard no_grad;
    made->compute();  // as Python does, which looks at the result: a step of the power method
  }
  Parametrizations::add(module, name, std::move(made));
}

void parametrize(Module& module, const std::string& kind, const std::string& name, const std::vector<Option>& options) {
  Options reader(kind, options);
  if (kind == "weight_norm") {
    std::optional<std::int64_t> dim = 0;
    reader.read("dim", dim).finish();
    weight_norm(module, name, dim);
  } else if (kind == "spectral_norm") {
    std::int64_t n_power_iterations = 1;
    double eps = 1e-12;
    std::optional<std::int64_t> dim;
    reader.read("n_power_iterations", n_power_iterations).read("eps", eps).read("dim", dim).finish();
    spectral_norm(module, name, n_power_iterations, eps, dim);
  } else {
    throw Error(ErrorCode::kNotFound,
                "there is no parametrization '" + kind + "'; there are spectral_norm, weight_norm");
  }
}

bool is_parametrized(const Module& module, const std::string& name) {
  return Parametrizations::find(module, name) != nullptr;
}

void remove_parametrizations(Module& module, const std::string& name) {
  const auto by = Parametrizations::find(module, name);
  if (!by) throw Error(ErrorCode::kNotFound, module.type() + ": '" + name + "' is not parametrized");
  const at::Tensor again = by->like();
  {
    const at::NoGradGuard no_grad;
    const at::Tensor computed = by->compute();
    again.mutable_grad() = at::Tensor();
    again.set_data(computed.clone());
  }
  Parametrizations::remove(module, name, again);
}

}  // namespace tandem::nn
