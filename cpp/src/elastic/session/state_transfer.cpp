#include "elastic/session/state_transfer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <map>
#include <string>
#include <utility>

#include "base/crc32c.h"
#include "base/json_document.h"
#include "checkpoint/ranks.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kChunk = std::int64_t{8} << 20;  // bytes that one rank sends at a time
constexpr std::size_t kAtOnce = 64;                    // chunks on their way to a rank
constexpr std::size_t kMostListed = 5;

at::Tensor bytes_of(const at::Tensor& tensor) {
  return at::from_blob(tensor.data_ptr(), {static_cast<std::int64_t>(tensor.nbytes())}, at::kByte);
}

std::uint32_t checksum_of(const at::Tensor& tensor) {
  return crc32c({static_cast<const std::uint8_t*>(tensor.const_data_ptr()), tensor.nbytes()});
}

// What a commit is, without the tensors' elements.
std::string header_of(const Commit& commit) {
  Json tensors = Json::array();
  for (const auto& [section, named] : commit.content.replicated) {
    // Also of sections without tensors.
    Json all = Json::array();
    for (const auto& [name, tensor] : named) {
      all.push_back({name, static_cast<int>(tensor.scalar_type()), tensor.sizes().vec()});
    }
    tensors.push_back({section, std::move(all)});
  }
  Json header = Json::object();
  header["step"] = commit.step;
  header["values"] = commit.content.values;
  header["tensors"] = std::move(tensors);
  return header.dump();
}

// Tensors on the device meta.
Commit described(const std::string& text) {
  const Json header = parse_json_document(text);
  Commit commit;
  commit.step = header.at("step").get<std::int64_t>();
  commit.content.values = header.at("values").get<std::string>();
  for (const Json& section : header.at("tensors")) {
    NamedTensors& named = commit.content.replicated[section.at(0).get<std::string>()];
    for (const Json& one : section.at(1)) {
      const auto type = at::TensorOptions(static_cast<at::ScalarType>(one.at(1).get<int>()));
      named.emplace_back(one.at(0).get<std::string>(),
                         at::empty(one.at(2).get<std::vector<std::int64_t>>(), type.device(at::kMeta)));
    }
  }
  return commit;
}

std::vector<at::Tensor> tensors_of(const Commit& commit) {
  std::vector<at::Tensor> tensors;
  for (const auto& [section, named] : commit.content.replicated) {
    for (const auto& [name, tensor] : named) tensors.push_back(tensor);
  }
  return tensors;
}

// A section that a rank does not have, as the state of an optimizer before its first step, fits any.
void check_names(const CheckpointContent& mine, const CheckpointContent& theirs) {
  std::vector<std::string> wrong;
  for (const auto& [section, named] : theirs.replicated) {
    const auto own = mine.replicated.find(section);
    if (own == mine.replicated.end() || own->second.empty()) continue;
    std::map<std::string, at::Tensor> by_name(own->second.begin(), own->second.end());
    for (const auto& [name, tensor] : named) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) {
        wrong.push_back("it has no '" + name + "' in '" + section + "'");
      } else if (found->second.sizes() != tensor.sizes() || found->second.scalar_type() != tensor.scalar_type()) {
        wrong.push_back("'" + name + "' of '" + section + "' is " + found->second.toString() + c10::str(found->second.sizes()) +
                        " there and " + tensor.toString() + c10::str(tensor.sizes()) + " elsewhere");
      }
    }
  }
  if (wrong.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < std::min(wrong.size(), kMostListed); ++i) list += (i ? "; " : "") + wrong[i];
  if (wrong.size() > kMostListed) list += " and " + std::to_string(wrong.size() - kMostListed) + " more";
  throw Error(ErrorCode::kInvalidArgument, "this rank cannot take over the other ranks' state: " + list +
                                               "; all ranks have to make the same model");
}

