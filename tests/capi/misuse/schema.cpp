#include "capi/misuse/schema.h"

namespace misuse {
namespace {

// Without "(a!)", and without the length in "int[3]".
std::string plain(const std::string& type) {
  std::string text;
  bool annotation = false;
  for (const char c : type) {
    if (c == '(') annotation = true;
    const bool digit = c >= '0' && c <= '9' && !text.empty() && text.back() == '[';
    if (!annotation && !digit) text += c;
    if (c == ')') annotation = false;
  }
  return text;
}

SchemaArgument parse_argument(const std::string& text) {
  SchemaArgument argument;
  int depth = 0;
  std::size_t space = 0;
  for (; space < text.size(); ++space) {
    depth += (text[space] == '(' || text[space] == '[') - (text[space] == ')' || text[space] == ']');
    if (text[space] == ' ' && depth == 0) break;
  }
  argument.type = plain(text.substr(0, space));
  if (argument.type.ends_with('?')) {
    argument.optional = true;
    argument.type.pop_back();
  }
  const std::string rest = text.substr(space + 1);
  const std::size_t equals = rest.find('=');
  argument.has_default = equals != std::string::npos;
  argument.name = rest.substr(0, equals);
  return argument;
}

}  // namespace

std::vector<SchemaArgument> parse_schema(const std::string& schema) {
  std::vector<SchemaArgument> arguments;
  std::size_t begin = schema.find('(') + 1;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = begin; i < schema.size(); ++i) {
    const char c = schema[i];
    if (c == '"' || c == '\'') quoted = !quoted;
    if (quoted) continue;
    if ((c == ',' || c == ')') && depth == 0) {
      const std::string text = schema.substr(begin, i - begin);
      if (!text.empty() && text != "*") arguments.push_back(parse_argument(text));
      if (c == ')') break;
      begin = i + 2;
    }
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
  }
  return arguments;
}

}  // namespace misuse
