#include "weights/pickle/globals.h"

namespace tandem::pickle {
namespace {

// Of what torch.save has, what LibTorch's unpickler takes for the same as ours does.
bool is_common(Name name) {
  return name == Name::kOrderedDict || name == Name::kComplex || name == Name::kDevice ||
         name == Name::kRebuildTensorV2 || name == Name::kStorage;
}

// Classes of C++ (torch.classes) have a __setstate__ of their own, which LibTorch would call.
std::optional<Global> find_of_script(std::string_view module, std::string_view name) {
  if (module == "torch.jit._pickle") {
    if (name == "restore_type_tag") return Global{Name::kRestoreTypeTag};
    for (const std::string_view list : {"build_intlist", "build_tensorlist", "build_doublelist", "build_boollist"}) {
      if (name == list) return Global{Name::kTypedList};
    }
  }
  const bool of_code = module == "__torch__" || module.starts_with("__torch__.");
  if (of_code && !module.starts_with("__torch__.torch.classes")) return Global{Name::kScriptClass};
  return {};
}

std::optional<Global> find_of_save(std::string_view module, std::string_view name) {
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

}  // namespace

std::optional<Global> find_global(std::string_view module, std::string_view name, Dialect dialect) {
  const auto found = find_of_save(module, name);
  if (dialect == Dialect::kTorchSave) return found;
  return found && is_common(found->name) ? found : find_of_script(module, name);
}

}  // namespace tandem::pickle
