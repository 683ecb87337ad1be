// Whether other ranks run is told by what they count in the store.
#include "checkpoint/pulse.h"

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "tandem/error.h"

namespace tandem::checkpoint {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr milliseconds kBrief{5};

class Failing final : public c10d::HashStore {
 public:
  std::int64_t add(const std::string& key, std::int64_t value) override {
    if (fails) throw Error(ErrorCode::kPeerLost, "the store is gone");
    return HashStore::add(key, value);
  }
  std::atomic<bool> fails{false};
};

TEST(Pulse, RanksThatCountNoFurtherAreSilent) {
  const auto store = hash_store();
  Pulse waits(store, 0, 3, kBrief);
  const Pulse runs(store, 1, 3, kBrief);
  auto stops = std::make_unique<Pulse>(store, 2, 3, kBrief);
  const auto counted = [&](int rank) { return store->add("checkpoint.pulse/" + std::to_string(rank), 0); };
  const auto look_once_it_has_counted = [&](int rank) {
    for (const auto before = counted(rank); counted(rank) == before;) std::this_thread::sleep_for(milliseconds(1));
    return waits.silent();
  };
  for (int look = 0; look < 3 * Pulse::kSilent; ++look) {
    for (const auto before = counted(1); counted(1) == before;) std::this_thread::sleep_for(milliseconds(1));
    EXPECT_THAT(look_once_it_has_counted(2), IsEmpty());
  }
  stops.reset();
  waits.silent();  // it may have counted since the last look, or not
  for (int look = 2; look < Pulse::kSilent; ++look) EXPECT_THAT(look_once_it_has_counted(1), IsEmpty()) << look;
  look_once_it_has_counted(1);
  EXPECT_THAT(look_once_it_has_counted(1), ElementsAre(2));
  const Pulse again(store, 2, 3, kBrief);
  while (!waits.silent().empty()) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Pulse, NobodyIsHeardWhereTheStoreIsGone) {
  const auto store = c10::make_intrusive<Failing>();
  Pulse waits(store, 1, 3, kBrief);
  EXPECT_THAT(waits.silent(), IsEmpty());
  store->fails = true;
  for (int look = 1; look < Pulse::kSilent; ++look) EXPECT_THAT(waits.silent(), IsEmpty()) << look;
  EXPECT_THAT(waits.silent(), ElementsAre(0, 2));
}

}  // namespace
}  // namespace tandem::checkpoint
