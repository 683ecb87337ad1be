// What an error has to be like.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tandem/tandem.h"

namespace misuse {

// A message for people: UTF-8, of bounded length, with nothing of what LibTorch and C++ tell their own.
testing::AssertionResult is_well_worded(const tdm_error* error);

// NULL, or an error that comes from `function`, is no INTERNAL one, and is worded well.
testing::AssertionResult is_clean(const tdm_error* error, const std::string& function);

// A clean error that names `argument` and blames the caller.
testing::AssertionResult is_refusal(const tdm_error* error, const std::string& function, const std::string& argument);

}  // namespace misuse
