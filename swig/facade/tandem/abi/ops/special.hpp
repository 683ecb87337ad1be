// Written by capi/operators/generate.py; do not edit.
// Special functions: torch.special.
#pragma once

#include "tandem/abi/ops/call.hpp"

namespace tandem::abi::ops::special {

// special_airy_ai(Tensor x) -> Tensor
inline Tensor airy_ai(const Tensor& x) {
  static const Operator op = Operator::find("aten::special_airy_ai");
  return Call(op).tensor(x).one();
}

// special_airy_ai.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor airy_ai_out(const Tensor& x, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_airy_ai", "out");
  return Call(op).tensor(x).tensor(out).one();
}

// special_bessel_j0(Tensor self) -> Tensor
inline Tensor bessel_j0(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_bessel_j0");
  return Call(op).tensor(self).one();
}

// special_bessel_j0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bessel_j0_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_bessel_j0", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_bessel_j1(Tensor self) -> Tensor
inline Tensor bessel_j1(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_bessel_j1");
  return Call(op).tensor(self).one();
}

// special_bessel_j1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bessel_j1_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_bessel_j1", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_bessel_y0(Tensor self) -> Tensor
inline Tensor bessel_y0(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_bessel_y0");
  return Call(op).tensor(self).one();
}

// special_bessel_y0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bessel_y0_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_bessel_y0", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_bessel_y1(Tensor self) -> Tensor
inline Tensor bessel_y1(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_bessel_y1");
  return Call(op).tensor(self).one();
}

// special_bessel_y1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bessel_y1_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_bessel_y1", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor
inline Tensor chebyshev_polynomial_t(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_t");
  return Call(op).tensor(x).tensor(n).one();
}

// special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor chebyshev_polynomial_t_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_t", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_chebyshev_polynomial_t.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_t_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_t", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_chebyshev_polynomial_t.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_t_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_t", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor chebyshev_polynomial_t_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_t", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_chebyshev_polynomial_t.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_t_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_t", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor
inline Tensor chebyshev_polynomial_u(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_u");
  return Call(op).tensor(x).tensor(n).one();
}

// special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor chebyshev_polynomial_u_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_u", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_chebyshev_polynomial_u.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_u_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_u", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_chebyshev_polynomial_u.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_u_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_u", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor chebyshev_polynomial_u_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_u", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_chebyshev_polynomial_u.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_u_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_u", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor
inline Tensor chebyshev_polynomial_v(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_v");
  return Call(op).tensor(x).tensor(n).one();
}

// special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor chebyshev_polynomial_v_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_v", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_chebyshev_polynomial_v.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_v_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_v", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_chebyshev_polynomial_v.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_v_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_v", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor chebyshev_polynomial_v_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_v", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_chebyshev_polynomial_v.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_v_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_v", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor
inline Tensor chebyshev_polynomial_w(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_w");
  return Call(op).tensor(x).tensor(n).one();
}

// special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor chebyshev_polynomial_w_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_w", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_chebyshev_polynomial_w.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_w_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_w", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_chebyshev_polynomial_w.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_w_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_w", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor chebyshev_polynomial_w_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_w", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_chebyshev_polynomial_w.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chebyshev_polynomial_w_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_chebyshev_polynomial_w", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_digamma(Tensor self) -> Tensor
inline Tensor digamma(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_digamma");
  return Call(op).tensor(self).one();
}

// special_digamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor digamma_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_digamma", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_entr(Tensor self) -> Tensor
inline Tensor entr(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_entr");
  return Call(op).tensor(self).one();
}

// special_entr.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor entr_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_entr", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_erf(Tensor self) -> Tensor
inline Tensor erf(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_erf");
  return Call(op).tensor(self).one();
}

// special_erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor erf_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_erf", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_erfc(Tensor self) -> Tensor
inline Tensor erfc(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_erfc");
  return Call(op).tensor(self).one();
}

// special_erfc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor erfc_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_erfc", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_erfcx(Tensor self) -> Tensor
inline Tensor erfcx(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_erfcx");
  return Call(op).tensor(self).one();
}

// special_erfcx.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor erfcx_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_erfcx", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_erfinv(Tensor self) -> Tensor
inline Tensor erfinv(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_erfinv");
  return Call(op).tensor(self).one();
}

// special_erfinv.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor erfinv_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_erfinv", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_exp2(Tensor self) -> Tensor
inline Tensor exp2(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_exp2");
  return Call(op).tensor(self).one();
}

// special_exp2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor exp2_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_exp2", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_expit(Tensor self) -> Tensor
inline Tensor expit(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_expit");
  return Call(op).tensor(self).one();
}

// special_expit.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor expit_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_expit", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_expm1(Tensor self) -> Tensor
inline Tensor expm1(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_expm1");
  return Call(op).tensor(self).one();
}

