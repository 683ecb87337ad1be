// What names of backends mean, and which are none.
#include "comm/backend_map.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using ::testing::HasSubstr;

std::string meaning(const std::string& names, bool has_gpu = false) {
  std::string text;
  for (const BackendEntry& entry : parse_backends(names, has_gpu)) {
    text += std::string(text.empty() ? "" : " ") + name_of(entry.kind) + "(";
    for (const DeviceKind device : entry.devices)
      text += std::string(device == entry.devices[0] ? "" : " ") + name_of(device);
    text += ")";
  }
  return text;
}

TEST(BackendMap, ANameAloneIsForAllDevicesThatItsBackendTakes) {
  for (const std::string name : {"gloo", "nccl", "shm", "auto", "none"}) {
    EXPECT_EQ(meaning(name), name + "()");
    EXPECT_EQ(name_of(parse_backends(name, false)), name);
  }
  EXPECT_EQ(meaning("auto", /*has_gpu=*/true), "nccl()");
  EXPECT_EQ(meaning("gloo", /*has_gpu=*/true), "gloo()");
}

TEST(BackendMap, AMapHasOneForEachDevice) {
  EXPECT_EQ(meaning("cpu:shm,cuda:nccl"), "shm(cpu) nccl(cuda)");
  EXPECT_EQ(meaning("cuda:nccl,cpu:gloo"), "gloo(cpu) nccl(cuda)") << "the CPU's first";
  EXPECT_EQ(meaning("cpu:gloo,cuda:gloo"), "gloo(cpu cuda)") << "one backend for both";
  EXPECT_EQ(meaning("cpu:auto,cuda:auto"), "auto(cpu) nccl(cuda)");
  EXPECT_EQ(meaning("cuda:nccl"), "nccl(cuda)");
  EXPECT_EQ(name_of(parse_backends("cuda:gloo,cpu:shm", true)), "cpu:shm,cuda:gloo");
  EXPECT_EQ(name_of(parse_backends("cuda:gloo,cpu:gloo", true)), "cpu:gloo,cuda:gloo");
}

void expect_refused(const std::string& names, ErrorCode code, const std::string& part) {
  try {
    parse_backends(names, true);
    ADD_FAILURE() << "'" << names << "' was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << names;
    EXPECT_THAT(error.what(), HasSubstr(part)) << names;
    if (names.find(':') != std::string::npos && code == ErrorCode::kInvalidArgument) {
      EXPECT_THAT(error.what(), HasSubstr("backend '" + names + "'"));
    }
  }
}

TEST(BackendMap, WhatIsNoneIsNamed) {
  constexpr auto kUnsupported = ErrorCode::kUnsupported;
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  expect_refused("mpi", kUnsupported, "there is no backend 'mpi'; Tandem has gloo, nccl, shm, auto and none");
  expect_refused("", kUnsupported, "there is no backend ''");
  expect_refused("cpu:mpi", kUnsupported, "there is no backend 'mpi'");
  expect_refused("cpu:", kUnsupported, "there is no backend ''");
  expect_refused("cpu:gloo:1", kUnsupported, "there is no backend 'gloo:1'");
  expect_refused("tpu:gloo", kInvalid, "there is no device 'tpu'; Tandem has cpu and cuda");
  expect_refused("cpu:gloo, cuda:nccl", kInvalid, "there is no device ' cuda'");
  expect_refused("cpu:shm,cuda:nccl,cpu:gloo", kInvalid, "it names cpu twice");
  expect_refused("cpu:shm,cpu:shm", kInvalid, "it names cpu twice");
  expect_refused("cpu:nccl", kInvalid, "nccl takes tensors on GPUs");
  expect_refused("cuda:shm", kInvalid, "shm takes tensors on the CPU");
  expect_refused("cpu:none", kInvalid, "give it alone");
  expect_refused("gloo,nccl", kInvalid, "'gloo' names no device, as cpu:gloo does");
  expect_refused("cpu:gloo,", kInvalid, "a part of it is empty");
}

}  // namespace
}  // namespace tandem
