#include "weights/pickle/pickler.h"

#include <bit>
#include <climits>

namespace tandem::pickle {

Pickler::Pickler() {
  opcode(Opcode::kProto);
  bytes_.push_back(2);
}

void Pickler::integer(std::int64_t value) {
  if (value >= 0 && value <= UINT8_MAX) {
    opcode(Opcode::kBinInt1);
    raw(&value, 1);
  } else if (value >= 0 && value <= UINT16_MAX) {
    opcode(Opcode::kBinInt2);
    raw(&value, 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    opcode(Opcode::kBinInt);
    raw(&value, 4);
  } else {
    opcode(Opcode::kLong1);
    bytes_.push_back(sizeof value);
    raw(&value, sizeof value);
  }
}

void Pickler::real(double value) {
  const std::uint64_t bits = __builtin_bswap64(std::bit_cast<std::uint64_t>(value));
  opcode(Opcode::kBinFloat);
  raw(&bits, sizeof bits);
}

void Pickler::text(std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  opcode(Opcode::kBinUnicode);
  raw(&size, sizeof size);
  raw(text.data(), text.size());
}

// As Python does in protocol 2, which has no bytes: as text in Latin-1, encoded when it is loaded.
void Pickler::bytes(std::string_view bytes) {
  std::string characters;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      characters.push_back(c);
    } else {
      characters.push_back(static_cast<char>(0xc0 | byte >> 6));
      characters.push_back(static_cast<char>(0x80 | (byte & 0x3f)));
    }
  }
  global("_codecs", "encode");
  text(characters);
  text("latin1");
  opcode(Opcode::kTuple2);
  opcode(Opcode::kReduce);
}

void Pickler::global(std::string_view module, std::string_view name) {
  const auto number = static_cast<std::uint32_t>(globals_.size());
  const auto [known, is_new] = globals_.emplace(std::pair{std::string(module), std::string(name)}, number);
  if (!is_new) {
    opcode(Opcode::kBinGet);
    return raw(&known->second, 1);
  }
  opcode(Opcode::kGlobal);
  bytes_.append(module).append("\n").append(name).append("\n");
  opcode(Opcode::kBinPut);
  raw(&number, 1);  // there are some forty
}

void Pickler::ordered_dict() {
  global("collections", "OrderedDict");
  opcode(Opcode::kEmptyTuple);
  opcode(Opcode::kReduce);
}

std::string Pickler::finish() && {
  opcode(Opcode::kStop);
  return std::move(bytes_);
}

}  // namespace tandem::pickle
