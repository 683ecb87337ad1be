// Memory in several places that a collective takes as one row of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace tandem::shm {

class Pieces {
 public:
  Pieces() = default;
  Pieces(std::byte* data, std::size_t bytes) { add(data, bytes); }

  void add(std::byte* data, std::size_t bytes) {
    if (bytes == 0) return;
    if (bytes_ == 0) {
      first_ = data;
    } else {
      more_.push_back({data, bytes_});
    }
    bytes_ += bytes;
  }

  void add(const Pieces& more) {
    more.for_each(0, more.bytes_, [this](std::byte* place, std::size_t, std::size_t size) { add(place, size); });
  }

  std::size_t bytes() const { return bytes_; }
  // Where all of it lies, or null when it lies in several places, or nowhere.
  std::byte* one_place() const { return more_.empty() ? first_ : nullptr; }

  // [begin, begin + bytes) of it.
  Pieces part(std::size_t begin, std::size_t bytes) const {
    Pieces found;
    for_each(begin, bytes, [&](std::byte* place, std::size_t, std::size_t size) { found.add(place, size); });
    return found;
  }

  // Calls visit(std::byte* place, std::size_t after, std::size_t size) for the parts of [begin, begin + bytes), each
  // in one place, `after` bytes from `begin`.
  template <typename Visit>
  void for_each(std::size_t begin, std::size_t bytes, Visit&& visit) const {
    if (bytes == 0) return;
    auto next = std::upper_bound(more_.begin(), more_.end(), begin,
                                 [](std::size_t at, const Piece& piece) { return at < piece.begin; });
    for (std::size_t done = 0; done < bytes; ++next) {
      const Piece piece = next == more_.begin() ? Piece{first_, 0} : *(next - 1);
      const std::size_t into = begin + done - piece.begin;
      const std::size_t end = next == more_.end() ? bytes_ : next->begin;
      const std::size_t size = std::min(bytes - done, end - piece.begin - into);
      visit(piece.data + into, done, size);
      done += size;
    }
  }

  void read(std::size_t begin, std::size_t bytes, std::byte* to) const {
    for_each(begin, bytes, [&](const std::byte* place, std::size_t after, std::size_t size) {
      std::memcpy(to + after, place, size);
    });
  }
  void write(std::size_t begin, std::size_t bytes, const std::byte* from) const {
    for_each(begin, bytes,
             [&](std::byte* place, std::size_t after, std::size_t size) { std::memcpy(place, from + after, size); });
  }

 private:
  struct Piece {
    std::byte* data;
    std::size_t begin;
  };
  std::byte* first_ = nullptr;  // mostly the only one: small collectives allocate nothing for it
  std::vector<Piece> more_;
  std::size_t bytes_ = 0;
};

// Copies [begin, begin + bytes) of one row to the same place of another, unless they are the same memory.
inline void copy(const Pieces& from, const Pieces& to, std::size_t begin, std::size_t bytes) {
  from.for_each(begin, bytes, [&](const std::byte* source, std::size_t after, std::size_t size) {
    to.for_each(begin + after, size, [&](std::byte* target, std::size_t more, std::size_t part) {
      if (target != source + more) std::memmove(target, source + more, part);
    });
  });
}

}  // namespace tandem::shm
