// Process groups and sub-groups.
#include <string>
#include <vector>

#include "core/call/options.h"
#include "core/call/timeout.h"
#include "core/comm/groups.h"
#include "tandem/launch_place.h"

using namespace tandem::capi;

namespace {

std::vector<int> to_ranks(const int32_t* ranks, std::size_t count) {
  check_count(count, "ranks");
  if (count != 0) not_null(ranks, "ranks");
  return count == 0 ? std::vector<int>() : std::vector<int>(ranks, ranks + count);
}

}  // namespace

tdm_error* tdm_launch_place(int32_t* rank, int32_t* world_size, int32_t* local_rank, int32_t* local_world_size,
                            int32_t* node_rank, tdm_string** launcher) {
  return guard("tdm_launch_place", [&] {
    const tandem::LaunchPlace place = tandem::launch_place();
    if (launcher) *launcher = make_string(place.launcher);
    const auto put = [](int32_t* out, int value) {
      if (out) *out = value;
    };
    put(rank, place.rank);
    put(world_size, place.world_size);
    put(local_rank, place.local_rank);
    put(local_world_size, place.local_world_size);
    put(node_rank, place.node_rank);
  });
}

tdm_error* tdm_process_group_create(const tdm_process_group_options* options, const tdm_store* store,
                                    tdm_process_group** out) {
  return guard("tdm_process_group_create", [&] {
    not_null(out, "out");
    const tandem::ProcessGroupOptions native = to_group_options(options);
    hand_over_group(tandem::ProcessGroup::create(native, store ? not_null(store, "store")->store : tandem::Store()),
                    out);
  });
}

void tdm_process_group_free(tdm_process_group* group) {
  if (!if_live(group) || !tandem::thread_state_if_memory()) return;
  try {
    if (group->owns) group->group->close();  // DDP and works may hold it longer
  } catch (...) {
  }
  delete group;
}

int32_t tdm_process_group_rank(const tdm_process_group* group) {
  return if_live(group) ? group->group->rank() : -1;
}
int32_t tdm_process_group_size(const tdm_process_group* group) {
  return if_live(group) ? group->group->size() : 0;
}
const char* tdm_process_group_backend(const tdm_process_group* group) {
  return if_live(group) ? group->group->backend().c_str() : nullptr;
}

tdm_error* tdm_process_group_abort(tdm_process_group* group) {
  return guard("tdm_process_group_abort", [&] { unwrap_group(group).abort(); });
}

const char* tdm_process_group_name(const tdm_process_group* group) {
  return if_live(group) ? group->group->name().c_str() : nullptr;
}

tdm_error* tdm_process_group_new_group(tdm_process_group* group, const int32_t* ranks, size_t rank_count,
                                       const char* name, tdm_process_group** out) {
  return guard("tdm_process_group_new_group", [&] {
    auto& native = unwrap_group(group);
    not_null(out, "out");
    hand_over_group(native.new_group(to_ranks(ranks, rank_count), text_or(name, "")), out);
  });
}

tdm_error* tdm_process_group_split(tdm_process_group* group, const int32_t* ranks, size_t rank_count,
                                   const size_t* sizes, size_t group_count, const char* name, tdm_process_group** out) {
  return guard("tdm_process_group_split", [&] {
    auto& native = unwrap_group(group);
    not_null(out, "out");
    check_count(group_count, "sizes");
    if (group_count != 0) not_null(sizes, "sizes");
    const std::vector<int> all = to_ranks(ranks, rank_count);
    std::vector<std::vector<int>> groups;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < group_count; ++i) {
      if (sizes[i] > all.size() - begin) invalid("argument 'sizes' adds up to more than rank_count");
      groups.emplace_back(all.begin() + begin, all.begin() + begin + sizes[i]);
      begin += sizes[i];
    }
    if (begin != all.size()) invalid("argument 'sizes' adds up to less than rank_count");
    hand_over_group(native.split(groups, text_or(name, "")), out);
  });
}

tdm_error* tdm_process_group_new_subgroups(tdm_process_group* group, int32_t size, const char* name,
                                           tdm_process_group** out) {
  return guard("tdm_process_group_new_subgroups", [&] {
    auto& native = unwrap_group(group);
    not_null(out, "out");
    hand_over_group(native.new_subgroups(size, text_or(name, "")), out);
  });
}

int32_t tdm_process_group_global_rank(const tdm_process_group* group, int32_t rank) {
  return if_live(group) ? group->group->global_rank(rank) : -1;
}
int32_t tdm_process_group_rank_of(const tdm_process_group* group, int32_t global_rank) {
  return if_live(group) ? group->group->rank_of(global_rank) : -1;
}
