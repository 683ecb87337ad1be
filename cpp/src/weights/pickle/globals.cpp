#include "weights/pickle/globals.h"

namespace tandem::pickle {

std::optional<Global> find_global(std::string_view module, std::string_view name) {
  struct Known {
    std::string_view module, name;
    Name meaning;
  };
  static constexpr Known kKnown[] = {
      {"collections", "OrderedDict", Name::kOrderedDict},
      {"collections", "Counter", Name::kCounter},
      {"builtins", "set", Name::kSet},
      {"builtins", "bytearray", Name::kByteArray},
      {"builtins", "complex", Name::kComplex},
      {"_codecs", "encode", Name::kEncode},
      {"torch", "Size", Name::kSize},
      {"torch", "device", Name::kDevice},
      {"torch", "Tensor", Name::kTensor},
      {"torch.nn.parameter", "Parameter", Name::kParameter},
      {"torch._utils", "_rebuild_tensor", Name::kRebuildTensor},
      {"torch._utils", "_rebuild_tensor_v2", Name::kRebuildTensorV2},
      {"torch._utils", "_rebuild_tensor_v3", Name::kRebuildTensorV3},
      {"torch._utils", "_rebuild_parameter", Name::kRebuildParameter},
      {"torch._utils", "_rebuild_parameter_with_state", Name::kRebuildParameterWithState},
      {"torch._tensor", "_rebuild_from_type_v2", Name::kRebuildFromType},
      {"torch.storage", "UntypedStorage", Name::kUntypedStorage},
  };
  if (module == "__builtin__") module = "builtins";
  for (const Known& known : kKnown) {
    if (known.module == module && known.name == name) return Global{known.meaning};
  }
  if (module != "torch") return {};
  if (name == "UntypedStorage") return Global{Name::kUntypedStorage};
  for (const DtypeFacts& facts : kDtypes) {
    if (facts.name == name) return Global{Name::kDtype, facts.dtype};
    if (!facts.storage.empty() && facts.storage == name) return Global{Name::kStorage, facts.dtype};
  }
  return {};
}

}  // namespace tandem::pickle
