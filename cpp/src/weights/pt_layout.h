// What a file of torch.save holds and where: its pickle, and the bytes of its storages. Zip and legacy format.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weights/pickle/unpickler.h"

namespace tandem::weights {

struct PtStorage {
  std::string key;
  std::uint64_t offset = 0, size = 0;  // bytes of the file
  std::uint32_t crc = 0;               // CRC-32 of them, 0 for none
};

struct PtLayout {
  pickle::Pickle pickle;
  std::unique_ptr<const std::string> pickle_bytes;  // that `pickle` refers to, where these are not the file's
  std::vector<PtStorage> storages;
  std::vector<std::uint32_t> storage_of;  // for each of pickle.storages which of `storages` it is
};

// Every storage that the pickle names lies in the file, and has the bytes that the pickle says at least; those of two
// do not overlap. CRCs are checked of the pickle alone. `file` must outlive what is returned. `name`: for messages.
// Throws tandem::Error: kDataLoss, kUnsupported.
PtLayout read_pt_layout(std::span<const std::uint8_t> file, const std::string& name, const pickle::Limits& limits = {});

}  // namespace tandem::weights
