// Ranks as threads, through the C ABI.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tandem/tandem.h"

namespace capi_comm {

struct Failure {
  tdm_error_code code = 0;
  std::string operation;
  std::string message;
};

// Takes the error; code 0 for none.
inline Failure take(tdm_error* error) {
  Failure failure;
  if (!error) return failure;
  failure = {tdm_error_get_code(error), tdm_error_operation(error), tdm_error_message(error)};
  tdm_error_free(error);
  return failure;
}

#define EXPECT_OK(call)                                                         \
  do {                                                                          \
    const capi_comm::Failure failure = capi_comm::take(call);                   \
    EXPECT_EQ(failure.code, 0) << failure.operation << ": " << failure.message; \
  } while (false)

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* handle) const { kFree(handle); }
};
using Tensor = std::unique_ptr<tdm_tensor, Freer<tdm_tensor, tdm_tensor_free>>;
using Store = std::unique_ptr<tdm_store, Freer<tdm_store, tdm_store_free>>;
using Group = std::unique_ptr<tdm_process_group, Freer<tdm_process_group, tdm_process_group_free>>;
using Work = std::unique_ptr<tdm_work, Freer<tdm_work, tdm_work_free>>;
using Ddp = std::unique_ptr<tdm_ddp, Freer<tdm_ddp, tdm_ddp_free>>;

inline Tensor tensor_of(const std::vector<float>& values) {
  tdm_tensor* tensor = nullptr;
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  EXPECT_OK(tdm_tensor_from_data(values.data(), values.size() * sizeof(float), TDM_DTYPE_FLOAT32, &size, 1, &tensor));
  return Tensor(tensor);
}

inline std::vector<float> values_of(const tdm_tensor* tensor) {
  std::vector<float> values(static_cast<std::size_t>(tdm_tensor_numel(tensor)));
  EXPECT_OK(tdm_tensor_copy_to(tensor, values.data(), values.size() * sizeof(float)));
  return values;
}

inline Store hash_store() {
  tdm_store* store = nullptr;
  EXPECT_OK(tdm_store_hash(&store));
  return Store(store);
}

// body(group, rank) on a thread a rank.
inline void run_ranks(int size, const std::function<void(tdm_process_group*, int)>& body) {
  const Store store = hash_store();
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
      options.rank = rank;
      options.world_size = size;
      options.timeout_ms = 20000;
      tdm_process_group* group = nullptr;
      EXPECT_OK(tdm_process_group_create(&options, store.get(), &group));
      const Group owned(group);
      if (group) body(group, rank);
    });
  }
  for (auto& rank : ranks) rank.join();
}

}  // namespace capi_comm
