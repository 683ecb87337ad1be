// EXPECT_ERROR(statement, code, "part of the message", …): the statement throws tandem::Error with all of these.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tandem/error.h"

namespace tandem::test {

inline void expect_error(const std::function<void()>& body, ErrorCode code, const std::vector<std::string>& parts,
                         const char* statement) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << statement << ": " << error.what();
    for (const auto& part : parts) EXPECT_THAT(error.what(), ::testing::HasSubstr(part)) << statement;
    return;
  }
  ADD_FAILURE() << statement << " threw no tandem::Error";
}

}  // namespace tandem::test

#define EXPECT_ERROR(statement, code, ...) \
  tandem::test::expect_error([&] { statement; }, code, {__VA_ARGS__}, #statement)
