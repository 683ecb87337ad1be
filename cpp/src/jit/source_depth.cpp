#include "jit/source_depth.h"

#include <vector>

#include "jit/source_tokens.h"
#include "tandem/error.h"

namespace tandem::jit {
namespace {

constexpr int kMostBrackets = 200;     // within each other
constexpr int kMostOperators = 1000;   // of one expression, with those around it
constexpr int kMostIndentation = 100;  // blocks within each other
constexpr int kMostElif = 200;         // of one function
constexpr int kMostEmptyLines = 5000;  // after each other, or comments: the lexer calls itself for each

bool is_operator_word(std::string_view word) {
  for (const std::string_view one : {"and", "or", "not", "if", "else", "in", "is", "lambda"}) {
    if (word == one) return true;
  }
  return false;
}

class DepthReader {
 public:
  DepthReader(std::string_view source, const std::string& name) : tokens_(source), name_(name) {}

  std::size_t read() {
    for (token_ = tokens_.next(); token_.kind != TokenKind::kEnd; token_ = tokens_.next()) {
      const bool is_empty = token_.kind == TokenKind::kLine || token_.kind == TokenKind::kNothing;
      empty_ = is_empty ? empty_ + 1 : 0;
      if (empty_ > kMostEmptyLines) fail(kMostEmptyLines, "empty lines and comments after each other");
      if (token_.indentation >= 0) read_indentation();
      if (token_.kind == TokenKind::kWord) read_word();
      if (token_.kind == TokenKind::kMark) read_mark();
      if (token_.kind == TokenKind::kLine && open_.empty()) operators_ = 0;
    }
    return definitions_;
  }

 private:
  [[noreturn]] void fail(int most, const char* what) const {
    throw Error(ErrorCode::kUnsupported, name_ + ", line " + std::to_string(token_.line) + ": more than " +
                                             std::to_string(most) + " " + what);
  }

  void read_indentation() {
    if (!open_.empty()) return;
    while (!blocks_.empty() && blocks_.back() >= token_.indentation) blocks_.pop_back();
    blocks_.push_back(token_.indentation);
    if (blocks_.size() > kMostIndentation) fail(kMostIndentation, "nested blocks");
  }

  void read_word() {
    if (token_.text == "def" || token_.text == "class") ++definitions_;
    if (token_.text == "def") elifs_ = 0;
    if (token_.text == "elif" && ++elifs_ > kMostElif) fail(kMostElif, "elif");
    if (is_operator_word(token_.text)) add_operator();
  }

  void read_mark() {
    switch (token_.text[0]) {
      case '(':
      case '[':
      case '{':
        open_.push_back(operators_);
        if (open_.size() > kMostBrackets) fail(kMostBrackets, "nested brackets");
        return;
      case ')':
      case ']':
      case '}':
        if (!open_.empty()) {
          operators_ = open_.back();
          open_.pop_back();
        }
        return add_operator();
      case ',':
      case ';':
        operators_ = open_.empty() ? 0 : open_.back();
        return;
      default:
        add_operator();
    }
  }

  void add_operator() {
    if (++operators_ > kMostOperators) fail(kMostOperators, "operators in one expression");
  }

  SourceTokens tokens_;
  const std::string& name_;
  Token token_;
  std::size_t definitions_ = 0;
  int operators_ = 0, elifs_ = 0, empty_ = 0;
  std::vector<int> blocks_;  // their columns
  std::vector<int> open_;    // for each bracket the operators before it
};

}  // namespace

std::size_t require_shallow(std::string_view source, const std::string& name) {
  return DepthReader(source, name).read();
}

}  // namespace tandem::jit