// special_expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor expm1_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_expm1", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_gammainc(Tensor self, Tensor other) -> Tensor
inline Tensor gammainc(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::special_gammainc");
  return Call(op).tensor(self).tensor(other).one();
}

// special_gammainc.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor gammainc_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_gammainc", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// special_gammaincc(Tensor self, Tensor other) -> Tensor
inline Tensor gammaincc(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::special_gammaincc");
  return Call(op).tensor(self).tensor(other).one();
}

// special_gammaincc.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor gammaincc_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_gammaincc", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// special_gammaln(Tensor self) -> Tensor
inline Tensor gammaln(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_gammaln");
  return Call(op).tensor(self).one();
}

// special_gammaln.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor gammaln_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_gammaln", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor
inline Tensor hermite_polynomial_h(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_h");
  return Call(op).tensor(x).tensor(n).one();
}

// special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor hermite_polynomial_h_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_h", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_hermite_polynomial_h.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hermite_polynomial_h_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_h", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_hermite_polynomial_h.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hermite_polynomial_h_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_h", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor hermite_polynomial_h_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_h", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_hermite_polynomial_h.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hermite_polynomial_h_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_h", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor
inline Tensor hermite_polynomial_he(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_he");
  return Call(op).tensor(x).tensor(n).one();
}

// special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor hermite_polynomial_he_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_he", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_hermite_polynomial_he.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hermite_polynomial_he_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_he", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_hermite_polynomial_he.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hermite_polynomial_he_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_he", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor hermite_polynomial_he_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_he", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_hermite_polynomial_he.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hermite_polynomial_he_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_hermite_polynomial_he", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_i0(Tensor self) -> Tensor
inline Tensor i0(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_i0");
  return Call(op).tensor(self).one();
}

// special_i0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor i0_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_i0", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_i0e(Tensor self) -> Tensor
inline Tensor i0e(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_i0e");
  return Call(op).tensor(self).one();
}

// special_i0e.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor i0e_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_i0e", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_i1(Tensor self) -> Tensor
inline Tensor i1(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_i1");
  return Call(op).tensor(self).one();
}

// special_i1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor i1_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_i1", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_i1e(Tensor self) -> Tensor
inline Tensor i1e(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_i1e");
  return Call(op).tensor(self).one();
}

// special_i1e.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor i1e_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_i1e", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor
inline Tensor laguerre_polynomial_l(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_laguerre_polynomial_l");
  return Call(op).tensor(x).tensor(n).one();
}

// special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor laguerre_polynomial_l_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_laguerre_polynomial_l", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_laguerre_polynomial_l.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor laguerre_polynomial_l_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_laguerre_polynomial_l", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_laguerre_polynomial_l.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor laguerre_polynomial_l_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_laguerre_polynomial_l", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor laguerre_polynomial_l_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_laguerre_polynomial_l", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_laguerre_polynomial_l.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor laguerre_polynomial_l_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_laguerre_polynomial_l", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor
inline Tensor legendre_polynomial_p(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_legendre_polynomial_p");
  return Call(op).tensor(x).tensor(n).one();
}

// special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor legendre_polynomial_p_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_legendre_polynomial_p", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_legendre_polynomial_p.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor legendre_polynomial_p_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_legendre_polynomial_p", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_legendre_polynomial_p.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor legendre_polynomial_p_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_legendre_polynomial_p", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor legendre_polynomial_p_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_legendre_polynomial_p", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_legendre_polynomial_p.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor legendre_polynomial_p_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_legendre_polynomial_p", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_log1p(Tensor self) -> Tensor
inline Tensor log1p(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_log1p");
  return Call(op).tensor(self).one();
}

// special_log1p.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor log1p_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_log1p", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_log_ndtr(Tensor self) -> Tensor
inline Tensor log_ndtr(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_log_ndtr");
  return Call(op).tensor(self).one();
}

// special_log_ndtr.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor log_ndtr_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_log_ndtr", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
inline Tensor log_softmax(const Tensor& self, int64_t dim, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::special_log_softmax");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).one();
}

// special_logit(Tensor self, float? eps=None) -> Tensor
inline Tensor logit(const Tensor& self, const std::optional<double>& eps = {}) {
  static const Operator op = Operator::find("aten::special_logit");
  return Call(op).tensor(self).option(eps, &Call::real).one();
}

// special_logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logit_out(const Tensor& self, const Tensor& out, const std::optional<double>& eps = {}) {
  static const Operator op = Operator::find("aten::special_logit", "out");
  return Call(op).tensor(self).option(eps, &Call::real).tensor(out).one();
}

// special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
inline Tensor logsumexp(const Tensor& self, const std::vector<int64_t>& dim, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::special_logsumexp");
  return Call(op).tensor(self).integers(dim).option(keepdim, &Call::flag).one();
}

