// Hashes of numbers, for orders and fingerprints. What they give is part of checkpoints: it never changes.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem {

inline constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15u;  // of its state, from number to number

// SplitMix64's number of a state: every input bit changes every output bit with a probability near one half.
inline std::uint64_t mix(std::uint64_t x) {
  x += kSplitMixStep;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// `more` after what `hash` stands for.
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t more) {
  return mix(hash * 0xd1342543de82ef95u + more);
}

inline std::uint64_t mix(std::uint64_t hash, std::string_view text) {
  hash = mix(hash, text.size());
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

// FNV-1a.
inline std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace tandem
