// Checkpoints of a training: what it needs to go on after a stop, in a folder that grows by one folder a save.
//
//   tandem::CheckpointFolder folder("run", {.keep = 3, .group = group});
//   if (auto last = folder.load()) ...             // the newest that is whole
//   folder.save(step, {.replicated = {{"model", weights}}, .values = R"({"epoch": 3})"});
//
// docs/checkpoints.md says what the files are. Python reads them as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/named_tensors.h"

namespace tandem {

class ProcessGroup;

// A box within a tensor.
struct TensorPart {
  std::vector<std::int64_t> begin;  // an index for each dimension
  std::vector<std::int64_t> sizes;
};

// What one rank alone has: a tensor, or its part of one.
struct OwnTensor {
  std::string name;
  at::Tensor tensor;
  std::vector<std::int64_t> whole = {};  // sizes of the tensor that this is a part of; empty: it is no part
  std::vector<std::int64_t> begin = {};  // where in it the part begins
};

struct CheckpointContent {
  // By section, such as "model" and "optimizer", each a file. The same on all ranks: rank 0's are written.
  std::map<std::string, NamedTensors> replicated = {};
  // Each rank's own, as ZeRO's state: each writes its files. No two ranks give a tensor of the same section and name,
  // but for parts of one tensor, which together are all of it.
  std::map<std::string, std::vector<OwnTensor>> own = {};
  // JSON, of rank 0: epoch, place in the data, a scheduler's state, whatever the program wants. Kept letter by letter.
  std::string values = "{}";
};

// A checkpoint that was read.
struct Checkpoint {
  std::int64_t step = 0;
  int world_size = 1;  // of those who saved it
  std::string values;
  // Whole tensors, or the parts asked for, on the CPU; of all ranks' files. In the order of the files.
  std::map<std::string, NamedTensors> sections;
  // Of each later checkpoint that could not be used, why: torn, flipped or unreadable files.
  std::vector<std::string> refused;
};

// What of a checkpoint a rank wants; by default all.
struct CheckpointRequest {
  std::optional<std::int64_t> step = {};   // this one alone
  std::vector<std::string> sections = {};  // empty: all
  std::vector<std::string> without = {};   // sections that are left out, whether they are there or not
  // Of their tensors those whose names begin with one of these; empty: all. Files without any are not read.
  std::vector<std::string> prefixes = {};
  // Of each tensor of those, by section, name and sizes: nothing, or the part that is wanted. Reading another number of
  // ranks' state this way takes no more memory than the part. Empty: all of it.
  std::function<std::optional<TensorPart>(const std::string& section, const std::string& name,
                                          const std::vector<std::int64_t>& sizes)>
      part = {};
};

struct CheckpointOptions {
  std::size_t keep = 3;                      // how many stay: of the newest; 0: all
  std::shared_ptr<ProcessGroup> group = {};  // whose ranks save and load together, in a folder that all of them see
  // Asked by rank 0 before a save changes anything, and before the checkpoint gets its name, while the others wait within the
  // group's timeout: why there may be none, "" where there may. Then all ranks get that error (kAborted). Empty: always "".
  std::function<std::string()> why_not = {};
};

// The checkpoints of one training. One object a folder at a time writes. With a group, all ranks make the same calls in
// the same order, and all of them get an error where one failed. Not thread-safe, but for abort().
//
// A save writes under a temporary name, syncs, and renames; the file `latest` names it only after all of it is on the
// disk. So whatever ends a save early, the one before loads. Errors: kIo (the disk is full, or fails), kNotFound (the
// folder above is missing), kInvalidArgument (names given twice, a dtype that safetensors lacks, values that are no
// JSON, parts that do not make up a tensor), and those of the group's collectives (kPeerLost, kTimeout).
class TANDEM_API CheckpointFolder {
 public:
  // Makes the folder where it is missing, with the first save.
  explicit CheckpointFolder(std::string path, CheckpointOptions options = {});
  // close(), whatever the save failed of.
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  const std::string& path() const;

  // What a rank saves, made in its turn: what making it throws is a failure of that rank, which all are told of.
  using Make = std::function<CheckpointContent()>;

  // `step`: how far training has come, from 0; a checkpoint of the same step is replaced. Blocks.
  void save(std::int64_t step, const CheckpointContent& content);
  void save(std::int64_t step, const Make& content);

  // The same beside training: returns as soon as all is copied into memory, which further saves use again (so this
  // takes as much memory as what a rank saves). Ranks that save exchange what they need by a group of its own. Waits
  // for the save before, and where that failed throws its error instead, and saves nothing. What this rank cannot copy
  // is thrown at once.
  void save_async(std::int64_t step, const CheckpointContent& content);
  void save_async(std::int64_t step, const Make& content);
  // Whether a save goes on.
  bool saving() const;
  // Until it does not. Throws what it failed of, once.
  void wait();
  // The same before the end of the object: but a save that waits for another rank is ended as by abort() once that
  // rank's process has not run for some ten seconds, for it is stopped, or gone.
  void close();
  // Ends a save_async() that waits for other ranks, with an error (kAborted) that names those who are missing: a rank
  // that is stopped would hold it up until the group's timeout. So does the end of the group, by its abort() or
  // close(). Afterwards save_async() is refused. From any thread.
  void abort();

  // Of the checkpoints that are there, rising, whether they are whole or not.
  std::vector<std::int64_t> steps() const;

  // The newest that is whole; nothing where none was ever saved. Each byte that is read is compared with its checksum.
  // One that is torn, flipped or unreadable on any rank is left out by all ranks for the one before, and `refused` says
  // why. Throws kDataLoss where no whole one is left, or the one that was asked for is not; kNotFound where that is not
  // there.
  std::optional<Checkpoint> load(const CheckpointRequest& request = {});

  // Runs a part on each rank, such as to fill a model from what was loaded. Throws on every rank where it threw on any:
  // on that one what it threw, on the others its text, with the rank's number in front.
  void together(const std::function<void()>& part);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tandem
