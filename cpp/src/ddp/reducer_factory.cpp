#include "ddp/reducer_factory.h"

#include <type_traits>

namespace tandem {
namespace {

template <typename... Extra>
constexpr bool kConstructible =
    std::is_constructible_v<c10d::Reducer, std::vector<at::Tensor>, std::vector<std::vector<std::size_t>>,
                            c10::intrusive_ptr<c10d::ProcessGroup>, std::vector<bool>, std::int64_t, bool, bool,
                            std::unordered_map<std::size_t, std::string>, std::int64_t, Extra...>;

// A template, so that only the constructor that this LibTorch has is compiled.
template <typename Reducer>
std::shared_ptr<Reducer> make(ReducerArguments&& a) {
  const auto construct = [&](auto&&... extra) {
    return std::make_shared<Reducer>(std::move(a.parameters), std::move(a.buckets), std::move(a.group),
                                     std::move(a.sparse_gradients), a.bucket_bytes, a.find_unused_parameters,
                                     a.gradient_as_bucket_view, std::move(a.names), a.first_bucket_bytes, extra...);
  };
  const bool skips = a.skip_all_reduce_unused_params;
  constexpr bool kPythonReducer = false;
  if constexpr (kConstructible<bool, bool, std::vector<std::int64_t>>) {
    return construct(skips, kPythonReducer, std::vector<std::int64_t>());  // 2.11
  } else {
    static_assert(kConstructible<bool, bool>,
                  "this LibTorch constructs c10d::Reducer in a way that Tandem does not know");
    return construct(skips, kPythonReducer);
  }
}

}  // namespace

std::shared_ptr<c10d::Reducer> make_c10d_reducer(ReducerArguments arguments) {
  return make<c10d::Reducer>(std::move(arguments));
}

}  // namespace tandem