// Tensors are told apart by their place from here on.
Commit in_order_of(const Commit& order, const Commit& mine) {
  Commit result{mine.step, {}};
  result.content.values = mine.content.values;
  result.content.own = mine.content.own;
  for (const auto& [section, named] : order.content.replicated) {
    NamedTensors& to = result.content.replicated[section];
    const auto own = mine.content.replicated.find(section);
    std::map<std::string, at::Tensor> by_name;
    if (own != mine.content.replicated.end()) by_name = {own->second.begin(), own->second.end()};
    for (const auto& item : named) {
      const auto found = by_name.find(item.first);
      if (found == by_name.end()) {
        throw Error(ErrorCode::kInvalidArgument, "this rank's commit of step " + std::to_string(mine.step) + " has no '" +
                                                     item.first + "' in '" + section + "', which others have");
      }
      to.emplace_back(item.first, found->second);
    }
  }
  return result;
}

std::string checksums_of(const std::vector<at::Tensor>& tensors) {
  std::string bytes;
  for (const at::Tensor& tensor : tensors) {
    const std::uint32_t sum = checksum_of(tensor);
    bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  }
  return bytes;
}

// Who sends a tensor: all holders that have it as the first of them has it.
std::vector<std::vector<int>> senders_of(const std::vector<int>& holders, const std::vector<std::string>& checksums,
                                         std::size_t tensors) {
  constexpr std::size_t kBytes = sizeof(std::uint32_t);
  std::vector<std::vector<int>> senders(tensors);
  const std::string& first = checksums[static_cast<std::size_t>(holders.front())];
  for (std::size_t i = 0; i < tensors; ++i) {
    for (const int holder : holders) {
      if (checksums[static_cast<std::size_t>(holder)].compare(i * kBytes, kBytes, first, i * kBytes, kBytes) == 0) {
        senders[i].push_back(holder);
      }
    }
  }
  return senders;
}

// Each chunk of each tensor comes to each rank that lacks it from one of its senders, in turn.
void exchange(ProcessGroup& group, const std::vector<int>& receivers, const std::vector<std::vector<int>>& senders,
              const std::vector<at::Tensor>& tensors) {
  std::vector<Message> messages;
  std::size_t number = 0;
  const auto flush = [&] {
    if (!messages.empty()) group.batch_isend_irecv(messages).wait();
    messages.clear();
  };
  for (std::size_t which = 0; which < tensors.size(); ++which) {
    const at::Tensor bytes = bytes_of(tensors[which]);
    for (std::int64_t begin = 0; begin < bytes.numel(); begin += kChunk, ++number) {
      const at::Tensor chunk = bytes.slice(0, begin, std::min(begin + kChunk, bytes.numel()));
      for (std::size_t i = 0; i < receivers.size(); ++i) {
        const int sender = senders[which][(number + i) % senders[which].size()];
        if (sender == group.rank()) messages.push_back({Message::Kind::kSend, chunk, receivers[i], 0});
        if (receivers[i] == group.rank()) messages.push_back({Message::Kind::kReceive, chunk, sender, 0});
      }
      if (number % kAtOnce == kAtOnce - 1) flush();
    }
  }
  flush();
}

}  // namespace

Commit transfer(ProcessGroup& group, const std::vector<int>& holders, checkpoint::Staging& staging, const Commit& mine) {
  const bool holds = std::binary_search(holders.begin(), holders.end(), group.rank());
  const checkpoint::Ranks ranks(&group);
  const std::string header = group.broadcast_bytes(holds ? header_of(mine) : "", holders.front());
  Commit whole;
  ranks.together([&] {
    const Commit theirs = described(header);
    check_names(mine.content, theirs.content);
    whole = holds ? in_order_of(theirs, mine) : Commit{theirs.step, staging.place(theirs.content)};
    return "";
  });
  const std::vector<at::Tensor> tensors = tensors_of(whole);
  const auto checksums = group.all_gather_bytes(holds ? checksums_of(tensors) : "");
  std::vector<int> receivers;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (!std::binary_search(holders.begin(), holders.end(), rank)) receivers.push_back(rank);
  }
  exchange(group, receivers, senders_of(holders, checksums, tensors.size()), tensors);
  ranks.together([&] {
    if (!holds && checksums_of(tensors) != checksums[static_cast<std::size_t>(holders.front())]) {
      throw Error(ErrorCode::kDataLoss, "the state that other ranks sent has arrived damaged");
    }
    return "";
  });
  return whole;
}

}  // namespace tandem::elastic
