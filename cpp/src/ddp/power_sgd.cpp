#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

#include "ddp/reduce.h"
#include "tandem/error.h"

namespace tandem {
namespace {

// Of the smallest dtype that LAPACK takes.
at::ScalarType working_dtype(const at::Tensor& tensor) {
  const auto dtype = tensor.scalar_type();
  return dtype == at::kHalf || dtype == at::kBFloat16 ? at::kFloat : dtype;
}

// Makes the columns of `matrix` orthonormal, in place. A matrix of zeros may get any such columns.
void orthogonalize(const at::Tensor& matrix, double epsilon) {
  at::Tensor target = matrix;
  if (epsilon == 0) {
    target.copy_(std::get<0>(at::linalg_qr(matrix.to(working_dtype(matrix)), "reduced")));
    return;
  }
  const std::int64_t columns = matrix.size(1);
  for (std::int64_t i = 0; i < columns; ++i) {
    at::Tensor column = matrix.narrow(1, i, 1);
    column.div_(column.norm() + epsilon);
    if (i + 1 == columns) break;
    at::Tensor rest = matrix.narrow(1, i + 1, columns - i - 1);
    rest.sub_(column.matmul(column.t().matmul(rest)));
  }
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "PowerSGD: " + what);
}

// A gradient, or a whole bucket, as a matrix M ≈ P·Qᵀ.
struct Factors {
  at::Tensor m, p, q;
};

// P and Q of all matrices of a bucket, each kind in one tensor that travels at once.
struct Memory {
  at::Tensor ps, qs;
};

}  // namespace

struct PowerSgdState::Parts {
  Parts(std::shared_ptr<ProcessGroup> given, const PowerSgdOptions& chosen)
      : group(std::move(given)), options(chosen), random(chosen.random_seed) {}

  const std::shared_ptr<ProcessGroup> group;
  const PowerSgdOptions options;
  std::mt19937_64 random;  // goes on in the same way on all ranks
  std::int64_t iteration = 0;
  std::int64_t before = 0, after = 0;
  std::map<std::size_t, at::Tensor> errors;
  std::map<std::size_t, Memory> memories;

  // What the hooks have in common. `matrices(buffer, rest)` gives views of the buffer, and puts what is not to be
  // compressed into `rest`.
  template <typename Matrices>
  Exchange exchange(c10d::GradBucket& bucket, bool pads, Matrices&& matrices);

  std::int64_t rank_of(const at::Tensor& m) const {
    return std::min({m.size(0), m.size(1), options.matrix_approximation_rank});
  }
  bool compresses(std::int64_t rows, std::int64_t columns) const {
    return static_cast<double>((rows + columns) * options.matrix_approximation_rank) * options.min_compression_rate <
           static_cast<double>(rows * columns);
  }
  // P and Q for `matrices`, as views of the bucket's memory; Q is where the power iteration begins.
  std::vector<Factors> factors(std::size_t bucket, const std::vector<at::Tensor>& matrices);
};

std::vector<Factors> PowerSgdState::Parts::factors(std::size_t bucket, const std::vector<at::Tensor>& matrices) {
  std::int64_t p_size = 0, q_size = 0;
  for (const at::Tensor& m : matrices) {
    p_size += m.size(0) * rank_of(m);
    q_size += m.size(1) * rank_of(m);
  }
  Memory& memory = memories[bucket];
  const bool fresh = !options.warm_start || !memory.qs.defined() || memory.qs.numel() != q_size;
  if (fresh) {
    memory.ps = at::empty({p_size}, matrices[0].options());
    auto generator = at::detail::createCPUGenerator(random());
    memory.qs = at::randn({q_size}, generator, at::TensorOptions(at::kFloat)).to(matrices[0].options());
  }
  std::vector<Factors> all;
  std::int64_t p_at = 0, q_at = 0;
  for (const at::Tensor& m : matrices) {
    const std::int64_t r = rank_of(m);
    all.push_back({m, memory.ps.narrow(0, p_at, m.size(0) * r).view({m.size(0), r}),
                   memory.qs.narrow(0, q_at, m.size(1) * r).view({m.size(1), r})});
    p_at += m.size(0) * r;
    q_at += m.size(1) * r;
    orthogonalize(all.back().q, options.orthogonalization_epsilon);
  }
  return all;
}

