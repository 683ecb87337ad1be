// TensorBoard's files through the C ABI; what they hold is tested with the core.
#include <gmock/gmock.h>

#include <filesystem>

#include "capi/calls.h"

namespace summary_writer_test {
namespace {

namespace fs = std::filesystem;

class SummaryWriter : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "tandem-capi-summary-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    EXPECT_OK(tdm_summary_writer_create((folder / "runs").c_str(), ".first", &writer));
  }
  void TearDown() override {
    tdm_summary_writer_free(writer);
    fs::remove_all(folder);
  }
  std::uintmax_t size() const { return fs::file_size(tdm_summary_writer_path(writer)); }

  fs::path folder;
  tdm_summary_writer* writer = nullptr;
};

TEST_F(SummaryWriter, EveryKindOfEventReachesTheFile) {
  const calls::LeakCheck leaks;
  EXPECT_EQ(fs::path(tdm_summary_writer_path(writer)).parent_path(), folder / "runs");
  EXPECT_EQ(fs::path(tdm_summary_writer_path(writer)).extension(), ".first");
  const calls::Tensor values = calls::tensor({1, 2, 3, 4}, {1, 2, 2});
  std::uintmax_t before = size();
  const auto expect_growth = [&](tdm_error* error) {
    EXPECT_OK(error);
    EXPECT_GT(size(), before);
    before = size();
  };
  expect_growth(tdm_summary_writer_add_scalar(writer, "loss", 0.5, 1, 0));
  expect_growth(tdm_summary_writer_add_scalar(writer, "loss", 0.5, 1, 1700000000.5));
  expect_growth(tdm_summary_writer_add_histogram(writer, "weights", values.get(), 1, 0));
  expect_growth(tdm_summary_writer_add_image(writer, "digit", values.get(), TDM_IMAGE_CHW, 1, 0));
  expect_growth(tdm_summary_writer_add_text(writer, "note", "*é*", 1, 0));
  EXPECT_OK(tdm_summary_writer_flush(writer));
  EXPECT_OK(tdm_summary_writer_close(writer));
  EXPECT_OK(tdm_summary_writer_close(writer));
  EXPECT_REFUSED(tdm_summary_writer_add_text(writer, "note", "x", 1, 0), TDM_ERROR_CLOSED,
                 tdm_summary_writer_path(writer));
}

TEST_F(SummaryWriter, Mistakes) {
  const calls::Tensor values = calls::tensor({1, 2, 3, 4}, {4});
  const std::string path = tdm_summary_writer_path(writer);
  tdm_summary_writer* none = nullptr;
  EXPECT_REFUSED(tdm_summary_writer_create((path + "/a").c_str(), nullptr, &none), TDM_ERROR_IO, path);
  EXPECT_EQ(none, nullptr);
  const std::uintmax_t before = size();
  const auto refused = TDM_ERROR_INVALID_ARGUMENT;
  EXPECT_REFUSED(tdm_summary_writer_add_scalar(writer, "\xff", 1, 1, 0), refused, "'tag' is no UTF-8");
  EXPECT_REFUSED(tdm_summary_writer_add_scalar(writer, "loss", 1, 1, -1), refused, "wall_time");
  EXPECT_REFUSED(tdm_summary_writer_add_text(writer, "a", "\xc3", 1, 0), refused, "'text' is no UTF-8");
  EXPECT_REFUSED(tdm_summary_writer_add_image(writer, "a", values.get(), TDM_IMAGE_HW, 1, 0), refused, "2 dimensions");
  EXPECT_REFUSED(tdm_summary_writer_add_image(writer, "a", values.get(), 5, 1, 0), refused, "layout 5");
  EXPECT_EQ(size(), before);
}

}  // namespace
}  // namespace summary_writer_test
