#include "base/json_document.h"

#include <gmock/gmock.h>

#include <string>

#include "base/json_depth.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string fault_of(const std::string& text) {
  try {
    parse_json_document(text);
  } catch (const JsonFault& fault) {
    return fault.what();
  }
  return "";
}

TEST(JsonDocument, IsWhatTheLibraryReads) {
  for (const std::string text :
       {R"({"b":[1,-2,0.5,18446744073709551615,true,null,"x\u00e4"],"a":{"b":{},"a":[[],{}]}})", "[]", "{}", "3",
        "\"text\"", " [ {} , [ [ ] ] ] "}) {
    const auto wanted = nlohmann::ordered_json::parse(text);
    EXPECT_EQ(parse_json_document(text), wanted);
    EXPECT_EQ(parse_json_document(text).dump(), wanted.dump()) << "the order";
  }
}

TEST(JsonDocument, SaysWhatIsWrong) {
  for (const char* text : {"", "{", "[1,", "{\"a\"}", "nul", "[1] 2", "\"\xff\"", "1e999"}) {
    EXPECT_THAT(fault_of(text), StartsWith("is no JSON: ")) << text;
  }
  EXPECT_EQ(fault_of(R"({"a": 1, "b": {"c": 1, "d": 2, "c": 3}})"), "has 'c' twice");
  EXPECT_EQ(fault_of(R"([{"": 1, "": 1}])"), "has '' twice");
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(fault_of(nested(kDeepestJson)), "");
  EXPECT_EQ(fault_of(nested(kDeepestJson + 1)), "is nested more than 256 deep");
  EXPECT_EQ(fault_of(std::string(1'000'000, '[')), "is nested more than 256 deep");
}

}  // namespace
}  // namespace tandem
