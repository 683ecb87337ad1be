#include "membership/message.h"

#include <gtest/gtest.h>

#include "membership/node_message.h"
#include "tandem/error.h"

namespace tandem::membership {
namespace {

TEST(Messages, ComeBackAsTheyWere) {
  Form form;
  form.epoch = 7;
  form.rank = 2;
  form.host = "10.0.0.1";
  form.port = 4321;
  form.committed = {-1, 40, std::int64_t{1} << 40};
  const auto back = std::get<Form>(decode(encode(form)));
  EXPECT_EQ(back.epoch, 7);
  EXPECT_EQ(back.rank, 2);
  EXPECT_FALSE(back.serves);
  EXPECT_EQ(back.host, "10.0.0.1");
  EXPECT_EQ(back.port, 4321);
  EXPECT_EQ(back.committed, form.committed);
  EXPECT_TRUE(std::holds_alternative<Finished>(decode(encode(Finished{}))));
  EXPECT_EQ(std::get<Join>(decode(encode(Join{3, 5, "a \"quoted\" reason"}))).reason, "a \"quoted\" reason");
}

TEST(Messages, TakeTextsThatAreNoUtf8) {
  EXPECT_NO_THROW(decode(encode(Join{1, 2, "broken \xff\xfe text"})));
}

// An agent of an earlier release says what it is by its refusal.
TEST(Messages, RefusalsOfAllReleasesAreUnderstood) {
  const auto refused = std::get<Refused>(decode_node(R"({"kind":"refused","why":"another release","for_good":true})"));
  EXPECT_EQ(refused.why, "another release");
  EXPECT_TRUE(refused.for_good);
  EXPECT_FALSE(refused.is_over);
  EXPECT_FALSE(std::get<Refused>(decode_node(encode_node(Refused{"later", false}))).for_good);
}

TEST(Messages, RefuseWhatIsNone) {
  for (const std::string bytes :
       {"", "{", "[]", "{}", R"({"kind": "unheard"})", R"({"kind": 3})", R"({"kind": "join"})",
        R"({"kind": "join", "epoch": "x", "committed": 1, "reason": ""})",
        R"({"kind": "form", "epoch": 1, "rank": 0, "serves": true, "host": "h", "port": 1, "committed": [1, "x"]})"}) {
    try {
      decode(bytes);
      ADD_FAILURE() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << bytes;
    }
  }
  EXPECT_THROW(decode(std::string(kMostMessageBytes + 1, ' ')), Error);
  EXPECT_THROW(decode(R"({"kind": "join", "epoch": 1, "committed": 1, "reason": )" + std::string(60000, '[')), Error);
}

}  // namespace
}  // namespace tandem::membership
