// Event files against those of Python's SummaryWriter (events.tfevents, made by reference.py).
#include "tandem/summary_writer.h"

#include <gmock/gmock.h>
#include <png.h>
#include <sys/resource.h>
#include <torch/torch.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <thread>

#include "tandem/error.h"

namespace {

using tandem::Error;
using tandem::ErrorCode;
using tandem::ImageDataFormat;
using tandem::SummaryWriter;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kTime = 1700000000.5;

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "tandem-summary-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Whole frames: length, its checksum, bytes, their checksum.
std::vector<std::string> frames(const std::string& file) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < file.size();) {
    std::uint64_t length = 0;
    if (file.size() - at < sizeof length) throw std::runtime_error("half a length");
    std::memcpy(&length, file.data() + at, sizeof length);
    if (length > file.size() - at - 16) throw std::runtime_error("half a record");
    found.push_back(file.substr(at, length + 16));
    at += length + 16;
  }
  return found;
}

struct Picture {
  std::string tag;
  std::int64_t step = 0, height = 0, width = 0;
  std::vector<std::uint8_t> rgb;
  bool operator==(const Picture&) const = default;
};

Picture picture_of(const std::string& frame) {
  Picture picture;
  std::string png;
  protozero::pbf_reader event(frame.data() + 12, frame.size() - 16);
  while (event.next()) {
    if (event.tag() == 2) {
      picture.step = event.get_int64();
    } else if (event.tag() == 5) {
      protozero::pbf_reader summary = event.get_message();
      while (summary.next(1)) {
        protozero::pbf_reader value = summary.get_message();
        while (value.next()) {
          if (value.tag() == 1) {
            picture.tag = value.get_string();
          } else if (value.tag() == 4) {
            protozero::pbf_reader image = value.get_message();
            while (image.next()) {
              if (image.tag() == 1)
                picture.height = image.get_int32();
              else if (image.tag() == 2)
                picture.width = image.get_int32();
              else if (image.tag() == 4)
                png = image.get_string();
              else
                image.skip();
            }
          } else {
            value.skip();
          }
        }
      }
    } else {
      event.skip();
    }
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, png.data(), png.size()) == 0) throw std::runtime_error(image.message);
  image.format = PNG_FORMAT_RGB;
  picture.rgb.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, picture.rgb.data(), 0, nullptr) == 0) {
    throw std::runtime_error(image.message);
  }
  return picture;
}

template <typename Call>
void expect_error(ErrorCode code, const ::testing::Matcher<std::string>& message, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_THAT(error.what(), message);
  }
}

TEST(SummaryWriter, WritesWhatPythonWrites) {
  const Folder folder;
  SummaryWriter writer(folder.path);
  writer.add_scalar("loss/train", 0.25, 1, kTime);
  writer.add_scalar("loss/train", 1.0 / 3, 2, kTime + 1);
  writer.add_scalar("Ünïcode", -1e30, 0, kTime + 2);
  writer.add_scalar("zero", 0, 3, kTime + 2.25);
  writer.add_scalar("late", 7, 10'000'000'000, kTime + 3);
  writer.add_histogram("weights", torch::arange(-20, 60).view({4, 20}), 3, kTime + 4);
  writer.add_histogram("positive", torch::tensor({5.0, 5.0, 6.0}), 4, kTime + 5);
  writer.add_histogram("zeros", torch::zeros({7}), 5, kTime + 6);
  writer.add_text("note", "two\n*lines* – é", 6, kTime + 7);
  const auto grey = (torch::arange(12.0) / 11).view({3, 4});
  writer.add_image("bytes", torch::arange(60, torch::kByte).view({3, 5, 4}) * 4, 7, ImageDataFormat::kCHW, kTime + 8);
  writer.add_image("floats", grey.unsqueeze(0), 8, ImageDataFormat::kCHW, kTime + 9);
  writer.add_image("grey", grey, 9, ImageDataFormat::kHW, kTime + 10);
  writer.add_image("batch", torch::arange(120, torch::kByte).view({10, 3, 2, 2}), 10, ImageDataFormat::kNCHW, kTime + 11);

  const auto python = frames(contents(REFERENCE)), ours = frames(contents(writer.path()));
  ASSERT_EQ(python.size(), 14u);
  ASSERT_EQ(ours.size(), python.size());
  // The first has the time of day, and in Python the name of its writer.
  EXPECT_THAT(ours[0], HasSubstr("\x1a\x0d"
                                 "brain.Event:2"));
  EXPECT_THAT(python[0], HasSubstr("\x1a\x0d"
                                   "brain.Event:2"));
  for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(ours[i], python[i]) << "event " << i;
  for (std::size_t i = 10; i < 14; ++i) EXPECT_EQ(picture_of(ours[i]), picture_of(python[i])) << "event " << i;
}

TEST(SummaryWriter, LayoutsAndDtypesOfOnePicture) {
  const Folder folder;
  SummaryWriter writer(folder.path);
  const auto image = torch::arange(24, torch::kByte).view({3, 2, 4}) * 10;
  const std::vector<std::pair<at::Tensor, ImageDataFormat>> same = {
      {image, ImageDataFormat::kCHW},
      {image.movedim(0, 2), ImageDataFormat::kHWC},
      {image.unsqueeze(0), ImageDataFormat::kNCHW},
      {image.movedim(0, 2).unsqueeze(0), ImageDataFormat::kNHWC},
      // Truncated to whole numbers after the multiplication, so half a step more is safe from rounding.
      {(image.to(torch::kDouble) + 0.5) / 255, ImageDataFormat::kCHW},
      {((image.to(torch::kFloat) + 0.5) / 255).requires_grad_(), ImageDataFormat::kCHW},
  };
  for (const auto& [tensor, layout] : same) writer.add_image("image", tensor, 1, layout);
  const auto written = frames(contents(writer.path()));
  ASSERT_EQ(written.size(), same.size() + 1);
  const Picture first = picture_of(written[1]);
  EXPECT_EQ(first.height, 2);
  EXPECT_EQ(first.width, 4);
  EXPECT_EQ(first.rgb[3], 10);  // the second pixel's red
  for (std::size_t i = 2; i < written.size(); ++i) EXPECT_EQ(picture_of(written[i]), first) << "picture " << i;
}

TEST(SummaryWriter, FloatsOutsideOfOneAreCutOff) {
  const Folder folder;
  SummaryWriter writer(folder.path);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  writer.add_image("image", torch::tensor({{-3.0, 2.0, nan, 1.0}}), 1, ImageDataFormat::kHW);
  const Picture picture = picture_of(frames(contents(writer.path())).at(1));
  EXPECT_EQ(picture.rgb, (std::vector<std::uint8_t>{0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 255, 255}));
}

TEST(SummaryWriter, HistogramsLeaveOutWhatIsNotFinite) {
  const Folder folder;
  SummaryWriter writer(folder.path);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  writer.add_histogram("h", torch::tensor({1.0, 2.0}), 1, kTime);
  writer.add_histogram("h", torch::tensor({inf, 1.0, nan, 2.0, -inf}), 1, kTime);
  const auto written = frames(contents(writer.path()));
  EXPECT_EQ(written.at(1), written.at(2));
}

TEST(SummaryWriter, EventsAreInTheFileWhenTheCallReturns) {
  const Folder folder;
  SummaryWriter writer(folder.path);
  writer.add_scalar("loss", 1, 1);
  EXPECT_EQ(frames(contents(writer.path())).size(), 2u);  // neither flushed nor closed
}

TEST(SummaryWriter, TwoInAFolderHaveFilesOfTheirOwn) {
  const Folder folder;
  const SummaryWriter one(folder.path / "deep" / "er"), other(folder.path / "deep" / "er", ".validation");
  EXPECT_NE(one.path(), other.path());
  EXPECT_THAT(other.path(), ::testing::EndsWith(".validation"));
  EXPECT_THAT(one.path(), HasSubstr("deep/er/events.out.tfevents."));
}

TEST(SummaryWriter, ManyThreadsWriteWholeRecords) {
  const Folder folder;
  SummaryWriter writer(folder.path);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i) writer.add_text("t", std::string(static_cast<std::size_t>(i), 'x'), t * 1000 + i);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(frames(contents(writer.path())).size(), 1001u);
}

