#include "launch/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "launch/failure.h"

namespace tandem::launch {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

bool is_directory(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

void check_executable(const std::string& path) {
  if (is_directory(path)) throw Failure("cannot run " + path + ": it is a directory", kNotExecutable);
  if (access(path.c_str(), X_OK) == 0) return;
  const int reason = errno;
  if (reason == EACCES) {
    throw Failure("cannot run " + path + ": it is not executable (chmod +x " + path + ")", kNotExecutable);
  }
  throw Failure("cannot run " + path + ": " + std::strerror(reason), kNotFound);
}

std::string find_executable(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    check_executable(name);
    return name;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  std::string found_but_not_executable;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), F_OK) != 0 || is_directory(candidate)) continue;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    found_but_not_executable = candidate;
  }
  if (!found_but_not_executable.empty()) check_executable(found_but_not_executable);
  std::string hint;
  if (access(name.c_str(), F_OK) == 0) hint = "; for the file in this folder write ./" + name;
  throw Failure("program " + name + " was not found in PATH" + hint, kNotFound);
}

bool ends_in_py(const std::string& name) {
  return name.size() > 3 && name.compare(name.size() - 3, 3, ".py") == 0;
}

}  // namespace

Program find_program(const std::vector<std::string>& command, ProgramKind kind, const std::string& python) {
  Program program;
  if (kind == ProgramKind::kPythonModule) {
    program.executable = find_executable(python);
    program.arguments = {python, "-u", "-m"};
  } else if (kind == ProgramKind::kAuto && ends_in_py(command.front())) {
    if (is_directory(command.front()) || access(command.front().c_str(), R_OK) != 0) {
      const int reason = is_directory(command.front()) ? EISDIR : errno;
      throw Failure("cannot run " + command.front() + ": " + std::strerror(reason),
                    reason == ENOENT ? kNotFound : kNotExecutable);
    }
    program.executable = find_executable(python);
    program.arguments = {python, "-u"};
  } else {
    program.executable = find_executable(command.front());
  }
  program.arguments.insert(program.arguments.end(), command.begin(), command.end());
  return program;
}

}  // namespace tandem::launch
