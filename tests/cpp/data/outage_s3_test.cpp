// Files of S3 whose keys expire, or that are elsewhere.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <memory>
#include <string>

#include "cpp/data/expect_error.h"
#include "cpp/data/outage.h"

namespace tandem::outage_s3_test {
namespace {

using namespace outage;

class S3Outage : public Outage {
 protected:
  S3Outage() { set_key(1); }
  ~S3Outage() override {
    for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SHARED_CREDENTIALS_FILE"})
      ::unsetenv(name);
  }
  static void set_key(int number) {
    ::setenv("AWS_ACCESS_KEY_ID", ("KEY" + std::to_string(number)).c_str(), 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  }
  std::unique_ptr<RecordSource> open(milliseconds request_timeout = 60s) const {
    OpenRecordsOptions options = remote();
    options.remote.s3_endpoint = server_.url("");
    options.remote.request_timeout = request_timeout;
    return open_records({"S3://bucket/key"}, options);
  }
};

TEST_F(S3Outage, KeysThatExpireAreReadAgain) {
  server_.key = 1;
  const auto source = open();
  EXPECT_EQ(source->read(0).bytes.size(), static_cast<std::size_t>(kBytes));
  server_.key = 2;
  EXPECT_ERROR(source->read(12), ErrorCode::kIo, "400", "expired");
  set_key(2);
  EXPECT_EQ(source->read(12).bytes.size(), static_cast<std::size_t>(kBytes));

  // Of a file, which another program replaces.
  ::unsetenv("AWS_ACCESS_KEY_ID");
  const auto write_keys = [&](int number) {
    std::ofstream(dir_ / "credentials") << "[other]\naws_access_key_id=KEY9\naws_secret_access_key=s\n\n[default]\n"
                                        << "aws_access_key_id = KEY" << number << "\naws_secret_access_key = secret\n";
  };
  ::setenv("AWS_SHARED_CREDENTIALS_FILE", (dir_ / "credentials").c_str(), 1);
  server_.key = 3;
  write_keys(3);
  const auto by_file = open();
  server_.key = 4;
  EXPECT_ERROR(by_file->read(12), ErrorCode::kIo, "expired");
  write_keys(4);
  EXPECT_EQ(by_file->read(12).bytes.size(), static_cast<std::size_t>(kBytes));
  std::ofstream(dir_ / "credentials") << "[other]\n";
  EXPECT_ERROR(open(), ErrorCode::kInvalidArgument, "credentials", "'default'", "AWS_PROFILE");
}

// As a gateway's login page: keys go to no other server, and the file is no worse for it.
TEST_F(S3Outage, ARedirectElsewhereMayPassOnceTheFileIsOpen) {
  const auto source = open();
  server_.moved = true;
  EXPECT_ERROR(source->read(12), ErrorCode::kIo, "S3://bucket/key", "http://127.0.0.1:1", "when it was opened");
  EXPECT_ERROR(open(), ErrorCode::kInvalidArgument, "S3://bucket/key", "http://127.0.0.1:1");
  server_.moved = false;
  EXPECT_EQ(source->read(12).bytes.size(), static_cast<std::size_t>(kBytes));
}

// Each with as long as the request would be five times too long.
TEST_F(S3Outage, RedirectsShareTheTimeOfTheirRequest) {
  const auto source = open(2s);
  server_.elsewhere = true;
  const int before = server_.requests;
  EXPECT_ERROR(source->read(12), ErrorCode::kIo, "S3://bucket/key");
  EXPECT_LE(server_.requests - before, 2);
}

}  // namespace
}  // namespace tandem::outage_s3_test
