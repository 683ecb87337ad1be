// Findings as people read them.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/finding.h"

namespace tandem::doctor {

inline constexpr std::size_t kTopicWidth = 16;

// A line each: topic, in so many columns at least, verdict, text and, where there is one, what to do.
std::string lines_of(const std::vector<Finding>& findings, std::size_t topic_width = kTopicWidth);

// Columns as wide as their longest cell; the first row is the header.
std::string table_of(const std::vector<std::vector<std::string>>& rows);

}  // namespace tandem::doctor
