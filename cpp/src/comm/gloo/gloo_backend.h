// LibTorch's Gloo backend, with sends and receives of our own.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/backend_control.h"
#include "comm/gloo/data_order.h"
#include "comm/gloo/peers.h"
#include "comm/group_state.h"

namespace tandem {

// Gloo ends the process, on a thread of its own, when more is sent than a receive takes, and tells nobody when it is
// less. So a message begins with a head that says how long it is; the data of a long one follows under a slot of that
// size, where no receive of another size waits for it. Neither side waits for the other in between: what is posted
// makes progress by itself, as Gloo's own messages do. A receive of another size than is sent is an Error
// (kInvalidArgument) that names both and ends the group.
//
// A receive from any rank asks for a long message's data once the head says whose it is (DataOrder): somebody must wait
// for it meanwhile, or its sender may wait for ever. Its wait ends, too, when a rank is lost, or all have closed the
// group.
class GlooBackend final : public c10d::ProcessGroupGloo, public BackendControl {
 public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  // What goes with the head, in one message.
  static constexpr std::size_t kInlineBytes = 4096;

  GlooBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
              const c10::intrusive_ptr<Options>& options);
  ~GlooBackend() override;

  // Has the group, whose connections these are, know of lost ranks and failed messages, and tell of its close. Once,
  // before the first message.
  void join(const std::shared_ptr<GroupState>& state);

  BackendTraits traits() const override;
  // The group's connections carry the news, and GroupState ends them: that ends what waits, too.
  void finish(const std::string&) override {}
  void fail(const Error&) override {}
  void abort(const Error&) override {}
  using c10d::ProcessGroupGloo::abort;

  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;

  // LibTorch's own, without heads: for those whose sizes are known to fit.
  WorkPtr send_unchecked(Tensors& tensors, int to, int tag);
  WorkPtr recv_unchecked(Tensors& tensors, int from, int tag);

 private:
  class Sent;
  class Received;

  const at::Tensor& checked(const Tensors& tensors, const char* call, int tag) const;
  void check_peer(int peer, const char* call) const;
  std::shared_ptr<::gloo::Context> context_for(int tag) const;
  std::vector<int> others() const;

  std::shared_ptr<GlooPeers> peers_;
  const std::shared_ptr<DataOrder> order_ = std::make_shared<DataOrder>();
  std::shared_ptr<const std::function<void(const Error&)>> fail_;
  std::string whereabouts_;  // "group 'default' (rank 0 of 2)"
};

}  // namespace tandem
