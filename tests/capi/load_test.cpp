// Which LibTorch is loaded, and what is said when it cannot be. Each case is a process of its own.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "capi/process.h"
#include "tandem/tandem.h"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kProgram = LOAD_PROGRAM;

std::string code(int number) {
  return std::to_string(number) + " ";
}

bool has_gpu() {
  return fs::exists("/dev/nvidia0");
}

class Load : public testing::Test {
 protected:
  Load() : folder_(fs::temp_directory_path() / ("tandem-load-" + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "lib");
  }
  ~Load() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(Load, FindsTheOneOfTheBuild) {
  const Ended ended = run_program(kProgram);
  EXPECT_THAT(ended.output, StartsWith(code(0) + LIBTORCH_VERSION));
  EXPECT_EQ(ended.exit_code, 0);
}

TEST_F(Load, NamesAMissingFolder) {
  for (const std::string& line : {"env TANDEM_LIBTORCH=/nowhere/torch " + kProgram, kProgram + " -l /nowhere/torch"}) {
    const Ended ended = run_program(line);
    EXPECT_THAT(ended.output,
                AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("/nowhere/torch"), HasSubstr("libtorch_cpu.so")));
    EXPECT_EQ(ended.exit_code, 1);
  }
}

TEST_F(Load, NamesAWrongVersion) {
  std::ofstream(folder_ / "build-version") << "1.0.0\n";
  std::ofstream(folder_ / "lib" / "libtorch_cpu.so") << "not a library";
  const Ended ended = run_program("env TANDEM_LIBTORCH=" + folder_.string() + " " + kProgram);
  EXPECT_THAT(ended.output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("1.0.0"), HasSubstr(folder_.string()),
                                  HasSubstr(std::string(LIBTORCH_VERSION).substr(0, 4))));
  EXPECT_EQ(ended.exit_code, 1);
}

TEST_F(Load, NamesAVersionThatIsNotSaid) {
  std::ofstream(folder_ / "lib" / "libtorch_cpu.so") << "not a library";
  const Ended ended = run_program("env TANDEM_LIBTORCH=" + folder_.string() + " " + kProgram);
  EXPECT_THAT(ended.output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("version.py")));
}

TEST_F(Load, RefusesABrokenLibrary) {
  std::ofstream(folder_ / "build-version") << LIBTORCH_VERSION << "\n";
  std::ofstream(folder_ / "lib" / "libtorch_cpu.so") << "not a library";
  const Ended ended = run_program("env TANDEM_LIBTORCH=" + folder_.string() + " " + kProgram);
  EXPECT_THAT(ended.output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("cannot load")));
}

TEST_F(Load, RefusesASecondCopy) {
  const fs::path other = folder_ / "lib" / "libtorch_cpu.so";
  fs::copy_file(STAND_IN, other);
  const Ended ended = run_program("env TANDEM_LIBTORCH=" LIBTORCH_ROOT " " + kProgram + " -o " + other.string());
  EXPECT_THAT(ended.output,
              AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr(other.string()), HasSubstr("already has LibTorch")));
  EXPECT_EQ(ended.exit_code, 1);
}

TEST_F(Load, ChoosesTheDevice) {
  EXPECT_THAT(run_program("env TANDEM_DEVICE=gpu " + kProgram).output,
              AllOf(StartsWith(code(TDM_ERROR_INVALID_ARGUMENT)), HasSubstr("'gpu'"), HasSubstr("auto, cpu or cuda")));
  EXPECT_THAT(run_program("env TANDEM_DEVICE=cpu " + kProgram).output, StartsWith(code(0)));
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  for (const std::string& line : {"env TANDEM_DEVICE=cuda " + kProgram, kProgram + " -d 2"}) {
    EXPECT_THAT(run_program(line).output, AllOf(StartsWith(code(TDM_ERROR_UNSUPPORTED)), HasSubstr("GPU")));
  }
}

TEST_F(Load, SecondLoadsAndCallsAfterShutdown) {
  const Ended ended = run_program(kProgram + " -t");
  const std::string fine = code(0) + LIBTORCH_VERSION + "\n";
  EXPECT_THAT(ended.output, StartsWith(fine + fine + code(TDM_ERROR_LIBRARY)));
  EXPECT_THAT(ended.output, HasSubstr("\n" + code(0) + "\n" + code(TDM_ERROR_CLOSED)));
  EXPECT_THAT(ended.output, testing::EndsWith("\n" + code(0) + "\n"));
}

}  // namespace
