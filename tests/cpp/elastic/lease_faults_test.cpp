// The dynamic partition with ranks that are processes and are killed: what is committed in the model that survives is
// each sample once an epoch, in the global batches that nobody's death changes.
//
// The model is the list of what it was trained on. Ranks exchange "gradients", lists of samples, over the store; the
// test is their agent: it kills one, starts another, and has them all meet in the next generation.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <random>
#include <sstream>

#include "cpp/comm/job.h"
#include "tandem/dynamic_loader.h"

namespace tandem::testing {
namespace {

constexpr std::int64_t kSamples = 61, kBatch = 8, kMicro = 3, kEpochs = 3;
constexpr int kRanks = 3;

using Ids = std::vector<std::int64_t>;

class Numbers : public Dataset {
 public:
  std::int64_t size() const override { return kSamples; }
  std::vector<at::Tensor> get(std::int64_t i) override { return {at::scalar_tensor(i, at::kLong)}; }
};

std::string text(const Ids& ids) {
  std::ostringstream out;
  for (const std::int64_t id : ids) out << id << ' ';
  return out.str();
}
Ids ids_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::int64_t>(in), {}};
}

void put(const Store& store, const std::string& key, const std::string& value) {
  store->set(key, std::vector<std::uint8_t>(value.begin(), value.end()));
}
std::string take(const Store& store, const std::string& key) {
  const auto bytes = store->get(key);
  return {bytes.begin(), bytes.end()};
}

// --- a rank

struct Model {
  std::string state;
  std::vector<std::string> steps;  // "EPOCH STEP: samples", in the order of training
  std::vector<std::string> log;    // what commit() gave

  std::string bytes() const {
    std::string all = std::to_string(state.size()) + "\n" + state;
    for (std::size_t i = 0; i < steps.size(); ++i) all += steps[i] + "\n" + log[i] + "\n";
    return all;
  }
  static Model of(const std::string& bytes) {
    Model model;
    const auto end = bytes.find('\n');
    const auto size = static_cast<std::size_t>(std::stoul(bytes.substr(0, end)));
    model.state = bytes.substr(end + 1, size);
    std::istringstream rest(bytes.substr(end + 1 + size));
    for (std::string line; std::getline(rest, line);) {
      model.steps.push_back(line);
      std::getline(rest, line);
      model.log.push_back(line);
    }
    return model;
  }
};

struct NewGeneration {};
struct NotAMember {};

