#include "tandem/differentiable_collectives.h"

#include <torch/csrc/autograd/custom_function.h>

#include <numeric>

#include "comm/tensors.h"

namespace tandem::differentiable {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;
using Sizes = std::vector<std::vector<std::int64_t>>;

// What a node of the graph keeps.
struct Call : torch::CustomClassHolder {
  Group group;
  int root = 0;
  ReduceOp op = ReduceOp::kSum;
  Sizes sizes;
  std::vector<std::int64_t> output_splits, input_splits;
};
using CallPtr = c10::intrusive_ptr<Call>;

CallPtr call_on(const Group& group) {
  if (!group) throw Error(ErrorCode::kInvalidArgument, "the process group is empty");
  auto call = c10::make_intrusive<Call>();
  call->group = group;
  return call;
}

void save(AutogradContext* context, const CallPtr& call) {
  context->saved_data["call"] = at::IValue::make_capsule(call);
  context->set_materialize_grads(true);
}

CallPtr saved(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<Call>(context->saved_data["call"].toCapsule());
}

void check_reduction(ReduceOp op, const char* name) {
  if (op == ReduceOp::kSum || op == ReduceOp::kAvg) return;
  refuse(name, "only SUM and AVG are differentiable here");
}

void check_count(std::size_t count, const Group& group, const char* name) {
  if (count == static_cast<std::size_t>(group->size())) return;
  refuse(name, "got " + std::to_string(count) + " tensors for a group of " + std::to_string(group->size()) +
                   "; give one a rank");
}

std::vector<at::Tensor> empty_of(const Sizes& sizes, const at::Tensor& like) {
  std::vector<at::Tensor> result;
  for (const auto& size : sizes) result.push_back(at::empty(size, like.options()));
  return result;
}

Sizes repeated(const at::Tensor& tensor, int count) {
  return Sizes(count, tensor.sizes().vec());
}

std::vector<at::Tensor> contiguous(const variable_list& list) {
  std::vector<at::Tensor> result;
  for (const auto& one : list) result.push_back(one.contiguous());
  return result;
}

// Grads for {call, tensor}, {call, tensors …}: nothing for the call.
variable_list after_call(std::vector<at::Tensor> grads) {
  variable_list result = {Variable()};
  result.insert(result.end(), grads.begin(), grads.end());
  return result;
}

struct Broadcast : torch::autograd::Function<Broadcast> {
  static Variable forward(AutogradContext* context, const CallPtr& call, const Variable& tensor) {
    save(context, call);
    at::Tensor result = tensor.detach().clone(at::MemoryFormat::Contiguous);
    call->group->broadcast(result, call->root);
    return result;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    at::Tensor grad = grads[0].clone(at::MemoryFormat::Contiguous);
    call->group->reduce(grad, call->root);
    if (call->group->rank() != call->root) grad.zero_();
    return after_call({grad});
  }
};

struct AllReduce : torch::autograd::Function<AllReduce> {
  static Variable forward(AutogradContext* context, const CallPtr& call, const Variable& tensor) {
    save(context, call);
    at::Tensor result = tensor.detach().clone(at::MemoryFormat::Contiguous);
    call->group->all_reduce(result, call->op);
    return result;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    at::Tensor grad = grads[0].clone(at::MemoryFormat::Contiguous);
    call->group->all_reduce(grad, call->op);
    return after_call({grad});
  }
};

struct Reduce : torch::autograd::Function<Reduce> {
  static Variable forward(AutogradContext* context, const CallPtr& call, const Variable& tensor) {
    save(context, call);
    at::Tensor result = tensor.detach().clone(at::MemoryFormat::Contiguous);
    call->group->reduce(result, call->root, call->op);
    if (call->group->rank() != call->root) result.zero_();
    return result;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    at::Tensor grad = grads[0].clone(at::MemoryFormat::Contiguous);
    call->group->broadcast(grad, call->root);
    if (call->op == ReduceOp::kAvg) grad.div_(call->group->size());
    return after_call({grad});
  }
};

struct Gather : torch::autograd::Function<Gather> {
  static variable_list forward(AutogradContext* context, const CallPtr& call, const Variable& tensor) {
    save(context, call);
    const auto& group = call->group;
    std::vector<at::Tensor> results = empty_of(repeated(tensor, group->size()), tensor);
    const bool is_root = group->rank() == call->root;
    group->gather(is_root ? results : std::vector<at::Tensor>(), tensor.detach(), call->root);
    if (!is_root) {
      for (at::Tensor& result : results) result.zero_();
    }
    return results;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    at::Tensor grad = at::empty(grads[0].sizes(), grads[0].options());
    const bool is_root = call->group->rank() == call->root;
    call->group->scatter(grad, is_root ? contiguous(grads) : std::vector<at::Tensor>(), call->root);
    return after_call({grad});
  }
};

struct Scatter : torch::autograd::Function<Scatter> {
  static Variable forward(AutogradContext* context, const CallPtr& call, at::TensorList tensors) {
    save(context, call);
    at::Tensor result = at::empty(tensors[0].sizes(), tensors[0].options());
    const bool is_root = call->group->rank() == call->root;
    std::vector<at::Tensor> given;
    if (is_root) given = contiguous(variable_list(tensors.begin(), tensors.end()));
    call->group->scatter(result, given, call->root);
    return result;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    std::vector<at::Tensor> results = empty_of(repeated(grads[0], call->group->size()), grads[0]);
    const bool is_root = call->group->rank() == call->root;
    call->group->gather(is_root ? results : std::vector<at::Tensor>(), grads[0], call->root);
    if (!is_root) {
      for (at::Tensor& result : results) result.zero_();
    }
    return after_call(results);
  }
};

struct AllGather : torch::autograd::Function<AllGather> {
  static variable_list forward(AutogradContext* context, const CallPtr& call, const Variable& tensor) {
    save(context, call);
    std::vector<at::Tensor> results = empty_of(call->sizes, tensor);
    call->group->all_gather(results, tensor.detach());
    return results;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    at::Tensor grad = at::empty(call->sizes[call->group->rank()], grads[0].options());
    call->group->reduce_scatter(grad, contiguous(grads));
    return after_call({grad});
  }
};

struct ReduceScatter : torch::autograd::Function<ReduceScatter> {
  static Variable forward(AutogradContext* context, const CallPtr& call, at::TensorList inputs) {
    for (const at::Tensor& input : inputs) call->sizes.push_back(input.sizes().vec());
    save(context, call);
    at::Tensor result = at::empty(call->sizes[call->group->rank()], inputs[0].options());
    call->group->reduce_scatter(result, contiguous(variable_list(inputs.begin(), inputs.end())), call->op);
    return result;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    std::vector<at::Tensor> results = empty_of(call->sizes, grads[0]);
    call->group->all_gather(results, grads[0].contiguous());
    if (call->op == ReduceOp::kAvg) {
      for (at::Tensor& result : results) result.div_(call->group->size());
    }
    return after_call(results);
  }
};

struct AllToAll : torch::autograd::Function<AllToAll> {
  static variable_list forward(AutogradContext* context, const CallPtr& call, at::TensorList inputs) {
    Sizes own;
    for (const at::Tensor& input : inputs) own.push_back(input.sizes().vec());
    std::vector<at::Tensor> results = empty_of(call->sizes.empty() ? own : call->sizes, inputs[0]);
    call->group->all_to_all(results, contiguous(variable_list(inputs.begin(), inputs.end())));
    call->sizes = std::move(own);  // what comes back
    save(context, call);
    return results;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    std::vector<at::Tensor> results = empty_of(call->sizes, grads[0]);
    call->group->all_to_all(results, contiguous(grads));
    return after_call(results);
  }
};

struct AllToAllSingle : torch::autograd::Function<AllToAllSingle> {
  static at::Tensor exchanged(const Call& call, const at::Tensor& input, const std::vector<std::int64_t>& output_splits,
                              const std::vector<std::int64_t>& input_splits) {
    std::vector<std::int64_t> size = input.sizes().vec();
    if (!output_splits.empty()) size[0] = std::accumulate(output_splits.begin(), output_splits.end(), std::int64_t{0});
    at::Tensor result = at::empty(size, input.options());
    call.group->all_to_all_single(result, input.contiguous(), output_splits, input_splits);
    return result;
  }
  static Variable forward(AutogradContext* context, const CallPtr& call, const Variable& input) {
    save(context, call);
    if (input.dim() == 0) refuse("all_to_all_single", "a tensor without dimensions has no rows to divide");
    call->sizes = {input.sizes().vec()};
    return exchanged(*call, input.detach(), call->output_splits, call->input_splits);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const CallPtr call = saved(context);
    return after_call({exchanged(*call, grads[0], call->input_splits, call->output_splits)});
  }
};

void check_defined(const at::Tensor& tensor, const char* name) {
  if (!tensor.defined()) refuse(name, "the tensor is undefined");
}

}  // namespace

