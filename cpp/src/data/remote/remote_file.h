// Files on http://, https:// and s3://.
#pragma once

#include <memory>
#include <string>

#include "data/data_file.h"
#include "tandem/remote_options.h"

namespace tandem::remote {

// Asks for the file's beginning, and with it for its size and version. Throws what RangeClient does, and
// Error(kDataLoss) where the file becomes another one while it is read. Once it is open, what is answered instead of it
// (404, a whole page, a redirect elsewhere) is Error(kIo): it was there, and may be again.
std::shared_ptr<DataFile> open_remote_file(const std::string& path, const RemoteOptions& options,
                                           std::shared_ptr<LruCache> cache);

}  // namespace tandem::remote
