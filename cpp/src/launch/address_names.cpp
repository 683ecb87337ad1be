#include "launch/address_names.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "base/descriptor.h"

namespace tandem::launch {
namespace {

constexpr std::size_t kLongestName = 160;

std::string hexadecimal(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, number);
  return text;
}

std::string demangled(const char* symbol) {
  int failure = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(symbol, nullptr, nullptr, &failure),
                                                        std::free);
  std::string name = failure == 0 && readable ? readable.get() : symbol;
  const std::string full = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
  for (std::size_t at; (at = name.find(full)) != std::string::npos;) name.replace(at, full.size(), "std::string");
  if (name.size() > kLongestName) name = name.substr(0, kLongestName) + "...";
  return name;
}

// A file of ELF, of this machine's word size. What it says of itself is believed as far as it lies within the file.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) {
    const Descriptor file = open_file(path.c_str(), O_RDONLY | O_NONBLOCK);
    struct stat info {};
    if (!file.valid() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    size_ = static_cast<std::size_t>(info.st_size);
    if (size_ < sizeof(ElfW(Ehdr))) return;
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped != MAP_FAILED) data_ = static_cast<const char*>(mapped);
  }
  ~ElfFile() {
    if (data_) munmap(const_cast<char*>(data_), size_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  // The address that the file's own tables have for its byte at `offset`.
  std::optional<std::uint64_t> address_of(std::uint64_t offset) const {
    const auto* header = this->header();
    if (!header || header->e_phentsize != sizeof(ElfW(Phdr))) return std::nullopt;
    const auto* segments = array<ElfW(Phdr)>(header->e_phoff, header->e_phnum);
    for (int i = 0; segments && i < header->e_phnum; ++i) {
      const auto& segment = segments[i];
      if (segment.p_type != PT_LOAD || offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz)
        continue;
      return offset - segment.p_offset + segment.p_vaddr;
    }
    return std::nullopt;
  }

  // Calls `found(index, name)` for those of `addresses`, which are in order, that lie in a function.
  template <typename Found>
  void find_functions(const std::vector<std::uint64_t>& addresses, Found&& found) const {
    const auto* header = this->header();
    if (!header || header->e_shentsize != sizeof(ElfW(Shdr))) return;
    const auto* sections = array<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    for (const auto type : {SHT_SYMTAB, SHT_DYNSYM}) {
      for (int i = 0; sections && i < header->e_shnum; ++i) {
        if (sections[i].sh_type != static_cast<decltype(sections[i].sh_type)>(type)) continue;
        if (sections[i].sh_link >= header->e_shnum) continue;
        const auto& names = sections[sections[i].sh_link];
        const std::size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
        const auto* symbols = array<ElfW(Sym)>(sections[i].sh_offset, count);
        const char* text = array<char>(names.sh_offset, names.sh_size);
        for (std::size_t k = 0; symbols && text && k < count; ++k) {
          const auto& symbol = symbols[k];
          const int kind = symbol.st_info & 0xf;
          if ((kind != STT_FUNC && kind != STT_GNU_IFUNC && kind != STT_NOTYPE) || symbol.st_shndx == SHN_UNDEF)
            continue;
          if (symbol.st_name >= names.sh_size) continue;
          const char* const name = text + symbol.st_name;
          if (!*name || !std::memchr(name, 0, names.sh_size - symbol.st_name)) continue;
          for (auto at = std::ranges::lower_bound(addresses, std::uint64_t{symbol.st_value});
               at != addresses.end() && *at - symbol.st_value < symbol.st_size; ++at) {
            found(static_cast<std::size_t>(at - addresses.begin()), name);
          }
        }
      }
    }
  }

 private:
  template <typename Type>
  const Type* array(std::uint64_t offset, std::uint64_t count) const {
    if (!data_ || offset > size_ || offset % alignof(Type) != 0 || count > (size_ - offset) / sizeof(Type))
      return nullptr;
    return reinterpret_cast<const Type*>(data_ + offset);
  }
  const ElfW(Ehdr)* header() const {
    const auto* header = array<ElfW(Ehdr)>(0, 1);
    constexpr int kWords = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != kWords)
      return nullptr;
    return header;
  }

  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

AddressNames::AddressNames(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(file, line);) {
    Mapping mapping{};
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64 " %*s %*s %n", &mapping.begin, &mapping.end,
                    &mapping.offset, &path_at) != 3 || path_at == 0) {
      continue;
    }
    mapping.path = line.substr(static_cast<std::size_t>(path_at));
    mappings_.push_back(std::move(mapping));
  }
}

const AddressNames::Mapping* AddressNames::mapping_of(std::uintptr_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::begin);
  if (after == mappings_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

void AddressNames::look_up(const std::vector<std::uintptr_t>& addresses) {
  std::map<std::string, std::vector<std::uintptr_t>> by_file;
  for (const std::uintptr_t address : addresses) {
    const Mapping* mapping = mapping_of(address);
    if (mapping && mapping->path.starts_with('/')) by_file[mapping->path].push_back(address);
  }
  for (const auto& [path, wanted] : by_file) {
    const ElfFile file(path);
    std::map<std::uint64_t, std::uintptr_t> in_file;
    for (const std::uintptr_t address : wanted) {
      const Mapping& mapping = *mapping_of(address);
      if (const auto own = file.address_of(address - mapping.begin + mapping.offset)) in_file.emplace(*own, address);
    }
    std::vector<std::uint64_t> sorted;
    for (const auto& [own, address] : in_file) sorted.push_back(own);
    file.find_functions(sorted, [&](std::size_t index, const char* symbol) {
      const std::uintptr_t address = in_file.at(sorted[index]);
      if (!functions_.count(address)) functions_.emplace(address, demangled(symbol));
    });
  }
}

std::string AddressNames::name(std::uintptr_t address) const {
  const Mapping* mapping = mapping_of(address);
  if (!mapping || mapping->path.empty()) return hexadecimal(address);
  const std::string file = file_of(mapping->path);
  const auto function = functions_.find(address);
  if (function != functions_.end()) return function->second + " [" + file + "]";
  return "[" + file + "+" + hexadecimal(address - mapping->begin + mapping->offset) + "]";
}

}  // namespace tandem::launch
