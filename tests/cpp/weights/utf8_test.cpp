#include "weights/pickle/utf8.h"

#include <gtest/gtest.h>

namespace tandem::pickle {
namespace {

TEST(Utf8, TellsTextFromBytes) {
  for (const char* text : {"", "a", "Grüße", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  // Cut off, overlong, a surrogate, beyond Unicode, a byte that follows nothing.
  for (const char* bytes :
       {"\xc3", "\xe2\x82", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xff", "a\xc3("}) {
    EXPECT_FALSE(is_utf8(bytes));
  }
}

TEST(Utf8, Latin1) {
  std::string bytes;
  EXPECT_TRUE(latin1_of("a\xc3\xbf", &bytes));
  EXPECT_EQ(bytes, "a\xff");
  EXPECT_FALSE(latin1_of("\xc4\x80", nullptr));
}

}  // namespace
}  // namespace tandem::pickle