at::Tensor broadcast(const Group& group, const at::Tensor& tensor, int root) {
  check_defined(tensor, "broadcast");
  const CallPtr call = call_on(group);
  call->root = root;
  return Broadcast::apply(call, tensor);
}

at::Tensor all_reduce(const Group& group, const at::Tensor& tensor, ReduceOp op) {
  check_defined(tensor, "all_reduce");
  check_reduction(op, "all_reduce");
  const CallPtr call = call_on(group);
  call->op = op;
  return AllReduce::apply(call, tensor);
}

at::Tensor reduce(const Group& group, const at::Tensor& tensor, int root, ReduceOp op) {
  check_defined(tensor, "reduce");
  check_reduction(op, "reduce");
  const CallPtr call = call_on(group);
  call->root = root;
  call->op = op;
  return Reduce::apply(call, tensor);
}

std::vector<at::Tensor> gather(const Group& group, const at::Tensor& tensor, int root) {
  check_defined(tensor, "gather");
  const CallPtr call = call_on(group);
  call->root = root;
  return Gather::apply(call, tensor);
}

at::Tensor scatter(const Group& group, const std::vector<at::Tensor>& tensors, int root) {
  const CallPtr call = call_on(group);
  check_count(tensors.size(), group, "scatter");
  for (const at::Tensor& tensor : tensors) check_defined(tensor, "scatter");
  call->root = root;
  return Scatter::apply(call, at::TensorList(tensors));
}

