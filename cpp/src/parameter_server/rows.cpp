#include "parameter_server/rows.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/mix.h"

namespace tandem::parameter_server {
namespace {

// In (0, 1).
double uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

template <typename Number>
void fill(const at::Tensor& values, const at::Tensor& rows, std::uint64_t seed, double standard_deviation) {
  const auto of_row = rows.accessor<std::int64_t, 1>();
  auto to = values.accessor<Number, 2>();
  at::parallel_for(0, values.size(0), 1 + 4096 / std::max<std::int64_t>(values.size(1), 1), [&](std::int64_t from, std::int64_t end) {
    for (std::int64_t i = from; i < end; ++i) {
      std::uint64_t state = mix(mix(seed), static_cast<std::uint64_t>(of_row[i]));
      for (std::int64_t j = 0; j < values.size(1); ++j) {  // Box and Muller 1958
        const double radius = std::sqrt(-2 * std::log(uniform(mix(state))));
        const double angle = 2 * std::numbers::pi * uniform(mix(state + kSplitMixStep));
        state += 2 * kSplitMixStep;
        to[i][j] = static_cast<Number>(standard_deviation * radius * std::cos(angle));
      }
    }
  });
}

}  // namespace

std::int64_t Rows::begin(int server) const {
  return server * (rows_ / servers_) + std::min<std::int64_t>(server, rows_ % servers_);
}

std::int64_t Rows::on(int server) const {
  return rows_ / servers_ + (server < rows_ % servers_ ? 1 : 0);
}

at::Tensor Rows::servers_of(const at::Tensor& rows) const {
  if (placement_ == RowPlacement::kModulo) return rows.remainder(servers_);
  std::vector<std::int64_t> ends;
  for (int server = 0; server + 1 < servers_; ++server) ends.push_back(begin(server + 1));
  return at::bucketize(rows, at::tensor(ends, at::kLong), /*out_int32=*/false, /*right=*/true);
}

at::Tensor Rows::places_of(const at::Tensor& rows, int server) const {
  if (placement_ == RowPlacement::kModulo) return rows.div(servers_, "floor");
  return rows - begin(server);
}

at::Tensor Rows::rows_of(int server, std::int64_t begin, std::int64_t count) const {
  const at::Tensor places = at::arange(begin, begin + count, at::kLong);
  return placement_ == RowPlacement::kModulo ? places.mul_(servers_).add_(server) : places.add_(this->begin(server));
}

void fill_normal(const at::Tensor& values, const at::Tensor& rows, std::uint64_t seed, double standard_deviation) {
  if (values.scalar_type() == at::kDouble) {
    fill<double>(values, rows, seed, standard_deviation);
  } else {
    fill<float>(values, rows, seed, standard_deviation);
  }
}

}  // namespace tandem::parameter_server
