// Archives with other content than torch.export gave them.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "cpp/weights/zip_builder.h"
#include "weights/zip_directory.h"

namespace tandem::testing {

// Writes `from` to `to`, with what `change` makes of each member: by its name without the archive's folder. A member
// of which it makes nothing is left out.
using ChangeMember = std::function<std::optional<std::string>(const std::string& member, std::string content)>;

inline void rewrite(const std::string& from, const std::string& to, const ChangeMember& change) {
  const MappedFile file(from);
  test::ZipBuilder builder;
  for (const weights::ZipMember& member : weights::read_zip_directory(file.bytes(), from)) {
    const std::string content(reinterpret_cast<const char*>(file.bytes().data()) + member.offset, member.size);
    const auto changed = change(member.name.substr(member.name.find('/') + 1), content);
    if (changed) builder.add(member.name, *changed);
  }
  const auto bytes = builder.finish();
  std::ofstream(to, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

inline void rewrite_json(const std::string& from, const std::string& to, const std::string& member,
                         const std::function<void(nlohmann::json&)>& change) {
  rewrite(from, to, [&](const std::string& name, std::string content) -> std::optional<std::string> {
    if (name != member) return content;
    auto document = nlohmann::json::parse(content);
    change(document);
    return document.dump();
  });
}

}  // namespace tandem::testing