// special_logsumexp.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logsumexp_out(const Tensor& self, const std::vector<int64_t>& dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::special_logsumexp", "out");
  return Call(op).tensor(self).integers(dim).option(keepdim, &Call::flag).tensor(out).one();
}

// special_modified_bessel_i0(Tensor self) -> Tensor
inline Tensor modified_bessel_i0(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_modified_bessel_i0");
  return Call(op).tensor(self).one();
}

// special_modified_bessel_i0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor modified_bessel_i0_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_modified_bessel_i0", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_modified_bessel_i1(Tensor self) -> Tensor
inline Tensor modified_bessel_i1(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_modified_bessel_i1");
  return Call(op).tensor(self).one();
}

// special_modified_bessel_i1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor modified_bessel_i1_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_modified_bessel_i1", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_modified_bessel_k0(Tensor self) -> Tensor
inline Tensor modified_bessel_k0(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_modified_bessel_k0");
  return Call(op).tensor(self).one();
}

// special_modified_bessel_k0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor modified_bessel_k0_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_modified_bessel_k0", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_modified_bessel_k1(Tensor self) -> Tensor
inline Tensor modified_bessel_k1(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_modified_bessel_k1");
  return Call(op).tensor(self).one();
}

// special_modified_bessel_k1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor modified_bessel_k1_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_modified_bessel_k1", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_multigammaln(Tensor self, int p) -> Tensor
inline Tensor multigammaln(const Tensor& self, int64_t p) {
  static const Operator op = Operator::find("aten::special_multigammaln");
  return Call(op).tensor(self).integer(p).one();
}

// special_multigammaln.out(Tensor self, int p, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor multigammaln_out(const Tensor& self, int64_t p, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_multigammaln", "out");
  return Call(op).tensor(self).integer(p).tensor(out).one();
}

// special_ndtr(Tensor self) -> Tensor
inline Tensor ndtr(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_ndtr");
  return Call(op).tensor(self).one();
}

// special_ndtr.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ndtr_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_ndtr", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_ndtri(Tensor self) -> Tensor
inline Tensor ndtri(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_ndtri");
  return Call(op).tensor(self).one();
}

// special_ndtri.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ndtri_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_ndtri", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_polygamma(int n, Tensor self) -> Tensor
inline Tensor polygamma(int64_t n, const Tensor& self) {
  static const Operator op = Operator::find("aten::special_polygamma");
  return Call(op).integer(n).tensor(self).one();
}

// special_polygamma.out(int n, Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor polygamma_out(int64_t n, const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_polygamma", "out");
  return Call(op).integer(n).tensor(self).tensor(out).one();
}

// special_psi(Tensor self) -> Tensor
inline Tensor psi(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_psi");
  return Call(op).tensor(self).one();
}

// special_psi.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor psi_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_psi", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_round(Tensor self, *, int decimals=0) -> Tensor
inline Tensor round(const Tensor& self, const std::optional<int64_t>& decimals = {}) {
  static const Operator op = Operator::find("aten::special_round");
  return Call(op).tensor(self).option(decimals, &Call::integer).one();
}

// special_round.out(Tensor self, *, int decimals=0, Tensor(a!) out) -> Tensor(a!)
inline Tensor round_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& decimals = {}) {
  static const Operator op = Operator::find("aten::special_round", "out");
  return Call(op).tensor(self).option(decimals, &Call::integer).tensor(out).one();
}

// special_scaled_modified_bessel_k0(Tensor x) -> Tensor
inline Tensor scaled_modified_bessel_k0(const Tensor& x) {
  static const Operator op = Operator::find("aten::special_scaled_modified_bessel_k0");
  return Call(op).tensor(x).one();
}

// special_scaled_modified_bessel_k0.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor scaled_modified_bessel_k0_out(const Tensor& x, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_scaled_modified_bessel_k0", "out");
  return Call(op).tensor(x).tensor(out).one();
}

// special_scaled_modified_bessel_k1(Tensor x) -> Tensor
inline Tensor scaled_modified_bessel_k1(const Tensor& x) {
  static const Operator op = Operator::find("aten::special_scaled_modified_bessel_k1");
  return Call(op).tensor(x).one();
}

// special_scaled_modified_bessel_k1.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor scaled_modified_bessel_k1_out(const Tensor& x, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_scaled_modified_bessel_k1", "out");
  return Call(op).tensor(x).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_t(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_t");
  return Call(op).tensor(x).tensor(n).one();
}

// special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_t_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_t", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_shifted_chebyshev_polynomial_t.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_t_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_t", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_t.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_t_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_t", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_t_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_t", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_shifted_chebyshev_polynomial_t.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_t_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_t", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_u(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_u");
  return Call(op).tensor(x).tensor(n).one();
}

