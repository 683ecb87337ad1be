// Which of Python's names a pickle may use. They are never looked up or called: each stands for something that the
// unpickler makes by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "weights/pickle/dtype.h"

namespace tandem::pickle {

enum class Name : std::uint8_t {
  kOrderedDict,
  kCounter,
  kSet,
  kByteArray,
  kComplex,
  kEncode,
  kSize,
  kDevice,
  kTensor,
  kParameter,
  kRebuildTensor,
  kRebuildTensorV2,
  kRebuildTensorV3,
  kRebuildParameter,
  kRebuildParameterWithState,
  kRebuildFromType,
  kStorage,  // of a dtype
  kUntypedStorage,
  kDtype,
  // Of TorchScript:
  kScriptClass,  // of the file's own code
  kTypedList,
  kRestoreTypeTag,
};

struct Global {
  Name name;
  Dtype dtype = Dtype::kUInt8;  // of kStorage and kDtype
};

// What wrote a pickle.
enum class Dialect : std::uint8_t { kTorchSave, kTorchScript };

// Nothing where it is not allowed. `module` may be as Python 2 has it: pickles of protocol 2 do.
std::optional<Global> find_global(std::string_view module, std::string_view name, Dialect dialect);

}  // namespace tandem::pickle
