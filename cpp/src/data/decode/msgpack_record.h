// A record of MessagePack: its top-level values, one after another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/decode/value_collector.h"

namespace tandem::decode {

// Calls `put` for each value of the record whose name `find` gives the number of a field for, or whose place in an
// array is that number. Bytes are views of the record. Throws Error(kDataLoss).
void read_msgpack(std::span<const std::uint8_t> record, const std::vector<FieldPlan>& plans, const FindField& find,
                  const PutValue& put);

}  // namespace tandem::decode
