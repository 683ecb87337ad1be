// What LibTorch computes when it loads a file: the defaults of arguments, and the constants of classes.
#pragma once

#include <string>
#include <string_view>

namespace tandem::jit {

// Throws tandem::Error (kUnsupported) naming `name` and the line where one is no literal: it calls something
// (torch.from_file writes a file), or repeats something without end. Of calls those are literals that torch.jit.save
// writes for values: torch.device("cpu"), annotate(List[int], []), float("inf").
void require_literals(std::string_view source, const std::string& name);

}  // namespace tandem::jit
