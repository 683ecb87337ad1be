// What an error has to be like.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tandem/tandem.h"

namespace misuse {

// NULL, or an error that comes from `function`, is no INTERNAL one, and can be shown to people.
testing::AssertionResult is_clean(const tdm_error* error, const std::string& function);

// A clean error that names `argument` and blames the caller.
testing::AssertionResult is_refusal(const tdm_error* error, const std::string& function, const std::string& argument);

}  // namespace misuse
