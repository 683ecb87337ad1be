// The format of torch.save before 1.6, and of _use_new_zipfile_serialization=False: pickles of a magic number, a
// version, facts of the writer, the object and the keys of storages, and then each storage's elements.
#pragma once

#include "weights/pt_layout.h"

namespace tandem::weights {

bool begins_as_legacy(std::span<const std::uint8_t> file);

PtLayout read_legacy_layout(std::span<const std::uint8_t> file, const std::string& name, const pickle::Limits& limits);

}  // namespace tandem::weights
