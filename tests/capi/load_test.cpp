// Which LibTorch is loaded, and what is said when it cannot be. Each case is a process of its own.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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
// As messages have it, links resolved.
const std::string kLibTorch = fs::canonical(LIBTORCH_ROOT);

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
              AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("already has LibTorch from " + other.string()),
                    HasSubstr("TANDEM_LIBTORCH names " + kLibTorch + "/lib/libtorch_cpu.so"), HasSubstr("two copies"),
                    HasSubstr("name " + folder_.string() + ", so that")));
  EXPECT_EQ(ended.exit_code, 1);
  const Ended by_options = run_program(kProgram + " -o " + other.string() + " -l " LIBTORCH_ROOT);
  EXPECT_THAT(by_options.output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr(other.string()),
                                       HasSubstr("tdm_load_options.libtorch names " + kLibTorch)));
}

// As a bundle of libraries in a Python package calls it, and Debian.
TEST_F(Load, KnowsOtherNamesOfASecondCopy) {
  for (const std::string name : {"libtorch_cpu-0a1b2c3d.so", "libtorch_cpu.so.2.11", "libc10.so", "libc10-77.so"}) {
    const fs::path other = folder_ / "lib" / name;
    fs::copy_file(STAND_IN, other);
    const Ended ended = run_program("env TANDEM_LIBTORCH=" LIBTORCH_ROOT " " + kProgram + " -o " + other.string());
    EXPECT_THAT(ended.output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr(folder_.string()),
                                    HasSubstr("already has LibTorch"), HasSubstr(kLibTorch)))
        << name;
    fs::remove(other);
  }
}

TEST_F(Load, RefusesTheSecondCopyOfAProgramLinkedWithItsOwn) {
  const Ended ended = run_program("env TANDEM_LIBTORCH=" LIBTORCH_ROOT " " LINKED_WITH_STAND_IN);
  EXPECT_THAT(ended.output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr(fs::canonical(STAND_IN)),
                                  HasSubstr(kLibTorch), HasSubstr("already has LibTorch")));
  EXPECT_EQ(ended.exit_code, 1);
}

TEST_F(Load, RefusesWhereTwoCopiesAreThere) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer ends a process with two libraries of one of its suppressions";
#endif
  fs::create_directories(folder_ / "second");
  const fs::path first = folder_ / "lib" / "libtorch_cpu.so", second = folder_ / "second" / "libtorch_cpu.so";
  for (const auto& path : {first, second}) fs::copy_file(STAND_IN, path);
  const std::string opening = kProgram + " -o " + first.string() + " -o " + second.string();
  for (const std::string& line : {opening, "env TANDEM_LIBTORCH=" LIBTORCH_ROOT " " + opening}) {
    EXPECT_THAT(run_program(line).output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("has two copies"),
                                                HasSubstr(first.string()), HasSubstr(second.string())));
  }
}

TEST_F(Load, NamesAVersionThatTheProcessLoadedFirst) {
  const fs::path other = folder_ / "lib" / "libtorch_cpu.so";
  fs::copy_file(STAND_IN, other);
  std::ofstream(folder_ / "build-version") << "1.13.1\n";
  const Ended ended = run_program(kProgram + " -o " + other.string());
  EXPECT_THAT(ended.output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("1.13.1 in " + folder_.string()),
                                  HasSubstr("loaded before Tandem"), HasSubstr("install a Tandem with a core")));
}

// Under any name: by links to its folder, and where an installer has linked files instead of copying them.
TEST_F(Load, TakesTheCopyThatIsThere) {
  const std::string loaded = code(0) + LIBTORCH_VERSION + "\n";
  EXPECT_EQ(run_program(LINKED_WITH_LIBTORCH).output, loaded);
  EXPECT_EQ(run_program("env TANDEM_LIBTORCH=" LIBTORCH_ROOT " " LINKED_WITH_LIBTORCH).output, loaded);

  const fs::path link = folder_ / "link";
  fs::create_directory_symlink(LIBTORCH_ROOT, link);
  for (const std::string& line : {"env TANDEM_LIBTORCH=" LIBTORCH_ROOT " " + kProgram + " -o " + link.string(),
                                  "env TANDEM_LIBTORCH=" + link.string() + " " + kProgram + " -o " LIBTORCH_ROOT,
                                  kProgram + " -o " + link.string()}) {
    EXPECT_EQ(run_program(line + "/lib/libtorch_cpu.so").output, loaded) << line;
  }
}

TEST_F(Load, TakesTheCopyThatIsThereUnderASecondName) {
  // On one file system with LibTorch, and its neighbours where it looks for them.
  const fs::path beside = fs::path(kLibTorch).parent_path().parent_path() / folder_.filename();
  std::error_code refused;
  fs::create_directories(beside / "torch/lib", refused);
  if (refused) GTEST_SKIP() << "cannot write beside " << kLibTorch << ": " << refused.message();
  fs::create_directory_symlink(fs::path(kLibTorch).parent_path() / "nvidia", beside / "nvidia");
  for (const auto& entry : fs::directory_iterator(kLibTorch + "/lib")) {
    if (entry.is_regular_file()) fs::create_hard_link(entry.path(), beside / "torch/lib" / entry.path().filename());
  }
  const Ended ended = run_program("env TANDEM_LIBTORCH=" LIBTORCH_ROOT " " + kProgram + " -o " +
                                  (beside / "torch/lib/libtorch_cpu.so").string());
  fs::remove_all(beside);
  EXPECT_EQ(ended.output, code(0) + LIBTORCH_VERSION + "\n");
}

