// TorchScript's text in tokens, as LibTorch's lexer cuts it where that matters for what is checked before it compiles.
#pragma once

#include <cstddef>
#include <string_view>

namespace tandem::jit {

enum class TokenKind {
  kWord,     // names, keywords and numbers
  kString,
  kMark,     // one character of punctuation
  kLine,     // the end of a line
  kNothing,  // a comment, or a backslash that continues a line
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  int line = 1;
  // Of the first of a line that is no comment: how many blanks the line begins with; else -1.
  int indentation = -1;
};

class SourceTokens {
 public:
  explicit SourceTokens(std::string_view source) : source_(source) {}

  Token next();

 private:
  char at(std::size_t ahead) const { return place_ + ahead < source_.size() ? source_[place_ + ahead] : '\0'; }
  void pass_string(char quote);

  const std::string_view source_;
  std::size_t place_ = 0;
  int line_ = 1;
  bool begins_line_ = true;
  int indentation_ = -1;  // of this line, until a token has it
};

}  // namespace tandem::jit
