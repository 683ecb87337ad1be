// Written by capi/operators/generate.py; do not edit.
// Discrete Fourier transforms: torch.fft.
#pragma once

#include "tandem/abi/ops/call.hpp"

namespace tandem::abi::ops::fft {

// fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
inline Tensor fft(const Tensor& self, const std::optional<int64_t>& n = {}, const std::optional<int64_t>& dim = {},
    const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_fft");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .one();
}

// fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor
inline Tensor fft2(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_fft2");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_fft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor fft2_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_fft2", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_fft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor fft_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_fft", "out");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor fftfreq(int64_t n, const std::optional<double>& d = {}, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::fft_fftfreq");
  return Call(op).integer(n).option(d, &Call::real).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// fft_fftfreq.out(int n, float d=1., *, Tensor(a!) out) -> Tensor(a!)
inline Tensor fftfreq_out(int64_t n, const Tensor& out, const std::optional<double>& d = {}) {
  static const Operator op = Operator::find("aten::fft_fftfreq", "out");
  return Call(op).integer(n).option(d, &Call::real).tensor(out).one();
}

// fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor
inline Tensor fftn(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_fftn");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_fftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor fftn_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_fftn", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor
inline Tensor fftshift(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {}) {
  static const Operator op = Operator::find("aten::fft_fftshift");
  return Call(op).tensor(self).option(dim, &Call::integers).one();
}

// fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
inline Tensor hfft(const Tensor& self, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_hfft");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .one();
}

// fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor
inline Tensor hfft2(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_hfft2");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_hfft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor hfft2_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_hfft2", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_hfft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hfft_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_hfft", "out");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor
inline Tensor hfftn(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_hfftn");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_hfftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hfftn_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_hfftn", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
inline Tensor ifft(const Tensor& self, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ifft");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .one();
}

// fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor
inline Tensor ifft2(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ifft2");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_ifft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor ifft2_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ifft2", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_ifft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ifft_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ifft", "out");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor
inline Tensor ifftn(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ifftn");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_ifftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ifftn_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ifftn", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor
inline Tensor ifftshift(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {}) {
  static const Operator op = Operator::find("aten::fft_ifftshift");
  return Call(op).tensor(self).option(dim, &Call::integers).one();
}

// fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
inline Tensor ihfft(const Tensor& self, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ihfft");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .one();
}

// fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor
inline Tensor ihfft2(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ihfft2");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_ihfft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor ihfft2_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ihfft2", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_ihfft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ihfft_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ihfft", "out");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor
inline Tensor ihfftn(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ihfftn");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_ihfftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor ihfftn_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_ihfftn", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
inline Tensor irfft(const Tensor& self, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_irfft");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .one();
}

// fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor
inline Tensor irfft2(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_irfft2");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_irfft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor irfft2_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_irfft2", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_irfft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor irfft_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_irfft", "out");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor
inline Tensor irfftn(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_irfftn");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_irfftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor irfftn_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_irfftn", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
inline Tensor rfft(const Tensor& self, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_rfft");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .one();
}

// fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor
inline Tensor rfft2(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_rfft2");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_rfft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor rfft2_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_rfft2", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_rfft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor rfft_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_rfft", "out");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).option(norm, &Call::string)
      .tensor(out).one();
}

// fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor rfftfreq(int64_t n, const std::optional<double>& d = {}, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::fft_rfftfreq");
  return Call(op).integer(n).option(d, &Call::real).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// fft_rfftfreq.out(int n, float d=1., *, Tensor(a!) out) -> Tensor(a!)
inline Tensor rfftfreq_out(int64_t n, const Tensor& out, const std::optional<double>& d = {}) {
  static const Operator op = Operator::find("aten::fft_rfftfreq", "out");
  return Call(op).integer(n).option(d, &Call::real).tensor(out).one();
}

// fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor
inline Tensor rfftn(const Tensor& self, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_rfftn");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .one();
}

// fft_rfftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor rfftn_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& s = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<std::string>& norm = {}) {
  static const Operator op = Operator::find("aten::fft_rfftn", "out");
  return Call(op).tensor(self).option(s, &Call::integers).option(dim, &Call::integers).option(norm, &Call::string)
      .tensor(out).one();
}

}  // namespace tandem::abi::ops::fft
