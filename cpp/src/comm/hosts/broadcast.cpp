#include "comm/hosts/broadcast.h"

#include <algorithm>

#include "comm/shm/collectives.h"

namespace tandem::hosts {
namespace {

constexpr std::size_t kBroadcastSegmentBytes = std::size_t{1} << 20;

}  // namespace

Broadcast::Broadcast(const Setting& setting, const shm::Label& label, const Deadlines& deadlines,
                     const shm::Pieces& row)
    : setting_(setting),
      label_(label),
      deadlines_(deadlines),
      row_(row),
      is_leader_(leader(setting.map.host()) == setting.map.rank()),
      is_short_(row.bytes() <= Messages::kInlineBytes) {
  const int hosts = setting_.map.hosts();
  const int place = (setting_.map.host() - setting_.map.host_of(label_.root) + hosts) % hosts;
  // Above a place is the one without its lowest bit.
  for (int bits = place; bits != 0; bits &= bits - 1) ++hops_;
  if (place != 0) above_ = leader(host_at(place & (place - 1)));
  for (int bit = 1; is_leader_ && place + bit < hosts && (place & bit) == 0; bit <<= 1) {
    below_.push_back(leader(host_at(place + bit)));
  }
  std::reverse(below_.begin(), below_.end());  // the longest way first
}

int Broadcast::leader(int host) const {
  return host == setting_.map.host_of(label_.root) ? label_.root : setting_.map.ranks(host).front();
}

void Broadcast::run() {
  const std::size_t segments =
      is_short_ ? 1 : std::max<std::size_t>((row_.bytes() + kBroadcastSegmentBytes - 1) / kBroadcastSegmentBytes, 1);
  const auto segment = [&](std::size_t k) {
    const std::size_t begin = k * kBroadcastSegmentBytes;
    return is_short_ ? row_ : row_.part(begin, std::min(kBroadcastSegmentBytes, row_.bytes() - begin));
  };
  Messages headers = messages();
  Wire::Transfers received;
  Wire::Transfers sent;
  const bool receives = is_leader_ && above_ >= 0;
  const shm::Pieces inline_row = is_short_ ? row_ : shm::Pieces();
  if (receives) {
    Messages header = messages();
    header.receive(above_, inline_row);
    header.finish(deadlines_.between(hops_));
    for (std::size_t k = 0; k < segments && !is_short_; ++k) {
      const shm::Pieces part = segment(k);
      received.push_back(setting_.wire.receive(above_, part.one_place(), part.bytes()));
    }
  }
  for (const int rank : below_) headers.send(rank, inline_row);
  for (std::size_t k = 0; k < segments; ++k) {
    const shm::Pieces part = segment(k);
    if (k < received.size()) received[k]->wait(deadlines_.between(hops_));
    for (std::size_t i = 0; i < below_.size() && !is_short_; ++i) {
      sent.push_back(setting_.wire.send(below_[i], part.one_place(), part.bytes()));
    }
    broadcast_inside(part);
  }
  headers.finish(deadlines_.between(hops_ + 1));
  finish(sent, deadlines_.between(hops_ + 1));
}

void Broadcast::broadcast_inside(const shm::Pieces& part) {
  const int index = setting_.map.index_of(leader(setting_.map.host()));
  // Who waits for the root itself says first that it is missing.
  const auto deadline = deadlines_.between(hops_ == 0 ? 0 : hops_ + 1);
  shm::broadcast(setting_.inside, label_, deadline, index, part);
}

}  // namespace tandem::hosts
