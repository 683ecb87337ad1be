// Ownership of one C handle.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tandem/abi/error.hpp"

namespace tandem::abi {

// Frees what it holds when it goes; movable, not copyable.
template <typename T, void (*Free)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* pointer) : pointer_(pointer) {}
  Handle(Handle&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) reset(std::exchange(other.pointer_, nullptr));
    return *this;
  }
  ~Handle() { Free(pointer_); }

  T* get() const noexcept { return pointer_; }
  T* release() noexcept { return std::exchange(pointer_, nullptr); }
  void reset(T* pointer = nullptr) noexcept { Free(std::exchange(pointer_, pointer)); }

  // For the C ABI's out-parameters: `tdm_x_create(…, handle.out())`, on an empty handle.
  T** out() noexcept { return &pointer_; }

 private:
  T* pointer_ = nullptr;
};

// The text of an owned tdm_string, which is freed.
inline std::string take_string(tdm_string* string) {
  Handle<tdm_string, tdm_string_free> owned(string);
  return string ? std::string(tdm_string_data(string), tdm_string_size(string)) : std::string();
}

// The texts of an owned tdm_strings, which is freed.
inline std::vector<std::string> take_strings(tdm_strings* list) {
  Handle<tdm_strings, tdm_strings_free> owned(list);
  std::vector<std::string> texts;
  for (size_t i = 0; i < tdm_strings_count(list); ++i) {
    texts.emplace_back(tdm_strings_data(list, i), tdm_strings_size(list, i));
  }
  return texts;
}

// For the C ABI's texts that may be absent: NULL for "".
inline const char* or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

// For the C ABI's lists of strings; valid as long as `texts` is and stays as it is.
inline std::vector<const char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace tandem::abi
