#include "launch/doctor/page.h"

#include <algorithm>

namespace tandem::doctor {
namespace {

constexpr std::size_t kVerdictWidth = 7;

// Characters of UTF-8, one column each.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t has = columns(text);
  if (has < width) text.append(width - has, ' ');
  return text;
}

// What others wrote may have line ends, and what terminals obey.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

std::string lines_of(const std::vector<Finding>& findings, std::size_t topic_width) {
  std::string lines;
  for (const Finding& one : findings) {
    const std::string advice = one.advice.empty() ? "" : ": " + one.advice;
    lines += padded(on_one_line(one.topic), topic_width) + " " + padded(name_of(one.verdict), kVerdictWidth) + "  " +
             on_one_line(one.text + advice) + "\n";
  }
  return lines;
}

std::string table_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = on_one_line(row[i]);
      text += i + 1 < row.size() ? padded(cell, widths[i]) + "  " : cell;
    }
    text += "\n";
  }
  return text;
}

}  // namespace tandem::doctor
