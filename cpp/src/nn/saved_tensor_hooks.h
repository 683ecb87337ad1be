// What becomes of the tensors that operators save for backward, decided by C++ code of a thread. LibTorch asks its
// engine, which only Python's answers.
#pragma once

#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <memory>

namespace tandem::nn {

// The innermost one on a thread is asked for each tensor that is saved there. Ends in reverse order.
class SavedTensorHooks {
 public:
  // Throws tandem::Error (kUnsupported) in a process whose autograd engine is another's.
  SavedTensorHooks();
  virtual ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

  virtual std::unique_ptr<torch::autograd::SavedVariableHooks> make() = 0;

  // The one that is asked on this thread; NULL: none.
  static SavedTensorHooks* current();

  // Has this thread ask `hooks`, another thread's, while it works for that one.
  class Borrowed {
   public:
    explicit Borrowed(SavedTensorHooks* hooks);
    ~Borrowed();
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

   private:
    SavedTensorHooks* own_;
  };

 private:
  SavedTensorHooks* outer_;
};

}  // namespace tandem::nn
