#include "jit/source_depth.h"

#include <cctype>
#include <vector>

#include "tandem/error.h"

namespace tandem::jit {
namespace {

constexpr int kMostBrackets = 200;     // within each other
constexpr int kMostOperators = 1000;   // of one expression, with those around it
constexpr int kMostIndentation = 100;  // blocks within each other
constexpr int kMostElif = 200;         // of one function

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool is_operator_word(std::string_view word) {
  for (const std::string_view one : {"and", "or", "not", "if", "else", "in", "is", "lambda"}) {
    if (word == one) return true;
  }
  return false;
}

// Reads tokens as far as nesting wants it.
class DepthReader {
 public:
  DepthReader(std::string_view source, const std::string& name) : source_(source), name_(name) {}

  void read() {
    while (place_ < source_.size()) {
      if (at_line_begin_) read_indentation();
      if (place_ < source_.size()) read_token();
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kUnsupported, name_ + ", line " + std::to_string(line_) + ": " + what);
  }

  char next(std::size_t ahead = 0) const { return place_ + ahead < source_.size() ? source_[place_ + ahead] : '\0'; }

  void read_indentation() {
    at_line_begin_ = false;
    std::size_t columns = 0;
    for (; next() == ' ' || next() == '\t'; ++place_) ++columns;
    if (next() == '\n' || next() == '#' || next() == '\r') return;
    while (!blocks_.empty() && blocks_.back() >= columns) blocks_.pop_back();
    blocks_.push_back(columns);
    if (blocks_.size() > kMostIndentation) fail("more than " + std::to_string(kMostIndentation) + " nested blocks");
  }

  void read_token() {
    const char c = source_[place_];
    if (is_word(c)) return read_word();
    if (c == '"' || c == '\'') return read_string(c);
    if (c == '#') {
      while (place_ < source_.size() && source_[place_] != '\n') ++place_;
      return;
    }
    ++place_;
    switch (c) {
      case '\\':
        if (next() == '\n') ++place_, ++line_;
        return;
      case '\n':
        ++line_;
        if (!open_.empty()) return;
        operators_ = 0;
        at_line_begin_ = true;
        return;
      case '(':
      case '[':
      case '{':
        open_.push_back(operators_);
        if (open_.size() > kMostBrackets) fail("more than " + std::to_string(kMostBrackets) + " nested brackets");
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
      case ' ':
      case '\t':
      case '\r':
        return;
      default:
        add_operator();
    }
  }

  void read_word() {
    const std::size_t begin = place_;
    while (place_ < source_.size() && is_word(source_[place_])) ++place_;
    const std::string_view word = source_.substr(begin, place_ - begin);
    if (word == "def") elifs_ = 0;
    if (word == "elif" && ++elifs_ > kMostElif) fail("more than " + std::to_string(kMostElif) + " elif");
    if (is_operator_word(word)) add_operator();
  }

  void read_string(char quote) {
    const bool is_long = next(1) == quote && next(2) == quote;
    place_ += is_long ? 3 : 1;
    while (place_ < source_.size()) {
      const char c = source_[place_];
      if (c == '\n') {
        ++line_;
        if (!is_long) return;  // LibTorch will say what is wrong
      }
      if (c == quote && (!is_long || (next(1) == quote && next(2) == quote))) {
        place_ += is_long ? 3 : 1;
        return;
      }
      place_ += c == '\\' ? 2 : 1;
    }
  }

  void add_operator() {
    if (++operators_ > kMostOperators) {
      fail("more than " + std::to_string(kMostOperators) + " operators in one expression");
    }
  }

  const std::string_view source_;
  const std::string& name_;
  std::size_t place_ = 0;
  int line_ = 1, operators_ = 0, elifs_ = 0;
  bool at_line_begin_ = true;
  std::vector<std::size_t> blocks_;  // their columns
  std::vector<int> open_;            // for each bracket the operators before it
};

}  // namespace

void require_shallow(std::string_view source, const std::string& name) {
  DepthReader(source, name).read();
}

std::size_t count_definitions(std::string_view source) {
  std::size_t count = 0;
  for (const std::string_view word : {"def ", "class "}) {
    for (auto at = source.find(word); at != std::string_view::npos; at = source.find(word, at + 1)) ++count;
  }
  return count;
}

}  // namespace tandem::jit
