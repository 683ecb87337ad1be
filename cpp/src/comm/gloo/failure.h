// What Gloo throws.
#pragma once

#include <exception>
#include <string>

namespace tandem {

// Whether Gloo threw it: a connection is closed, or a wait took too long. It has one type for both.
bool is_of_gloo(const std::exception& failure);

// The text of what LibTorch or Gloo threw, without stack and place in the source.
std::string plain_text(const std::exception& failure);

}  // namespace tandem
