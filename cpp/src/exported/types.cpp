#include "exported/types.h"

#include <limits>

namespace tandem::exported {

at::ScalarType scalar_type(const Json& number, const std::string& where) {
  switch (integer(number, where)) {
    case 1:
      return at::kByte;
    case 2:
      return at::kChar;
    case 3:
      return at::kShort;
    case 4:
      return at::kInt;
    case 5:
      return at::kLong;
    case 6:
      return at::kHalf;
    case 7:
      return at::kFloat;
    case 8:
      return at::kDouble;
    case 9:
      return at::kComplexHalf;
    case 10:
      return at::kComplexFloat;
    case 11:
      return at::kComplexDouble;
    case 12:
      return at::kBool;
    case 13:
      return at::kBFloat16;
    case 28:
      return at::kUInt16;
    case 29:
      return at::kFloat8_e4m3fn;
    case 30:
      return at::kFloat8_e5m2;
    case 31:
      return at::kFloat8_e4m3fnuz;
    case 32:
      return at::kFloat8_e5m2fnuz;
  }
  unsupported(where, "has the dtype " + number.dump() + " of the export schema, which is not known");
}

at::Layout layout(const Json& number, const std::string& where) {
  switch (integer(number, where)) {
    case 1:
      return at::kSparse;
    case 2:
      return at::kSparseCsr;
    case 3:
      return at::kSparseCsc;
    case 4:
      return at::kSparseBsr;
    case 5:
      return at::kSparseBsc;
    case 6:
      return at::kMkldnn;
    case 7:
      return at::kStrided;
  }
  unsupported(where, "has the layout " + number.dump() + " of the export schema, which is not known");
}

at::MemoryFormat memory_format(const Json& number, const std::string& where) {
  switch (integer(number, where)) {
    case 1:
      return at::MemoryFormat::Contiguous;
    case 2:
      return at::MemoryFormat::ChannelsLast;
    case 3:
      return at::MemoryFormat::ChannelsLast3d;
    case 4:
      return at::MemoryFormat::Preserve;
  }
  unsupported(where, "has the memory format " + number.dump() + " of the export schema, which is not known");
}

at::Device device(const Json& value, const std::string& where) {
  const std::string& type = text(value, "type", where);
  try {
    at::Device found{type};
    if (const Json* index = find(value, "index")) {
      const std::int64_t number = integer(*index, where);
      if (number < 0 || number > std::numeric_limits<at::DeviceIndex>::max()) {
        damaged(where, "has the device number " + std::to_string(number));
      }
      found.set_index(static_cast<at::DeviceIndex>(number));
    }
    return found;
  } catch (const c10::Error&) {
    unsupported(where, "has a device that LibTorch does not know: '" + type.substr(0, 100) + "'");
  }
}

}  // namespace tandem::exported
