// Reads pickles of torch.save and torch.jit.save without running them: the opcodes that these write, and the names of
// globals.h, which stand for values that are made here. Whatever else a pickle asks for is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weights/pickle/objects.h"

namespace tandem::pickle {

struct Limits {
  // Of what the root holds, with what appears in several places counted in each: a pickle of a hundred bytes can name
  // 2^30 of them. The objects that are made on the way are held to it as well.
  std::uint64_t most_values = std::uint64_t{1} << 22;
  // Lists, tuples and dicts within each other.
  int deepest = 256;
  // Of kTorchScript what LibTorch's unpickler, which reads it next, would take memory for is bounded as well.
  Dialect dialect = Dialect::kTorchSave;
};

// Of the first pickle in `bytes`; more may follow. What it gives refers to `bytes`. `name`: of file and pickle, for
// messages; `begin`: of `bytes` in the file. Throws tandem::Error: kUnsupported where it wants what is not allowed,
// naming that, or passes a limit; kDataLoss where it is damaged. Both name the byte.
Pickle unpickle(std::string_view bytes, const std::string& name, std::uint64_t begin = 0, const Limits& limits = {});

}  // namespace tandem::pickle
