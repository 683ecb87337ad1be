// `tandem trace pipeline`: what it draws, and what it refuses.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cpp/data/temp_dir.h"
#include "tandem/error.h"
#include "trace/tool/pipeline_picture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Json piece(const char* name, int step, int stage, int micro_batch, double begun, double length) {
  return {{"ph", "X"},      {"name", name},   {"pid", 0}, {"tid", 1000 + stage},
          {"ts", begun},    {"dur", length},
          {"args", {{"step", step}, {"stage", stage}, {"micro_batch", micro_batch}}}};
}

class PipelinePicture : public ::testing::Test {
 protected:
  std::string put(int rank, std::vector<Json> events, const std::string& run = "a", const std::string& kind = "trace") {
    const Json about = {{"version", 1}, {"kind", kind}, {"run", run}, {"rank", rank}, {"world_size", 2}, {"shift_ns", 0},
                        {"dropped", 0}, {"clock_error_ns", 0}};
    const std::string path = folder_ / (run + kind + std::to_string(rank) + ".json");
    std::ofstream(path) << Json({{"tandem", about}, {"traceEvents", std::move(events)}}).dump();
    return path;
  }
  std::string refusal(const std::vector<std::string>& files, const PictureOptions& options = {}) {
    try {
      pipeline_picture(files, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  // Two stages, one micro-batch, each piece 10 ms; the second step, which comes late, on one rank alone.
  std::vector<std::string> two_ranks() {
    Json other = {{"ph", "b"}, {"name", "send"}};
    return {put(0, {other, piece("forward 0", 1, 0, 0, 5000, 10000), piece("backward 0", 1, 0, 0, 35000, 10000),
                    piece("forward 0", 2, 0, 0, 90000, 10000)}),
            put(1, {piece("forward 11", 1, 1, 11, 15000, 10000), piece("backward 11", 1, 1, 11, 25000, 10000)})};
  }
  const test::TempDir folder_;
};

TEST_F(PipelinePicture, HasStagesByTimeAndTheBubble) {
  PictureOptions options;
  options.width = 20;
  EXPECT_EQ(pipeline_picture(two_ranks(), options),
            "step 1: 40.000 ms, of which 2 ranks wait 50.0 % (the bubble)\n"
            "stage 0, rank 0 |00000..........aaaaa|\n"
            "stage 1, rank 1 |.....BBBBBlllll.....|\n");
}

TEST_F(PipelinePicture, RefusesWhatDoesNotBelongTogether) {
  const auto files = two_ranks();
  PictureOptions options;
  options.step = 2;
  EXPECT_THAT(refusal(files, options), HasSubstr("step 2 is not in all of the files; they have 1 to 1"));
  options.step = -1;
  options.width = 3;
  EXPECT_THAT(refusal(files, options), HasSubstr("20 to 1000"));
  EXPECT_THAT(refusal({}), HasSubstr("name one a rank"));
  EXPECT_THAT(refusal({files[0], files[0]}), HasSubstr("the second trace of rank 0"));
  EXPECT_THAT(refusal({files[0], put(1, {piece("forward 0", 1, 1, 0, 0, 1)}, "b")}), HasSubstr("is of run b"));
  EXPECT_THAT(refusal({put(1, {}, "c")}), HasSubstr("no pipeline's stages"));
  EXPECT_THAT(refusal({put(0, {}, "a", "profile")}), HasSubstr("give the traces of ranks"));
  EXPECT_THAT(refusal({files[0], put(1, {piece("forward 0", 7, 1, 0, 0, 1)})}), HasSubstr("no step is in all"));
}

}  // namespace
}  // namespace tandem
