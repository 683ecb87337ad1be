// A store in a file, of which every call ends.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace tandem {

// What LibTorch's FileStore does, with files that both read and write: a row of keys and values, each after its length
// as a u32, of which the last one of a key counts; whoever reads or writes holds the file's lock (flock). LibTorch's
// waits for that lock without an end, so that one stopped process holds up all others. Here each call ends: by the
// store's timeout, a StoreLimit of its thread or a StoreInterrupt. Thread-safe.
//
// Errors: Error(kTimeout) and Error(kAborted) name the file, the call and its keys; kIo; else as LibTorch's.
class DeadlineFileStore final : public c10d::Store {
 public:
  // With `world_size` over 0 the file goes with the last of so many users. `timeout`: of calls until setTimeout().
  // Throws Error (kIo, kDataLoss when the file holds something else).
  DeadlineFileStore(std::string path, int world_size, std::chrono::milliseconds timeout);
  ~DeadlineFileStore() override;

  using c10d::Store::compareSet;
  using c10d::Store::set;

  c10::intrusive_ptr<c10d::Store> clone() override;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                       const std::vector<std::uint8_t>& desired) override;
  std::vector<std::uint8_t> get(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  std::vector<std::string> listKeys() override;

 private:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;
  class Locked;
  struct Call;
  std::unique_lock<std::timed_mutex> take_turn(const Call& call);

  template <typename Body>
  auto read(const Call& call, Body&& body);
  template <typename Body>
  auto write(const Call& call, Body&& body);
  // Takes in what others wrote. With the lock.
  void refresh(Locked& file);
  void await(const Call& call, const std::vector<std::string>& keys, const std::function<bool()>& is_there);
  std::int64_t add_to(Locked& file, const std::string& key, std::int64_t value);
  bool has(const std::vector<std::string>& keys) const;

  const std::string path_;
  const int world_size_;
  std::timed_mutex mutex_;
  std::unordered_map<std::string, std::vector<std::uint8_t>> values_;
  std::int64_t read_ = 0;  // bytes of the file that values_ has
};

}  // namespace tandem