// A copy of libtandem in `folder`, under the name that programs look for.
void copy_libtandem(const fs::path& folder) {
  fs::create_directories(folder);
  fs::copy_file(fs::canonical(LIBTANDEM), folder / "libtandem.so.0");
}

// Something that is found, and is told by its version.
void put_libtorch(const fs::path& root) {
  fs::create_directories(root / "lib");
  fs::copy_file(STAND_IN, root / "lib" / "libtorch_cpu.so");
  std::ofstream(root / "build-version") << "1.0.0\n";
}

TEST_F(Load, RefusesRelativePaths) {
  put_libtorch(folder_ / "torch");
  const std::string in_folder = "env -C " + folder_.string() + " ";
  EXPECT_THAT(run_program(in_folder + "TANDEM_LIBTORCH=torch " + kProgram).output,
              AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("TANDEM_LIBTORCH is 'torch', a relative path"),
                    HasSubstr("give the absolute path")));
  EXPECT_THAT(run_program(in_folder + kProgram + " -l ./torch").output,
              AllOf(StartsWith(code(TDM_ERROR_LIBRARY)),
                    HasSubstr("tdm_load_options.libtorch is './torch', a relative path")));
}

TEST_F(Load, SearchesTheFolderOfLibtandemAndNoneAbove) {
  const fs::path own = folder_ / "of libtandem" / "lib";
  copy_libtandem(own);
  std::ofstream(own / "libtandem_core-torch9.9.so") << "not a library";
  put_libtorch(own.parent_path() / "libtorch");  // anybody may have put it there
  const std::string line = "env 'LD_LIBRARY_PATH=" + own.string() + "' " + kProgram;
  const Ended nothing = run_program(line);
  EXPECT_THAT(nothing.output,
              AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("was not found. It is looked for in"),
                    HasSubstr("TANDEM_LIBTORCH names (not set)"), HasSubstr((own / "libtandem.libtorch").string()),
                    HasSubstr("in " + own.string() + " and " + (own / "libtorch").string()),
                    HasSubstr("the system's libraries"), HasSubstr("to the absolute path of its folder")));
  put_libtorch(own / "libtorch");
  EXPECT_THAT(run_program(line).output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)),
                                              HasSubstr("LibTorch 1.0.0 in " + (own / "libtorch").string())));
}

TEST_F(Load, RefusesACoreOfAnotherRelease) {
  const std::string kRelease = std::to_string(TDM_VERSION_MAJOR) + "." + std::to_string(TDM_VERSION_MINOR) + "." +
                               std::to_string(TDM_VERSION_PATCH);
  const auto refused = [&](const char* core, const std::string& release) {
    const fs::path own = folder_ / release;
    copy_libtandem(own);
    const std::string minor = std::string(LIBTORCH_VERSION).substr(0, std::string(LIBTORCH_VERSION).rfind('.'));
    const fs::path beside = own / ("libtandem_core-torch" + minor + ".so");
    fs::copy_file(core, beside);
    const Ended ended = run_program("env 'LD_LIBRARY_PATH=" + own.string() +
                                    "' TANDEM_DEVICE=cpu TANDEM_LIBTORCH=" LIBTORCH_ROOT " " + kProgram);
    EXPECT_EQ(ended.output, code(TDM_ERROR_LIBRARY) + "libtandem in " + own.string() + " is of release " + kRelease +
                                ", but its core " + beside.string() + " is of release " + release +
                                "; install both from one release, into an empty folder\n");
    EXPECT_EQ(ended.exit_code, 1);
  };
  refused(OLDER_CORE, "0.0.9");
  refused(STAND_IN, "unknown");  // which says nothing about itself
}

// The linker knows libtandem by a relative name then, which is another file's once the working directory is another.
TEST_F(Load, KnowsItsFolderWhereTheWorkingDirectoryChanges) {
  copy_libtandem(folder_ / "first" / "lib");
  put_libtorch(folder_ / "second" / "lib" / "libtorch");
  const Ended ended = run_program("env -C " + (folder_ / "first").string() + " LD_LIBRARY_PATH=lib " + kProgram +
                                  " -c " + (folder_ / "second").string());
  EXPECT_THAT(ended.output, AllOf(StartsWith(code(TDM_ERROR_LIBRARY)), HasSubstr("was not found"),
                                  HasSubstr("in " + (folder_ / "first/lib").string() + " and ")));
}

// As a setuid program of root's is started by a user who sets the environment.
TEST_F(Load, ProgramsWithMoreRightsTakeNothingFromTheEnvironment) {
  struct statvfs system {};
  if (geteuid() != 0) GTEST_SKIP() << "only root gives a program to another group";
  if (statvfs(folder_.c_str(), &system) != 0 || (system.f_flag & (ST_NOSUID | ST_NOEXEC)) != 0) {
    GTEST_SKIP() << folder_ << " is mounted nosuid or noexec";
  }
  const fs::path program = folder_ / "program";
  fs::copy_file(kProgram, program);
  ASSERT_EQ(chown(program.c_str(), 0, 65534), 0);
  ASSERT_EQ(chmod(program.c_str(), 02755), 0);
  EXPECT_EQ(run_program("env TANDEM_LIBTORCH=/nowhere/torch TANDEM_DEVICE=gpu " + program.string()).output,
            code(0) + LIBTORCH_VERSION + "\n");
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
