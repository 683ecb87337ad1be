// Blind changes to bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "cpp/data/temp_dir.h"

namespace tandem::test {

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  const FileBytes& pick(const std::vector<FileBytes>& corpus) { return corpus[below(corpus.size())]; }

  // One to four changes; parts of the corpus may get in.
  void mutate(FileBytes& bytes, const std::vector<FileBytes>& corpus) {
    for (std::size_t times = 1 + below(4); times > 0 && !bytes.empty(); --times) change(bytes, corpus);
  }

  // One of the corpus, changed.
  FileBytes mutant(const std::vector<FileBytes>& corpus) {
    FileBytes bytes = pick(corpus);
    mutate(bytes, corpus);
    return bytes;
  }

 private:
  void change(FileBytes& bytes, const std::vector<FileBytes>& corpus) {
    const std::size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(7)) {
      case 0:
        *place ^= static_cast<std::uint8_t>(1 << below(8));
        break;
      case 1:
        *place = static_cast<std::uint8_t>(random_());
        break;
      case 2:  // an extreme number, in either byte order
        for (std::size_t i = at; i < std::min(at + 4, bytes.size()); ++i) bytes[i] = below(2) ? 0xff : 0x7f;
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.insert(place, below(30), static_cast<std::uint8_t>(random_()));
        break;
      case 5:
        bytes.erase(place, bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + below(30), bytes.size())));
        break;
      case 6: {  // part of another
        const FileBytes& other = pick(corpus);
        const std::size_t from = below(other.size()), size = std::min(below(200), other.size() - from);
        const FileBytes part(other.begin() + static_cast<std::ptrdiff_t>(from),
                         other.begin() + static_cast<std::ptrdiff_t>(from + size));
        bytes.insert(place, part.begin(), part.end());
        break;
      }
    }
  }

  std::mt19937 random_;
};

}  // namespace tandem::test
