// What a supervisor knows of a worker.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/descriptor.h"
#include "launch/consoles.h"
#include "launch/failure.h"
#include "launch/failure_report.h"
#include "launch/options.h"
#include "launch/process_tree.h"
#include "launch/worker.h"
#include "launch/worker_stream.h"
#include "membership/coordinator.h"

namespace tandem::launch {

struct Worker {
  EndedWorker ended;  // whose rank and pid are known from the start
  membership::Member member = -1;
  int slot = 0;
  bool running = true;
  bool has_connected = false;
  bool is_given_up = false;  // it takes part no longer, but lives
  bool asked_to_leave = false;
  std::optional<std::chrono::steady_clock::time_point> disconnected_at;  // and why
  std::string disconnected;
  bool replaced = false;
  std::string folder;  // of its own, for logs
  std::string error_file;
  std::unique_ptr<WorkerStream> out, err;

  // Ended by a signal at which it first asked to leave: no failure where training was over by then.
  bool has_obeyed() const {
    const int code = ended.exit_code();
    return asked_to_leave && (code == 128 + SIGTERM || code == 128 + SIGINT || code == 128 + SIGHUP);
  }
  bool runs_as(pid_t pid) const { return running && ended.pid == pid; }
  std::string answers() const { return folder + "/stacks.raw"; }  // of its threads, where it hangs
};

// Of one that is disconnected: an end of the process is on its way, most likely, which says more; then it gets as long
// as any that has to end.
inline std::chrono::steady_clock::time_point given_up_at(const Worker& worker, double grace) {
  const std::chrono::duration<double> limit(worker.is_given_up ? 1 + grace : 1);
  return *worker.disconnected_at + std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
}

// What each of a rank's lines begins with.
inline std::string prefix_of(int rank, bool coloured) {
  const std::string text = "[" + std::to_string(rank) + "]";
  if (!coloured) return text + " ";
  constexpr int kColours[] = {36, 33, 32, 35, 34, 31};
  return "\x1b[" + std::to_string(kColours[rank % std::size(kColours)]) + "m" + text + "\x1b[m ";
}

inline void signal_groups(const std::vector<Worker>& workers, int signal) {
  for (const Worker& worker : workers) {
    if (worker.running) kill(-worker.ended.pid, signal);
  }
}

// Each process once: the workers' groups, and what left them or outlived its worker.
inline void signal_all(const std::vector<Worker>& workers, int signal) {
  std::set<pid_t> groups;
  for (const Worker& worker : workers) {
    if (worker.running) groups.insert(worker.ended.pid);
  }
  signal_groups(workers, signal);
  signal_descendants(signal, [&](const Process& process) { return groups.count(getpgid(process.pid)) != 0; });
}

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

inline void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Failure("cannot make the folder " + path + ": " + error.message());
}

inline Descriptor log_file(const std::string& folder, const char* name) {
  const std::string path = folder + "/" + name;
  Descriptor file = open_file(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (!file.valid()) throw Failure("cannot write " + path + ": " + std::strerror(errno));
  return file;
}

// What the worker writes, to where `options` say that it goes.
inline void carry_output(Worker& worker, WorkerProcess& process, const LaunchOptions& options, Consoles& consoles,
                         int number) {
  const OutputChoice choice = options.output.at(static_cast<std::size_t>(worker.slot));
  const auto stream = [&](int of, Descriptor source, Console& console, bool shows, bool keeps, const char* name) {
    const bool coloured = console.terminal() && !std::getenv("NO_COLOR");
    return std::make_unique<WorkerStream>(
        2 * number + of, std::move(source), keeps ? log_file(worker.folder, name) : Descriptor(),
        options.prefix ? prefix_of(worker.ended.rank, coloured) : "", shows ? &console : nullptr);
  };
  worker.out = stream(0, std::move(process.out), consoles.out, choice.shows_out, choice.keeps_out, "stdout.log");
  worker.err = stream(1, std::move(process.err), consoles.err(), choice.shows_err, choice.keeps_err, "stderr.log");
}

}  // namespace tandem::launch
