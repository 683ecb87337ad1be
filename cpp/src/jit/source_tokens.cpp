#include "jit/source_tokens.h"

#include <cctype>
#include <utility>

namespace tandem::jit {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// The lexer makes it a token, and reads what follows as types.
constexpr std::string_view kTypeComment = "# type:";

}  // namespace

Token SourceTokens::next() {
  const std::size_t from = place_;
  while (is_blank(at(0))) ++place_;
  Token token;
  token.line = line_;
  if (std::exchange(begins_line_, false)) indentation_ = static_cast<int>(place_ - from);
  if (place_ >= source_.size()) return token;
  const std::size_t begin = place_;
  const char c = source_[place_];
  token.kind = TokenKind::kMark;
  if (is_word(c)) {
    token.kind = TokenKind::kWord;
    while (is_word(at(0))) ++place_;
  } else if (c == '"' || c == '\'') {
    token.kind = TokenKind::kString;
    pass_string(c);
  } else if (source_.substr(place_).starts_with(kTypeComment)) {
    place_ += kTypeComment.size();
  } else if (c == '#') {
    token.kind = TokenKind::kNothing;
    while (place_ < source_.size() && source_[place_] != '\n') ++place_;
  } else if (c == '\n') {
    token.kind = TokenKind::kLine;
    begins_line_ = true;
    ++place_;
    ++line_;
  } else if (c == '\\' && at(1) == '\n') {
    token.kind = TokenKind::kNothing;
    place_ += 2;
    ++line_;
  } else {
    ++place_;
  }
  if (token.kind != TokenKind::kNothing && token.kind != TokenKind::kLine) {
    token.indentation = std::exchange(indentation_, -1);
  }
  token.text = source_.substr(begin, place_ - begin);
  return token;
}

// To its end, or to that of its line, where LibTorch will say what is wrong.
void SourceTokens::pass_string(char quote) {
  const bool is_long = at(1) == quote && at(2) == quote;
  place_ += is_long ? 3 : 1;
  while (place_ < source_.size()) {
    const char c = source_[place_];
    if (c == '\n') {
      if (!is_long) return;
      ++line_;
    }
    if (c == quote && (!is_long || (at(1) == quote && at(2) == quote))) {
      place_ += is_long ? 3 : 1;
      return;
    }
    if (c == '\\' && at(1) == '\n') ++line_;
    place_ += c == '\\' ? 2 : 1;
  }
  place_ = source_.size();
}

}  // namespace tandem::jit
