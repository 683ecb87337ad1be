// Slurm's short forms of lists.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tandem {

// More nodes, or tasks, than any job has.
inline constexpr std::size_t kMostOfSlurm = 1 << 20;

// "n[1,3-5],m[08-09]" → n1, n3, n4, n5, m08, m09. Throws Error (kInvalidArgument) for other text, and for more than
// `most` hosts.
std::vector<std::string> expand_node_list(const std::string& text, std::size_t most = kMostOfSlurm);

// Numbers for each node: "2(x3),1" → 2, 2, 2, 1. Errors as above; each is at least 1 and at most `most`.
std::vector<int> expand_counts(const std::string& text, std::size_t most = kMostOfSlurm);

}  // namespace tandem
