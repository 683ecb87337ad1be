#include "comm/hosts/row_reduction.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "comm/shm/collectives.h"

namespace tandem::hosts {
namespace {

// A short row: one rank of each host exchanges for all.
constexpr std::size_t kShortRowBytes = std::size_t{16} << 10;
constexpr std::size_t kReductionSegmentBytes = std::size_t{4} << 20;
// Parts up to here are combined by every host.
constexpr std::size_t kSlicedBytes = std::size_t{64} << 10;
constexpr std::size_t kBlockBytes = std::size_t{32} << 10;
// In the staging memory: the rows of all hosts; what segments need follows.
constexpr std::size_t kGathered = 0;

std::size_t share(std::size_t bytes, int among) {
  const std::size_t part = (bytes + static_cast<std::size_t>(among) - 1) / static_cast<std::size_t>(among);
  return (part + shm::kLine - 1) / shm::kLine * shm::kLine;
}

}  // namespace

std::byte* Staging::get(std::size_t key, std::size_t bytes) {
  if (blocks_.size() <= key) blocks_.resize(key + 1);
  Block& block = blocks_[key];
  if (block.bytes < bytes) {
    block.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
    block.bytes = bytes;
  }
  return block.memory.get();
}

RowReduction::RowReduction(const Setting& setting, const shm::Label& label, const Deadlines& deadlines,
                           shm::Kernel inside, shm::Kernel between, const shm::Pieces& row)
    : setting_(setting),
      label_(label),
      deadlines_(deadlines),
      inside_(inside),
      between_(between),
      row_(row),
      columns_(row.bytes() <= kShortRowBytes ? 1 : setting.map.columns()),
      crosses_(setting.map.index() < columns_),
      is_short_(row.bytes() <= kShortRowBytes),
      segments_(std::max<std::size_t>((row.bytes() + kReductionSegmentBytes - 1) / kReductionSegmentBytes, 1)) {
  for (int host = 0; host < setting.map.hosts(); ++host) {
    weights_.push_back(static_cast<double>(setting.map.ranks(host).size()));
  }
}

RowReduction::Range RowReduction::part(std::size_t segment, int column) const {
  if (column >= columns_) return {};
  const std::size_t begin = segment * kReductionSegmentBytes;
  const std::size_t size = std::min(kReductionSegmentBytes, row_.bytes() - begin);
  const std::size_t each = share(size, columns_);
  const std::size_t from = std::min(size, static_cast<std::size_t>(column) * each);
  return {begin + from, std::min(each, size - from)};
}

// From the beginning of the part.
RowReduction::Range RowReduction::slice(const Flight& flight, int host) const {
  if (!flight.is_sliced) return {0, flight.part.bytes};
  const std::size_t each = share(flight.part.bytes, setting_.map.hosts());
  const std::size_t from = std::min(flight.part.bytes, static_cast<std::size_t>(host) * each);
  return {from, std::min(each, flight.part.bytes - from)};
}

template <typename Visit>
void RowReduction::for_each_other_host(Visit&& visit) const {
  for (int host = 0; host < setting_.map.hosts(); ++host) {
    if (host != setting_.map.host()) visit(host);
  }
}

void RowReduction::run() {
  shm::Exchange& exchange = setting_.inside;
  exchange.begin(label_, deadlines_.inside);
  if (label_.collective == shm::CollectiveKind::kAllReduce && row_.bytes() >= shm::kInPlaceBytes) {
    shared_ = shm::SharedRow::find(exchange, label_);
  }
  for (std::size_t step = 0; step < segments_ + 2; ++step) {
    if (step < segments_) {
      combine_inside(step);
      if (crosses_ && is_short_) gather_between(flight(step));
      if (crosses_ && !is_short_ && step == 0) check_calls();
      if (crosses_ && !is_short_) send_parts(flight(step));
    }
    if (step >= 1 && step <= segments_ && crosses_) combine_between(flight(step - 1));
    if (step >= 2) gather_inside(step - 2);
  }
  if (!shared_) return;
  exchange.begin(label_, deadlines_.after());
  shm::await_end(exchange);
}

void RowReduction::combine_inside(std::size_t segment) {
  shm::Exchange& exchange = setting_.inside;
  Flight& flight = this->flight(segment);
  flight.part = part(segment, setting_.map.index());
  const std::size_t bytes = flight.part.bytes;
  flight.is_sliced = setting_.map.hosts() > 2 && bytes > kSlicedBytes;
  const std::size_t blocks = 1 + static_cast<std::size_t>(setting_.map.hosts());
  const std::size_t key = 1 + kGathered + segment % flights_.size() * blocks;
  std::byte* row = row_.one_place();
  flight.own = row ? row + flight.part.begin : setting_.staging.get(key, bytes);
  flight.theirs.assign(static_cast<std::size_t>(setting_.map.hosts()), nullptr);
  if (crosses_ && !is_short_) {
    const std::size_t comes = slice(flight, setting_.map.host()).bytes;
    for_each_other_host(
        [&](int host) { flight.theirs[host] = setting_.staging.get(key + 1 + static_cast<std::size_t>(host), comes); });
  }
  if (shared_) {
    for (std::size_t done = 0; done < bytes; done += kBlockBytes) {
      exchange.check_latch();
      shared_->combine(inside_, label_.element, flight.part.begin + done, std::min(kBlockBytes, bytes - done));
    }
    return;
  }
  std::vector<shm::Pieces> parts;
  for (int index = 0; index < exchange.size(); ++index) {
    const Range theirs = part(segment, index);
    parts.push_back(row_.part(theirs.begin, theirs.bytes));
  }
  // Once others may wait for the network, a neighbour that is late may do so, too.
  const auto deadline = segment == 0 ? deadlines_.inside : deadlines_.after();
  shm::reduce_scatter(exchange, label_, deadline, inside_, parts, flight.own);
}

// Ranks whose calls do not match find out before anything long is sent.
void RowReduction::check_calls() {
  Messages headers(setting_.wire, label_, setting_.inside.whereabouts());
  for_each_other_host([&](int host) {
    headers.receive(peer(host), shm::Pieces());
    headers.send(peer(host), shm::Pieces());
  });
  headers.finish(deadlines_.between());
}

int RowReduction::rounds() const {
  return is_short_ ? std::bit_width(static_cast<unsigned>(setting_.map.hosts() - 1)) : 1;
}

// Afterwards the rows of this host, the one before it and so on lie behind one another.
void RowReduction::gather_between(Flight& flight) {
  const int hosts = setting_.map.hosts();
  const int own = setting_.map.host();
  const std::size_t bytes = flight.part.bytes;
  const auto all = static_cast<std::size_t>(hosts);
  std::byte* rows = setting_.staging.get(kGathered, all * bytes);
  const auto row = [&](int host) { return rows + static_cast<std::size_t>((own - host + hosts) % hosts) * bytes; };
  if (bytes > 0) std::memcpy(rows, flight.own, bytes);
  int round = 0;
  for (int have = 1; have < hosts; have *= 2) {
    const std::size_t sent = static_cast<std::size_t>(std::min(have, hosts - have)) * bytes;
    Messages messages(setting_.wire, label_, setting_.inside.whereabouts());
    messages.receive(peer((own - have + hosts) % hosts), shm::Pieces(row((own - have + hosts) % hosts), sent));
    messages.send(peer((own + have) % hosts), shm::Pieces(rows, sent));
    messages.finish(deadlines_.between(++round));
  }
  for_each_other_host([&](int host) { flight.theirs[host] = row(host); });
}

void RowReduction::send_parts(Flight& flight) {
  for_each_other_host([&](int host) {
    const Range mine = slice(flight, setting_.map.host());
    const Range theirs = slice(flight, host);
    if (mine.bytes > 0) {
      flight.transfers.push_back(setting_.wire.receive(peer(host), flight.theirs[host], mine.bytes));
    }
    if (theirs.bytes > 0) {
      flight.transfers.push_back(setting_.wire.send(peer(host), flight.own + theirs.begin, theirs.bytes));
    }
  });
}

void RowReduction::combine_between(Flight& flight) {
  finish(flight.transfers, deadlines_.between());
  const Range mine = slice(flight, setting_.map.host());
  std::byte* result = flight.own + mine.begin;
  if (mine.bytes > 0) {
    std::vector<const void*> inputs(flight.theirs.begin(), flight.theirs.end());
    inputs[setting_.map.host()] = result;
    between_(result, inputs.data(), setting_.map.hosts(), mine.bytes / shm::size_of(label_.element), weights_.data());
  }
  if (!flight.is_sliced) return;
  for_each_other_host([&](int host) {
    const Range theirs = slice(flight, host);
    if (theirs.bytes > 0) {
      flight.transfers.push_back(setting_.wire.receive(peer(host), flight.own + theirs.begin, theirs.bytes));
    }
    if (mine.bytes > 0) flight.transfers.push_back(setting_.wire.send(peer(host), result, mine.bytes));
  });
}

void RowReduction::gather_inside(std::size_t segment) {
  shm::Exchange& exchange = setting_.inside;
  Flight& flight = this->flight(segment);
  finish(flight.transfers, deadlines_.between());
  if (shared_) return shared_->spread(flight.part.begin, flight.part.bytes);
  std::vector<shm::Pieces> results;
  for (int index = 0; index < exchange.size(); ++index) {
    const Range theirs = part(segment, index);
    results.push_back(row_.part(theirs.begin, theirs.bytes));
  }
  shm::Label label = label_;
  label.extent = flight.part.bytes;
  shm::all_gather(exchange, label, deadlines_.after(rounds()), results, shm::Pieces(flight.own, flight.part.bytes));
}

}  // namespace tandem::hosts
