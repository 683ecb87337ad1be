#include "jit/source_literals.h"

#include <initializer_list>
#include <vector>

#include "jit/source_tokens.h"
#include "tandem/error.h"

namespace tandem::jit {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  for (const std::string_view one : all) {
    if (text == one) return true;
  }
  return false;
}

class LiteralReader {
 public:
  LiteralReader(std::string_view source, const std::string& name) : tokens_(source), name_(name) {}

  void read() {
    for (Token token = tokens_.next(); token.kind != TokenKind::kEnd; token = tokens_.next()) {
      if (token.kind != TokenKind::kNothing && token.kind != TokenKind::kLine) read(token);
    }
  }

 private:
  enum class Line { kOther, kDefinition, kOfClass };  // what the line that is being read is
  struct Block {
    int columns;
    bool is_class;
  };

  void read(const Token& token) {
    if (token.indentation >= 0 && brackets_ == 0) begin_line(token);
    const std::string_view text = token.text;
    if (line_ != Line::kOther) check(token);
    if (token.kind == TokenKind::kWord) {
      chain_ = last_.text == "." ? std::string_view(chain_.data(), text.data() + text.size() - chain_.data()) : text;
    } else if (token.kind == TokenKind::kMark) {
      if (is_one_of(text, {"(", "[", "{"})) ++brackets_;
      if (is_one_of(text, {")", "]", "}"}) && brackets_ > 0) --brackets_;
    }
    last_ = token;
  }

  void begin_line(const Token& token) {
    last_ = {};
    while (!blocks_.empty() && blocks_.back().columns >= token.indentation) blocks_.pop_back();
    const bool is_class = token.text == "class", is_definition = token.text == "def";
    line_ = is_definition                                                  ? Line::kDefinition
            : !is_class && !blocks_.empty() && blocks_.back().is_class ? Line::kOfClass
                                                                           : Line::kOther;
    if (is_class || is_definition) blocks_.push_back({token.indentation, is_class});
  }

  void check(const Token& token) {
    const std::string_view text = token.text;
    const bool has_name = last_.kind == TokenKind::kWord && last_.text != "def";
    if (token.kind == TokenKind::kWord && is_one_of(text, {"for", "lambda"})) fail(token);
    if (token.kind != TokenKind::kMark) return;
    if (text == "(") {
      // The function's own arguments.
      if (line_ == Line::kDefinition && brackets_ == 0) return;
      const bool is_call = has_name || last_.kind == TokenKind::kString || is_one_of(last_.text, {")", "]", "}"});
      if (is_call && !(has_name && is_one_of(chain_, {"torch.device", "annotate", "float"}))) fail(token);
    }
    // "*" alone stands before arguments that are given by name.
    const bool begins_names = line_ == Line::kDefinition && is_one_of(last_.text, {"(", ","});
    if (is_one_of(text, {"*", "%", "@", "<", "^", "&", "|"}) && !(text == "*" && begins_names)) fail(token);
  }

  [[noreturn]] void fail(const Token& token) const {
    throw Error(ErrorCode::kUnsupported,
                name_ + ", line " + std::to_string(token.line) + ": '" + std::string(token.text) +
                    "' in a default or a constant, which loading would have to compute");
  }

  SourceTokens tokens_;
  const std::string& name_;
  Token last_;
  std::string_view chain_;  // the name so far, with its dots
  Line line_ = Line::kOther;
  int brackets_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace

void require_literals(std::string_view source, const std::string& name) {
  LiteralReader(source, name).read();
}

}  // namespace tandem::jit
