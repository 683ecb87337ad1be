// Memory that a tdm_value owns; tdm_value_clear() frees it.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "tandem/tandem.h"

namespace tandem::capi {

template <typename T>
T* allocate(std::size_t count) {
  // One byte at least: NULL would be the mark of failure.
  void* memory = std::calloc(count ? count : 1, sizeof(T));
  if (!memory) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

inline char* copy_text(std::string_view text) {
  char* copy = allocate<char>(text.size() + 1);
  std::memcpy(copy, text.data(), text.size());
  return copy;
}

inline tdm_value make_value(tdm_value_tag tag) {
  tdm_value value{};
  value.tag = tag;
  return value;
}

inline tdm_value make_text(std::string_view text) {
  tdm_value value = make_value(TDM_VALUE_STRING);
  value.as.string = {copy_text(text), text.size()};
  return value;
}

// Owned values, filled one after the other, of which a list is made; those that are there are freed on an error.
class ListMaker {
 public:
  ListMaker(tdm_value_tag tag, std::size_t count) : list_(make_value(tag)) {
    elements_ = allocate<tdm_value>(count);
    list_.as.list = {elements_, count};
  }
  ~ListMaker() { tdm_value_clear(&list_); }
  ListMaker(const ListMaker&) = delete;
  ListMaker& operator=(const ListMaker&) = delete;

  void add(const tdm_value& owned) { elements_[next_++] = owned; }
  tdm_value take() { return std::exchange(list_, tdm_value{}); }

 private:
  tdm_value list_;
  tdm_value* elements_;
  std::size_t next_ = 0;
};

}  // namespace tandem::capi
