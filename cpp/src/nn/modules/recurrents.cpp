#include "nn/modules/lstm_step.h"
#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

// LibTorch's modules take batches alone, Python's also one sequence, or one step of it, without a batch.

using States = std::tuple<at::Tensor, at::Tensor>;

template <typename Implementation>
std::tuple<at::Tensor, at::Tensor> run(Implementation& module, const at::Tensor& input, const at::Tensor& hx) {
  if (input.dim() != 2) return module.forward(input, hx);
  const int64_t batch = module.options_base.batch_first() ? 0 : 1;
  const auto [output, state] = module.forward(input.unsqueeze(batch), hx.defined() ? hx.unsqueeze(1) : hx);
  return {output.squeeze(batch), state.squeeze(1)};
}

std::tuple<at::Tensor, States> run_lstm(tn::LSTMImpl& module, const at::Tensor& input,
                                        const std::optional<States>& hx) {
  if (input.dim() != 2) return module.forward(input, hx);
  const int64_t batch = module.options_base.batch_first() ? 0 : 1;
  std::optional<States> states;
  if (hx) states = {std::get<0>(*hx).unsqueeze(1), std::get<1>(*hx).unsqueeze(1)};
  const auto [output, last] = module.forward(input.unsqueeze(batch), states);
  return {output.squeeze(batch), {std::get<0>(last).squeeze(1), std::get<1>(last).squeeze(1)}};
}

template <typename Implementation>
at::Tensor step(Implementation& module, const at::Tensor& input, const at::Tensor& hx) {
  if (input.dim() != 1) return module.forward(input, hx);
  return module.forward(input.unsqueeze(0), hx.defined() ? hx.unsqueeze(0) : hx).squeeze(0);
}

States step_lstm(tn::LSTMCellImpl& module, const at::Tensor& input, const std::optional<States>& hx) {
  if (input.dim() != 1) {
    const LstmWeights weights{module.weight_ih, module.weight_hh, module.bias_ih, module.bias_hh};
    if (hx) {
      if (const auto next = lstm_step(input, std::get<0>(*hx), std::get<1>(*hx), weights)) return *next;
    }
    return module.forward(input, hx);
  }
  std::optional<States> states;
  if (hx) states = {std::get<0>(*hx).unsqueeze(0), std::get<1>(*hx).unsqueeze(0)};
  const auto [hidden, cell] = module.forward(input.unsqueeze(0), states);
  return {hidden.squeeze(0), cell.squeeze(0)};
}

template <typename Settings>
Settings recurrent(Options& o) {
  Settings s{o.need_count("input_size"), o.need_count("hidden_size")};
  o.read("num_layers", s.num_layers()).read("bias", s.bias()).read("batch_first", s.batch_first());
  o.read("dropout", s.dropout()).read("bidirectional", s.bidirectional());
  // LibTorch makes one after another, for hours if need be.
  if (s.num_layers() < 1 || s.num_layers() > 1000) {
    o.refuse("num_layers", "must be from 1 to 1000, not " + std::to_string(s.num_layers()));
  }
  return s;
}

Made rnn(ModuleOptions& o) {
  auto s = recurrent<tn::RNNOptions>(o);
  o.read("nonlinearity", s.nonlinearity());
  return wrap_with<tn::RNN>(o, {"input", "hx?"}, &run<tn::RNNImpl>, s);
}

Made lstm(ModuleOptions& o) {
  auto s = recurrent<tn::LSTMOptions>(o);
  o.read("proj_size", s.proj_size());
  return wrap_with<tn::LSTM>(o, {"input", "hx?"}, &run_lstm, s);
}

Made gru(ModuleOptions& o) {
  return wrap_with<tn::GRU>(o, {"input", "hx?"}, &run<tn::GRUImpl>, recurrent<tn::GRUOptions>(o));
}

template <typename Settings>
Settings cell(Options& o) {
  Settings s{o.need_count("input_size"), o.need_count("hidden_size")};
  o.read("bias", s.bias());
  return s;
}

Made rnn_cell(ModuleOptions& o) {
  auto s = cell<tn::RNNCellOptions>(o);
  o.read("nonlinearity", s.nonlinearity());
  return wrap_with<tn::RNNCell>(o, {"input", "hx?"}, &step<tn::RNNCellImpl>, s);
}

Made lstm_cell(ModuleOptions& o) {
  return wrap_with<tn::LSTMCell>(o, {"input", "hx?"}, &step_lstm, cell<tn::LSTMCellOptions>(o));
}

Made gru_cell(ModuleOptions& o) {
  return wrap_with<tn::GRUCell>(o, {"input", "hx?"}, &step<tn::GRUCellImpl>, cell<tn::GRUCellOptions>(o));
}

const Registered kRecurrents[] = {
    {"RNN", rnn}, {"LSTM", lstm}, {"GRU", gru}, {"RNNCell", rnn_cell}, {"LSTMCell", lstm_cell}, {"GRUCell", gru_cell},
};

}  // namespace

at::ArrayRef<Registered> recurrents() {
  return kRecurrents;
}

}  // namespace tandem::nn
