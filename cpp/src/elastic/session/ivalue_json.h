// Settings of optimizers and states of schedulers as text, to the bit.
#pragma once

#include <ATen/core/ivalue.h>

#include <nlohmann/json.hpp>

namespace tandem::elastic {

// Of none, bools, ints, doubles, strings, lists, tuples and dicts of these. Throws Error(kUnsupported) for others.
nlohmann::ordered_json to_json(const c10::IValue& value);
// Throws Error(kDataLoss) for what to_json() does not give. A dict has keys of one type: strings or ints.
c10::IValue from_json(const nlohmann::ordered_json& json);

}  // namespace tandem::elastic
