// Memory that ends where reading stops: the byte behind what it holds belongs to a page without access.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

class Guarded {
 public:
  explicit Guarded(const std::vector<unsigned char>& bytes) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t room = (bytes.size() + page - 1) / page * page;
    length_ = room + page;
    void* start = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED || mprotect(static_cast<unsigned char*>(start) + room, page, PROT_NONE) != 0) abort();
    start_ = static_cast<unsigned char*>(start);
    held_ = start_ + room - bytes.size();
    std::memcpy(held_, bytes.data(), bytes.size());
  }
  ~Guarded() { munmap(start_, length_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  void* get() const { return held_; }
  const unsigned char* bytes() const { return held_; }

  // While one lives, a fault ends the process with `text` on standard error.
  class Says {
   public:
    explicit Says(const std::string& text) {
      said() = text + "\n";
      struct sigaction action {};
      action.sa_handler = [](int) {
        [[maybe_unused]] const auto written = write(STDERR_FILENO, said().data(), said().size());
        _exit(1);
      };
      sigaction(SIGSEGV, &action, &before_);
    }
    ~Says() { sigaction(SIGSEGV, &before_, nullptr); }

   private:
    static std::string& said() {
      static std::string text;
      return text;
    }
    struct sigaction before_ {};
  };

 private:
  unsigned char* start_;
  unsigned char* held_;
  std::size_t length_;
};
