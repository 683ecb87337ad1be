// Memory in huge pages, and pieces of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem {

constexpr std::size_t kHugePage = 2 << 20;
constexpr std::size_t kSmallestPiece = 64 << 10;  // of one, and what all are multiples of

// What goes back to the system at once, as a whole: a part of a huge page that is given back is taken from the process,
// but not freed as long as the rest is used, costs the rest its speed, and is filled again by the kernel (khugepaged).
struct Mapping {
  char* begin;
  std::size_t bytes;
  std::uint32_t free;         // of a huge page in pieces: a bit for each smallest piece that belongs to no span
  std::uint32_t busy = 0;     // spans with blocks that are out
  std::size_t idle = 0;       // bytes of those without
  std::size_t place = 0;      // among those with free pieces
  Mapping* before = nullptr;  // in the list of those of which nothing is out
  Mapping* after = nullptr;
};

// Not thread-safe.
class HugePages {
 public:
  struct Piece {
    char* begin = nullptr;  // NULL when there is none
    Mapping* mapping = nullptr;
  };

  // Of a huge page or more. What is left over whole huge pages lies in small ones, unless it is nearly one more.
  Piece map(std::size_t bytes);
  // A piece of a huge page: of those that are mapped, or of a new one.
  Piece find(std::size_t bytes);
  Piece map_piece(std::size_t bytes);
  // Makes it free again.
  void give_back(const Piece& piece, std::size_t bytes);
  void unmap(Mapping& mapping);

 private:
  void list(Mapping& mapping);
  void unlist(Mapping& mapping);

  std::vector<Mapping*> with_free_;
};

}  // namespace tandem
