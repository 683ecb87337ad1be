#include "launch/thread_stacks.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "base/descriptor.h"
#include "base/stack_signal.h"
#include "launch/address_names.h"

namespace tandem::launch {
namespace {

constexpr std::chrono::milliseconds kAnswerPatience{2000};
constexpr std::size_t kMostThreads = 1024;
constexpr std::size_t kMostAnswerBytes = 4 << 20;
constexpr std::size_t kFewFrames = 14;  // of a stack, where all do not fit
constexpr std::size_t kFewNames = 4;

struct ThreadState {
  pid_t id = 0;
  std::string name;
  std::string state;  // "S (sleeping)"
  bool blocks = false;
  std::vector<std::uintptr_t> stack;

  char letter() const { return state.empty() ? '?' : state[0]; }
  bool is_stopped() const { return letter() == 'T' || letter() == 't'; }
};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// A line of a status file in /proc.
std::string status_of(const std::string& folder, const std::string& field) {
  std::ifstream file(folder + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field + ":")) continue;
    const std::size_t at = line.find_first_not_of(" \t", field.size() + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

bool has_signal(const std::string& set, int signal) {
  return (std::strtoull(set.c_str(), nullptr, 16) >> (signal - 1)) & 1;
}

std::vector<ThreadState> threads_of(const std::string& process) {
  std::vector<ThreadState> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir((process + "/task").c_str()), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    ThreadState thread;
    thread.id = std::atoi(entry->d_name);
    if (thread.id <= 0 || threads.size() == kMostThreads) continue;
    const std::string path = process + "/task/" + entry->d_name;
    thread.name = first_line(path + "/comm");
    thread.state = status_of(path, "State");
    thread.blocks = has_signal(status_of(path, "SigBlk"), stack_signal());
    threads.push_back(std::move(thread));
  }
  std::ranges::sort(threads, {}, &ThreadState::id);
  return threads;
}

// How many threads have answered.
std::size_t read_answers(const std::string& path, std::vector<ThreadState>& threads) {
  std::string text;
  {
    std::ifstream file(path, std::ios::binary);
    text.resize(kMostAnswerBytes);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n'));  // a line that is not whole
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    pid_t id = 0;
    words >> id >> std::hex;
    const auto thread = std::ranges::find(threads, id, &ThreadState::id);
    if (thread == threads.end()) continue;
    thread->stack.clear();
    for (std::uintptr_t address; words >> address;) thread->stack.push_back(address);
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(threads, [](const ThreadState& thread) { return !thread.stack.empty(); }));
}

void ask(pid_t pid, const std::string& answers, std::vector<ThreadState>& threads) {
  unlink(answers.c_str());
  std::size_t expected = 0;
  for (const ThreadState& thread : threads) {
    if (thread.blocks || thread.letter() == 'Z' || thread.letter() == 'X') continue;
    if (syscall(SYS_tgkill, pid, thread.id, stack_signal()) == 0 && thread.letter() != 'D') ++expected;
  }
  const auto end = std::chrono::steady_clock::now() + kAnswerPatience;
  while (read_answers(answers, threads) < expected && std::chrono::steady_clock::now() < end) poll(nullptr, 0, 10);
  unlink(answers.c_str());
}

// Of those in which programs wait.
std::string system_call_name(long number) {
  switch (number) {
#define TANDEM_CALL(name) \
  case SYS_##name:        \
    return #name;
    TANDEM_CALL(read)
    TANDEM_CALL(write)
    TANDEM_CALL(readv)
    TANDEM_CALL(writev)
    TANDEM_CALL(pread64)
    TANDEM_CALL(pwrite64)
    TANDEM_CALL(openat)
    TANDEM_CALL(close)
    TANDEM_CALL(fsync)
    TANDEM_CALL(ioctl)
    TANDEM_CALL(futex)
    TANDEM_CALL(ppoll)
    TANDEM_CALL(pselect6)
    TANDEM_CALL(epoll_pwait)
    TANDEM_CALL(nanosleep)
    TANDEM_CALL(clock_nanosleep)
    TANDEM_CALL(recvfrom)
    TANDEM_CALL(recvmsg)
    TANDEM_CALL(sendto)
    TANDEM_CALL(sendmsg)
    TANDEM_CALL(accept)
    TANDEM_CALL(accept4)
    TANDEM_CALL(connect)
    TANDEM_CALL(flock)
    TANDEM_CALL(fcntl)
    TANDEM_CALL(wait4)
    TANDEM_CALL(waitid)
    TANDEM_CALL(mmap)
    TANDEM_CALL(munmap)
    TANDEM_CALL(tgkill)
#ifdef SYS_poll
    TANDEM_CALL(poll)
    TANDEM_CALL(select)
    TANDEM_CALL(open)
    TANDEM_CALL(pause)
    TANDEM_CALL(epoll_wait)
#endif
#undef TANDEM_CALL
    default:
      return "system call " + std::to_string(number);
  }
}

// What is known of a thread that gives no stack.
std::string seen_from_outside(const std::string& process, const ThreadState& thread) {
  const std::string path = process + "/task/" + std::to_string(thread.id);
  std::string text = "state " + (thread.state.empty() ? "unknown" : thread.state);
  const std::string call = first_line(path + "/syscall");
  if (!call.empty() && (call[0] == '-' || (call[0] >= '0' && call[0] <= '9'))) {
    const long number = std::atol(call.c_str());
    text += number < 0 ? ", in no system call" : ", in " + system_call_name(number);
  }
  const std::string wait = first_line(path + "/wchan");
  if (!wait.empty() && wait != "0") text += ", where the kernel waits in " + wait;
  if (thread.blocks && !thread.is_stopped()) text += "; it blocks the signal that asks for its stack";
  return text;
}

// Go's linker notes itself in each executable.
bool is_go(const std::string& process) {
  const Descriptor file = open_file((process + "/exe").c_str(), O_RDONLY);
  ElfW(Ehdr) header;
  if (!file.valid() || read_all_at(file.get(), &header, sizeof header, 0) != sizeof header) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) return false;
  for (int i = 0; i < std::min<int>(header.e_phnum, 64); ++i) {
    ElfW(Phdr) segment;
    const auto at = static_cast<off_t>(header.e_phoff + static_cast<std::uint64_t>(i) * sizeof segment);
    if (read_all_at(file.get(), &segment, sizeof segment, at) != sizeof segment) return false;
    if (segment.p_type != PT_NOTE) continue;
    std::string notes(std::min<std::size_t>(segment.p_filesz, 4096), '\0');
    notes.resize(read_all_at(file.get(), notes.data(), notes.size(), static_cast<off_t>(segment.p_offset)));
    ElfW(Nhdr) note;
    for (std::size_t place = 0; place + sizeof note + 4 <= notes.size();) {
      std::memcpy(&note, notes.data() + place, sizeof note);
      place += sizeof note;
      if (note.n_namesz == 4 && std::memcmp(notes.data() + place, "Go\0", 4) == 0) return true;
      place += (std::size_t{note.n_namesz} + 3) / 4 * 4 + (std::size_t{note.n_descsz} + 3) / 4 * 4;
    }
  }
  return false;
}

bool is_java(const std::string& process) {
  std::error_code error;
  return std::filesystem::read_symlink(process + "/exe", error).filename() == "java";
}

struct Group {
  std::string what;  // of the threads: lines
  std::vector<const ThreadState*> threads;
};

std::string heading(const Group& group, pid_t pid) {
  const ThreadState& first = *group.threads.front();
  if (group.threads.size() == 1) {
    return "thread " + std::to_string(first.id) + ", " + first.name + (first.id == pid ? ", the first one" : "") +
           ":\n";
  }
  std::map<std::string, int> count;
  std::vector<std::string> names;
  for (const ThreadState* thread : group.threads) {
    if (count[thread->name]++ == 0) names.push_back(thread->name);
  }
  std::string text = std::to_string(group.threads.size()) + " threads";
  for (std::size_t i = 0; i < std::min(names.size(), kFewNames); ++i) {
    text += ", " + names[i];
    if (count[names[i]] > 1) text += " (" + std::to_string(count[names[i]]) + ")";
  }
  if (names.size() > kFewNames) text += ", ...";
  return text + ":\n";
}

std::string shown(const std::vector<Group>& groups, pid_t pid, std::size_t most_lines) {
  std::string text;
  for (const Group& group : groups) {
    text += heading(group, pid);
    std::istringstream lines(group.what);
    std::size_t count = 0, left_out = 0;
    for (std::string line; std::getline(lines, line);) {
      if (++count > most_lines) {
        ++left_out;
      } else {
        text += "  " + line + "\n";
      }
    }
    if (left_out > 0) text += "  ... and " + std::to_string(left_out) + " more\n";
  }
  return text;
}

std::string cut(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (++count < kShownLines) kept += line + "\n";
  }
  return count <= kShownLines ? text : kept + "... and " + std::to_string(count - kShownLines + 1) + " more lines\n";
}

}  // namespace