template <typename Matrices>
Exchange PowerSgdState::Parts::exchange(c10d::GradBucket& bucket, bool pads, Matrices&& matrices) {
  const at::Tensor original = bucket.getBuffer();
  const bool plain = iteration < options.start_power_sgd_iter || original.is_sparse() || original.is_complex();
  if (bucket.isLast()) ++iteration;
  if (plain) return reduce_mean(*group, original);

  at::Tensor buffer = original;
  if (pads) {
    const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(original.numel()))));
    buffer = at::zeros({side * side}, original.options());
    buffer.narrow(0, 0, original.numel()).copy_(original);
  }
  const std::size_t index = bucket.getIndex();
  if (options.use_error_feedback) {
    const auto found = errors.find(index);
    if (found != errors.end() && found->second.numel() == buffer.numel()) buffer.add_(found->second);
  }
  at::Tensor wanted;
  if (options.use_error_feedback) wanted = buffer.clone();

  std::vector<at::Tensor> rest;
  const std::vector<at::Tensor> compressed = matrices(buffer, rest);
  std::vector<Factors> all;
  if (!compressed.empty()) all = factors(index, compressed);
  for (const Factors& f : all) at::matmul_out(const_cast<at::Tensor&>(f.p), f.m, f.q);

  const Memory memory = compressed.empty() ? Memory() : memories[index];
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : rest) flat.push_back(tensor.reshape({-1}));
  std::int64_t rest_size = 0;
  for (const at::Tensor& tensor : flat) rest_size += tensor.numel();
  before += original.numel();
  after += rest_size + (memory.ps.defined() ? memory.ps.numel() + memory.qs.numel() : 0);
  if (memory.ps.defined()) flat.push_back(memory.ps);
  if (flat.empty()) return {{}, {}, original};
  const at::Tensor first = at::cat(flat);
  const int size = group->size();

  const auto end = [this, index, wanted, buffer, original] {
    if (wanted.defined()) errors[index] = wanted - buffer;
    if (!original.is_same(buffer)) at::Tensor(original).copy_(buffer.narrow(0, 0, original.numel()));
    return Exchange{{}, {}, original};
  };
  const auto after_q = [all, memory, size, end] {
    at::Tensor(memory.qs).div_(size);
    for (const Factors& f : all) at::Tensor(f.m).copy_(f.p.matmul(f.q.t()));
    return end();
  };
  const auto after_p = [this, all, memory, rest, rest_size, first, size, end, after_q]() -> Exchange {
    const at::Tensor mean = first.narrow(0, 0, rest_size).div(size);
    std::int64_t at = 0;
    for (const at::Tensor& tensor : rest) {
      at::Tensor(tensor).copy_(mean.narrow(0, at, tensor.numel()).view(tensor.sizes()));
      at += tensor.numel();
    }
    if (all.empty()) return end();
    at::Tensor(memory.ps).copy_(first.narrow(0, rest_size, memory.ps.numel()));
    for (const Factors& f : all) {
      orthogonalize(f.p, options.orthogonalization_epsilon);
      at::matmul_out(const_cast<at::Tensor&>(f.q), f.m.t(), f.p);
    }
    return {reduce_sum(*group, memory.qs), after_q, {}};
  };
  return {reduce_sum(*group, first), after_p, {}};
}

PowerSgdState::PowerSgdState(std::shared_ptr<ProcessGroup> group, const PowerSgdOptions& options)
    : parts_(std::make_unique<Parts>(std::move(group), options)) {
  if (!parts_->group) refuse("it needs a process group");
  if (options.matrix_approximation_rank < 1) {
    refuse("matrix_approximation_rank is " + std::to_string(options.matrix_approximation_rank) +
           "; it must be at least 1");
  }
  if (!(options.min_compression_rate > 0)) {
    refuse("min_compression_rate is " + std::to_string(options.min_compression_rate) + "; it must be more than 0");
  }
  if ((options.use_error_feedback || options.warm_start) && options.start_power_sgd_iter < 2) {
    refuse("start_power_sgd_iter is " + std::to_string(options.start_power_sgd_iter) +
           "; it must be at least 2 with use_error_feedback or warm_start, because buckets are rebuilt after the first "
           "iteration");
  }
}

PowerSgdState::~PowerSgdState() = default;

std::int64_t PowerSgdState::numel_before_compression() const {
  return parts_->before;
}
std::int64_t PowerSgdState::numel_after_compression() const {
  return parts_->after;
}
at::Tensor PowerSgdState::error_of(std::int64_t bucket) const {
  const auto found = parts_->errors.find(static_cast<std::size_t>(bucket));
  return found == parts_->errors.end() ? at::Tensor() : found->second;
}