// special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_u_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_u", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_shifted_chebyshev_polynomial_u.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_u_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_u", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_u.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_u_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_u", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_u_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_u", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_shifted_chebyshev_polynomial_u.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_u_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_u", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_v(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_v");
  return Call(op).tensor(x).tensor(n).one();
}

// special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_v_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_v", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_shifted_chebyshev_polynomial_v.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_v_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_v", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_v.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_v_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_v", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_v_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_v", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_shifted_chebyshev_polynomial_v.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_v_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_v", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_w(const Tensor& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_w");
  return Call(op).tensor(x).tensor(n).one();
}

// special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_w_n_scalar(const Tensor& x, const Scalar& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_w", "n_scalar");
  return Call(op).tensor(x).scalar(n).one();
}

// special_shifted_chebyshev_polynomial_w.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_w_n_scalar_out(const Tensor& x, const Scalar& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_w", "n_scalar_out");
  return Call(op).tensor(x).scalar(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_w.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_w_out(const Tensor& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_w", "out");
  return Call(op).tensor(x).tensor(n).tensor(out).one();
}

// special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor
inline Tensor shifted_chebyshev_polynomial_w_x_scalar(const Scalar& x, const Tensor& n) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_w", "x_scalar");
  return Call(op).scalar(x).tensor(n).one();
}

// special_shifted_chebyshev_polynomial_w.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor shifted_chebyshev_polynomial_w_x_scalar_out(const Scalar& x, const Tensor& n, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_shifted_chebyshev_polynomial_w", "x_scalar_out");
  return Call(op).scalar(x).tensor(n).tensor(out).one();
}

// special_sinc(Tensor self) -> Tensor
inline Tensor sinc(const Tensor& self) {
  static const Operator op = Operator::find("aten::special_sinc");
  return Call(op).tensor(self).one();
}

// special_sinc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor sinc_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_sinc", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
inline Tensor softmax(const Tensor& self, int64_t dim, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::special_softmax");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).one();
}

// special_spherical_bessel_j0(Tensor x) -> Tensor
inline Tensor spherical_bessel_j0(const Tensor& x) {
  static const Operator op = Operator::find("aten::special_spherical_bessel_j0");
  return Call(op).tensor(x).one();
}

// special_spherical_bessel_j0.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor spherical_bessel_j0_out(const Tensor& x, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_spherical_bessel_j0", "out");
  return Call(op).tensor(x).tensor(out).one();
}

// special_xlog1py(Tensor self, Tensor other) -> Tensor
inline Tensor xlog1py(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::special_xlog1py");
  return Call(op).tensor(self).tensor(other).one();
}

// special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor
inline Tensor xlog1py_other_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::special_xlog1py", "other_scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// special_xlog1py.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlog1py_other_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_xlog1py", "other_scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// special_xlog1py.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlog1py_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_xlog1py", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor
inline Tensor xlog1py_self_scalar(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::special_xlog1py", "self_scalar");
  return Call(op).scalar(self).tensor(other).one();
}

// special_xlog1py.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlog1py_self_scalar_out(const Scalar& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_xlog1py", "self_scalar_out");
  return Call(op).scalar(self).tensor(other).tensor(out).one();
}

// special_xlogy(Tensor self, Tensor other) -> Tensor
inline Tensor xlogy(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::special_xlogy");
  return Call(op).tensor(self).tensor(other).one();
}

// special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor
inline Tensor xlogy_other_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::special_xlogy", "other_scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// special_xlogy.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlogy_other_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_xlogy", "other_scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// special_xlogy.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlogy_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_xlogy", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor
inline Tensor xlogy_self_scalar(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::special_xlogy", "self_scalar");
  return Call(op).scalar(self).tensor(other).one();
}

// special_xlogy.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlogy_self_scalar_out(const Scalar& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_xlogy", "self_scalar_out");
  return Call(op).scalar(self).tensor(other).tensor(out).one();
}

// special_zeta(Tensor self, Tensor other) -> Tensor
inline Tensor zeta(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::special_zeta");
  return Call(op).tensor(self).tensor(other).one();
}

// special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor
inline Tensor zeta_other_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::special_zeta", "other_scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// special_zeta.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor zeta_other_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_zeta", "other_scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// special_zeta.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor zeta_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_zeta", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor
inline Tensor zeta_self_scalar(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::special_zeta", "self_scalar");
  return Call(op).scalar(self).tensor(other).one();
}

// special_zeta.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor zeta_self_scalar_out(const Scalar& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::special_zeta", "self_scalar_out");
  return Call(op).scalar(self).tensor(other).tensor(out).one();
}

}  // namespace tandem::abi::ops::special
