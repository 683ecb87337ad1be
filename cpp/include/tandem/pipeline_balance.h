// Where to cut layers in a row, so that stages take about the same time.
#pragma once

#include <cstddef>
#include <vector>

#include "tandem/export.h"

namespace tandem {

// Cuts layers that take `times` each, in any unit, into so many stages in a row that the slowest takes as little as can
// be; among such cuts the most even one. Gives the first layer of each stage. No stage is without a layer. Errors:
// kInvalidArgument for fewer layers than stages, and for times that are negative or no numbers.
TANDEM_API std::vector<std::size_t> balance_stages(const std::vector<double>& times, int stages);

}  // namespace tandem
