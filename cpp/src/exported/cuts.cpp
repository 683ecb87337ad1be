// Where a graph can be cut into parts that hand on few values.
#include <algorithm>
#include <limits>
#include <numeric>

#include "exported/graph.h"

namespace tandem::exported {
namespace {

// Slots whose tensors may lie in the same memory.
class Memory {
 public:
  explicit Memory(std::size_t slots) : of_(slots) { std::iota(of_.begin(), of_.end(), std::size_t{0}); }
  std::size_t of(std::size_t slot) {
    while (of_[slot] != slot) slot = of_[slot] = of_[of_[slot]];
    return slot;
  }
  void join(std::size_t a, std::size_t b) { of_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> of_;
};

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

}  // namespace

std::size_t Graph::there_before(std::size_t slot) const {
  // The node that gives it is the last one whose slots do not begin after it.
  const auto next = std::upper_bound(nodes_.begin(), nodes_.end(), slot,
                                     [](std::size_t value, const Node& node) { return value < node.first_slot; });
  return static_cast<std::size_t>(next - nodes_.begin());
}

std::size_t Graph::output_is_there(std::size_t i) const {
  std::vector<std::size_t> slots;
  outputs_[i].add_slots(slots);
  std::size_t node = 0;
  for (const std::size_t slot : slots) node = std::max(node, there_before(slot));
  return node;
}

bool Graph::gives(std::size_t i, std::size_t slot) const {
  std::vector<std::size_t> slots;
  outputs_[i].add_slots(slots);
  return std::ranges::find(slots, slot) != slots.end();
}

bool Graph::reads(std::size_t begin, std::size_t end, std::size_t slot) const {
  return std::any_of(nodes_.begin() + static_cast<std::ptrdiff_t>(begin), nodes_.begin() + static_cast<std::ptrdiff_t>(end),
                     [slot](const Node& node) { return std::ranges::find(node.used, slot) != node.used.end(); });
}

std::vector<Graph::Cut> Graph::cuts(const std::vector<bool>& own,
                                    const std::vector<std::pair<std::size_t, std::size_t>>& replaces) const {
  std::vector<bool> is_own(slots_, false);
  for (std::size_t i = 0; i < input_slots_.size(); ++i) {
    if (own[i] && input_slots_[i] >= 0) is_own[static_cast<std::size_t>(input_slots_[i])] = true;
  }
  Memory memory(slots_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].gives_views) continue;
    for (const std::size_t slot : nodes_[i].used) memory.join(slot, nodes_[i].used.front());
  }
  // Of memory: the first node that uses it, the last one, and the last one that changes it.
  std::vector<std::size_t> first(slots_, kNever), last(slots_, 0), changed(slots_, kNever);
  std::vector<std::size_t> wanted(slots_, 0);  // by which node a slot is taken last
  const auto use = [&](std::size_t slot, std::size_t node) {
    const std::size_t one = memory.of(slot);
    first[one] = std::min(first[one], node);
    last[one] = std::max(last[one], node);
  };
  const auto change = [&](std::size_t slot, std::size_t node) {
    std::size_t& known = changed[memory.of(slot)];
    known = known == kNever ? node : std::max(known, node);
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const std::size_t slot : nodes_[i].used) {
      use(slot, i);
      wanted[slot] = i;
    }
    for (const std::size_t slot : nodes_[i].written) change(slot, i);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto replaced = std::ranges::find_if(replaces, [i](const auto& one) { return one.first == i; });
    std::vector<std::size_t> slots;
    outputs_[i].add_slots(slots);
    for (const std::size_t slot : slots) {
      if (replaced == replaces.end()) {
        use(slot, nodes_.size());
        wanted[slot] = nodes_.size();
      } else if (const std::ptrdiff_t input = input_slots_[replaced->second]; input >= 0) {
        const std::size_t there = there_before(slot), node = there == 0 ? 0 : there - 1;
        use(static_cast<std::size_t>(input), node);
        change(static_cast<std::size_t>(input), node);
      }
    }
  }
  // What the model has is in each part that reads it, and in that alone what was changed of it.
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    const std::size_t one = memory.of(slot);
    if (is_own[slot] && changed[one] != kNever) changed[one] = last[one];
  }
  std::vector<bool> is_refused(nodes_.size(), false);
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    if (memory.of(slot) != slot || changed[slot] == kNever) continue;
    for (std::size_t node = first[slot] + 1; node <= changed[slot] && node < nodes_.size(); ++node) is_refused[node] = true;
  }
  std::vector<Cut> found;
  for (std::size_t node = 1; node < nodes_.size(); ++node) {
    if (is_refused[node]) continue;
    Cut& cut = found.emplace_back();
    cut.node = node;
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      if (!is_own[slot] && there_before(slot) <= node && wanted[slot] >= node) cut.slots.push_back(slot);
    }
  }
  return found;
}

}  // namespace tandem::exported
