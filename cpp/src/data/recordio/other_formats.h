// What a file that is no RecordIO v1 might be instead, for the error's text.
#pragma once

#include <string>

#include "data/recordio/bytes.h"

namespace tandem::recordio {

// "it looks like …", with what to do about it; "" when nothing is known about such files.
std::string guess_other_format(Bytes file);

}  // namespace tandem::recordio
