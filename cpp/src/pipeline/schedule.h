// What actions of a schedule wait for.
#pragma once

#include <optional>

#include "tandem/pipeline_schedule.h"

namespace tandem {

// The action of another stage whose result this one takes; none for the first stage's forwards and the last one's backwards.
std::optional<PipelineAction> source_of(const PipelineAction& action, int stages);
// The action of another stage that takes this one's result.
std::optional<PipelineAction> target_of(const PipelineAction& action, int stages);

}  // namespace tandem