ThreadStacks read_thread_stacks(pid_t pid, const std::string& answers) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::vector<ThreadState> threads = threads_of(process);
  ThreadStacks result;
  std::string lead;
  const bool is_stopped =
      !threads.empty() && std::ranges::all_of(threads, [](const ThreadState& thread) { return thread.is_stopped(); });
  const std::string caught = status_of(process, "SigCgt");
  if (threads.empty()) {
    lead = "the process is gone\n";
  } else if (is_stopped) {
    const std::string tracer = status_of(process, "TracerPid");
    lead = "the process is stopped, " +
           (tracer.empty() || tracer == "0" ? std::string("as by SIGSTOP") : "by the debugger with pid " + tracer) +
           ", so its threads give no stacks\n";
  } else if (!has_signal(caught, stack_signal())) {
    lead = "the program gives no stacks: it has taken no part in elastic training, or handles signal " +
           std::to_string(stack_signal()) + " itself\n";
  } else {
    ask(pid, answers, threads);
    if (std::ranges::all_of(threads, [](const ThreadState& thread) { return thread.stack.empty(); })) {
      lead = "no thread has given its stack within " + std::to_string(kAnswerPatience.count() / 1000) + " s\n";
    }
  }

  std::map<std::uintptr_t, std::string> names;
  if (std::ranges::any_of(threads, [](const ThreadState& thread) { return !thread.stack.empty(); })) {
    AddressNames known(pid);
    // A call at a function's end returns to what is another one.
    const auto at_call = [](const ThreadState& thread, std::size_t i) { return thread.stack[i] - (i > 0); };
    std::vector<std::uintptr_t> addresses;
    for (const ThreadState& thread : threads) {
      for (std::size_t i = 0; i < thread.stack.size(); ++i) addresses.push_back(at_call(thread, i));
    }
    known.look_up(addresses);
    for (ThreadState& thread : threads) {
      for (std::size_t i = 0; i < thread.stack.size(); ++i) {
        thread.stack[i] = at_call(thread, i);
        names.emplace(thread.stack[i], known.name(thread.stack[i]));
      }
    }
  }
  std::vector<Group> groups;
  for (const ThreadState& thread : threads) {
    std::string what;
    std::size_t frames = thread.stack.size();
    const auto has_name = [&](std::size_t i) { return names.at(thread.stack[i])[0] != '['; };
    while (frames > 0 && !has_name(frames - 1)) --frames;  // how the C library starts a thread says nothing
    if (frames == 0) frames = thread.stack.size();
    for (std::size_t i = 0; i < frames; ++i) what += names.at(thread.stack[i]) + "\n";
    if (what.empty()) what = seen_from_outside(process, thread) + "\n";
    const auto same = std::ranges::find(groups, what, &Group::what);
    if (same != groups.end()) {
      same->threads.push_back(&thread);
    } else {
      groups.push_back({what, {&thread}});
    }
  }
  result.text = result.short_text = lead + shown(groups, pid, SIZE_MAX);
  if (std::ranges::count(result.text, '\n') > kShownLines)
    result.short_text = cut(lead + shown(groups, pid, kFewFrames));
  result.prints_own = !is_stopped && has_signal(caught, SIGQUIT) && (is_java(process) || is_go(process));
  return result;
}

}  // namespace tandem::launch