std::vector<std::pair<std::string, at::Tensor>> PowerSgdState::state() const {
  const Parts& parts = *parts_;
  std::ostringstream random;
  random << parts.random;
  const std::string text = random.str();
  at::Tensor bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::TensorOptions(at::kByte));
  std::copy(text.begin(), text.end(), bytes.data_ptr<std::uint8_t>());
  std::vector<std::pair<std::string, at::Tensor>> state = {
      {"iteration", at::scalar_tensor(parts.iteration, at::TensorOptions(at::kLong))},
      {"random", bytes},
      {"numel", at::tensor({parts.before, parts.after}, at::TensorOptions(at::kLong))}};
  for (const auto& [bucket, error] : parts.errors) state.emplace_back("error." + std::to_string(bucket), error);
  for (const auto& [bucket, memory] : parts.memories) {
    if (!memory.qs.defined()) continue;
    state.emplace_back("p." + std::to_string(bucket), memory.ps);
    state.emplace_back("q." + std::to_string(bucket), memory.qs);
  }
  return state;
}

void PowerSgdState::load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) {
  std::map<std::size_t, at::Tensor> errors;
  std::map<std::size_t, Memory> memories;
  std::optional<std::mt19937_64> random;
  std::optional<std::int64_t> iteration;
  std::int64_t before = 0, after = 0;
  const auto integers = [](const std::string& name, const at::Tensor& tensor, std::int64_t count) {
    if (tensor.scalar_type() != at::kLong || tensor.numel() != count) {
      refuse("state '" + name + "' is to be " + std::to_string(count) + " numbers of int64");
    }
    return tensor.cpu().contiguous();
  };
  for (const auto& [name, tensor] : state) {
    if (!tensor.defined()) refuse("state '" + name + "' is undefined");
    const auto dot = name.find('.');
    const std::string kind = name.substr(0, dot);
    std::size_t bucket = 0;
    if (dot != std::string::npos) {
      const char* end = name.data() + name.size();
      const auto read = std::from_chars(name.data() + dot + 1, end, bucket);
      if (read.ec != std::errc() || read.ptr != end) refuse("state '" + name + "' names no bucket");
    }
    const bool of_bucket = dot != std::string::npos && tensor.dim() == 1 && at::isFloatingType(tensor.scalar_type());
    if (name == "iteration") {
      iteration = integers(name, tensor, 1).item<std::int64_t>();
    } else if (name == "numel") {
      const at::Tensor numbers = integers(name, tensor, 2);
      before = numbers[0].item<std::int64_t>();
      after = numbers[1].item<std::int64_t>();
    } else if (name == "random" && tensor.scalar_type() == at::kByte) {
      const at::Tensor bytes = tensor.cpu().contiguous();
      const auto* data = reinterpret_cast<const char*>(bytes.const_data_ptr<std::uint8_t>());
      std::istringstream text(std::string(data, static_cast<std::size_t>(bytes.numel())));
      if (!(text >> random.emplace())) refuse("state 'random' is none of a generator");
    } else if (kind == "error" && of_bucket) {
      errors[bucket] = tensor.detach().clone();
    } else if (kind == "p" && of_bucket) {
      memories[bucket].ps = tensor.detach().clone();
    } else if (kind == "q" && of_bucket) {
      memories[bucket].qs = tensor.detach().clone();
    } else {
      refuse("'" + name + "' is no state of it, or not of the dtype and shape that it has");
    }
  }
  if (!iteration || !random) refuse("the state has no 'iteration' or no 'random'");
  for (const auto& [bucket, memory] : memories) {
    if (memory.ps.defined() && memory.qs.defined()) continue;
    refuse("the state has one of p." + std::to_string(bucket) + " and q." + std::to_string(bucket) + " only");
  }
  Parts& parts = *parts_;
  parts.iteration = *iteration;
  parts.random = *random;
  parts.before = before;
  parts.after = after;
  parts.errors = std::move(errors);
  parts.memories = std::move(memories);
}

CommHook power_sgd_hook(std::shared_ptr<PowerSgdState> state) {
  return [state = std::move(state)](c10d::GradBucket& bucket) {
    auto& parts = *state->parts_;
    return parts.exchange(bucket, /*pads=*/false, [&](const at::Tensor&, std::vector<at::Tensor>& rest) {
      std::vector<at::Tensor> matrices;
      for (const at::Tensor& gradient : bucket.getGradients()) {
        const bool flat = gradient.dim() < 2 || gradient.numel() == 0;
        const std::int64_t rows = flat ? 0 : gradient.size(0);
        if (flat || !parts.compresses(rows, gradient.numel() / rows)) {
          if (gradient.numel() > 0) rest.push_back(gradient);
        } else {
          matrices.push_back(gradient.view({rows, -1}));
        }
      }
      return matrices;
    });
  };
}

CommHook batched_power_sgd_hook(std::shared_ptr<PowerSgdState> state) {
  return [state = std::move(state)](c10d::GradBucket& bucket) {
    return state->parts_->exchange(bucket, /*pads=*/true, [](const at::Tensor& buffer, std::vector<at::Tensor>&) {
      const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(buffer.numel()))));
      return std::vector<at::Tensor>{buffer.view({side, side})};
    });
  };
}

}  // namespace tandem
