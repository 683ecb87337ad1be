#include "comm/waiters.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace tandem {

// A thread that ends its Waiters has use for it still.
struct Waiters::Tasks {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  std::size_t idle = 0;
  bool stopping = false;
  std::vector<std::thread> threads;
};

Waiters::Waiters(std::size_t most) : most_(most), tasks_(std::make_shared<Tasks>()) {}

Waiters::~Waiters() {
  std::vector<std::thread> threads;
  {
    std::lock_guard<std::mutex> lock(tasks_->mutex);
    tasks_->stopping = true;
    threads.swap(tasks_->threads);
  }
  tasks_->changed.notify_all();
  for (auto& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();  // the last user was called back by a task, which is about to end
    } else {
      thread.join();
    }
  }
}

void Waiters::run(std::function<void()> task) {
  std::lock_guard<std::mutex> lock(tasks_->mutex);
  tasks_->queue.push_back(std::move(task));
  if (tasks_->idle < tasks_->queue.size() && tasks_->threads.size() < most_) {
    tasks_->threads.emplace_back([tasks = tasks_] { work(tasks); });
  } else {
    tasks_->changed.notify_one();
  }
}

void Waiters::work(const std::shared_ptr<Tasks>& tasks) {
  std::unique_lock<std::mutex> lock(tasks->mutex);
  for (;;) {
    ++tasks->idle;
    tasks->changed.wait(lock, [&] { return tasks->stopping || !tasks->queue.empty(); });
    --tasks->idle;
    if (tasks->queue.empty()) return;
    auto task = std::move(tasks->queue.front());
    tasks->queue.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before others may think it gone
    lock.lock();
  }
}

}  // namespace tandem
