// Which rows of a table are whose.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "tandem/parameter_server.h"

namespace tandem::parameter_server {

// The rows of a table over servers. A row's number on its server is its place there, in rising order.
class Rows {
 public:
  Rows(std::int64_t rows, int servers, RowPlacement placement) : rows_(rows), servers_(servers), placement_(placement) {}

  std::int64_t on(int server) const;
  // Of int64 row numbers within range, [n].
  at::Tensor servers_of(const at::Tensor& rows) const;
  // The numbers that rows of one server have there.
  at::Tensor places_of(const at::Tensor& rows, int server) const;
  // The other way: of all rows of a server, or of those at `count` places from `begin`.
  at::Tensor rows_of(int server) const { return rows_of(server, 0, on(server)); }
  at::Tensor rows_of(int server, std::int64_t begin, std::int64_t count) const;

 private:
  std::int64_t begin(int server) const;  // kRange

  std::int64_t rows_;
  int servers_;
  RowPlacement placement_;
};

// Fills [n, width] of `rows` with numbers that depend on the seed, the row and the column alone.
void fill_normal(const at::Tensor& values, const at::Tensor& rows, std::uint64_t seed, double standard_deviation);

}  // namespace tandem::parameter_server