std::vector<at::Tensor> all_gather(const Group& group, const at::Tensor& tensor, const Sizes& sizes) {
  check_defined(tensor, "all_gather");
  const CallPtr call = call_on(group);
  call->sizes = sizes.empty() ? repeated(tensor, group->size()) : sizes;
  check_count(call->sizes.size(), group, "all_gather");
  return AllGather::apply(call, tensor);
}

at::Tensor reduce_scatter(const Group& group, const std::vector<at::Tensor>& inputs, ReduceOp op) {
  check_reduction(op, "reduce_scatter");
  const CallPtr call = call_on(group);
  check_count(inputs.size(), group, "reduce_scatter");
  for (const at::Tensor& input : inputs) check_defined(input, "reduce_scatter");
  call->op = op;
  return ReduceScatter::apply(call, at::TensorList(inputs));
}

std::vector<at::Tensor> all_to_all(const Group& group, const std::vector<at::Tensor>& inputs, const Sizes& sizes) {
  const CallPtr call = call_on(group);
  check_count(inputs.size(), group, "all_to_all");
  for (const at::Tensor& input : inputs) check_defined(input, "all_to_all");
  if (!sizes.empty()) check_count(sizes.size(), group, "all_to_all");
  call->sizes = sizes;
  return AllToAll::apply(call, at::TensorList(inputs));
}

at::Tensor all_to_all_single(const Group& group, const at::Tensor& input,
                             const std::vector<std::int64_t>& output_splits,
                             const std::vector<std::int64_t>& input_splits) {
  check_defined(input, "all_to_all_single");
  const CallPtr call = call_on(group);
  call->output_splits = output_splits;
  call->input_splits = input_splits;
  return AllToAllSingle::apply(call, input);
}

}  // namespace tandem::differentiable
