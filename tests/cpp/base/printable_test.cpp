// Text of somebody else's, as it may be shown on a terminal.
#include "base/printable.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Printable, LeavesWhatPeopleRead) {
  for (const char* text : {"", "rank 1 of 2", "M\u00fcnchen", "\u65e5\u672c", "\U0001f642"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, HasNothingThatATerminalActsOn) {
  EXPECT_EQ(printable("a\x1b[2J\n\x7f"), "a?[2J??");
  EXPECT_EQ(printable("a\u009b2J\u0080\u009f"), "a?2J??");
  EXPECT_EQ(printable("a\u202eb\u2066c\u2028d"), "a?b?c?d");
}

TEST(Printable, IsUtf8) {
  EXPECT_EQ(printable("a\xff" "b\xc3"), "a?b?");
  EXPECT_EQ(printable("\x9b" "2J"), "?2J");
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "longer than it has to be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond the last";
}

TEST(Printable, IsCutBetweenCharacters) {
  EXPECT_EQ(printable("ab\u00fc", 3), "ab");
  EXPECT_EQ(printable("ab\u00fc", 4), "ab\u00fc");
  EXPECT_EQ(printable(std::string(1000, 'x')).size(), 255u);
}

}  // namespace
}  // namespace tandem
