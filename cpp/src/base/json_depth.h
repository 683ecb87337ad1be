// How deep JSON may be nested, seen to while it is parsed.
#pragma once

namespace tandem {

// Values of nlohmann's library are parsed and freed in loops, but written and compared by functions that call
// themselves: text that anyone may have made is refused above this.
inline constexpr int kDeepestJson = 256;  // arrays and objects within each other: 1 for "[]"

struct JsonTooDeep {};

// To be called first in the callback that nlohmann's parser takes, with what that is given; `deepest`: where the text
// is to lie within other values. Throws JsonTooDeep, which comes out of the parser.
template <typename Event>
void check_json_depth(int depth, Event event, int deepest = kDeepestJson) {
  if (depth >= deepest && (event == Event::object_start || event == Event::array_start)) throw JsonTooDeep();
}

}  // namespace tandem