// Calls `act` once `happened` says so.
class Watch {
 public:
  Watch(bool wanted, std::function<bool()> happened, std::function<void()> act) {
    if (!wanted) return;
    thread_ = std::thread([this, happened = std::move(happened), act = std::move(act)] {
      while (!over_ && !happened()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (!over_) act();
    });
  }
  ~Watch() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

class Rank {
 public:
  Rank(std::uint16_t port, std::string name) : name_(std::move(name)) {
    TCPStoreOptions options;
    options.timeout = std::chrono::seconds(60);
    store_ = tcp_store("127.0.0.1", port, options);
  }

  int run() {
    for (;;) {
      try {
        join();
        train();
        put(store_, "done/" + name_, model_.bytes());
        return 0;
      } catch (const NewGeneration&) {
      } catch (const NotAMember&) {
        return 3;
      } catch (const Error& error) {
        // Given up, out of date, or who kept the queue is gone or stands still: there will be another generation.
        const ErrorCode code = error.code();
        if (code != ErrorCode::kAborted && code != ErrorCode::kPeerLost && code != ErrorCode::kTimeout) throw;
      }
    }
  }

 private:
  std::int64_t now() { return store_->add("generation", 0); }

  // Waits for one of these keys, unless the generation is over.
  std::string wait_for(const std::vector<std::string>& keys) {
    for (;;) {
      for (const std::string& key : keys) {
        if (store_->check({key})) return take(store_, key);
      }
      if (now() != generation_) throw NewGeneration();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // Takes part in the next generation, with the model of the rank that has come farthest.
  void join() {
    while (now() <= generation_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    generation_ = now();
    const std::string prefix = "model/" + std::to_string(generation_) + "/";
    std::istringstream members(take(store_, "members/" + std::to_string(generation_)));
    members_ = {std::istream_iterator<std::string>(members), {}};
    if (std::find(members_.begin(), members_.end(), name_) == members_.end()) throw NotAMember();
    put(store_, prefix + name_, model_.bytes());
    Model best;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i] == name_) rank_ = static_cast<std::int32_t>(i);
      // One that was through before it heard of this generation does not come.
      Model theirs = Model::of(wait_for({prefix + members_[i], "done/" + members_[i]}));
      if (theirs.steps.size() > best.steps.size()) best = std::move(theirs);
    }
    model_ = std::move(best);
  }

  void train() {
    DynamicLoaderOptions options;
    options.batch_size = kBatch;
    options.micro_batch = kMicro;
    options.seed = 4;
    options.lost_after = std::chrono::milliseconds(2000);
    options.timeout = std::chrono::milliseconds(60000);
    const auto size = static_cast<std::int32_t>(members_.size());
    DynamicLoader loader(std::make_shared<Numbers>(), options, {store_, generation_, rank_, size}, model_.state);
    // Half of the ranks end their waiting when a new generation is called; the others learn it from the queue.
    const Watch watch(
        rank_ % 2 == 0, [&] { return now() != generation_; }, [&] { loader.abort(); });
    while (loader.epoch() < kEpochs) {
      while (loader.next_step()) step(loader);
    }
  }

  void step(DynamicLoader& loader) {
    const std::string name = std::to_string(loader.epoch()) + " " + std::to_string(loader.step());
    Ids computed;
    while (const auto part = loader.next()) {
      event();
      computed.insert(computed.end(), part->samples.begin(), part->samples.end());
    }
    event();
    const std::string prefix = "exchange/" + std::to_string(generation_) + "/" + name + "/";
    put(store_, prefix + std::to_string(rank_), text(computed));
    event();
    Ids all;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Ids theirs = ids_of(wait_for({prefix + std::to_string(i)}));
      all.insert(all.end(), theirs.begin(), theirs.end());
    }
    event();
    if (static_cast<std::int64_t>(all.size()) != loader.global_count()) throw std::runtime_error("counts differ");
    std::sort(all.begin(), all.end());
    // The optimizer's step, which changes model, log and state together.
    model_.log.push_back(loader.commit().json());
    model_.steps.push_back(name + ": " + text(all));
    model_.state = loader.state();
    event();
  }

  void event() { store_->add("events", 1); }

  std::string name_;
  Store store_;
  std::int64_t generation_ = 0;
  std::vector<std::string> members_;
  std::int32_t rank_ = 0;
  Model model_;
};

// --- the test

std::vector<std::string> expected_steps() {
  LoaderOptions options;
  options.batch_size = kBatch;
  options.seed = 4;
  DataLoader loader(std::make_shared<Numbers>(), options);
  std::vector<std::string> steps;
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (LoadedBatch& batch : loader.epoch(epoch)) {
      std::sort(batch.samples.begin(), batch.samples.end());
      steps.push_back(std::to_string(epoch) + " " + std::to_string(batch.number) + ": " + text(batch.samples));
    }
  }
  return steps;
}

// What the ranks of a log compute when it is run again, and none of them in another's stead.
std::vector<std::string> run_again(const std::vector<std::string>& lines) {
  std::vector<CommittedStep> log;
  std::int32_t ranks = 0;
  for (const std::string& line : lines) {
    log.push_back(CommittedStep::parse(line));
    for (const auto& part : log.back().parts) ranks = std::max(ranks, part.rank + 1);
  }
  std::map<std::pair<std::int64_t, std::int64_t>, Ids> steps;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    DynamicLoaderOptions options;
    options.batch_size = kBatch;
    options.micro_batch = kMicro;
    options.seed = 4;
    DynamicLoader loader(std::make_shared<Numbers>(), options, rank, log);
    while (loader.epoch() < kEpochs) {
      while (loader.next_step()) {
        Ids& samples = steps[{loader.epoch(), loader.step()}];
        while (const auto part = loader.next()) {
          samples.insert(samples.end(), part->samples.begin(), part->samples.end());
        }
        loader.commit();
      }
    }
  }
  std::vector<std::string> text_of;
  for (auto& [place, samples] : steps) {
    std::sort(samples.begin(), samples.end());
    text_of.push_back(std::to_string(place.first) + " " + std::to_string(place.second) + ": " + text(samples));
  }
  return text_of;
}

