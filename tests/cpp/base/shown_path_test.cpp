#include "base/shown_path.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem::shown_path_test {
namespace {

TEST(ShownPath, LeavesPathsAsTheyAre) {
  for (const std::string path : {"", "train.rio", "/data/me@home/a?b#c", "a:b@c", "dir/x://y@z", "https", "@list"}) {
    EXPECT_EQ(shown_path(path), path);
  }
}

TEST(ShownPath, LeavesOutUserAndQuery) {
  const std::string cases[][2] = {
      {"https://host/data@2/file", "https://host/data@2/file"},
      {"http://127.0.0.1:80/file?signature=x", "http://127.0.0.1:80/file?..."},
      {"HTTP://user:pw@host/file#part", "HTTP://host/file?..."},
      {"http://user:p@w@host:8080/file", "http://host:8080/file"},
      {"http://user:pw@[::1]:80/file?a=b@c", "http://[::1]:80/file?..."},
      {"http://host:80/file?mail=a@b", "http://host:80/file?..."},
      {"s3://bucket/key?v@2", "s3://bucket/key?v@2"},
      {"@https://user:pw@host/list?x=y", "@https://host/list?..."},
      {"ftp://user:pw@host/file", "ftp://host/file"},
      {"http://host{0..3}/file?x", "http://host{0..3}/file?..."},
  };
  for (const auto& [path, shown] : cases) EXPECT_EQ(shown_path(path), shown);
}

TEST(ShownPath, OfWhatIsNotUnderstoodShowsNothingThatMayBeSecret) {
  const std::string cases[][2] = {
      {"http:///user:pw@host/file", "http://...host/file"},  // which libcurl takes for http://user:pw@host/file
      {"http://user:p/w@host/file?x", "http://...host/file?..."},
      {"http://user:1/w@host/file", "http://...host/file"},  // or a port and a path, who knows
      {"http://user:p?w@host/file", "http://..."},
      {"http://user:1?w@host/file", "http://..."},
      {"http://user:p/@w?x@host/file", "http://..."},
      {"https:user:pw@host/file", "https:host/file"},
      {"https:/user:pw@host/file", "https:...host/file"},
      {"http:///file?x", "http:///file?..."},
  };
  for (const auto& [path, shown] : cases) EXPECT_EQ(shown_path(path), shown);
}

}  // namespace
}  // namespace tandem::shown_path_test
