// Findings as people read them.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/finding.h"

namespace tandem::doctor {

// A line each: topic, verdict, text and, where there is one, what to do.
std::string lines_of(const std::vector<Finding>& findings);

// Columns as wide as their longest cell; the first row is the header.
std::string table_of(const std::vector<std::vector<std::string>>& rows);

}  // namespace tandem::doctor
