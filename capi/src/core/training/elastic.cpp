// Elastic training.
#include "tandem/elastic.h"

#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/comm/groups.h"
#include "core/handles/handles.h"
#include "core/training/checkpoint_handle.h"

struct tdm_elastic : tandem::capi::Handle<tandem::Kind::kElastic> {
  explicit tdm_elastic(tandem::elastic::Options options) : session(std::move(options)) {}

  tandem::elastic::Session session;
};

using namespace tandem::capi;

tdm_error* tdm_elastic_create(const tdm_process_group_options* group, const tdm_elastic_options* options,
                              tdm_elastic** out) {
  return guard("tdm_elastic_create", [&] {
    not_null(out, "out");
    const auto given =
        read_options<tdm_elastic_options>(options, TDM_ELASTIC_OPTIONS_INIT, "tdm_elastic_options");
    if (given.checkpoints_kept < 0) {
      invalid("checkpoints_kept is " + std::to_string(given.checkpoints_kept) + "; give 0 to keep all checkpoints");
    }
    if (given.has_seed < 0 || given.has_seed > 1) {
      invalid("has_seed is " + std::to_string(given.has_seed) + ", neither 0 nor 1");
    }
    tandem::elastic::Options made;
    made.group = to_group_options(group);
    made.commit_every = given.commit_every;
    if (given.checkpoints) made.checkpoints = given.checkpoints;
    made.checkpoint_every = given.checkpoint_every;
    made.checkpoints_kept = static_cast<std::size_t>(given.checkpoints_kept);
    made.check_every = given.check_every;
    if (given.has_seed) made.seed = given.seed;
    *out = new tdm_elastic(std::move(made));
  });
}

void tdm_elastic_free(tdm_elastic* elastic) {
  free_handle("tdm_elastic_free", elastic);
}

tdm_error* tdm_elastic_commit(tdm_elastic* elastic, const tdm_checkpoint_tensor* tensors, std::size_t tensor_count,
                              const char* values) {
  return guard("tdm_elastic_commit", [&] {
    not_null(elastic, "elastic")->session.commit(content_of(tensors, tensor_count, values));
  });
}

tdm_error* tdm_elastic_committed(const tdm_elastic* elastic, tdm_checkpoint** out) {
  return guard("tdm_elastic_committed", [&] {
    not_null(elastic, "elastic");
    not_null(out, "out");
    *out = new tdm_checkpoint(elastic->session.committed());
  });
}

tdm_error* tdm_elastic_meet(tdm_elastic* elastic, tdm_process_group** out) {
  return guard("tdm_elastic_meet", [&] {
    not_null(elastic, "elastic");
    not_null(out, "out");
    const bool takes_part = elastic->session.meet();
    hand_over_group(takes_part ? elastic->session.group() : nullptr, out, /*owns=*/false);
  });
}

std::int64_t tdm_elastic_epoch(const tdm_elastic* elastic) {
  return if_live(elastic) ? elastic->session.epoch() : -1;
}

std::int64_t tdm_elastic_steps(const tdm_elastic* elastic) {
  return if_live(elastic) ? elastic->session.steps() : -1;
}

tdm_error* tdm_elastic_step(tdm_elastic* elastic, tdm_elastic_next* next) {
  return guard("tdm_elastic_step", [&] {
    not_null(elastic, "elastic");
    not_null(next, "next");
    *next = static_cast<tdm_elastic_next>(elastic->session.step());
  });
}

tdm_error* tdm_elastic_has_ended(tdm_elastic* elastic, std::int32_t* ended) {
  return guard("tdm_elastic_has_ended", [&] {
    not_null(elastic, "elastic");
    not_null(ended, "ended");
    *ended = elastic->session.has_ended();
  });
}

tdm_error* tdm_elastic_done(tdm_elastic* elastic) {
  return guard("tdm_elastic_done", [&] { not_null(elastic, "elastic")->session.done(); });
}

tdm_error* tdm_elastic_notify(tdm_elastic* elastic) {
  return guard("tdm_elastic_notify", [&] { not_null(elastic, "elastic")->session.leave(); });
}

tdm_error* tdm_elastic_left(tdm_elastic* elastic) {
  return guard("tdm_elastic_left", [&] { not_null(elastic, "elastic")->session.left(); });
}

std::int32_t tdm_elastic_has_left(const tdm_elastic* elastic) {
  return if_live(elastic) && elastic->session.has_left();
}

tdm_error* tdm_elastic_abort(tdm_elastic* elastic) {
  return guard("tdm_elastic_abort", [&] { not_null(elastic, "elastic")->session.abort(); });
}

tdm_error* tdm_elastic_describe(tdm_elastic* elastic, const char* text) {
  return guard("tdm_elastic_describe", [&] {
    not_null(elastic, "elastic");
    check_utf8(not_null(text, "text"), "text");
    elastic->session.describe(text);
  });
}
