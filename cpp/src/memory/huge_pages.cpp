#include "memory/huge_pages.h"

#include <sys/mman.h>

#include <bit>
#include <utility>

namespace tandem {
namespace {

constexpr std::size_t kPieces = kHugePage / kSmallestPiece;
static_assert(kPieces == 32);
constexpr std::size_t kNearlyOne = kHugePage - kHugePage / 8;

// Of a piece at the huge page's beginning.
std::uint32_t mask_of(std::size_t bytes) {
  return (std::uint32_t{1} << bytes / kSmallestPiece) - 1;
}

// The first place for a piece, as its bits; 0 for none.
std::uint32_t place_in(std::uint32_t free, std::size_t bytes) {
  for (std::size_t i = 0; i + bytes / kSmallestPiece <= kPieces; ++i) {
    const std::uint32_t place = mask_of(bytes) << i;
    if ((free & place) == place) return place;
  }
  return 0;
}

// At a multiple of a huge page, cleared. NULL when there is no memory.
char* map_huge_pages(std::size_t bytes) {
  void* mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* from = static_cast<char*>(mapped);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(from) % kHugePage) % kHugePage;
  if (before > 0) munmap(from, before);
  munmap(from + before + bytes, kHugePage - before);
  madvise(from + before, bytes, MADV_HUGEPAGE);  // where the system has none it says so, and small ones do
  return from + before;
}

}  // namespace

HugePages::Piece HugePages::map(std::size_t bytes) {
  const std::size_t mapped = bytes % kHugePage < kNearlyOne ? bytes : (bytes / kHugePage + 1) * kHugePage;
  char* begin = map_huge_pages(mapped);
  return begin ? Piece{begin, new Mapping{begin, mapped, 0}} : Piece{};
}

HugePages::Piece HugePages::find(std::size_t bytes) {
  // The fullest in use that has room, so that others become empty.
  const auto rank = [](const Mapping& mapping) { return std::pair(mapping.busy == 0, std::popcount(mapping.free)); };
  Mapping* best = nullptr;
  for (Mapping* mapping : with_free_) {
    if (best && rank(*mapping) >= rank(*best)) continue;
    if (place_in(mapping->free, bytes)) best = mapping;
  }
  if (!best) return {};
  const std::uint32_t place = place_in(best->free, bytes);
  best->free &= ~place;
  if (!best->free) unlist(*best);
  return {best->begin + static_cast<std::size_t>(std::countr_zero(place)) * kSmallestPiece, best};
}

HugePages::Piece HugePages::map_piece(std::size_t bytes) {
  const Piece page = map(kHugePage);
  if (!page.begin) return {};
  page.mapping->free = ~mask_of(bytes);
  list(*page.mapping);
  return page;
}

void HugePages::give_back(const Piece& piece, std::size_t bytes) {
  Mapping& page = *piece.mapping;
  if (!page.free) list(page);
  page.free |= mask_of(bytes) << static_cast<std::size_t>(piece.begin - page.begin) / kSmallestPiece;
}

void HugePages::unmap(Mapping& mapping) {
  if (mapping.free) unlist(mapping);
  munmap(mapping.begin, mapping.bytes);
  delete &mapping;
}

void HugePages::list(Mapping& mapping) {
  mapping.place = with_free_.size();
  with_free_.push_back(&mapping);
}

void HugePages::unlist(Mapping& mapping) {
  with_free_.back()->place = mapping.place;
  with_free_[mapping.place] = with_free_.back();
  with_free_.pop_back();
}

}  // namespace tandem