struct Worker {
  std::string name;
  std::unique_ptr<Child> process;
};

// One run, in which up to `most` ranks are killed; gives how many were.
int run_with_kills(std::mt19937& random, int most) {
  TCPStoreOptions server;
  server.is_server = true;
  const Store store = tcp_store("127.0.0.1", 0, server);
  const Job job;
  int started = 0;
  std::vector<Worker> workers;
  const auto start = [&] {
    const std::string name = "w" + std::to_string(started++);
    workers.push_back({name, job.start({"--rank", std::to_string(store_port(store)), name}, 0, 1)});
  };
  const auto meet = [&] {
    std::string members;
    for (const Worker& worker : workers) members += worker.name + " ";
    put(store, "members/" + std::to_string(store->add("generation", 0) + 1), members);
    store->add("generation", 1);
  };
  const auto is_done = [&] {
    return std::any_of(workers.begin(), workers.end(),
                       [&](const Worker& w) { return store->check({"done/" + w.name}); });
  };
  for (int i = 0; i < kRanks; ++i) start();
  meet();
  int killed = 0;
  while (killed < most && !is_done()) {
    // Somewhere in the next steps, or before the first.
    const std::int64_t at = store->add("events", 0) + static_cast<std::int64_t>(random() % 60);
    while (store->add("events", 0) < at && !is_done()) std::this_thread::sleep_for(std::chrono::microseconds(300));
    if (is_done()) break;
    const std::size_t victim = random() % workers.size();
    workers[victim].process->signal(SIGKILL);
    if (workers[victim].process->wait() == 0) break;  // it was done in this moment
    workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(victim));
    ++killed;
    // Sometimes with fewer ranks for a while.
    if (workers.size() < 2 || random() % 3 != 0) start();
    meet();
  }
  const std::vector<std::string> expected = expected_steps();
  for (const Worker& worker : workers) {
    EXPECT_EQ(worker.process->wait(), 0) << worker.name;
    const Model model = Model::of(take(store, "done/" + worker.name));
    EXPECT_EQ(model.steps, expected) << worker.name << " after " << killed << " kills";
    EXPECT_EQ(run_again(model.log), expected) << worker.name << "'s log after " << killed << " kills";
  }
  return killed;
}

void kill_ranks(int kills) {
  std::mt19937 random(static_cast<unsigned>(kills));
  for (int killed = 0; killed < kills && !::testing::Test::HasFailure();) {
    killed += run_with_kills(random, std::min(kills - killed, 6));
  }
}

TEST(LeaseFaults, SamplesCountOnceWhoeverIsKilled) {
  kill_ranks(8);
}

TEST(LeaseFaultsLong, SamplesCountOnceWhoeverIsKilled) {
  kill_ranks(50);
}

TEST(LeaseFaults, ARankThatStoodStillIsFenced) {
  TCPStoreOptions server;
  server.is_server = true;
  const Store store = tcp_store("127.0.0.1", 0, server);
  const Job job;
  std::vector<Worker> workers;
  for (const std::string name : {"a", "b"}) {
    workers.push_back({name, job.start({"--rank", std::to_string(store_port(store)), name}, 0, 1)});
  }
  put(store, "members/1", "a b");
  store->add("generation", 1);
  while (store->add("events", 0) < 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  workers[0].process->signal(SIGSTOP);
  put(store, "members/2", "b");
  store->add("generation", 1);
  EXPECT_EQ(workers[1].process->wait(), 0);
  workers[0].process->signal(SIGCONT);
  EXPECT_EQ(workers[0].process->wait(), 3);  // it noticed that it does not count
  EXPECT_EQ(Model::of(take(store, "done/b")).steps, expected_steps());
  EXPECT_FALSE(store->check({"done/a"}));
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--rank") {
    return tandem::testing::Rank(static_cast<std::uint16_t>(std::stoi(argv[2])), argv[3]).run();
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
