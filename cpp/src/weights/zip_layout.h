// torch.save's zip format: NAME/data.pkl, NAME/byteorder, NAME/version, and NAME/data/KEY for each storage.
#pragma once

#include "weights/pt_layout.h"

namespace tandem::weights {

PtLayout read_zip_layout(std::span<const std::uint8_t> file, const std::string& name, const pickle::Limits& limits);

}  // namespace tandem::weights