TEST(SummaryWriter, AFullDiskLeavesWholeRecords) {
  const Folder folder;
  SummaryWriter writer(folder.path);
  writer.add_scalar("loss", 1, 1);
  const auto before = contents(writer.path());
  std::signal(SIGXFSZ, SIG_IGN);  // the limit is then an error of write
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit tight{before.size() + 50, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  expect_error(ErrorCode::kIo, AllOf(HasSubstr(writer.path()), HasSubstr("File too large")),
               [&] { writer.add_text("long", std::string(1000, 'x'), 2); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(contents(writer.path()), before);
  writer.add_scalar("loss", 2, 3);
  EXPECT_EQ(frames(contents(writer.path())).size(), 3u);
}

TEST(SummaryWriter, Mistakes) {
  const Folder folder;
  const std::string file = folder.path / "file";
  std::ofstream(file) << "x";
  expect_error(ErrorCode::kIo, HasSubstr(file), [&] { const SummaryWriter writer(file); });
  expect_error(ErrorCode::kInvalidArgument, HasSubstr("folder"), [] { const SummaryWriter writer(""); });
  expect_error(ErrorCode::kInvalidArgument, HasSubstr("a/b"), [&] { const SummaryWriter writer(folder.path, "a/b"); });

  SummaryWriter writer(folder.path);
  const auto refuses = [&](const at::Tensor& image, ImageDataFormat layout, const std::string& why) {
    expect_error(ErrorCode::kInvalidArgument, AllOf(HasSubstr("\"tag\""), HasSubstr(why)),
                 [&] { writer.add_image("tag", image, 1, layout); });
  };
  refuses(torch::zeros({3, 4}), ImageDataFormat::kCHW, "3 dimensions");
  refuses(torch::zeros({2, 3, 4}), ImageDataFormat::kCHW, "2 channels");
  refuses(torch::zeros({3, 0, 4}), ImageDataFormat::kCHW, "no pixels");
  refuses(torch::zeros({3, 4, 4}, torch::kLong), ImageDataFormat::kCHW, "uint8");
  refuses(torch::zeros({1, 1, 1}, torch::kByte).expand({1, 1 << 16, 1 << 15}), ImageDataFormat::kCHW, "1 GiB");
  for (const auto& values : {torch::empty({0}), torch::full({3}, std::nan(""))}) {
    expect_error(ErrorCode::kInvalidArgument, HasSubstr("\"tag\""), [&] { writer.add_histogram("tag", values, 1); });
  }
  expect_error(ErrorCode::kInvalidArgument, HasSubstr("complex"),
               [&] { writer.add_histogram("tag", torch::zeros({3}, torch::kComplexFloat), 1); });
  EXPECT_EQ(frames(contents(writer.path())).size(), 1u);

  writer.close();
  writer.close();
  expect_error(ErrorCode::kClosed, HasSubstr(writer.path()), [&] { writer.add_scalar("tag", 1, 1); });
  expect_error(ErrorCode::kClosed, HasSubstr(writer.path()), [&] { writer.flush(); });
}

}  // namespace
