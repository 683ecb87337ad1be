// A record of JSON: its top-level values, one after another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/decode/value_collector.h"

namespace tandem::decode {

// As read_msgpack(), but bytes, which are those of strings, last only until `put` returns.
void read_json(std::span<const std::uint8_t> record, const std::vector<FieldPlan>& plans, const FindField& find,
               const PutValue& put);

}  // namespace tandem::decode
