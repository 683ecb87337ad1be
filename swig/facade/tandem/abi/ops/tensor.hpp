// Written by capi/operators/generate.py; do not edit.
// Operators: what torch and torch.Tensor have.
#pragma once

#include "tandem/abi/ops/call.hpp"

namespace tandem::abi::ops {

// abs(Tensor self) -> Tensor
inline Tensor abs(const Tensor& self) {
  static const Operator op = Operator::find("aten::abs");
  return Call(op).tensor(self).one();
}

// abs_(Tensor(a!) self) -> Tensor(a!)
inline Tensor abs_(const Tensor& self) {
  static const Operator op = Operator::find("aten::abs_");
  return Call(op).tensor(self).one();
}

// abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor abs_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::abs", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// absolute(Tensor self) -> Tensor
inline Tensor absolute(const Tensor& self) {
  static const Operator op = Operator::find("aten::absolute");
  return Call(op).tensor(self).one();
}

// absolute_(Tensor(a!) self) -> Tensor(a!)
inline Tensor absolute_(const Tensor& self) {
  static const Operator op = Operator::find("aten::absolute_");
  return Call(op).tensor(self).one();
}

// absolute.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor absolute_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::absolute", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// acos(Tensor self) -> Tensor
inline Tensor acos(const Tensor& self) {
  static const Operator op = Operator::find("aten::acos");
  return Call(op).tensor(self).one();
}

// acos_(Tensor(a!) self) -> Tensor(a!)
inline Tensor acos_(const Tensor& self) {
  static const Operator op = Operator::find("aten::acos_");
  return Call(op).tensor(self).one();
}

// acos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor acos_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::acos", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// acosh(Tensor self) -> Tensor
inline Tensor acosh(const Tensor& self) {
  static const Operator op = Operator::find("aten::acosh");
  return Call(op).tensor(self).one();
}

// acosh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor acosh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::acosh_");
  return Call(op).tensor(self).one();
}

// acosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor acosh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::acosh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
inline Tensor add(const Tensor& self, const Tensor& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::add", "Tensor");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).one();
}

// add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
inline Tensor add_(const Tensor& self, const Tensor& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::add_", "Tensor");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).one();
}

// add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor add_out(const Tensor& self, const Tensor& other, const Tensor& out,
    const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::add", "out");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).tensor(out).one();
}

// add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
inline Tensor add_scalar(const Tensor& self, const Scalar& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::add", "Scalar");
  return Call(op).tensor(self).scalar(other).option(alpha, &Call::scalar).one();
}

// add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)
inline Tensor add_scalar_(const Tensor& self, const Scalar& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::add_", "Scalar");
  return Call(op).tensor(self).scalar(other).option(alpha, &Call::scalar).one();
}

// addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
inline Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addbmm");
  return Call(op).tensor(self).tensor(batch1).tensor(batch2).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).one();
}

// addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
inline Tensor addbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addbmm_");
  return Call(op).tensor(self).tensor(batch1).tensor(batch2).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).one();
}

// addbmm.out(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor addbmm_out(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Tensor& out,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addbmm", "out");
  return Call(op).tensor(self).tensor(batch1).tensor(batch2).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).tensor(out).one();
}

// addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor
inline Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
    const std::optional<Scalar>& value = {}) {
  static const Operator op = Operator::find("aten::addcdiv");
  return Call(op).tensor(self).tensor(tensor1).tensor(tensor2).option(value, &Call::scalar).one();
}

// addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)
inline Tensor addcdiv_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
    const std::optional<Scalar>& value = {}) {
  static const Operator op = Operator::find("aten::addcdiv_");
  return Call(op).tensor(self).tensor(tensor1).tensor(tensor2).option(value, &Call::scalar).one();
}

// addcdiv.out(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor addcdiv_out(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Tensor& out,
    const std::optional<Scalar>& value = {}) {
  static const Operator op = Operator::find("aten::addcdiv", "out");
  return Call(op).tensor(self).tensor(tensor1).tensor(tensor2).option(value, &Call::scalar).tensor(out).one();
}

// addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor
inline Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
    const std::optional<Scalar>& value = {}) {
  static const Operator op = Operator::find("aten::addcmul");
  return Call(op).tensor(self).tensor(tensor1).tensor(tensor2).option(value, &Call::scalar).one();
}

// addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)
inline Tensor addcmul_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
    const std::optional<Scalar>& value = {}) {
  static const Operator op = Operator::find("aten::addcmul_");
  return Call(op).tensor(self).tensor(tensor1).tensor(tensor2).option(value, &Call::scalar).one();
}

// addcmul.out(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor addcmul_out(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Tensor& out,
    const std::optional<Scalar>& value = {}) {
  static const Operator op = Operator::find("aten::addcmul", "out");
  return Call(op).tensor(self).tensor(tensor1).tensor(tensor2).option(value, &Call::scalar).tensor(out).one();
}

// addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
inline Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addmm");
  return Call(op).tensor(self).tensor(mat1).tensor(mat2).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .one();
}

// addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
inline Tensor addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addmm_");
  return Call(op).tensor(self).tensor(mat1).tensor(mat2).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .one();
}

// addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1) ->
//     Tensor
inline Tensor addmm_dtype(const Tensor& self, const Tensor& mat1, const Tensor& mat2, int32_t out_dtype,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addmm", "dtype");
  return Call(op).tensor(self).tensor(mat1).tensor(mat2).dtype(out_dtype).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).one();
}

// addmm.dtype_out(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor addmm_dtype_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2, int32_t out_dtype,
    const Tensor& out, const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addmm", "dtype_out");
  return Call(op).tensor(self).tensor(mat1).tensor(mat2).dtype(out_dtype).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).tensor(out).one();
}

// addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor addmm_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Tensor& out,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addmm", "out");
  return Call(op).tensor(self).tensor(mat1).tensor(mat2).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .tensor(out).one();
}

// addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor
inline Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addmv");
  return Call(op).tensor(self).tensor(mat).tensor(vec).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .one();
}

// addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
inline Tensor addmv_(const Tensor& self, const Tensor& mat, const Tensor& vec,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addmv_");
  return Call(op).tensor(self).tensor(mat).tensor(vec).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .one();
}

// addmv.out(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor addmv_out(const Tensor& self, const Tensor& mat, const Tensor& vec, const Tensor& out,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addmv", "out");
  return Call(op).tensor(self).tensor(mat).tensor(vec).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .tensor(out).one();
}

// addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
inline Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addr");
  return Call(op).tensor(self).tensor(vec1).tensor(vec2).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .one();
}

// addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
inline Tensor addr_(const Tensor& self, const Tensor& vec1, const Tensor& vec2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addr_");
  return Call(op).tensor(self).tensor(vec1).tensor(vec2).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .one();
}

// addr.out(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor addr_out(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Tensor& out,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::addr", "out");
  return Call(op).tensor(self).tensor(vec1).tensor(vec2).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .tensor(out).one();
}

// adjoint(Tensor(a) self) -> Tensor(a)
inline Tensor adjoint(const Tensor& self) {
  static const Operator op = Operator::find("aten::adjoint");
  return Call(op).tensor(self).one();
}

// alias_copy(Tensor self) -> Tensor
inline Tensor alias_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::alias_copy");
  return Call(op).tensor(self).one();
}

// all(Tensor self) -> Tensor
inline Tensor all(const Tensor& self) {
  static const Operator op = Operator::find("aten::all");
  return Call(op).tensor(self).one();
}

// all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor
inline Tensor all_dim(const Tensor& self, int64_t dim, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::all", "dim");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).one();
}

// all.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor all_dim_out(const Tensor& self, int64_t dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::all", "out");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).tensor(out).one();
}

// all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor
inline Tensor all_dims(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::all", "dims");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).one();
}

// all.dims_out(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor all_dims_out(const Tensor& self, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::all", "dims_out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).tensor(out).one();
}

// all.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor all_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::all", "all_out");
  return Call(op).tensor(self).tensor(out).one();
}

// allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False)
//     -> bool
inline bool allclose(const Tensor& self, const Tensor& other, const std::optional<double>& rtol = {},
    const std::optional<double>& atol = {}, const std::optional<bool>& equal_nan = {}) {
  static const Operator op = Operator::find("aten::allclose");
  return Call(op).tensor(self).tensor(other).option(rtol, &Call::real).option(atol, &Call::real)
      .option(equal_nan, &Call::flag).truth();
}

// amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor
inline Tensor amax(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::amax");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).one();
}

// amax.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor amax_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::amax", "out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).tensor(out).one();
}

// amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor
inline Tensor amin(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::amin");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).one();
}

// amin.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor amin_out(const Tensor& self, const Tensor& out, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::amin", "out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).tensor(out).one();
}

// aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)
inline std::tuple<Tensor, Tensor> aminmax(const Tensor& self, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::aminmax");
  return Call(op).tensor(self).option(dim, &Call::integer).option(keepdim, &Call::flag).two();
}

// aminmax.out(Tensor self, *, int? dim=None, bool keepdim=False, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!)
//     min, Tensor(b!) max)
inline std::tuple<Tensor, Tensor> aminmax_out(const Tensor& self, const Tensor& min, const Tensor& max,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::aminmax", "out");
  return Call(op).tensor(self).option(dim, &Call::integer).option(keepdim, &Call::flag).tensor(min).tensor(max)
      .two();
}

// angle(Tensor self) -> Tensor
inline Tensor angle(const Tensor& self) {
  static const Operator op = Operator::find("aten::angle");
  return Call(op).tensor(self).one();
}

// angle.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor angle_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::angle", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// any(Tensor self) -> Tensor
inline Tensor any(const Tensor& self) {
  static const Operator op = Operator::find("aten::any");
  return Call(op).tensor(self).one();
}

// any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor
inline Tensor any_dim(const Tensor& self, int64_t dim, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::any", "dim");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).one();
}

// any.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor any_dim_out(const Tensor& self, int64_t dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::any", "out");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).tensor(out).one();
}

// any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor
inline Tensor any_dims(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::any", "dims");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).one();
}

// any.dims_out(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor any_dims_out(const Tensor& self, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::any", "dims_out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).tensor(out).one();
}

// any.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor any_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::any", "all_out");
  return Call(op).tensor(self).tensor(out).one();
}

// arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)
//     -> Tensor
inline Tensor arange(const Scalar& end, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::arange");
  return Call(op).scalar(end).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arange_out(const Scalar& end, const Tensor& out) {
  static const Operator op = Operator::find("aten::arange", "out");
  return Call(op).scalar(end).tensor(out).one();
}

// arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
//     bool? pin_memory=None) -> Tensor
inline Tensor arange_start(const Scalar& start, const Scalar& end, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::arange", "start");
  return Call(op).scalar(start).scalar(end).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor arange_start_step(const Scalar& start, const Scalar& end, const Scalar& step,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::arange", "start_step");
  return Call(op).scalar(start).scalar(end).scalar(step).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arange_start_step_out(const Scalar& start, const Scalar& end, const Tensor& out,
    const std::optional<Scalar>& step = {}) {
  static const Operator op = Operator::find("aten::arange", "start_out");
  return Call(op).scalar(start).scalar(end).option(step, &Call::scalar).tensor(out).one();
}

// arccos(Tensor self) -> Tensor
inline Tensor arccos(const Tensor& self) {
  static const Operator op = Operator::find("aten::arccos");
  return Call(op).tensor(self).one();
}

// arccos_(Tensor(a!) self) -> Tensor(a!)
inline Tensor arccos_(const Tensor& self) {
  static const Operator op = Operator::find("aten::arccos_");
  return Call(op).tensor(self).one();
}

// arccos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arccos_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::arccos", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// arccosh(Tensor self) -> Tensor
inline Tensor arccosh(const Tensor& self) {
  static const Operator op = Operator::find("aten::arccosh");
  return Call(op).tensor(self).one();
}

// arccosh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor arccosh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::arccosh_");
  return Call(op).tensor(self).one();
}

// arccosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arccosh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::arccosh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// arcsin(Tensor self) -> Tensor
inline Tensor arcsin(const Tensor& self) {
  static const Operator op = Operator::find("aten::arcsin");
  return Call(op).tensor(self).one();
}

// arcsin_(Tensor(a!) self) -> Tensor(a!)
inline Tensor arcsin_(const Tensor& self) {
  static const Operator op = Operator::find("aten::arcsin_");
  return Call(op).tensor(self).one();
}

// arcsin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arcsin_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::arcsin", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// arcsinh(Tensor self) -> Tensor
inline Tensor arcsinh(const Tensor& self) {
  static const Operator op = Operator::find("aten::arcsinh");
  return Call(op).tensor(self).one();
}

// arcsinh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor arcsinh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::arcsinh_");
  return Call(op).tensor(self).one();
}

// arcsinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arcsinh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::arcsinh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// arctan(Tensor self) -> Tensor
inline Tensor arctan(const Tensor& self) {
  static const Operator op = Operator::find("aten::arctan");
  return Call(op).tensor(self).one();
}

// arctan2(Tensor self, Tensor other) -> Tensor
inline Tensor arctan2(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::arctan2");
  return Call(op).tensor(self).tensor(other).one();
}

// arctan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor arctan2_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::arctan2_");
  return Call(op).tensor(self).tensor(other).one();
}

// arctan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arctan2_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::arctan2", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// arctan_(Tensor(a!) self) -> Tensor(a!)
inline Tensor arctan_(const Tensor& self) {
  static const Operator op = Operator::find("aten::arctan_");
  return Call(op).tensor(self).one();
}

// arctan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arctan_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::arctan", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// arctanh(Tensor self) -> Tensor
inline Tensor arctanh(const Tensor& self) {
  static const Operator op = Operator::find("aten::arctanh");
  return Call(op).tensor(self).one();
}

// arctanh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor arctanh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::arctanh_");
  return Call(op).tensor(self).one();
}

// arctanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor arctanh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::arctanh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor
inline Tensor argmax(const Tensor& self, int64_t dim, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::argmax");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).one();
}

// argmax.out(Tensor self, int? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor argmax_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::argmax", "out");
  return Call(op).tensor(self).option(dim, &Call::integer).option(keepdim, &Call::flag).tensor(out).one();
}

// argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor
inline Tensor argmin(const Tensor& self, int64_t dim, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::argmin");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).one();
}

// argmin.out(Tensor self, int? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor argmin_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::argmin", "out");
  return Call(op).tensor(self).option(dim, &Call::integer).option(keepdim, &Call::flag).tensor(out).one();
}

// argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor
inline Tensor argsort(const Tensor& self, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& descending = {}) {
  static const Operator op = Operator::find("aten::argsort");
  return Call(op).tensor(self).option(dim, &Call::integer).option(descending, &Call::flag).one();
}

// argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor
inline Tensor argsort_stable(const Tensor& self, bool stable, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& descending = {}) {
  static const Operator op = Operator::find("aten::argsort", "stable");
  return Call(op).tensor(self).flag(stable).option(dim, &Call::integer).option(descending, &Call::flag).one();
}

// argsort.stable_out(Tensor self, *, bool stable, int dim=-1, bool descending=False, Tensor(a!) out) -> Tensor(a!)
inline Tensor argsort_stable_out(const Tensor& self, bool stable, const Tensor& out,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& descending = {}) {
  static const Operator op = Operator::find("aten::argsort", "stable_out");
  return Call(op).tensor(self).flag(stable).option(dim, &Call::integer).option(descending, &Call::flag).tensor(out)
      .one();
}

// argwhere(Tensor self) -> Tensor
inline Tensor argwhere(const Tensor& self) {
  static const Operator op = Operator::find("aten::argwhere");
  return Call(op).tensor(self).one();
}

// as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)
inline Tensor as_strided(const Tensor& self, const std::vector<int64_t>& size, const std::vector<int64_t>& stride,
    const std::optional<int64_t>& storage_offset = {}) {
  static const Operator op = Operator::find("aten::as_strided");
  return Call(op).tensor(self).integers(size).integers(stride).option(storage_offset, &Call::integer).one();
}

// as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)
inline Tensor as_strided_(const Tensor& self, const std::vector<int64_t>& size, const std::vector<int64_t>& stride,
    const std::optional<int64_t>& storage_offset = {}) {
  static const Operator op = Operator::find("aten::as_strided_");
  return Call(op).tensor(self).integers(size).integers(stride).option(storage_offset, &Call::integer).one();
}

// as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor
inline Tensor as_strided_copy(const Tensor& self, const std::vector<int64_t>& size,
    const std::vector<int64_t>& stride, const std::optional<int64_t>& storage_offset = {}) {
  static const Operator op = Operator::find("aten::as_strided_copy");
  return Call(op).tensor(self).integers(size).integers(stride).option(storage_offset, &Call::integer).one();
}

// as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) ->
//     Tensor
inline Tensor as_strided_scatter(const Tensor& self, const Tensor& src, const std::vector<int64_t>& size,
    const std::vector<int64_t>& stride, const std::optional<int64_t>& storage_offset = {}) {
  static const Operator op = Operator::find("aten::as_strided_scatter");
  return Call(op).tensor(self).tensor(src).integers(size).integers(stride).option(storage_offset, &Call::integer)
      .one();
}

// asin(Tensor self) -> Tensor
inline Tensor asin(const Tensor& self) {
  static const Operator op = Operator::find("aten::asin");
  return Call(op).tensor(self).one();
}

// asin_(Tensor(a!) self) -> Tensor(a!)
inline Tensor asin_(const Tensor& self) {
  static const Operator op = Operator::find("aten::asin_");
  return Call(op).tensor(self).one();
}

// asin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor asin_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::asin", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// asinh(Tensor self) -> Tensor
inline Tensor asinh(const Tensor& self) {
  static const Operator op = Operator::find("aten::asinh");
  return Call(op).tensor(self).one();
}

// asinh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor asinh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::asinh_");
  return Call(op).tensor(self).one();
}

// asinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor asinh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::asinh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// atan(Tensor self) -> Tensor
inline Tensor atan(const Tensor& self) {
  static const Operator op = Operator::find("aten::atan");
  return Call(op).tensor(self).one();
}

// atan2(Tensor self, Tensor other) -> Tensor
inline Tensor atan2(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::atan2");
  return Call(op).tensor(self).tensor(other).one();
}

// atan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor atan2_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::atan2_");
  return Call(op).tensor(self).tensor(other).one();
}

// atan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor atan2_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::atan2", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// atan_(Tensor(a!) self) -> Tensor(a!)
inline Tensor atan_(const Tensor& self) {
  static const Operator op = Operator::find("aten::atan_");
  return Call(op).tensor(self).one();
}

// atan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor atan_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::atan", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// atanh(Tensor self) -> Tensor
inline Tensor atanh(const Tensor& self) {
  static const Operator op = Operator::find("aten::atanh");
  return Call(op).tensor(self).one();
}

// atanh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor atanh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::atanh_");
  return Call(op).tensor(self).one();
}

// atanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor atanh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::atanh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// atleast_1d(Tensor self) -> Tensor
inline Tensor atleast_1d(const Tensor& self) {
  static const Operator op = Operator::find("aten::atleast_1d");
  return Call(op).tensor(self).one();
}

// atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]
inline std::vector<Tensor> atleast_1d_sequence(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::atleast_1d", "Sequence");
  return Call(op).tensors(tensors).list();
}

// atleast_2d(Tensor self) -> Tensor
inline Tensor atleast_2d(const Tensor& self) {
  static const Operator op = Operator::find("aten::atleast_2d");
  return Call(op).tensor(self).one();
}

// atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]
inline std::vector<Tensor> atleast_2d_sequence(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::atleast_2d", "Sequence");
  return Call(op).tensors(tensors).list();
}

// atleast_3d(Tensor self) -> Tensor
inline Tensor atleast_3d(const Tensor& self) {
  static const Operator op = Operator::find("aten::atleast_3d");
  return Call(op).tensor(self).one();
}

// atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]
inline std::vector<Tensor> atleast_3d_sequence(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::atleast_3d", "Sequence");
  return Call(op).tensors(tensors).list();
}

// baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
inline Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::baddbmm");
  return Call(op).tensor(self).tensor(batch1).tensor(batch2).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).one();
}

// baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
inline Tensor baddbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::baddbmm_");
  return Call(op).tensor(self).tensor(batch1).tensor(batch2).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).one();
}

// baddbmm.dtype(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1)
//     -> Tensor
inline Tensor baddbmm_dtype(const Tensor& self, const Tensor& batch1, const Tensor& batch2, int32_t out_dtype,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::baddbmm", "dtype");
  return Call(op).tensor(self).tensor(batch1).tensor(batch2).dtype(out_dtype).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).one();
}

// baddbmm.dtype_out(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar
//     alpha=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor baddbmm_dtype_out(const Tensor& self, const Tensor& batch1, const Tensor& batch2, int32_t out_dtype,
    const Tensor& out, const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::baddbmm", "dtype_out");
  return Call(op).tensor(self).tensor(batch1).tensor(batch2).dtype(out_dtype).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).tensor(out).one();
}

// baddbmm.out(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor baddbmm_out(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Tensor& out,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::baddbmm", "out");
  return Call(op).tensor(self).tensor(batch1).tensor(batch2).option(beta, &Call::scalar)
      .option(alpha, &Call::scalar).tensor(out).one();
}

// bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor bartlett_window(int64_t window_length, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::bartlett_window");
  return Call(op).integer(window_length).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor bartlett_window_periodic(int64_t window_length, bool periodic,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::bartlett_window", "periodic");
  return Call(op).integer(window_length).flag(periodic).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// bernoulli(Tensor self, *, Generator? generator=None) -> Tensor
inline Tensor bernoulli(const Tensor& self, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::bernoulli");
  return Call(op).tensor(self).generator(generator).one();
}

// bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)
inline Tensor bernoulli_(const Tensor& self, const Tensor& p, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::bernoulli_", "Tensor");
  return Call(op).tensor(self).tensor(p).generator(generator).one();
}

// bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)
inline Tensor bernoulli_float_(const Tensor& self, const std::optional<double>& p = {},
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::bernoulli_", "float");
  return Call(op).tensor(self).option(p, &Call::real).generator(generator).one();
}

// bernoulli.out(Tensor self, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor bernoulli_out(const Tensor& self, const Tensor& out, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::bernoulli", "out");
  return Call(op).tensor(self).generator(generator).tensor(out).one();
}

// bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor
inline Tensor bernoulli_p(const Tensor& self, double p, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::bernoulli", "p");
  return Call(op).tensor(self).real(p).generator(generator).one();
}

// bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor
inline Tensor bincount(const Tensor& self, const Tensor& weights = Tensor(),
    const std::optional<int64_t>& minlength = {}) {
  static const Operator op = Operator::find("aten::bincount");
  return Call(op).tensor(self).tensor(weights).option(minlength, &Call::integer).one();
}

// binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor
inline Tensor binomial(const Tensor& count, const Tensor& prob, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::binomial");
  return Call(op).tensor(count).tensor(prob).generator(generator).one();
}

// bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor bitwise_and(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_and", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_and_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor bitwise_and_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_and_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_and.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_and_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_and", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor bitwise_and_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_and", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor bitwise_and_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_and_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_and.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_and_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_and", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
inline Tensor bitwise_and_scalar_tensor(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_and", "Scalar_Tensor");
  return Call(op).scalar(self).tensor(other).one();
}

// bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_left_shift", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_left_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor bitwise_left_shift_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_left_shift_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_left_shift.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_left_shift_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_left_shift", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor bitwise_left_shift_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_left_shift", "Tensor_Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_left_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor bitwise_left_shift_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_left_shift_", "Tensor_Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_left_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_left_shift_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_left_shift", "Tensor_Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
inline Tensor bitwise_left_shift_scalar_tensor(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_left_shift", "Scalar_Tensor");
  return Call(op).scalar(self).tensor(other).one();
}

// bitwise_not(Tensor self) -> Tensor
inline Tensor bitwise_not(const Tensor& self) {
  static const Operator op = Operator::find("aten::bitwise_not");
  return Call(op).tensor(self).one();
}

// bitwise_not_(Tensor(a!) self) -> Tensor(a!)
inline Tensor bitwise_not_(const Tensor& self) {
  static const Operator op = Operator::find("aten::bitwise_not_");
  return Call(op).tensor(self).one();
}

// bitwise_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_not_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_not", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor bitwise_or(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_or", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_or_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor bitwise_or_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_or_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_or.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_or_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_or", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor bitwise_or_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_or", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor bitwise_or_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_or_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_or.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_or_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_or", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
inline Tensor bitwise_or_scalar_tensor(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_or", "Scalar_Tensor");
  return Call(op).scalar(self).tensor(other).one();
}

// bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_right_shift", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_right_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor bitwise_right_shift_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_right_shift_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_right_shift.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_right_shift_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_right_shift", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor bitwise_right_shift_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_right_shift", "Tensor_Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_right_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor bitwise_right_shift_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_right_shift_", "Tensor_Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_right_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_right_shift_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_right_shift", "Tensor_Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
inline Tensor bitwise_right_shift_scalar_tensor(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_right_shift", "Scalar_Tensor");
  return Call(op).scalar(self).tensor(other).one();
}

// bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor bitwise_xor(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_xor", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_xor_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor bitwise_xor_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_xor_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// bitwise_xor.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_xor_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_xor", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor bitwise_xor_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_xor", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor bitwise_xor_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::bitwise_xor_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// bitwise_xor.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bitwise_xor_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::bitwise_xor", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
inline Tensor bitwise_xor_scalar_tensor(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::bitwise_xor", "Scalar_Tensor");
  return Call(op).scalar(self).tensor(other).one();
}

// blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor blackman_window(int64_t window_length, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::blackman_window");
  return Call(op).integer(window_length).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor blackman_window_periodic(int64_t window_length, bool periodic,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::blackman_window", "periodic");
  return Call(op).integer(window_length).flag(periodic).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// block_diag(Tensor[] tensors) -> Tensor
inline Tensor block_diag(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::block_diag");
  return Call(op).tensors(tensors).one();
}

// bmm(Tensor self, Tensor mat2) -> Tensor
inline Tensor bmm(const Tensor& self, const Tensor& mat2) {
  static const Operator op = Operator::find("aten::bmm");
  return Call(op).tensor(self).tensor(mat2).one();
}

// bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor
inline Tensor bmm_dtype(const Tensor& self, const Tensor& mat2, int32_t out_dtype) {
  static const Operator op = Operator::find("aten::bmm", "dtype");
  return Call(op).tensor(self).tensor(mat2).dtype(out_dtype).one();
}

// bmm.dtype_out(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bmm_dtype_out(const Tensor& self, const Tensor& mat2, int32_t out_dtype, const Tensor& out) {
  static const Operator op = Operator::find("aten::bmm", "dtype_out");
  return Call(op).tensor(self).tensor(mat2).dtype(out_dtype).tensor(out).one();
}

// bmm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor bmm_out(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  static const Operator op = Operator::find("aten::bmm", "out");
  return Call(op).tensor(self).tensor(mat2).tensor(out).one();
}

// broadcast_tensors(Tensor[] tensors) -> Tensor[]
inline std::vector<Tensor> broadcast_tensors(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::broadcast_tensors");
  return Call(op).tensors(tensors).list();
}

// broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)
inline Tensor broadcast_to(const Tensor& self, const std::vector<int64_t>& size) {
  static const Operator op = Operator::find("aten::broadcast_to");
  return Call(op).tensor(self).integers(size).one();
}

// bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor
inline Tensor bucketize(const Tensor& self, const Tensor& boundaries, const std::optional<bool>& out_int32 = {},
    const std::optional<bool>& right = {}) {
  static const Operator op = Operator::find("aten::bucketize", "Tensor");
  return Call(op).tensor(self).tensor(boundaries).option(out_int32, &Call::flag).option(right, &Call::flag).one();
}

// bucketize.Tensor_out(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor(a!) out)
//     -> Tensor(a!)
inline Tensor bucketize_out(const Tensor& self, const Tensor& boundaries, const Tensor& out,
    const std::optional<bool>& out_int32 = {}, const std::optional<bool>& right = {}) {
  static const Operator op = Operator::find("aten::bucketize", "Tensor_out");
  return Call(op).tensor(self).tensor(boundaries).option(out_int32, &Call::flag).option(right, &Call::flag)
      .tensor(out).one();
}

// bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor
inline Tensor bucketize_scalar(const Scalar& self, const Tensor& boundaries,
    const std::optional<bool>& out_int32 = {}, const std::optional<bool>& right = {}) {
  static const Operator op = Operator::find("aten::bucketize", "Scalar");
  return Call(op).scalar(self).tensor(boundaries).option(out_int32, &Call::flag).option(right, &Call::flag).one();
}

// can_cast(ScalarType from_, ScalarType to) -> bool
inline bool can_cast(int32_t from_, int32_t to) {
  static const Operator op = Operator::find("aten::can_cast");
  return Call(op).dtype(from_).dtype(to).truth();
}

// cartesian_prod(Tensor[] tensors) -> Tensor
inline Tensor cartesian_prod(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::cartesian_prod");
  return Call(op).tensors(tensors).one();
}

// cat(Tensor[] tensors, int dim=0) -> Tensor
inline Tensor cat(const TensorList& tensors, int64_t dim) {
  static const Operator op = Operator::find("aten::cat");
  return Call(op).tensors(tensors).integer(dim).one();
}

// cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cat_out(const TensorList& tensors, const Tensor& out, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::cat", "out");
  return Call(op).tensors(tensors).option(dim, &Call::integer).tensor(out).one();
}

// cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor(a!)
inline Tensor cauchy_(const Tensor& self, const std::optional<double>& median = {},
    const std::optional<double>& sigma = {}, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::cauchy_");
  return Call(op).tensor(self).option(median, &Call::real).option(sigma, &Call::real).generator(generator).one();
}

// ccol_indices(Tensor(a) self) -> Tensor(a)
inline Tensor ccol_indices(const Tensor& self) {
  static const Operator op = Operator::find("aten::ccol_indices");
  return Call(op).tensor(self).one();
}

// ccol_indices_copy(Tensor self) -> Tensor
inline Tensor ccol_indices_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::ccol_indices_copy");
  return Call(op).tensor(self).one();
}

// cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor
inline Tensor cdist(const Tensor& x1, const Tensor& x2, const std::optional<double>& p = {},
    const std::optional<int64_t>& compute_mode = {}) {
  static const Operator op = Operator::find("aten::cdist");
  return Call(op).tensor(x1).tensor(x2).option(p, &Call::real).option(compute_mode, &Call::integer).one();
}

// ceil(Tensor self) -> Tensor
inline Tensor ceil(const Tensor& self) {
  static const Operator op = Operator::find("aten::ceil");
  return Call(op).tensor(self).one();
}

// ceil_(Tensor(a!) self) -> Tensor(a!)
inline Tensor ceil_(const Tensor& self) {
  static const Operator op = Operator::find("aten::ceil_");
  return Call(op).tensor(self).one();
}

// ceil.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ceil_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::ceil", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// chain_matmul(Tensor[] matrices) -> Tensor
inline Tensor chain_matmul(const TensorList& matrices) {
  static const Operator op = Operator::find("aten::chain_matmul");
  return Call(op).tensors(matrices).one();
}

// chain_matmul.out(Tensor[] matrices, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor chain_matmul_out(const TensorList& matrices, const Tensor& out) {
  static const Operator op = Operator::find("aten::chain_matmul", "out");
  return Call(op).tensors(matrices).tensor(out).one();
}

// chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor
inline Tensor chalf(const Tensor& self, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::chalf");
  return Call(op).tensor(self).option(memory_format, &Call::memory_format).one();
}

// cholesky(Tensor self, bool upper=False) -> Tensor
inline Tensor cholesky(const Tensor& self, const std::optional<bool>& upper = {}) {
  static const Operator op = Operator::find("aten::cholesky");
  return Call(op).tensor(self).option(upper, &Call::flag).one();
}

// cholesky_inverse(Tensor self, bool upper=False) -> Tensor
inline Tensor cholesky_inverse(const Tensor& self, const std::optional<bool>& upper = {}) {
  static const Operator op = Operator::find("aten::cholesky_inverse");
  return Call(op).tensor(self).option(upper, &Call::flag).one();
}

// cholesky_inverse.out(Tensor self, bool upper=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cholesky_inverse_out(const Tensor& self, const Tensor& out, const std::optional<bool>& upper = {}) {
  static const Operator op = Operator::find("aten::cholesky_inverse", "out");
  return Call(op).tensor(self).option(upper, &Call::flag).tensor(out).one();
}

// cholesky.out(Tensor self, bool upper=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cholesky_out(const Tensor& self, const Tensor& out, const std::optional<bool>& upper = {}) {
  static const Operator op = Operator::find("aten::cholesky", "out");
  return Call(op).tensor(self).option(upper, &Call::flag).tensor(out).one();
}

// cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor
inline Tensor cholesky_solve(const Tensor& self, const Tensor& input2, const std::optional<bool>& upper = {}) {
  static const Operator op = Operator::find("aten::cholesky_solve");
  return Call(op).tensor(self).tensor(input2).option(upper, &Call::flag).one();
}

// cholesky_solve.out(Tensor self, Tensor input2, bool upper=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cholesky_solve_out(const Tensor& self, const Tensor& input2, const Tensor& out,
    const std::optional<bool>& upper = {}) {
  static const Operator op = Operator::find("aten::cholesky_solve", "out");
  return Call(op).tensor(self).tensor(input2).option(upper, &Call::flag).tensor(out).one();
}

// chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]
inline std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  static const Operator op = Operator::find("aten::chunk");
  return Call(op).tensor(self).integer(chunks).integer(dim).list();
}

// clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
inline Tensor clamp(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static const Operator op = Operator::find("aten::clamp");
  return Call(op).tensor(self).option(min, &Call::scalar).option(max, &Call::scalar).one();
}

// clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)
inline Tensor clamp_(const Tensor& self, const std::optional<Scalar>& min = {},
    const std::optional<Scalar>& max = {}) {
  static const Operator op = Operator::find("aten::clamp_");
  return Call(op).tensor(self).option(min, &Call::scalar).option(max, &Call::scalar).one();
}

// clamp_max(Tensor self, Scalar max) -> Tensor
inline Tensor clamp_max(const Tensor& self, const Scalar& max) {
  static const Operator op = Operator::find("aten::clamp_max");
  return Call(op).tensor(self).scalar(max).one();
}

// clamp_max_(Tensor(a!) self, Scalar max) -> Tensor(a!)
inline Tensor clamp_max_(const Tensor& self, const Scalar& max) {
  static const Operator op = Operator::find("aten::clamp_max_");
  return Call(op).tensor(self).scalar(max).one();
}

// clamp_max.out(Tensor self, Scalar max, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor clamp_max_out(const Tensor& self, const Scalar& max, const Tensor& out) {
  static const Operator op = Operator::find("aten::clamp_max", "out");
  return Call(op).tensor(self).scalar(max).tensor(out).one();
}

// clamp_max.Tensor(Tensor self, Tensor max) -> Tensor
inline Tensor clamp_max_tensor(const Tensor& self, const Tensor& max) {
  static const Operator op = Operator::find("aten::clamp_max", "Tensor");
  return Call(op).tensor(self).tensor(max).one();
}

// clamp_max_.Tensor(Tensor(a!) self, Tensor max) -> Tensor(a!)
inline Tensor clamp_max_tensor_(const Tensor& self, const Tensor& max) {
  static const Operator op = Operator::find("aten::clamp_max_", "Tensor");
  return Call(op).tensor(self).tensor(max).one();
}

// clamp_max.Tensor_out(Tensor self, Tensor max, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor clamp_max_tensor_out(const Tensor& self, const Tensor& max, const Tensor& out) {
  static const Operator op = Operator::find("aten::clamp_max", "Tensor_out");
  return Call(op).tensor(self).tensor(max).tensor(out).one();
}

// clamp_min(Tensor self, Scalar min) -> Tensor
inline Tensor clamp_min(const Tensor& self, const Scalar& min) {
  static const Operator op = Operator::find("aten::clamp_min");
  return Call(op).tensor(self).scalar(min).one();
}

// clamp_min_(Tensor(a!) self, Scalar min) -> Tensor(a!)
inline Tensor clamp_min_(const Tensor& self, const Scalar& min) {
  static const Operator op = Operator::find("aten::clamp_min_");
  return Call(op).tensor(self).scalar(min).one();
}

// clamp_min.out(Tensor self, Scalar min, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor clamp_min_out(const Tensor& self, const Scalar& min, const Tensor& out) {
  static const Operator op = Operator::find("aten::clamp_min", "out");
  return Call(op).tensor(self).scalar(min).tensor(out).one();
}

// clamp_min.Tensor(Tensor self, Tensor min) -> Tensor
inline Tensor clamp_min_tensor(const Tensor& self, const Tensor& min) {
  static const Operator op = Operator::find("aten::clamp_min", "Tensor");
  return Call(op).tensor(self).tensor(min).one();
}

// clamp_min_.Tensor(Tensor(a!) self, Tensor min) -> Tensor(a!)
inline Tensor clamp_min_tensor_(const Tensor& self, const Tensor& min) {
  static const Operator op = Operator::find("aten::clamp_min_", "Tensor");
  return Call(op).tensor(self).tensor(min).one();
}

// clamp_min.Tensor_out(Tensor self, Tensor min, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor clamp_min_tensor_out(const Tensor& self, const Tensor& min, const Tensor& out) {
  static const Operator op = Operator::find("aten::clamp_min", "Tensor_out");
  return Call(op).tensor(self).tensor(min).tensor(out).one();
}

// clamp.out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor clamp_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& min = {},
    const std::optional<Scalar>& max = {}) {
  static const Operator op = Operator::find("aten::clamp", "out");
  return Call(op).tensor(self).option(min, &Call::scalar).option(max, &Call::scalar).tensor(out).one();
}

// clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor
inline Tensor clamp_tensor(const Tensor& self, const Tensor& min = Tensor(), const Tensor& max = Tensor()) {
  static const Operator op = Operator::find("aten::clamp", "Tensor");
  return Call(op).tensor(self).tensor(min).tensor(max).one();
}

// clamp_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)
inline Tensor clamp_tensor_(const Tensor& self, const Tensor& min = Tensor(), const Tensor& max = Tensor()) {
  static const Operator op = Operator::find("aten::clamp_", "Tensor");
  return Call(op).tensor(self).tensor(min).tensor(max).one();
}

// clamp.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor clamp_tensor_out(const Tensor& self, const Tensor& out, const Tensor& min = Tensor(),
    const Tensor& max = Tensor()) {
  static const Operator op = Operator::find("aten::clamp", "Tensor_out");
  return Call(op).tensor(self).tensor(min).tensor(max).tensor(out).one();
}

// clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
inline Tensor clip(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static const Operator op = Operator::find("aten::clip");
  return Call(op).tensor(self).option(min, &Call::scalar).option(max, &Call::scalar).one();
}

// clip_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)
inline Tensor clip_(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static const Operator op = Operator::find("aten::clip_");
  return Call(op).tensor(self).option(min, &Call::scalar).option(max, &Call::scalar).one();
}

// clip.out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor clip_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& min = {},
    const std::optional<Scalar>& max = {}) {
  static const Operator op = Operator::find("aten::clip", "out");
  return Call(op).tensor(self).option(min, &Call::scalar).option(max, &Call::scalar).tensor(out).one();
}

// clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor
inline Tensor clip_tensor(const Tensor& self, const Tensor& min = Tensor(), const Tensor& max = Tensor()) {
  static const Operator op = Operator::find("aten::clip", "Tensor");
  return Call(op).tensor(self).tensor(min).tensor(max).one();
}

// clip_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)
inline Tensor clip_tensor_(const Tensor& self, const Tensor& min = Tensor(), const Tensor& max = Tensor()) {
  static const Operator op = Operator::find("aten::clip_", "Tensor");
  return Call(op).tensor(self).tensor(min).tensor(max).one();
}

// clip.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor clip_tensor_out(const Tensor& self, const Tensor& out, const Tensor& min = Tensor(),
    const Tensor& max = Tensor()) {
  static const Operator op = Operator::find("aten::clip", "Tensor_out");
  return Call(op).tensor(self).tensor(min).tensor(max).tensor(out).one();
}

// clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor
inline Tensor clone(const Tensor& self, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::clone");
  return Call(op).tensor(self).option(memory_format, &Call::memory_format).one();
}

// coalesce(Tensor(a) self) -> Tensor(a)
inline Tensor coalesce(const Tensor& self) {
  static const Operator op = Operator::find("aten::coalesce");
  return Call(op).tensor(self).one();
}

// col_indices(Tensor(a) self) -> Tensor(a)
inline Tensor col_indices(const Tensor& self) {
  static const Operator op = Operator::find("aten::col_indices");
  return Call(op).tensor(self).one();
}

// col_indices_copy(Tensor self) -> Tensor
inline Tensor col_indices_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::col_indices_copy");
  return Call(op).tensor(self).one();
}

// column_stack(Tensor[] tensors) -> Tensor
inline Tensor column_stack(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::column_stack");
  return Call(op).tensors(tensors).one();
}

// column_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor column_stack_out(const TensorList& tensors, const Tensor& out) {
  static const Operator op = Operator::find("aten::column_stack", "out");
  return Call(op).tensors(tensors).tensor(out).one();
}

// combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor
inline Tensor combinations(const Tensor& self, const std::optional<int64_t>& r = {},
    const std::optional<bool>& with_replacement = {}) {
  static const Operator op = Operator::find("aten::combinations");
  return Call(op).tensor(self).option(r, &Call::integer).option(with_replacement, &Call::flag).one();
}

// complex(Tensor real, Tensor imag) -> Tensor
inline Tensor complex(const Tensor& real, const Tensor& imag) {
  static const Operator op = Operator::find("aten::complex");
  return Call(op).tensor(real).tensor(imag).one();
}

// complex.out(Tensor real, Tensor imag, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor complex_out(const Tensor& real, const Tensor& imag, const Tensor& out) {
  static const Operator op = Operator::find("aten::complex", "out");
  return Call(op).tensor(real).tensor(imag).tensor(out).one();
}

// concat(Tensor[] tensors, int dim=0) -> Tensor
inline Tensor concat(const TensorList& tensors, int64_t dim) {
  static const Operator op = Operator::find("aten::concat");
  return Call(op).tensors(tensors).integer(dim).one();
}

// concat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor concat_out(const TensorList& tensors, const Tensor& out, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::concat", "out");
  return Call(op).tensors(tensors).option(dim, &Call::integer).tensor(out).one();
}

// concatenate(Tensor[] tensors, int dim=0) -> Tensor
inline Tensor concatenate(const TensorList& tensors, int64_t dim) {
  static const Operator op = Operator::find("aten::concatenate");
  return Call(op).tensors(tensors).integer(dim).one();
}

// concatenate.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor concatenate_out(const TensorList& tensors, const Tensor& out, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::concatenate", "out");
  return Call(op).tensors(tensors).option(dim, &Call::integer).tensor(out).one();
}

// conj(Tensor(a) self) -> Tensor(a)
inline Tensor conj(const Tensor& self) {
  static const Operator op = Operator::find("aten::conj");
  return Call(op).tensor(self).one();
}

// conj_physical(Tensor self) -> Tensor
inline Tensor conj_physical(const Tensor& self) {
  static const Operator op = Operator::find("aten::conj_physical");
  return Call(op).tensor(self).one();
}

// conj_physical_(Tensor(a!) self) -> Tensor(a!)
inline Tensor conj_physical_(const Tensor& self) {
  static const Operator op = Operator::find("aten::conj_physical_");
  return Call(op).tensor(self).one();
}

// conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor conj_physical_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::conj_physical", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)
inline Tensor contiguous(const Tensor& self, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::contiguous");
  return Call(op).tensor(self).option(memory_format, &Call::memory_format).one();
}

// copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)
inline Tensor copy_(const Tensor& self, const Tensor& src, const std::optional<bool>& non_blocking = {}) {
  static const Operator op = Operator::find("aten::copy_");
  return Call(op).tensor(self).tensor(src).option(non_blocking, &Call::flag).one();
}

// copysign.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor copysign(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::copysign", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// copysign_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor copysign_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::copysign_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// copysign.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor copysign_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::copysign", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// copysign.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor copysign_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::copysign", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// copysign_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor copysign_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::copysign_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// copysign.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor copysign_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::copysign", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// corrcoef(Tensor self) -> Tensor
inline Tensor corrcoef(const Tensor& self) {
  static const Operator op = Operator::find("aten::corrcoef");
  return Call(op).tensor(self).one();
}

// cos(Tensor self) -> Tensor
inline Tensor cos(const Tensor& self) {
  static const Operator op = Operator::find("aten::cos");
  return Call(op).tensor(self).one();
}

// cos_(Tensor(a!) self) -> Tensor(a!)
inline Tensor cos_(const Tensor& self) {
  static const Operator op = Operator::find("aten::cos_");
  return Call(op).tensor(self).one();
}

// cos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cos_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::cos", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// cosh(Tensor self) -> Tensor
inline Tensor cosh(const Tensor& self) {
  static const Operator op = Operator::find("aten::cosh");
  return Call(op).tensor(self).one();
}

// cosh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor cosh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::cosh_");
  return Call(op).tensor(self).one();
}

// cosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cosh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::cosh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// count_nonzero(Tensor self, int? dim=None) -> Tensor
inline Tensor count_nonzero(const Tensor& self, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::count_nonzero");
  return Call(op).tensor(self).option(dim, &Call::integer).one();
}

// count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor
inline Tensor count_nonzero_dim(const Tensor& self, const std::vector<int64_t>& dim) {
  static const Operator op = Operator::find("aten::count_nonzero", "dim_IntList");
  return Call(op).tensor(self).integers(dim).one();
}

// cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor
inline Tensor cov(const Tensor& self, const std::optional<int64_t>& correction = {},
    const Tensor& fweights = Tensor(), const Tensor& aweights = Tensor()) {
  static const Operator op = Operator::find("aten::cov");
  return Call(op).tensor(self).option(correction, &Call::integer).tensor(fweights).tensor(aweights).one();
}

// cross(Tensor self, Tensor other, int? dim=None) -> Tensor
inline Tensor cross(const Tensor& self, const Tensor& other, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::cross");
  return Call(op).tensor(self).tensor(other).option(dim, &Call::integer).one();
}

// cross.out(Tensor self, Tensor other, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cross_out(const Tensor& self, const Tensor& other, const Tensor& out,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::cross", "out");
  return Call(op).tensor(self).tensor(other).option(dim, &Call::integer).tensor(out).one();
}

// crow_indices(Tensor(a) self) -> Tensor(a)
inline Tensor crow_indices(const Tensor& self) {
  static const Operator op = Operator::find("aten::crow_indices");
  return Call(op).tensor(self).one();
}

// crow_indices_copy(Tensor self) -> Tensor
inline Tensor crow_indices_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::crow_indices_copy");
  return Call(op).tensor(self).one();
}

// cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::cummax");
  return Call(op).tensor(self).integer(dim).two();
}

// cummax.out(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!)
//     indices)
inline std::tuple<Tensor, Tensor> cummax_out(const Tensor& self, int64_t dim, const Tensor& values,
    const Tensor& indices) {
  static const Operator op = Operator::find("aten::cummax", "out");
  return Call(op).tensor(self).integer(dim).tensor(values).tensor(indices).two();
}

// cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::cummin");
  return Call(op).tensor(self).integer(dim).two();
}

// cummin.out(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!)
//     indices)
inline std::tuple<Tensor, Tensor> cummin_out(const Tensor& self, int64_t dim, const Tensor& values,
    const Tensor& indices) {
  static const Operator op = Operator::find("aten::cummin", "out");
  return Call(op).tensor(self).integer(dim).tensor(values).tensor(indices).two();
}

// cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
inline Tensor cumprod(const Tensor& self, int64_t dim, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::cumprod");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).one();
}

// cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)
inline Tensor cumprod_(const Tensor& self, int64_t dim, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::cumprod_");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).one();
}

// cumprod.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor cumprod_out(const Tensor& self, int64_t dim, const Tensor& out,
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::cumprod", "out");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).tensor(out).one();
}

// cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
inline Tensor cumsum(const Tensor& self, int64_t dim, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::cumsum");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).one();
}

// cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)
inline Tensor cumsum_(const Tensor& self, int64_t dim, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::cumsum_");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).one();
}

// cumsum.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor cumsum_out(const Tensor& self, int64_t dim, const Tensor& out,
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::cumsum", "out");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).tensor(out).one();
}

// cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor
inline Tensor cumulative_trapezoid_dx(const Tensor& y, const std::optional<Scalar>& dx = {},
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::cumulative_trapezoid", "dx");
  return Call(op).tensor(y).option(dx, &Call::scalar).option(dim, &Call::integer).one();
}

// cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor
inline Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::cumulative_trapezoid", "x");
  return Call(op).tensor(y).tensor(x).option(dim, &Call::integer).one();
}

// deg2rad(Tensor self) -> Tensor
inline Tensor deg2rad(const Tensor& self) {
  static const Operator op = Operator::find("aten::deg2rad");
  return Call(op).tensor(self).one();
}

// deg2rad_(Tensor(a!) self) -> Tensor(a!)
inline Tensor deg2rad_(const Tensor& self) {
  static const Operator op = Operator::find("aten::deg2rad_");
  return Call(op).tensor(self).one();
}

// deg2rad.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor deg2rad_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::deg2rad", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// dense_dim(Tensor self) -> int
inline int64_t dense_dim(const Tensor& self) {
  static const Operator op = Operator::find("aten::dense_dim");
  return Call(op).tensor(self).number();
}

// det(Tensor self) -> Tensor
inline Tensor det(const Tensor& self) {
  static const Operator op = Operator::find("aten::det");
  return Call(op).tensor(self).one();
}

// detach(Tensor(a) self) -> Tensor(a)
inline Tensor detach(const Tensor& self) {
  static const Operator op = Operator::find("aten::detach");
  return Call(op).tensor(self).one();
}

// detach_(Tensor(a!) self) -> Tensor(a!)
inline Tensor detach_(const Tensor& self) {
  static const Operator op = Operator::find("aten::detach_");
  return Call(op).tensor(self).one();
}

// detach_copy(Tensor self) -> Tensor
inline Tensor detach_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::detach_copy");
  return Call(op).tensor(self).one();
}

// diag(Tensor self, int diagonal=0) -> Tensor
inline Tensor diag(const Tensor& self, const std::optional<int64_t>& diagonal = {}) {
  static const Operator op = Operator::find("aten::diag");
  return Call(op).tensor(self).option(diagonal, &Call::integer).one();
}

// diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor
inline Tensor diag_embed(const Tensor& self, const std::optional<int64_t>& offset = {},
    const std::optional<int64_t>& dim1 = {}, const std::optional<int64_t>& dim2 = {}) {
  static const Operator op = Operator::find("aten::diag_embed");
  return Call(op).tensor(self).option(offset, &Call::integer).option(dim1, &Call::integer)
      .option(dim2, &Call::integer).one();
}

// diag.out(Tensor self, int diagonal=0, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor diag_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& diagonal = {}) {
  static const Operator op = Operator::find("aten::diag", "out");
  return Call(op).tensor(self).option(diagonal, &Call::integer).tensor(out).one();
}

// diagflat(Tensor self, int offset=0) -> Tensor
inline Tensor diagflat(const Tensor& self, const std::optional<int64_t>& offset = {}) {
  static const Operator op = Operator::find("aten::diagflat");
  return Call(op).tensor(self).option(offset, &Call::integer).one();
}

// diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)
inline Tensor diagonal(const Tensor& self, const std::optional<int64_t>& offset = {},
    const std::optional<int64_t>& dim1 = {}, const std::optional<int64_t>& dim2 = {}) {
  static const Operator op = Operator::find("aten::diagonal");
  return Call(op).tensor(self).option(offset, &Call::integer).option(dim1, &Call::integer)
      .option(dim2, &Call::integer).one();
}

// diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor
inline Tensor diagonal_copy(const Tensor& self, const std::optional<int64_t>& offset = {},
    const std::optional<int64_t>& dim1 = {}, const std::optional<int64_t>& dim2 = {}) {
  static const Operator op = Operator::find("aten::diagonal_copy");
  return Call(op).tensor(self).option(offset, &Call::integer).option(dim1, &Call::integer)
      .option(dim2, &Call::integer).one();
}

// diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor
inline Tensor diagonal_scatter(const Tensor& self, const Tensor& src, const std::optional<int64_t>& offset = {},
    const std::optional<int64_t>& dim1 = {}, const std::optional<int64_t>& dim2 = {}) {
  static const Operator op = Operator::find("aten::diagonal_scatter");
  return Call(op).tensor(self).tensor(src).option(offset, &Call::integer).option(dim1, &Call::integer)
      .option(dim2, &Call::integer).one();
}

// diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor
inline Tensor diff(const Tensor& self, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const Tensor& prepend = Tensor(), const Tensor& append = Tensor()) {
  static const Operator op = Operator::find("aten::diff");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).tensor(prepend).tensor(append)
      .one();
}

// diff.out(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor diff_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& n = {},
    const std::optional<int64_t>& dim = {}, const Tensor& prepend = Tensor(), const Tensor& append = Tensor()) {
  static const Operator op = Operator::find("aten::diff", "out");
  return Call(op).tensor(self).option(n, &Call::integer).option(dim, &Call::integer).tensor(prepend).tensor(append)
      .tensor(out).one();
}

// digamma(Tensor self) -> Tensor
inline Tensor digamma(const Tensor& self) {
  static const Operator op = Operator::find("aten::digamma");
  return Call(op).tensor(self).one();
}

// digamma_(Tensor(a!) self) -> Tensor(a!)
inline Tensor digamma_(const Tensor& self) {
  static const Operator op = Operator::find("aten::digamma_");
  return Call(op).tensor(self).one();
}

// digamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor digamma_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::digamma", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// dist(Tensor self, Tensor other, Scalar p=2) -> Tensor
inline Tensor dist(const Tensor& self, const Tensor& other, const std::optional<Scalar>& p = {}) {
  static const Operator op = Operator::find("aten::dist");
  return Call(op).tensor(self).tensor(other).option(p, &Call::scalar).one();
}

// div.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor div(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::div", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor div_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::div_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor
inline Tensor div_mode(const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding_mode) {
  static const Operator op = Operator::find("aten::div", "Tensor_mode");
  return Call(op).tensor(self).tensor(other).nullable(rounding_mode, &Call::string).one();
}

// div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)
inline Tensor div_mode_(const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding_mode) {
  static const Operator op = Operator::find("aten::div_", "Tensor_mode");
  return Call(op).tensor(self).tensor(other).nullable(rounding_mode, &Call::string).one();
}

// div.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)
inline Tensor div_mode_out(const Tensor& self, const Tensor& other,
    const std::optional<std::string>& rounding_mode, const Tensor& out) {
  static const Operator op = Operator::find("aten::div", "out_mode");
  return Call(op).tensor(self).tensor(other).nullable(rounding_mode, &Call::string).tensor(out).one();
}

// div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor div_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::div", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// div.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor div_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::div", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor div_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::div_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor
inline Tensor div_scalar_mode(const Tensor& self, const Scalar& other,
    const std::optional<std::string>& rounding_mode) {
  static const Operator op = Operator::find("aten::div", "Scalar_mode");
  return Call(op).tensor(self).scalar(other).nullable(rounding_mode, &Call::string).one();
}

// div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)
inline Tensor div_scalar_mode_(const Tensor& self, const Scalar& other,
    const std::optional<std::string>& rounding_mode) {
  static const Operator op = Operator::find("aten::div_", "Scalar_mode");
  return Call(op).tensor(self).scalar(other).nullable(rounding_mode, &Call::string).one();
}

// divide.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor divide(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::divide", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor divide_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::divide_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor
inline Tensor divide_mode(const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding_mode) {
  static const Operator op = Operator::find("aten::divide", "Tensor_mode");
  return Call(op).tensor(self).tensor(other).nullable(rounding_mode, &Call::string).one();
}

// divide_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)
inline Tensor divide_mode_(const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding_mode) {
  static const Operator op = Operator::find("aten::divide_", "Tensor_mode");
  return Call(op).tensor(self).tensor(other).nullable(rounding_mode, &Call::string).one();
}

// divide.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)
inline Tensor divide_mode_out(const Tensor& self, const Tensor& other,
    const std::optional<std::string>& rounding_mode, const Tensor& out) {
  static const Operator op = Operator::find("aten::divide", "out_mode");
  return Call(op).tensor(self).tensor(other).nullable(rounding_mode, &Call::string).tensor(out).one();
}

// divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor divide_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::divide", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// divide.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor divide_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::divide", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor divide_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::divide_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor
inline Tensor divide_scalar_mode(const Tensor& self, const Scalar& other,
    const std::optional<std::string>& rounding_mode) {
  static const Operator op = Operator::find("aten::divide", "Scalar_mode");
  return Call(op).tensor(self).scalar(other).nullable(rounding_mode, &Call::string).one();
}

// divide_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)
inline Tensor divide_scalar_mode_(const Tensor& self, const Scalar& other,
    const std::optional<std::string>& rounding_mode) {
  static const Operator op = Operator::find("aten::divide_", "Scalar_mode");
  return Call(op).tensor(self).scalar(other).nullable(rounding_mode, &Call::string).one();
}

// dot(Tensor self, Tensor tensor) -> Tensor
inline Tensor dot(const Tensor& self, const Tensor& tensor) {
  static const Operator op = Operator::find("aten::dot");
  return Call(op).tensor(self).tensor(tensor).one();
}

// dot.out(Tensor self, Tensor tensor, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor dot_out(const Tensor& self, const Tensor& tensor, const Tensor& out) {
  static const Operator op = Operator::find("aten::dot", "out");
  return Call(op).tensor(self).tensor(tensor).tensor(out).one();
}

// dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]
inline std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  static const Operator op = Operator::find("aten::dsplit", "int");
  return Call(op).tensor(self).integer(sections).list();
}

// dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]
inline std::vector<Tensor> dsplit_array(const Tensor& self, const std::vector<int64_t>& indices) {
  static const Operator op = Operator::find("aten::dsplit", "array");
  return Call(op).tensor(self).integers(indices).list();
}

// dstack(Tensor[] tensors) -> Tensor
inline Tensor dstack(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::dstack");
  return Call(op).tensors(tensors).one();
}

// dstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor dstack_out(const TensorList& tensors, const Tensor& out) {
  static const Operator op = Operator::find("aten::dstack", "out");
  return Call(op).tensors(tensors).tensor(out).one();
}

// einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor
inline Tensor einsum(const std::string& equation, const TensorList& tensors,
    const std::optional<std::vector<int64_t>>& path = {}) {
  static const Operator op = Operator::find("aten::einsum");
  return Call(op).string(equation).tensors(tensors).option(path, &Call::integers).one();
}

// empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor empty(const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::empty", "memory_format");
  return Call(op).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor empty_like(const Tensor& self, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::empty_like");
  return Call(op).tensor(self).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor empty_out(const std::vector<int64_t>& size, const Tensor& out,
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::empty", "out");
  return Call(op).integers(size).option(memory_format, &Call::memory_format).tensor(out).one();
}

// empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor empty_permuted(const std::vector<int64_t>& size, const std::vector<int64_t>& physical_layout,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::empty_permuted");
  return Call(op).integers(size).integers(physical_layout).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor empty_strided(const std::vector<int64_t>& size, const std::vector<int64_t>& stride,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::empty_strided");
  return Call(op).integers(size).integers(stride).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// eq.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor eq(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::eq", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// eq_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor eq_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::eq_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// eq.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor eq_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::eq", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// eq.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor eq_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::eq", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor eq_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::eq_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// eq.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor eq_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::eq", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// equal(Tensor self, Tensor other) -> bool
inline bool equal(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::equal");
  return Call(op).tensor(self).tensor(other).truth();
}

// erf(Tensor self) -> Tensor
inline Tensor erf(const Tensor& self) {
  static const Operator op = Operator::find("aten::erf");
  return Call(op).tensor(self).one();
}

// erf_(Tensor(a!) self) -> Tensor(a!)
inline Tensor erf_(const Tensor& self) {
  static const Operator op = Operator::find("aten::erf_");
  return Call(op).tensor(self).one();
}

// erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor erf_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::erf", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// erfc(Tensor self) -> Tensor
inline Tensor erfc(const Tensor& self) {
  static const Operator op = Operator::find("aten::erfc");
  return Call(op).tensor(self).one();
}

// erfc_(Tensor(a!) self) -> Tensor(a!)
inline Tensor erfc_(const Tensor& self) {
  static const Operator op = Operator::find("aten::erfc_");
  return Call(op).tensor(self).one();
}

// erfc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor erfc_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::erfc", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// erfinv(Tensor self) -> Tensor
inline Tensor erfinv(const Tensor& self) {
  static const Operator op = Operator::find("aten::erfinv");
  return Call(op).tensor(self).one();
}

// erfinv_(Tensor(a!) self) -> Tensor(a!)
inline Tensor erfinv_(const Tensor& self) {
  static const Operator op = Operator::find("aten::erfinv_");
  return Call(op).tensor(self).one();
}

// erfinv.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor erfinv_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::erfinv", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// exp(Tensor self) -> Tensor
inline Tensor exp(const Tensor& self) {
  static const Operator op = Operator::find("aten::exp");
  return Call(op).tensor(self).one();
}

// exp2(Tensor self) -> Tensor
inline Tensor exp2(const Tensor& self) {
  static const Operator op = Operator::find("aten::exp2");
  return Call(op).tensor(self).one();
}

// exp2_(Tensor(a!) self) -> Tensor(a!)
inline Tensor exp2_(const Tensor& self) {
  static const Operator op = Operator::find("aten::exp2_");
  return Call(op).tensor(self).one();
}

// exp2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor exp2_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::exp2", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// exp_(Tensor(a!) self) -> Tensor(a!)
inline Tensor exp_(const Tensor& self) {
  static const Operator op = Operator::find("aten::exp_");
  return Call(op).tensor(self).one();
}

// exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor exp_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::exp", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)
inline Tensor expand(const Tensor& self, const std::vector<int64_t>& size) {
  static const Operator op = Operator::find("aten::expand");
  return Call(op).tensor(self).integers(size).one();
}

// expand_as(Tensor(a) self, Tensor other) -> Tensor(a)
inline Tensor expand_as(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::expand_as");
  return Call(op).tensor(self).tensor(other).one();
}

// expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor
inline Tensor expand_copy(const Tensor& self, const std::vector<int64_t>& size) {
  static const Operator op = Operator::find("aten::expand_copy");
  return Call(op).tensor(self).integers(size).one();
}

// expm1(Tensor self) -> Tensor
inline Tensor expm1(const Tensor& self) {
  static const Operator op = Operator::find("aten::expm1");
  return Call(op).tensor(self).one();
}

// expm1_(Tensor(a!) self) -> Tensor(a!)
inline Tensor expm1_(const Tensor& self) {
  static const Operator op = Operator::find("aten::expm1_");
  return Call(op).tensor(self).one();
}

// expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor expm1_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::expm1", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// exponential_(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> Tensor(a!)
inline Tensor exponential_(const Tensor& self, const std::optional<double>& lambd = {},
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::exponential_");
  return Call(op).tensor(self).option(lambd, &Call::real).generator(generator).one();
}

// eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) ->
//     Tensor
inline Tensor eye(int64_t n, const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::eye");
  return Call(op).integer(n).option(dtype, &Call::dtype).option(layout, &Call::layout).option(device, &Call::device)
      .option(pin_memory, &Call::flag).one();
}

// eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor eye_m(int64_t n, int64_t m, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::eye", "m");
  return Call(op).integer(n).integer(m).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor eye_m_out(int64_t n, int64_t m, const Tensor& out) {
  static const Operator op = Operator::find("aten::eye", "m_out");
  return Call(op).integer(n).integer(m).tensor(out).one();
}

// eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor eye_out(int64_t n, const Tensor& out) {
  static const Operator op = Operator::find("aten::eye", "out");
  return Call(op).integer(n).tensor(out).one();
}

// fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int
//     quant_max) -> Tensor
inline Tensor fake_quantize_per_channel_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point,
    int64_t axis, int64_t quant_min, int64_t quant_max) {
  static const Operator op = Operator::find("aten::fake_quantize_per_channel_affine");
  return Call(op).tensor(self).tensor(scale).tensor(zero_point).integer(axis).integer(quant_min).integer(quant_max)
      .one();
}

// fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) ->
//     Tensor
inline Tensor fake_quantize_per_tensor_affine(const Tensor& self, double scale, int64_t zero_point,
    int64_t quant_min, int64_t quant_max) {
  static const Operator op = Operator::find("aten::fake_quantize_per_tensor_affine");
  return Call(op).tensor(self).real(scale).integer(zero_point).integer(quant_min).integer(quant_max).one();
}

// fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int
//     quant_max) -> Tensor
inline Tensor fake_quantize_per_tensor_affine_tensor_qparams(const Tensor& self, const Tensor& scale,
    const Tensor& zero_point, int64_t quant_min, int64_t quant_max) {
  static const Operator op = Operator::find("aten::fake_quantize_per_tensor_affine", "tensor_qparams");
  return Call(op).tensor(self).tensor(scale).tensor(zero_point).integer(quant_min).integer(quant_max).one();
}

// fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)
inline Tensor fill_(const Tensor& self, const Tensor& value) {
  static const Operator op = Operator::find("aten::fill_", "Tensor");
  return Call(op).tensor(self).tensor(value).one();
}

// fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)
inline Tensor fill_diagonal_(const Tensor& self, const Scalar& fill_value, const std::optional<bool>& wrap = {}) {
  static const Operator op = Operator::find("aten::fill_diagonal_");
  return Call(op).tensor(self).scalar(fill_value).option(wrap, &Call::flag).one();
}

// fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)
inline Tensor fill_scalar_(const Tensor& self, const Scalar& value) {
  static const Operator op = Operator::find("aten::fill_", "Scalar");
  return Call(op).tensor(self).scalar(value).one();
}

// fix(Tensor self) -> Tensor
inline Tensor fix(const Tensor& self) {
  static const Operator op = Operator::find("aten::fix");
  return Call(op).tensor(self).one();
}

// fix_(Tensor(a!) self) -> Tensor(a!)
inline Tensor fix_(const Tensor& self) {
  static const Operator op = Operator::find("aten::fix_");
  return Call(op).tensor(self).one();
}

// fix.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor fix_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::fix", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)
inline Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  static const Operator op = Operator::find("aten::flatten", "using_ints");
  return Call(op).tensor(self).integer(start_dim).integer(end_dim).one();
}

// flip(Tensor self, int[] dims) -> Tensor
inline Tensor flip(const Tensor& self, const std::vector<int64_t>& dims) {
  static const Operator op = Operator::find("aten::flip");
  return Call(op).tensor(self).integers(dims).one();
}

// fliplr(Tensor self) -> Tensor
inline Tensor fliplr(const Tensor& self) {
  static const Operator op = Operator::find("aten::fliplr");
  return Call(op).tensor(self).one();
}

// flipud(Tensor self) -> Tensor
inline Tensor flipud(const Tensor& self) {
  static const Operator op = Operator::find("aten::flipud");
  return Call(op).tensor(self).one();
}

// float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor
inline Tensor float_power(const Tensor& self, const Tensor& exponent) {
  static const Operator op = Operator::find("aten::float_power", "Tensor_Tensor");
  return Call(op).tensor(self).tensor(exponent).one();
}

// float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)
inline Tensor float_power_(const Tensor& self, const Tensor& exponent) {
  static const Operator op = Operator::find("aten::float_power_", "Tensor");
  return Call(op).tensor(self).tensor(exponent).one();
}

// float_power.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor float_power_out(const Tensor& self, const Tensor& exponent, const Tensor& out) {
  static const Operator op = Operator::find("aten::float_power", "Tensor_Tensor_out");
  return Call(op).tensor(self).tensor(exponent).tensor(out).one();
}

// float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor
inline Tensor float_power_scalar(const Tensor& self, const Scalar& exponent) {
  static const Operator op = Operator::find("aten::float_power", "Tensor_Scalar");
  return Call(op).tensor(self).scalar(exponent).one();
}

// float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)
inline Tensor float_power_scalar_(const Tensor& self, const Scalar& exponent) {
  static const Operator op = Operator::find("aten::float_power_", "Scalar");
  return Call(op).tensor(self).scalar(exponent).one();
}

// float_power.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor float_power_scalar_out(const Tensor& self, const Scalar& exponent, const Tensor& out) {
  static const Operator op = Operator::find("aten::float_power", "Tensor_Scalar_out");
  return Call(op).tensor(self).scalar(exponent).tensor(out).one();
}

// floor(Tensor self) -> Tensor
inline Tensor floor(const Tensor& self) {
  static const Operator op = Operator::find("aten::floor");
  return Call(op).tensor(self).one();
}

// floor_(Tensor(a!) self) -> Tensor(a!)
inline Tensor floor_(const Tensor& self) {
  static const Operator op = Operator::find("aten::floor_");
  return Call(op).tensor(self).one();
}

// floor_divide(Tensor self, Tensor other) -> Tensor
inline Tensor floor_divide(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::floor_divide");
  return Call(op).tensor(self).tensor(other).one();
}

// floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor floor_divide_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::floor_divide_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// floor_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor floor_divide_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::floor_divide", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// floor_divide.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor floor_divide_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::floor_divide", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor floor_divide_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::floor_divide_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// floor.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor floor_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::floor", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// fmax(Tensor self, Tensor other) -> Tensor
inline Tensor fmax(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::fmax");
  return Call(op).tensor(self).tensor(other).one();
}

// fmax.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor fmax_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::fmax", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// fmin(Tensor self, Tensor other) -> Tensor
inline Tensor fmin(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::fmin");
  return Call(op).tensor(self).tensor(other).one();
}

// fmin.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor fmin_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::fmin", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// fmod.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor fmod(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::fmod", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor fmod_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::fmod_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// fmod.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor fmod_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::fmod", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// fmod.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor fmod_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::fmod", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor fmod_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::fmod_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// fmod.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor fmod_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::fmod", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// frac(Tensor self) -> Tensor
inline Tensor frac(const Tensor& self) {
  static const Operator op = Operator::find("aten::frac");
  return Call(op).tensor(self).one();
}

// frac_(Tensor(a!) self) -> Tensor(a!)
inline Tensor frac_(const Tensor& self) {
  static const Operator op = Operator::find("aten::frac_");
  return Call(op).tensor(self).one();
}

// frac.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor frac_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::frac", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)
inline std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  static const Operator op = Operator::find("aten::frexp", "Tensor");
  return Call(op).tensor(self).two();
}

// frexp.Tensor_out(Tensor self, *, Tensor(a!) mantissa, Tensor(b!) exponent) -> (Tensor(a!) mantissa, Tensor(b!)
//     exponent)
inline std::tuple<Tensor, Tensor> frexp_out(const Tensor& self, const Tensor& mantissa, const Tensor& exponent) {
  static const Operator op = Operator::find("aten::frexp", "Tensor_out");
  return Call(op).tensor(self).tensor(mantissa).tensor(exponent).two();
}

// frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
inline Tensor frobenius_norm(const Tensor& self, const std::vector<int64_t>& dim,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::frobenius_norm", "dim");
  return Call(op).tensor(self).integers(dim).option(keepdim, &Call::flag).one();
}

// frobenius_norm.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor frobenius_norm_out(const Tensor& self, const std::vector<int64_t>& dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::frobenius_norm", "out");
  return Call(op).tensor(self).integers(dim).option(keepdim, &Call::flag).tensor(out).one();
}

// from_file(str filename, bool? shared=None, int? size=0, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor from_file(const std::string& filename, const std::optional<bool>& shared = {},
    const std::optional<int64_t>& size = {}, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::from_file");
  return Call(op).string(filename).option(shared, &Call::flag).option(size, &Call::integer)
      .option(dtype, &Call::dtype).option(layout, &Call::layout).option(device, &Call::device)
      .option(pin_memory, &Call::flag).one();
}

// full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
//     bool? pin_memory=None) -> Tensor
inline Tensor full(const std::vector<int64_t>& size, const Scalar& fill_value,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::full");
  return Call(op).integers(size).scalar(fill_value).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
//     bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor full_like(const Tensor& self, const Scalar& fill_value, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::full_like");
  return Call(op).tensor(self).scalar(fill_value).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor full_out(const std::vector<int64_t>& size, const Scalar& fill_value, const Tensor& out) {
  static const Operator op = Operator::find("aten::full", "out");
  return Call(op).integers(size).scalar(fill_value).tensor(out).one();
}

// gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor
inline Tensor gather(const Tensor& self, int64_t dim, const Tensor& index,
    const std::optional<bool>& sparse_grad = {}) {
  static const Operator op = Operator::find("aten::gather");
  return Call(op).tensor(self).integer(dim).tensor(index).option(sparse_grad, &Call::flag).one();
}

// gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, Tensor(a!) out) -> Tensor(a!)
inline Tensor gather_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out,
    const std::optional<bool>& sparse_grad = {}) {
  static const Operator op = Operator::find("aten::gather", "out");
  return Call(op).tensor(self).integer(dim).tensor(index).option(sparse_grad, &Call::flag).tensor(out).one();
}

// gcd(Tensor self, Tensor other) -> Tensor
inline Tensor gcd(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::gcd");
  return Call(op).tensor(self).tensor(other).one();
}

// gcd_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor gcd_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::gcd_");
  return Call(op).tensor(self).tensor(other).one();
}

// gcd.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor gcd_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::gcd", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// ge.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor ge(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::ge", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// ge_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor ge_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::ge_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// ge.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ge_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::ge", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// ge.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor ge_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::ge", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor ge_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::ge_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// ge.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ge_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::ge", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)
inline Tensor geometric_(const Tensor& self, double p, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::geometric_");
  return Call(op).tensor(self).real(p).generator(generator).one();
}

// geqrf(Tensor self) -> (Tensor a, Tensor tau)
inline std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  static const Operator op = Operator::find("aten::geqrf");
  return Call(op).tensor(self).two();
}

// geqrf.a(Tensor self, *, Tensor(a!) a, Tensor(b!) tau) -> (Tensor(a!) a, Tensor(b!) tau)
inline std::tuple<Tensor, Tensor> geqrf_out(const Tensor& self, const Tensor& a, const Tensor& tau) {
  static const Operator op = Operator::find("aten::geqrf", "a");
  return Call(op).tensor(self).tensor(a).tensor(tau).two();
}

// ger(Tensor self, Tensor vec2) -> Tensor
inline Tensor ger(const Tensor& self, const Tensor& vec2) {
  static const Operator op = Operator::find("aten::ger");
  return Call(op).tensor(self).tensor(vec2).one();
}

// ger.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ger_out(const Tensor& self, const Tensor& vec2, const Tensor& out) {
  static const Operator op = Operator::find("aten::ger", "out");
  return Call(op).tensor(self).tensor(vec2).tensor(out).one();
}

// gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]
inline std::vector<Tensor> gradient_array(const Tensor& self, const std::vector<int64_t>& dim,
    const std::optional<int64_t>& edge_order = {}) {
  static const Operator op = Operator::find("aten::gradient", "array");
  return Call(op).tensor(self).integers(dim).option(edge_order, &Call::integer).list();
}

// gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]
inline std::vector<Tensor> gradient_scalar_array(const Tensor& self, const Scalar& spacing,
    const std::vector<int64_t>& dim, const std::optional<int64_t>& edge_order = {}) {
  static const Operator op = Operator::find("aten::gradient", "scalararray");
  return Call(op).tensor(self).scalar(spacing).integers(dim).option(edge_order, &Call::integer).list();
}

// gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]
inline std::vector<Tensor> gradient_scalar_array_array(const Tensor& self, const std::vector<Scalar>& spacing,
    const std::vector<int64_t>& dim, const std::optional<int64_t>& edge_order = {}) {
  static const Operator op = Operator::find("aten::gradient", "scalarrayarray");
  return Call(op).tensor(self).scalars(spacing).integers(dim).option(edge_order, &Call::integer).list();
}

// gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]
inline std::vector<Tensor> gradient_scalar_array_int(const Tensor& self, const std::vector<Scalar>& spacing,
    const std::optional<int64_t>& dim = {}, const std::optional<int64_t>& edge_order = {}) {
  static const Operator op = Operator::find("aten::gradient", "scalarrayint");
  return Call(op).tensor(self).scalars(spacing).option(dim, &Call::integer).option(edge_order, &Call::integer)
      .list();
}

// gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]
inline std::vector<Tensor> gradient_scalar_int(const Tensor& self, const std::optional<Scalar>& spacing = {},
    const std::optional<int64_t>& dim = {}, const std::optional<int64_t>& edge_order = {}) {
  static const Operator op = Operator::find("aten::gradient", "scalarint");
  return Call(op).tensor(self).option(spacing, &Call::scalar).option(dim, &Call::integer)
      .option(edge_order, &Call::integer).list();
}

// gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]
inline std::vector<Tensor> gradient_tensor_array(const Tensor& self, const TensorList& spacing,
    const std::vector<int64_t>& dim, const std::optional<int64_t>& edge_order = {}) {
  static const Operator op = Operator::find("aten::gradient", "tensorarray");
  return Call(op).tensor(self).tensors(spacing).integers(dim).option(edge_order, &Call::integer).list();
}

// gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]
inline std::vector<Tensor> gradient_tensor_array_int(const Tensor& self, const TensorList& spacing,
    const std::optional<int64_t>& dim = {}, const std::optional<int64_t>& edge_order = {}) {
  static const Operator op = Operator::find("aten::gradient", "tensorarrayint");
  return Call(op).tensor(self).tensors(spacing).option(dim, &Call::integer).option(edge_order, &Call::integer)
      .list();
}

// greater.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor greater(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::greater", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// greater_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor greater_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::greater_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// greater_equal.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor greater_equal(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::greater_equal", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// greater_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor greater_equal_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::greater_equal_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// greater_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor greater_equal_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::greater_equal", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// greater_equal.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor greater_equal_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::greater_equal", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// greater_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor greater_equal_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::greater_equal_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// greater_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor greater_equal_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::greater_equal", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// greater.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor greater_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::greater", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// greater.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor greater_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::greater", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// greater_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor greater_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::greater_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// greater.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor greater_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::greater", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train,
//     bool bidirectional, bool batch_first) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, const TensorList& params,
    bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  static const Operator op = Operator::find("aten::gru", "input");
  return Call(op).tensor(input).tensor(hx).tensors(params).flag(has_biases).integer(num_layers).real(dropout)
      .flag(train).flag(bidirectional).flag(batch_first).two();
}

// gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor
inline Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
    const Tensor& b_ih = Tensor(), const Tensor& b_hh = Tensor()) {
  static const Operator op = Operator::find("aten::gru_cell");
  return Call(op).tensor(input).tensor(hx).tensor(w_ih).tensor(w_hh).tensor(b_ih).tensor(b_hh).one();
}

// gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float
//     dropout, bool train, bool bidirectional) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> gru_packed(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
    const TensorList& params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  static const Operator op = Operator::find("aten::gru", "data");
  return Call(op).tensor(data).tensor(batch_sizes).tensor(hx).tensors(params).flag(has_biases).integer(num_layers)
      .real(dropout).flag(train).flag(bidirectional).two();
}

// gt.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor gt(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::gt", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// gt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor gt_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::gt_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// gt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor gt_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::gt", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// gt.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor gt_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::gt", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor gt_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::gt_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// gt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor gt_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::gt", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor hamming_window(int64_t window_length, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::hamming_window");
  return Call(op).integer(window_length).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor hamming_window_periodic(int64_t window_length, bool periodic,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::hamming_window", "periodic");
  return Call(op).integer(window_length).flag(periodic).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Layout?
//     layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor hamming_window_periodic_alpha(int64_t window_length, bool periodic, double alpha,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::hamming_window", "periodic_alpha");
  return Call(op).integer(window_length).flag(periodic).real(alpha).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, ScalarType?
//     dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor hamming_window_periodic_alpha_beta(int64_t window_length, bool periodic, double alpha, double beta,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::hamming_window", "periodic_alpha_beta");
  return Call(op).integer(window_length).flag(periodic).real(alpha).real(beta).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor hann_window(int64_t window_length, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::hann_window");
  return Call(op).integer(window_length).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor hann_window_periodic(int64_t window_length, bool periodic, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::hann_window", "periodic");
  return Call(op).integer(window_length).flag(periodic).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor
inline Tensor hardshrink(const Tensor& self, const std::optional<Scalar>& lambd = {}) {
  static const Operator op = Operator::find("aten::hardshrink");
  return Call(op).tensor(self).option(lambd, &Call::scalar).one();
}

// hardshrink.out(Tensor self, Scalar lambd=0.5, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hardshrink_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& lambd = {}) {
  static const Operator op = Operator::find("aten::hardshrink", "out");
  return Call(op).tensor(self).option(lambd, &Call::scalar).tensor(out).one();
}

// hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor
inline Tensor hash_tensor(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}, const std::optional<int64_t>& mode = {}) {
  static const Operator op = Operator::find("aten::hash_tensor");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(mode, &Call::integer).one();
}

// hash_tensor.out(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0, Tensor(a!) out) -> Tensor(a!)
inline Tensor hash_tensor_out(const Tensor& self, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int64_t>& mode = {}) {
  static const Operator op = Operator::find("aten::hash_tensor", "out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(mode, &Call::integer).tensor(out).one();
}

// heaviside(Tensor self, Tensor values) -> Tensor
inline Tensor heaviside(const Tensor& self, const Tensor& values) {
  static const Operator op = Operator::find("aten::heaviside");
  return Call(op).tensor(self).tensor(values).one();
}

// heaviside_(Tensor(a!) self, Tensor values) -> Tensor(a!)
inline Tensor heaviside_(const Tensor& self, const Tensor& values) {
  static const Operator op = Operator::find("aten::heaviside_");
  return Call(op).tensor(self).tensor(values).one();
}

// heaviside.out(Tensor self, Tensor values, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor heaviside_out(const Tensor& self, const Tensor& values, const Tensor& out) {
  static const Operator op = Operator::find("aten::heaviside", "out");
  return Call(op).tensor(self).tensor(values).tensor(out).one();
}

// histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor
inline Tensor histc(const Tensor& self, const std::optional<int64_t>& bins = {},
    const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static const Operator op = Operator::find("aten::histc");
  return Call(op).tensor(self).option(bins, &Call::integer).option(min, &Call::scalar).option(max, &Call::scalar)
      .one();
}

// histc.out(Tensor self, int bins=100, Scalar min=0, Scalar max=0, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor histc_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& bins = {},
    const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static const Operator op = Operator::find("aten::histc", "out");
  return Call(op).tensor(self).option(bins, &Call::integer).option(min, &Call::scalar).option(max, &Call::scalar)
      .tensor(out).one();
}

// histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) ->
//     (Tensor hist, Tensor bin_edges)
inline std::tuple<Tensor, Tensor> histogram(const Tensor& self, const std::optional<int64_t>& bins = {},
    const std::optional<std::vector<double>>& range = {}, const Tensor& weight = Tensor(),
    const std::optional<bool>& density = {}) {
  static const Operator op = Operator::find("aten::histogram", "bin_ct");
  return Call(op).tensor(self).option(bins, &Call::integer).option(range, &Call::reals).tensor(weight)
      .option(density, &Call::flag).two();
}

// histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist,
//     Tensor bin_edges)
inline std::tuple<Tensor, Tensor> histogram_bins(const Tensor& self, const Tensor& bins,
    const Tensor& weight = Tensor(), const std::optional<bool>& density = {}) {
  static const Operator op = Operator::find("aten::histogram", "bins_tensor");
  return Call(op).tensor(self).tensor(bins).tensor(weight).option(density, &Call::flag).two();
}

// histogram.bins_tensor_out(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False, Tensor(a!) hist,
//     Tensor(b!) bin_edges) -> (Tensor(a!) hist, Tensor(b!) bin_edges)
inline std::tuple<Tensor, Tensor> histogram_bins_out(const Tensor& self, const Tensor& bins, const Tensor& hist,
    const Tensor& bin_edges, const Tensor& weight = Tensor(), const std::optional<bool>& density = {}) {
  static const Operator op = Operator::find("aten::histogram", "bins_tensor_out");
  return Call(op).tensor(self).tensor(bins).tensor(weight).option(density, &Call::flag).tensor(hist)
      .tensor(bin_edges).two();
}

// histogram.bin_ct_out(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False,
//     Tensor(a!) hist, Tensor(b!) bin_edges) -> (Tensor(a!) hist, Tensor(b!) bin_edges)
inline std::tuple<Tensor, Tensor> histogram_out(const Tensor& self, const Tensor& hist, const Tensor& bin_edges,
    const std::optional<int64_t>& bins = {}, const std::optional<std::vector<double>>& range = {},
    const Tensor& weight = Tensor(), const std::optional<bool>& density = {}) {
  static const Operator op = Operator::find("aten::histogram", "bin_ct_out");
  return Call(op).tensor(self).option(bins, &Call::integer).option(range, &Call::reals).tensor(weight)
      .option(density, &Call::flag).tensor(hist).tensor(bin_edges).two();
}

// histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor
//     hist, Tensor[] bin_edges)
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, const std::vector<int64_t>& bins,
    const std::optional<std::vector<double>>& range = {}, const Tensor& weight = Tensor(),
    const std::optional<bool>& density = {}) {
  static const Operator op = Operator::find("aten::histogramdd");
  return Call(op).tensor(self).integers(bins).option(range, &Call::reals).tensor(weight)
      .option(density, &Call::flag).one_and_list();
}

// histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool density=False) ->
//     (Tensor hist, Tensor[] bin_edges)
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd_bins(const Tensor& self, int64_t bins,
    const std::optional<std::vector<double>>& range = {}, const Tensor& weight = Tensor(),
    const std::optional<bool>& density = {}) {
  static const Operator op = Operator::find("aten::histogramdd", "int_bins");
  return Call(op).tensor(self).integer(bins).option(range, &Call::reals).tensor(weight).option(density, &Call::flag)
      .one_and_list();
}

// histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool
//     density=False) -> (Tensor hist, Tensor[] bin_edges)
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd_tensor_list_bins(const Tensor& self,
    const TensorList& bins, const std::optional<std::vector<double>>& range = {}, const Tensor& weight = Tensor(),
    const std::optional<bool>& density = {}) {
  static const Operator op = Operator::find("aten::histogramdd", "TensorList_bins");
  return Call(op).tensor(self).tensors(bins).option(range, &Call::reals).tensor(weight).option(density, &Call::flag)
      .one_and_list();
}

// hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]
inline std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  static const Operator op = Operator::find("aten::hsplit", "int");
  return Call(op).tensor(self).integer(sections).list();
}

// hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]
inline std::vector<Tensor> hsplit_array(const Tensor& self, const std::vector<int64_t>& indices) {
  static const Operator op = Operator::find("aten::hsplit", "array");
  return Call(op).tensor(self).integers(indices).list();
}

// hspmm(Tensor mat1, Tensor mat2) -> Tensor
inline Tensor hspmm(const Tensor& mat1, const Tensor& mat2) {
  static const Operator op = Operator::find("aten::hspmm");
  return Call(op).tensor(mat1).tensor(mat2).one();
}

// hspmm.out(Tensor mat1, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hspmm_out(const Tensor& mat1, const Tensor& mat2, const Tensor& out) {
  static const Operator op = Operator::find("aten::hspmm", "out");
  return Call(op).tensor(mat1).tensor(mat2).tensor(out).one();
}

// hstack(Tensor[] tensors) -> Tensor
inline Tensor hstack(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::hstack");
  return Call(op).tensors(tensors).one();
}

// hstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hstack_out(const TensorList& tensors, const Tensor& out) {
  static const Operator op = Operator::find("aten::hstack", "out");
  return Call(op).tensors(tensors).tensor(out).one();
}

// hypot(Tensor self, Tensor other) -> Tensor
inline Tensor hypot(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::hypot");
  return Call(op).tensor(self).tensor(other).one();
}

// hypot_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor hypot_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::hypot_");
  return Call(op).tensor(self).tensor(other).one();
}

// hypot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hypot_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::hypot", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// i0(Tensor self) -> Tensor
inline Tensor i0(const Tensor& self) {
  static const Operator op = Operator::find("aten::i0");
  return Call(op).tensor(self).one();
}

// i0_(Tensor(a!) self) -> Tensor(a!)
inline Tensor i0_(const Tensor& self) {
  static const Operator op = Operator::find("aten::i0_");
  return Call(op).tensor(self).one();
}

// i0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor i0_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::i0", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// igamma(Tensor self, Tensor other) -> Tensor
inline Tensor igamma(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::igamma");
  return Call(op).tensor(self).tensor(other).one();
}

// igamma_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor igamma_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::igamma_");
  return Call(op).tensor(self).tensor(other).one();
}

// igamma.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor igamma_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::igamma", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// igammac(Tensor self, Tensor other) -> Tensor
inline Tensor igammac(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::igammac");
  return Call(op).tensor(self).tensor(other).one();
}

// igammac_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor igammac_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::igammac_");
  return Call(op).tensor(self).tensor(other).one();
}

// igammac.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor igammac_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::igammac", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// imag(Tensor(a) self) -> Tensor(a)
inline Tensor imag(const Tensor& self) {
  static const Operator op = Operator::find("aten::imag");
  return Call(op).tensor(self).one();
}

// index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor
inline Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
    const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::index_add");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).option(alpha, &Call::scalar).one();
}

// index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)
inline Tensor index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
    const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::index_add_");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).option(alpha, &Call::scalar).one();
}

// index_add.out(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor index_add_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
    const Tensor& out, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::index_add", "out");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).option(alpha, &Call::scalar).tensor(out)
      .one();
}

// index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor
inline Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  static const Operator op = Operator::find("aten::index_copy");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).one();
}

// index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)
inline Tensor index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  static const Operator op = Operator::find("aten::index_copy_");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).one();
}

// index_copy.out(Tensor self, int dim, Tensor index, Tensor source, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor index_copy_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
    const Tensor& out) {
  static const Operator op = Operator::find("aten::index_copy", "out");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).tensor(out).one();
}

// index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor
inline Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  static const Operator op = Operator::find("aten::index_fill", "int_Tensor");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(value).one();
}

// index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)
inline Tensor index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  static const Operator op = Operator::find("aten::index_fill_", "int_Tensor");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(value).one();
}

// index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor
inline Tensor index_fill_scalar(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static const Operator op = Operator::find("aten::index_fill", "int_Scalar");
  return Call(op).tensor(self).integer(dim).tensor(index).scalar(value).one();
}

// index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)
inline Tensor index_fill_scalar_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static const Operator op = Operator::find("aten::index_fill_", "int_Scalar");
  return Call(op).tensor(self).integer(dim).tensor(index).scalar(value).one();
}

// index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor
inline Tensor index_put(const Tensor& self, const TensorList& indices, const Tensor& values,
    const std::optional<bool>& accumulate = {}) {
  static const Operator op = Operator::find("aten::index_put");
  return Call(op).tensor(self).tensors(indices).tensor(values).option(accumulate, &Call::flag).one();
}

// index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)
inline Tensor index_put_(const Tensor& self, const TensorList& indices, const Tensor& values,
    const std::optional<bool>& accumulate = {}) {
  static const Operator op = Operator::find("aten::index_put_");
  return Call(op).tensor(self).tensors(indices).tensor(values).option(accumulate, &Call::flag).one();
}

// index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor
inline Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
    const std::string& reduce, const std::optional<bool>& include_self = {}) {
  static const Operator op = Operator::find("aten::index_reduce");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).string(reduce)
      .option(include_self, &Call::flag).one();
}

// index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) ->
//     Tensor(a!)
inline Tensor index_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
    const std::string& reduce, const std::optional<bool>& include_self = {}) {
  static const Operator op = Operator::find("aten::index_reduce_");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).string(reduce)
      .option(include_self, &Call::flag).one();
}

// index_reduce.out(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor index_reduce_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
    const std::string& reduce, const Tensor& out, const std::optional<bool>& include_self = {}) {
  static const Operator op = Operator::find("aten::index_reduce", "out");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(source).string(reduce)
      .option(include_self, &Call::flag).tensor(out).one();
}

// index_select(Tensor self, int dim, Tensor index) -> Tensor
inline Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  static const Operator op = Operator::find("aten::index_select");
  return Call(op).tensor(self).integer(dim).tensor(index).one();
}

// index_select.out(Tensor self, int dim, Tensor index, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor index_select_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  static const Operator op = Operator::find("aten::index_select", "out");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(out).one();
}

// index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
inline Tensor index_tensors(const Tensor& self, const TensorList& indices) {
  static const Operator op = Operator::find("aten::index", "Tensor");
  return Call(op).tensor(self).tensors(indices).one();
}

// index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor index_tensors_out(const Tensor& self, const TensorList& indices, const Tensor& out) {
  static const Operator op = Operator::find("aten::index", "Tensor_out");
  return Call(op).tensor(self).tensors(indices).tensor(out).one();
}

// indices(Tensor(a) self) -> Tensor(a)
inline Tensor indices(const Tensor& self) {
  static const Operator op = Operator::find("aten::indices");
  return Call(op).tensor(self).one();
}

// indices_copy(Tensor self) -> Tensor
inline Tensor indices_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::indices_copy");
  return Call(op).tensor(self).one();
}

// inner(Tensor self, Tensor other) -> Tensor
inline Tensor inner(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::inner");
  return Call(op).tensor(self).tensor(other).one();
}

// inner.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor inner_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::inner", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// inverse(Tensor self) -> Tensor
inline Tensor inverse(const Tensor& self) {
  static const Operator op = Operator::find("aten::inverse");
  return Call(op).tensor(self).one();
}

// inverse.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor inverse_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::inverse", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// is_coalesced(Tensor self) -> bool
inline bool is_coalesced(const Tensor& self) {
  static const Operator op = Operator::find("aten::is_coalesced");
  return Call(op).tensor(self).truth();
}

// is_complex(Tensor self) -> bool
inline bool is_complex(const Tensor& self) {
  static const Operator op = Operator::find("aten::is_complex");
  return Call(op).tensor(self).truth();
}

// is_conj(Tensor self) -> bool
inline bool is_conj(const Tensor& self) {
  static const Operator op = Operator::find("aten::is_conj");
  return Call(op).tensor(self).truth();
}

// is_floating_point(Tensor self) -> bool
inline bool is_floating_point(const Tensor& self) {
  static const Operator op = Operator::find("aten::is_floating_point");
  return Call(op).tensor(self).truth();
}

// is_inference(Tensor self) -> bool
inline bool is_inference(const Tensor& self) {
  static const Operator op = Operator::find("aten::is_inference");
  return Call(op).tensor(self).truth();
}

// is_neg(Tensor self) -> bool
inline bool is_neg(const Tensor& self) {
  static const Operator op = Operator::find("aten::is_neg");
  return Call(op).tensor(self).truth();
}

// is_nonzero(Tensor self) -> bool
inline bool is_nonzero(const Tensor& self) {
  static const Operator op = Operator::find("aten::is_nonzero");
  return Call(op).tensor(self).truth();
}

// is_pinned(Tensor self, Device? device=None) -> bool
inline bool is_pinned(const Tensor& self, const std::optional<Device>& device = {}) {
  static const Operator op = Operator::find("aten::is_pinned");
  return Call(op).tensor(self).option(device, &Call::device).truth();
}

// is_same_size(Tensor self, Tensor other) -> bool
inline bool is_same_size(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::is_same_size");
  return Call(op).tensor(self).tensor(other).truth();
}

// is_set_to(Tensor self, Tensor tensor) -> bool
inline bool is_set_to(const Tensor& self, const Tensor& tensor) {
  static const Operator op = Operator::find("aten::is_set_to");
  return Call(op).tensor(self).tensor(tensor).truth();
}

// is_signed(Tensor self) -> bool
inline bool is_signed(const Tensor& self) {
  static const Operator op = Operator::find("aten::is_signed");
  return Call(op).tensor(self).truth();
}

// isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) ->
//     Tensor
inline Tensor isclose(const Tensor& self, const Tensor& other, const std::optional<double>& rtol = {},
    const std::optional<double>& atol = {}, const std::optional<bool>& equal_nan = {}) {
  static const Operator op = Operator::find("aten::isclose");
  return Call(op).tensor(self).tensor(other).option(rtol, &Call::real).option(atol, &Call::real)
      .option(equal_nan, &Call::flag).one();
}

// isfinite(Tensor self) -> Tensor
inline Tensor isfinite(const Tensor& self) {
  static const Operator op = Operator::find("aten::isfinite");
  return Call(op).tensor(self).one();
}

// isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) ->
//     Tensor
inline Tensor isin(const Tensor& elements, const Tensor& test_elements,
    const std::optional<bool>& assume_unique = {}, const std::optional<bool>& invert = {}) {
  static const Operator op = Operator::find("aten::isin", "Tensor_Tensor");
  return Call(op).tensor(elements).tensor(test_elements).option(assume_unique, &Call::flag)
      .option(invert, &Call::flag).one();
}

// isin.Tensor_Tensor_out(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor isin_out(const Tensor& elements, const Tensor& test_elements, const Tensor& out,
    const std::optional<bool>& assume_unique = {}, const std::optional<bool>& invert = {}) {
  static const Operator op = Operator::find("aten::isin", "Tensor_Tensor_out");
  return Call(op).tensor(elements).tensor(test_elements).option(assume_unique, &Call::flag)
      .option(invert, &Call::flag).tensor(out).one();
}

// isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) ->
//     Tensor
inline Tensor isin_scalar(const Tensor& elements, const Scalar& test_element,
    const std::optional<bool>& assume_unique = {}, const std::optional<bool>& invert = {}) {
  static const Operator op = Operator::find("aten::isin", "Tensor_Scalar");
  return Call(op).tensor(elements).scalar(test_element).option(assume_unique, &Call::flag)
      .option(invert, &Call::flag).one();
}

// isin.Tensor_Scalar_out(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor isin_scalar_out(const Tensor& elements, const Scalar& test_element, const Tensor& out,
    const std::optional<bool>& assume_unique = {}, const std::optional<bool>& invert = {}) {
  static const Operator op = Operator::find("aten::isin", "Tensor_Scalar_out");
  return Call(op).tensor(elements).scalar(test_element).option(assume_unique, &Call::flag)
      .option(invert, &Call::flag).tensor(out).one();
}

// isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) ->
//     Tensor
inline Tensor isin_scalar_tensor(const Scalar& element, const Tensor& test_elements,
    const std::optional<bool>& assume_unique = {}, const std::optional<bool>& invert = {}) {
  static const Operator op = Operator::find("aten::isin", "Scalar_Tensor");
  return Call(op).scalar(element).tensor(test_elements).option(assume_unique, &Call::flag)
      .option(invert, &Call::flag).one();
}

// isin.Scalar_Tensor_out(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor isin_scalar_tensor_out(const Scalar& element, const Tensor& test_elements, const Tensor& out,
    const std::optional<bool>& assume_unique = {}, const std::optional<bool>& invert = {}) {
  static const Operator op = Operator::find("aten::isin", "Scalar_Tensor_out");
  return Call(op).scalar(element).tensor(test_elements).option(assume_unique, &Call::flag)
      .option(invert, &Call::flag).tensor(out).one();
}

// isinf(Tensor self) -> Tensor
inline Tensor isinf(const Tensor& self) {
  static const Operator op = Operator::find("aten::isinf");
  return Call(op).tensor(self).one();
}

// isnan(Tensor self) -> Tensor
inline Tensor isnan(const Tensor& self) {
  static const Operator op = Operator::find("aten::isnan");
  return Call(op).tensor(self).one();
}

// isneginf(Tensor self) -> Tensor
inline Tensor isneginf(const Tensor& self) {
  static const Operator op = Operator::find("aten::isneginf");
  return Call(op).tensor(self).one();
}

// isneginf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor isneginf_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::isneginf", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// isposinf(Tensor self) -> Tensor
inline Tensor isposinf(const Tensor& self) {
  static const Operator op = Operator::find("aten::isposinf");
  return Call(op).tensor(self).one();
}

// isposinf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor isposinf_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::isposinf", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// isreal(Tensor self) -> Tensor
inline Tensor isreal(const Tensor& self) {
  static const Operator op = Operator::find("aten::isreal");
  return Call(op).tensor(self).one();
}

// istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True,
//     bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor
inline Tensor istft(const Tensor& self, int64_t n_fft, const std::optional<int64_t>& hop_length = {},
    const std::optional<int64_t>& win_length = {}, const Tensor& window = Tensor(),
    const std::optional<bool>& center = {}, const std::optional<bool>& normalized = {},
    const std::optional<bool>& onesided = {}, const std::optional<int64_t>& length = {},
    const std::optional<bool>& return_complex = {}) {
  static const Operator op = Operator::find("aten::istft");
  return Call(op).tensor(self).integer(n_fft).option(hop_length, &Call::integer).option(win_length, &Call::integer)
      .tensor(window).option(center, &Call::flag).option(normalized, &Call::flag).option(onesided, &Call::flag)
      .option(length, &Call::integer).option(return_complex, &Call::flag).one();
}

// kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor kaiser_window(int64_t window_length, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::kaiser_window");
  return Call(op).integer(window_length).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor kaiser_window_beta(int64_t window_length, bool periodic, double beta,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::kaiser_window", "beta");
  return Call(op).integer(window_length).flag(periodic).real(beta).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor kaiser_window_periodic(int64_t window_length, bool periodic,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::kaiser_window", "periodic");
  return Call(op).integer(window_length).flag(periodic).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// kron(Tensor self, Tensor other) -> Tensor
inline Tensor kron(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::kron");
  return Call(op).tensor(self).tensor(other).one();
}

// kron.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor kron_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::kron", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::kthvalue");
  return Call(op).tensor(self).integer(k).option(dim, &Call::integer).option(keepdim, &Call::flag).two();
}

// kthvalue.values(Tensor self, SymInt k, int dim=-1, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices)
//     -> (Tensor(a!) values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> kthvalue_out(const Tensor& self, int64_t k, const Tensor& values,
    const Tensor& indices, const std::optional<int64_t>& dim = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::kthvalue", "values");
  return Call(op).tensor(self).integer(k).option(dim, &Call::integer).option(keepdim, &Call::flag).tensor(values)
      .tensor(indices).two();
}

// lcm(Tensor self, Tensor other) -> Tensor
inline Tensor lcm(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::lcm");
  return Call(op).tensor(self).tensor(other).one();
}

// lcm_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor lcm_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::lcm_");
  return Call(op).tensor(self).tensor(other).one();
}

// lcm.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor lcm_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::lcm", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// ldexp.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor ldexp(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::ldexp", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor ldexp_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::ldexp_");
  return Call(op).tensor(self).tensor(other).one();
}

// ldexp.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ldexp_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::ldexp", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// le.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor le(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::le", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// le_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor le_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::le_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// le.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor le_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::le", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// le.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor le_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::le", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor le_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::le_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// le.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor le_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::le", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor
inline Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  static const Operator op = Operator::find("aten::lerp", "Tensor");
  return Call(op).tensor(self).tensor(end).tensor(weight).one();
}

// lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)
inline Tensor lerp_(const Tensor& self, const Tensor& end, const Tensor& weight) {
  static const Operator op = Operator::find("aten::lerp_", "Tensor");
  return Call(op).tensor(self).tensor(end).tensor(weight).one();
}

// lerp.Tensor_out(Tensor self, Tensor end, Tensor weight, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor lerp_out(const Tensor& self, const Tensor& end, const Tensor& weight, const Tensor& out) {
  static const Operator op = Operator::find("aten::lerp", "Tensor_out");
  return Call(op).tensor(self).tensor(end).tensor(weight).tensor(out).one();
}

// lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor
inline Tensor lerp_scalar(const Tensor& self, const Tensor& end, const Scalar& weight) {
  static const Operator op = Operator::find("aten::lerp", "Scalar");
  return Call(op).tensor(self).tensor(end).scalar(weight).one();
}

// lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)
inline Tensor lerp_scalar_(const Tensor& self, const Tensor& end, const Scalar& weight) {
  static const Operator op = Operator::find("aten::lerp_", "Scalar");
  return Call(op).tensor(self).tensor(end).scalar(weight).one();
}

// lerp.Scalar_out(Tensor self, Tensor end, Scalar weight, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor lerp_scalar_out(const Tensor& self, const Tensor& end, const Scalar& weight, const Tensor& out) {
  static const Operator op = Operator::find("aten::lerp", "Scalar_out");
  return Call(op).tensor(self).tensor(end).scalar(weight).tensor(out).one();
}

// less.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor less(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::less", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// less_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor less_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::less_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// less_equal.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor less_equal(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::less_equal", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// less_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor less_equal_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::less_equal_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// less_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor less_equal_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::less_equal", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// less_equal.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor less_equal_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::less_equal", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// less_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor less_equal_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::less_equal_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// less_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor less_equal_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::less_equal", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// less.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor less_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::less", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// less.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor less_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::less", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// less_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor less_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::less_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// less.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor less_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::less", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// lgamma(Tensor self) -> Tensor
inline Tensor lgamma(const Tensor& self) {
  static const Operator op = Operator::find("aten::lgamma");
  return Call(op).tensor(self).one();
}

// lgamma_(Tensor(a!) self) -> Tensor(a!)
inline Tensor lgamma_(const Tensor& self) {
  static const Operator op = Operator::find("aten::lgamma_");
  return Call(op).tensor(self).one();
}

// lgamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor lgamma_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::lgamma", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::linspace");
  return Call(op).scalar(start).scalar(end).integer(steps).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// linspace.out(Scalar start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor linspace_out(const Scalar& start, const Scalar& end, int64_t steps, const Tensor& out) {
  static const Operator op = Operator::find("aten::linspace", "out");
  return Call(op).scalar(start).scalar(end).integer(steps).tensor(out).one();
}

// linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor linspace_scalar_tensor(const Scalar& start, const Tensor& end, int64_t steps,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::linspace", "Scalar_Tensor");
  return Call(op).scalar(start).tensor(end).integer(steps).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// linspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor linspace_scalar_tensor_out(const Scalar& start, const Tensor& end, int64_t steps, const Tensor& out) {
  static const Operator op = Operator::find("aten::linspace", "Scalar_Tensor_out");
  return Call(op).scalar(start).tensor(end).integer(steps).tensor(out).one();
}

// linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor linspace_tensor(const Tensor& start, const Tensor& end, int64_t steps,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::linspace", "Tensor_Tensor");
  return Call(op).tensor(start).tensor(end).integer(steps).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// linspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor linspace_tensor_out(const Tensor& start, const Tensor& end, int64_t steps, const Tensor& out) {
  static const Operator op = Operator::find("aten::linspace", "Tensor_Tensor_out");
  return Call(op).tensor(start).tensor(end).integer(steps).tensor(out).one();
}

// linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor linspace_tensor_scalar(const Tensor& start, const Scalar& end, int64_t steps,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::linspace", "Tensor_Scalar");
  return Call(op).tensor(start).scalar(end).integer(steps).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// linspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor linspace_tensor_scalar_out(const Tensor& start, const Scalar& end, int64_t steps, const Tensor& out) {
  static const Operator op = Operator::find("aten::linspace", "Tensor_Scalar_out");
  return Call(op).tensor(start).scalar(end).integer(steps).tensor(out).one();
}

// log(Tensor self) -> Tensor
inline Tensor log(const Tensor& self) {
  static const Operator op = Operator::find("aten::log");
  return Call(op).tensor(self).one();
}

// log10(Tensor self) -> Tensor
inline Tensor log10(const Tensor& self) {
  static const Operator op = Operator::find("aten::log10");
  return Call(op).tensor(self).one();
}

// log10_(Tensor(a!) self) -> Tensor(a!)
inline Tensor log10_(const Tensor& self) {
  static const Operator op = Operator::find("aten::log10_");
  return Call(op).tensor(self).one();
}

// log10.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor log10_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::log10", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// log1p(Tensor self) -> Tensor
inline Tensor log1p(const Tensor& self) {
  static const Operator op = Operator::find("aten::log1p");
  return Call(op).tensor(self).one();
}

// log1p_(Tensor(a!) self) -> Tensor(a!)
inline Tensor log1p_(const Tensor& self) {
  static const Operator op = Operator::find("aten::log1p_");
  return Call(op).tensor(self).one();
}

// log1p.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor log1p_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::log1p", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// log2(Tensor self) -> Tensor
inline Tensor log2(const Tensor& self) {
  static const Operator op = Operator::find("aten::log2");
  return Call(op).tensor(self).one();
}

// log2_(Tensor(a!) self) -> Tensor(a!)
inline Tensor log2_(const Tensor& self) {
  static const Operator op = Operator::find("aten::log2_");
  return Call(op).tensor(self).one();
}

// log2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor log2_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::log2", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// log_(Tensor(a!) self) -> Tensor(a!)
inline Tensor log_(const Tensor& self) {
  static const Operator op = Operator::find("aten::log_");
  return Call(op).tensor(self).one();
}

// log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor(a!)
inline Tensor log_normal_(const Tensor& self, const std::optional<double>& mean = {},
    const std::optional<double>& std = {}, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::log_normal_");
  return Call(op).tensor(self).option(mean, &Call::real).option(std, &Call::real).generator(generator).one();
}

// log.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor log_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::log", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
inline Tensor log_softmax(const Tensor& self, int64_t dim, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::log_softmax", "int");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).one();
}

// log_softmax.int_out(Tensor self, int dim, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor log_softmax_out(const Tensor& self, int64_t dim, const Tensor& out,
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::log_softmax", "int_out");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).tensor(out).one();
}

// logaddexp(Tensor self, Tensor other) -> Tensor
inline Tensor logaddexp(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::logaddexp");
  return Call(op).tensor(self).tensor(other).one();
}

// logaddexp2(Tensor self, Tensor other) -> Tensor
inline Tensor logaddexp2(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::logaddexp2");
  return Call(op).tensor(self).tensor(other).one();
}

// logaddexp2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logaddexp2_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::logaddexp2", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// logaddexp.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logaddexp_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::logaddexp", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// logcumsumexp(Tensor self, int dim) -> Tensor
inline Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::logcumsumexp");
  return Call(op).tensor(self).integer(dim).one();
}

// logcumsumexp.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logcumsumexp_out(const Tensor& self, int64_t dim, const Tensor& out) {
  static const Operator op = Operator::find("aten::logcumsumexp", "out");
  return Call(op).tensor(self).integer(dim).tensor(out).one();
}

// logdet(Tensor self) -> Tensor
inline Tensor logdet(const Tensor& self) {
  static const Operator op = Operator::find("aten::logdet");
  return Call(op).tensor(self).one();
}

// logical_and(Tensor self, Tensor other) -> Tensor
inline Tensor logical_and(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::logical_and");
  return Call(op).tensor(self).tensor(other).one();
}

// logical_and_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor logical_and_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::logical_and_");
  return Call(op).tensor(self).tensor(other).one();
}

// logical_and.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logical_and_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::logical_and", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// logical_not(Tensor self) -> Tensor
inline Tensor logical_not(const Tensor& self) {
  static const Operator op = Operator::find("aten::logical_not");
  return Call(op).tensor(self).one();
}

// logical_not_(Tensor(a!) self) -> Tensor(a!)
inline Tensor logical_not_(const Tensor& self) {
  static const Operator op = Operator::find("aten::logical_not_");
  return Call(op).tensor(self).one();
}

// logical_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logical_not_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::logical_not", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// logical_or(Tensor self, Tensor other) -> Tensor
inline Tensor logical_or(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::logical_or");
  return Call(op).tensor(self).tensor(other).one();
}

// logical_or_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor logical_or_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::logical_or_");
  return Call(op).tensor(self).tensor(other).one();
}

// logical_or.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logical_or_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::logical_or", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// logical_xor(Tensor self, Tensor other) -> Tensor
inline Tensor logical_xor(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::logical_xor");
  return Call(op).tensor(self).tensor(other).one();
}

// logical_xor_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor logical_xor_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::logical_xor_");
  return Call(op).tensor(self).tensor(other).one();
}

// logical_xor.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logical_xor_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::logical_xor", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// logit(Tensor self, float? eps=None) -> Tensor
inline Tensor logit(const Tensor& self, const std::optional<double>& eps = {}) {
  static const Operator op = Operator::find("aten::logit");
  return Call(op).tensor(self).option(eps, &Call::real).one();
}

// logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)
inline Tensor logit_(const Tensor& self, const std::optional<double>& eps = {}) {
  static const Operator op = Operator::find("aten::logit_");
  return Call(op).tensor(self).option(eps, &Call::real).one();
}

// logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logit_out(const Tensor& self, const Tensor& out, const std::optional<double>& eps = {}) {
  static const Operator op = Operator::find("aten::logit", "out");
  return Call(op).tensor(self).option(eps, &Call::real).tensor(out).one();
}

// logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps,
    const std::optional<double>& base = {}, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::logspace");
  return Call(op).scalar(start).scalar(end).integer(steps).option(base, &Call::real).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// logspace.out(Scalar start, Scalar end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logspace_out(const Scalar& start, const Scalar& end, int64_t steps, const Tensor& out,
    const std::optional<double>& base = {}) {
  static const Operator op = Operator::find("aten::logspace", "out");
  return Call(op).scalar(start).scalar(end).integer(steps).option(base, &Call::real).tensor(out).one();
}

// logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout?
//     layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor logspace_scalar_tensor(const Scalar& start, const Tensor& end, int64_t steps,
    const std::optional<double>& base = {}, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::logspace", "Scalar_Tensor");
  return Call(op).scalar(start).tensor(end).integer(steps).option(base, &Call::real).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// logspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logspace_scalar_tensor_out(const Scalar& start, const Tensor& end, int64_t steps, const Tensor& out,
    const std::optional<double>& base = {}) {
  static const Operator op = Operator::find("aten::logspace", "Scalar_Tensor_out");
  return Call(op).scalar(start).tensor(end).integer(steps).option(base, &Call::real).tensor(out).one();
}

// logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout?
//     layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor logspace_tensor(const Tensor& start, const Tensor& end, int64_t steps,
    const std::optional<double>& base = {}, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::logspace", "Tensor_Tensor");
  return Call(op).tensor(start).tensor(end).integer(steps).option(base, &Call::real).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// logspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logspace_tensor_out(const Tensor& start, const Tensor& end, int64_t steps, const Tensor& out,
    const std::optional<double>& base = {}) {
  static const Operator op = Operator::find("aten::logspace", "Tensor_Tensor_out");
  return Call(op).tensor(start).tensor(end).integer(steps).option(base, &Call::real).tensor(out).one();
}

// logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout?
//     layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor logspace_tensor_scalar(const Tensor& start, const Scalar& end, int64_t steps,
    const std::optional<double>& base = {}, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::logspace", "Tensor_Scalar");
  return Call(op).tensor(start).scalar(end).integer(steps).option(base, &Call::real).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// logspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logspace_tensor_scalar_out(const Tensor& start, const Scalar& end, int64_t steps, const Tensor& out,
    const std::optional<double>& base = {}) {
  static const Operator op = Operator::find("aten::logspace", "Tensor_Scalar_out");
  return Call(op).tensor(start).scalar(end).integer(steps).option(base, &Call::real).tensor(out).one();
}

// logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
inline Tensor logsumexp(const Tensor& self, const std::vector<int64_t>& dim, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::logsumexp");
  return Call(op).tensor(self).integers(dim).option(keepdim, &Call::flag).one();
}

// logsumexp.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor logsumexp_out(const Tensor& self, const std::vector<int64_t>& dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::logsumexp", "out");
  return Call(op).tensor(self).integers(dim).option(keepdim, &Call::flag).tensor(out).one();
}

// lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool
//     train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)
inline std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const TensorList& hx, const TensorList& params,
    bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  static const Operator op = Operator::find("aten::lstm", "input");
  return Call(op).tensor(input).tensors(hx).tensors(params).flag(has_biases).integer(num_layers).real(dropout)
      .flag(train).flag(bidirectional).flag(batch_first).three();
}

// lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor,
//     Tensor)
inline std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, const TensorList& hx, const Tensor& w_ih,
    const Tensor& w_hh, const Tensor& b_ih = Tensor(), const Tensor& b_hh = Tensor()) {
  static const Operator op = Operator::find("aten::lstm_cell");
  return Call(op).tensor(input).tensors(hx).tensor(w_ih).tensor(w_hh).tensor(b_ih).tensor(b_hh).two();
}

// lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float
//     dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)
inline std::tuple<Tensor, Tensor, Tensor> lstm_packed(const Tensor& data, const Tensor& batch_sizes,
    const TensorList& hx, const TensorList& params, bool has_biases, int64_t num_layers, double dropout,
    bool train, bool bidirectional) {
  static const Operator op = Operator::find("aten::lstm", "data");
  return Call(op).tensor(data).tensor(batch_sizes).tensors(hx).tensors(params).flag(has_biases).integer(num_layers)
      .real(dropout).flag(train).flag(bidirectional).three();
}

// lt.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor lt(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::lt", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// lt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor lt_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::lt_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// lt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor lt_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::lt", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// lt.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor lt_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::lt", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor lt_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::lt_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// lt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor lt_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::lt", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor
inline Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  static const Operator op = Operator::find("aten::lu_solve");
  return Call(op).tensor(self).tensor(LU_data).tensor(LU_pivots).one();
}

// lu_solve.out(Tensor self, Tensor LU_data, Tensor LU_pivots, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor lu_solve_out(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots, const Tensor& out) {
  static const Operator op = Operator::find("aten::lu_solve", "out");
  return Call(op).tensor(self).tensor(LU_data).tensor(LU_pivots).tensor(out).one();
}

// lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor
//     L, Tensor U)
inline std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots,
    const std::optional<bool>& unpack_data = {}, const std::optional<bool>& unpack_pivots = {}) {
  static const Operator op = Operator::find("aten::lu_unpack");
  return Call(op).tensor(LU_data).tensor(LU_pivots).option(unpack_data, &Call::flag)
      .option(unpack_pivots, &Call::flag).three();
}

// lu_unpack.out(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *, Tensor(a!) P,
//     Tensor(b!) L, Tensor(c!) U) -> (Tensor(a!) P, Tensor(b!) L, Tensor(c!) U)
inline std::tuple<Tensor, Tensor, Tensor> lu_unpack_out(const Tensor& LU_data, const Tensor& LU_pivots,
    const Tensor& P, const Tensor& L, const Tensor& U, const std::optional<bool>& unpack_data = {},
    const std::optional<bool>& unpack_pivots = {}) {
  static const Operator op = Operator::find("aten::lu_unpack", "out");
  return Call(op).tensor(LU_data).tensor(LU_pivots).option(unpack_data, &Call::flag)
      .option(unpack_pivots, &Call::flag).tensor(P).tensor(L).tensor(U).three();
}

// mH(Tensor(a) self) -> Tensor(a)
inline Tensor mH(const Tensor& self) {
  static const Operator op = Operator::find("aten::mH");
  return Call(op).tensor(self).one();
}

// mT(Tensor(a) self) -> Tensor(a)
inline Tensor mT(const Tensor& self) {
  static const Operator op = Operator::find("aten::mT");
  return Call(op).tensor(self).one();
}

// masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor
inline Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  static const Operator op = Operator::find("aten::masked_fill", "Tensor");
  return Call(op).tensor(self).tensor(mask).tensor(value).one();
}

// masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)
inline Tensor masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value) {
  static const Operator op = Operator::find("aten::masked_fill_", "Tensor");
  return Call(op).tensor(self).tensor(mask).tensor(value).one();
}

// masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor
inline Tensor masked_fill_scalar(const Tensor& self, const Tensor& mask, const Scalar& value) {
  static const Operator op = Operator::find("aten::masked_fill", "Scalar");
  return Call(op).tensor(self).tensor(mask).scalar(value).one();
}

// masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)
inline Tensor masked_fill_scalar_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  static const Operator op = Operator::find("aten::masked_fill_", "Scalar");
  return Call(op).tensor(self).tensor(mask).scalar(value).one();
}

// masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor
inline Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  static const Operator op = Operator::find("aten::masked_scatter");
  return Call(op).tensor(self).tensor(mask).tensor(source).one();
}

// masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)
inline Tensor masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source) {
  static const Operator op = Operator::find("aten::masked_scatter_");
  return Call(op).tensor(self).tensor(mask).tensor(source).one();
}

// masked_select(Tensor self, Tensor mask) -> Tensor
inline Tensor masked_select(const Tensor& self, const Tensor& mask) {
  static const Operator op = Operator::find("aten::masked_select");
  return Call(op).tensor(self).tensor(mask).one();
}

// masked_select.out(Tensor self, Tensor mask, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor masked_select_out(const Tensor& self, const Tensor& mask, const Tensor& out) {
  static const Operator op = Operator::find("aten::masked_select", "out");
  return Call(op).tensor(self).tensor(mask).tensor(out).one();
}

// matmul(Tensor self, Tensor other) -> Tensor
inline Tensor matmul(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::matmul");
  return Call(op).tensor(self).tensor(other).one();
}

// matmul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor matmul_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::matmul", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// matrix_exp(Tensor self) -> Tensor
inline Tensor matrix_exp(const Tensor& self) {
  static const Operator op = Operator::find("aten::matrix_exp");
  return Call(op).tensor(self).one();
}

// matrix_power(Tensor self, int n) -> Tensor
inline Tensor matrix_power(const Tensor& self, int64_t n) {
  static const Operator op = Operator::find("aten::matrix_power");
  return Call(op).tensor(self).integer(n).one();
}

// matrix_power.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor matrix_power_out(const Tensor& self, int64_t n, const Tensor& out) {
  static const Operator op = Operator::find("aten::matrix_power", "out");
  return Call(op).tensor(self).integer(n).tensor(out).one();
}

// max(Tensor self) -> Tensor
inline Tensor max(const Tensor& self) {
  static const Operator op = Operator::find("aten::max");
  return Call(op).tensor(self).one();
}

// max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> max_dim(const Tensor& self, int64_t dim, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::max", "dim");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).two();
}

// max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!)
//     values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> max_dim_out(const Tensor& self, int64_t dim, const Tensor& max,
    const Tensor& max_values, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::max", "dim_max");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).tensor(max).tensor(max_values).two();
}

// max.other(Tensor self, Tensor other) -> Tensor
inline Tensor max_other(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::max", "other");
  return Call(op).tensor(self).tensor(other).one();
}

// max.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor max_other_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::max", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// max.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor max_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::max", "unary_out");
  return Call(op).tensor(self).tensor(out).one();
}

// maximum(Tensor self, Tensor other) -> Tensor
inline Tensor maximum(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::maximum");
  return Call(op).tensor(self).tensor(other).one();
}

// maximum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor maximum_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::maximum", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// mean(Tensor self, *, ScalarType? dtype=None) -> Tensor
inline Tensor mean(const Tensor& self, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::mean");
  return Call(op).tensor(self).option(dtype, &Call::dtype).one();
}

// mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
inline Tensor mean_dim(const Tensor& self, const std::optional<std::vector<int64_t>>& dim,
    const std::optional<bool>& keepdim = {}, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::mean", "dim");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).one();
}

// mean.out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor mean_dim_out(const Tensor& self, const std::optional<std::vector<int64_t>>& dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::mean", "out");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).tensor(out).one();
}

// mean.dtype_out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor mean_out(const Tensor& self, const Tensor& out, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::mean", "dtype_out");
  return Call(op).tensor(self).option(dtype, &Call::dtype).tensor(out).one();
}

// median(Tensor self) -> Tensor
inline Tensor median(const Tensor& self) {
  static const Operator op = Operator::find("aten::median");
  return Call(op).tensor(self).one();
}

// median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> median_dim(const Tensor& self, int64_t dim,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::median", "dim");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).two();
}

// median.dim_values(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) ->
//     (Tensor(a!) values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> median_dim_out(const Tensor& self, int64_t dim, const Tensor& values,
    const Tensor& indices, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::median", "dim_values");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).tensor(values).tensor(indices).two();
}

// meshgrid(Tensor[] tensors) -> Tensor[]
inline std::vector<Tensor> meshgrid(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::meshgrid");
  return Call(op).tensors(tensors).list();
}

// meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]
inline std::vector<Tensor> meshgrid_indexing(const TensorList& tensors, const std::string& indexing) {
  static const Operator op = Operator::find("aten::meshgrid", "indexing");
  return Call(op).tensors(tensors).string(indexing).list();
}

// min(Tensor self) -> Tensor
inline Tensor min(const Tensor& self) {
  static const Operator op = Operator::find("aten::min");
  return Call(op).tensor(self).one();
}

// min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> min_dim(const Tensor& self, int64_t dim, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::min", "dim");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).two();
}

// min.dim_min(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) min, Tensor(b!) min_indices) -> (Tensor(a!)
//     values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> min_dim_out(const Tensor& self, int64_t dim, const Tensor& min,
    const Tensor& min_indices, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::min", "dim_min");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).tensor(min).tensor(min_indices).two();
}

// min.other(Tensor self, Tensor other) -> Tensor
inline Tensor min_other(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::min", "other");
  return Call(op).tensor(self).tensor(other).one();
}

// min.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor min_other_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::min", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// min.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor min_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::min", "unary_out");
  return Call(op).tensor(self).tensor(out).one();
}

// minimum(Tensor self, Tensor other) -> Tensor
inline Tensor minimum(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::minimum");
  return Call(op).tensor(self).tensor(other).one();
}

// minimum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor minimum_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::minimum", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// mm(Tensor self, Tensor mat2) -> Tensor
inline Tensor mm(const Tensor& self, const Tensor& mat2) {
  static const Operator op = Operator::find("aten::mm");
  return Call(op).tensor(self).tensor(mat2).one();
}

// mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor
inline Tensor mm_dtype(const Tensor& self, const Tensor& mat2, int32_t out_dtype) {
  static const Operator op = Operator::find("aten::mm", "dtype");
  return Call(op).tensor(self).tensor(mat2).dtype(out_dtype).one();
}

// mm.dtype_out(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor mm_dtype_out(const Tensor& self, const Tensor& mat2, int32_t out_dtype, const Tensor& out) {
  static const Operator op = Operator::find("aten::mm", "dtype_out");
  return Call(op).tensor(self).tensor(mat2).dtype(out_dtype).tensor(out).one();
}

// mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor mm_out(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  static const Operator op = Operator::find("aten::mm", "out");
  return Call(op).tensor(self).tensor(mat2).tensor(out).one();
}

// mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> mode(const Tensor& self, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::mode");
  return Call(op).tensor(self).option(dim, &Call::integer).option(keepdim, &Call::flag).two();
}

// mode.values(Tensor self, int dim=-1, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) ->
//     (Tensor(a!) values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> mode_out(const Tensor& self, const Tensor& values, const Tensor& indices,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::mode", "values");
  return Call(op).tensor(self).option(dim, &Call::integer).option(keepdim, &Call::flag).tensor(values)
      .tensor(indices).two();
}

// moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)
inline Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) {
  static const Operator op = Operator::find("aten::moveaxis", "int");
  return Call(op).tensor(self).integer(source).integer(destination).one();
}

// moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)
inline Tensor moveaxis_list(const Tensor& self, const std::vector<int64_t>& source,
    const std::vector<int64_t>& destination) {
  static const Operator op = Operator::find("aten::moveaxis", "intlist");
  return Call(op).tensor(self).integers(source).integers(destination).one();
}

// movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)
inline Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  static const Operator op = Operator::find("aten::movedim", "int");
  return Call(op).tensor(self).integer(source).integer(destination).one();
}

// movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)
inline Tensor movedim_list(const Tensor& self, const std::vector<int64_t>& source,
    const std::vector<int64_t>& destination) {
  static const Operator op = Operator::find("aten::movedim", "intlist");
  return Call(op).tensor(self).integers(source).integers(destination).one();
}

// msort(Tensor self) -> Tensor
inline Tensor msort(const Tensor& self) {
  static const Operator op = Operator::find("aten::msort");
  return Call(op).tensor(self).one();
}

// msort.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor msort_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::msort", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// mul.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor mul(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::mul", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor mul_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::mul_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor mul_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::mul", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// mul.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor mul_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::mul", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor mul_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::mul_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor
inline Tensor multinomial(const Tensor& self, int64_t num_samples, const std::optional<bool>& replacement = {},
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::multinomial");
  return Call(op).tensor(self).integer(num_samples).option(replacement, &Call::flag).generator(generator).one();
}

// multinomial.out(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor multinomial_out(const Tensor& self, int64_t num_samples, const Tensor& out,
    const std::optional<bool>& replacement = {}, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::multinomial", "out");
  return Call(op).tensor(self).integer(num_samples).option(replacement, &Call::flag).generator(generator)
      .tensor(out).one();
}

// multiply.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor multiply(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::multiply", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// multiply_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor multiply_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::multiply_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// multiply.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor multiply_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::multiply", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// multiply.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor multiply_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::multiply", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// multiply_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor multiply_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::multiply_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// mv(Tensor self, Tensor vec) -> Tensor
inline Tensor mv(const Tensor& self, const Tensor& vec) {
  static const Operator op = Operator::find("aten::mv");
  return Call(op).tensor(self).tensor(vec).one();
}

// mv.out(Tensor self, Tensor vec, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor mv_out(const Tensor& self, const Tensor& vec, const Tensor& out) {
  static const Operator op = Operator::find("aten::mv", "out");
  return Call(op).tensor(self).tensor(vec).tensor(out).one();
}

// mvlgamma(Tensor self, int p) -> Tensor
inline Tensor mvlgamma(const Tensor& self, int64_t p) {
  static const Operator op = Operator::find("aten::mvlgamma");
  return Call(op).tensor(self).integer(p).one();
}

// mvlgamma_(Tensor(a!) self, int p) -> Tensor(a!)
inline Tensor mvlgamma_(const Tensor& self, int64_t p) {
  static const Operator op = Operator::find("aten::mvlgamma_");
  return Call(op).tensor(self).integer(p).one();
}

// mvlgamma.out(Tensor self, int p, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor mvlgamma_out(const Tensor& self, int64_t p, const Tensor& out) {
  static const Operator op = Operator::find("aten::mvlgamma", "out");
  return Call(op).tensor(self).integer(p).tensor(out).one();
}

// nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor
inline Tensor nan_to_num(const Tensor& self, const std::optional<double>& nan = {},
    const std::optional<double>& posinf = {}, const std::optional<double>& neginf = {}) {
  static const Operator op = Operator::find("aten::nan_to_num");
  return Call(op).tensor(self).option(nan, &Call::real).option(posinf, &Call::real).option(neginf, &Call::real)
      .one();
}

// nan_to_num_(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor(a!)
inline Tensor nan_to_num_(const Tensor& self, const std::optional<double>& nan = {},
    const std::optional<double>& posinf = {}, const std::optional<double>& neginf = {}) {
  static const Operator op = Operator::find("aten::nan_to_num_");
  return Call(op).tensor(self).option(nan, &Call::real).option(posinf, &Call::real).option(neginf, &Call::real)
      .one();
}

// nan_to_num.out(Tensor self, float? nan=None, float? posinf=None, float? neginf=None, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor nan_to_num_out(const Tensor& self, const Tensor& out, const std::optional<double>& nan = {},
    const std::optional<double>& posinf = {}, const std::optional<double>& neginf = {}) {
  static const Operator op = Operator::find("aten::nan_to_num", "out");
  return Call(op).tensor(self).option(nan, &Call::real).option(posinf, &Call::real).option(neginf, &Call::real)
      .tensor(out).one();
}

// nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
inline Tensor nanmean(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::nanmean");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).option(dtype, &Call::dtype)
      .one();
}

// nanmean.out(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor nanmean_out(const Tensor& self, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::nanmean", "out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).option(dtype, &Call::dtype)
      .tensor(out).one();
}

// nanmedian(Tensor self) -> Tensor
inline Tensor nanmedian(const Tensor& self) {
  static const Operator op = Operator::find("aten::nanmedian");
  return Call(op).tensor(self).one();
}

// nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> nanmedian_dim(const Tensor& self, int64_t dim,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::nanmedian", "dim");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).two();
}

// nanmedian.dim_values(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) ->
//     (Tensor(a!) values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> nanmedian_dim_out(const Tensor& self, int64_t dim, const Tensor& values,
    const Tensor& indices, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::nanmedian", "dim_values");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).tensor(values).tensor(indices).two();
}

// nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor
inline Tensor nanquantile(const Tensor& self, const Tensor& q, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}, const std::optional<std::string>& interpolation = {}) {
  static const Operator op = Operator::find("aten::nanquantile");
  return Call(op).tensor(self).tensor(q).option(dim, &Call::integer).option(keepdim, &Call::flag)
      .option(interpolation, &Call::string).one();
}

// nanquantile.out(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear",
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor nanquantile_out(const Tensor& self, const Tensor& q, const Tensor& out,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<std::string>& interpolation = {}) {
  static const Operator op = Operator::find("aten::nanquantile", "out");
  return Call(op).tensor(self).tensor(q).option(dim, &Call::integer).option(keepdim, &Call::flag)
      .option(interpolation, &Call::string).tensor(out).one();
}

// nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear") ->
//     Tensor
inline Tensor nanquantile_scalar(const Tensor& self, double q, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}, const std::optional<std::string>& interpolation = {}) {
  static const Operator op = Operator::find("aten::nanquantile", "scalar");
  return Call(op).tensor(self).real(q).option(dim, &Call::integer).option(keepdim, &Call::flag)
      .option(interpolation, &Call::string).one();
}

// nanquantile.scalar_out(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear",
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor nanquantile_scalar_out(const Tensor& self, double q, const Tensor& out,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<std::string>& interpolation = {}) {
  static const Operator op = Operator::find("aten::nanquantile", "scalar_out");
  return Call(op).tensor(self).real(q).option(dim, &Call::integer).option(keepdim, &Call::flag)
      .option(interpolation, &Call::string).tensor(out).one();
}

// nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
inline Tensor nansum(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::nansum");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).option(dtype, &Call::dtype)
      .one();
}

// nansum.out(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor nansum_out(const Tensor& self, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::nansum", "out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(keepdim, &Call::flag).option(dtype, &Call::dtype)
      .tensor(out).one();
}

// narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)
inline Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  static const Operator op = Operator::find("aten::narrow");
  return Call(op).tensor(self).integer(dim).integer(start).integer(length).one();
}

// narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor
inline Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  static const Operator op = Operator::find("aten::narrow_copy");
  return Call(op).tensor(self).integer(dim).integer(start).integer(length).one();
}

// narrow_copy.out(Tensor self, int dim, SymInt start, SymInt length, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor narrow_copy_out(const Tensor& self, int64_t dim, int64_t start, int64_t length, const Tensor& out) {
  static const Operator op = Operator::find("aten::narrow_copy", "out");
  return Call(op).tensor(self).integer(dim).integer(start).integer(length).tensor(out).one();
}

// narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)
inline Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  static const Operator op = Operator::find("aten::narrow", "Tensor");
  return Call(op).tensor(self).integer(dim).tensor(start).integer(length).one();
}

// ne.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor ne(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::ne", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// ne_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor ne_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::ne_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// ne.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ne_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::ne", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// ne.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor ne_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::ne", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor ne_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::ne_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// ne.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ne_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::ne", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// neg(Tensor self) -> Tensor
inline Tensor neg(const Tensor& self) {
  static const Operator op = Operator::find("aten::neg");
  return Call(op).tensor(self).one();
}

// neg_(Tensor(a!) self) -> Tensor(a!)
inline Tensor neg_(const Tensor& self) {
  static const Operator op = Operator::find("aten::neg_");
  return Call(op).tensor(self).one();
}

// neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor neg_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::neg", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// negative(Tensor self) -> Tensor
inline Tensor negative(const Tensor& self) {
  static const Operator op = Operator::find("aten::negative");
  return Call(op).tensor(self).one();
}

// negative_(Tensor(a!) self) -> Tensor(a!)
inline Tensor negative_(const Tensor& self) {
  static const Operator op = Operator::find("aten::negative_");
  return Call(op).tensor(self).one();
}

// negative.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor negative_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::negative", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor new_empty(const Tensor& self, const std::vector<int64_t>& size,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::new_empty");
  return Call(op).tensor(self).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor new_empty_strided(const Tensor& self, const std::vector<int64_t>& size,
    const std::vector<int64_t>& stride, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::new_empty_strided");
  return Call(op).tensor(self).integers(size).integers(stride).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor new_full(const Tensor& self, const std::vector<int64_t>& size, const Scalar& fill_value,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::new_full");
  return Call(op).tensor(self).integers(size).scalar(fill_value).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor new_ones(const Tensor& self, const std::vector<int64_t>& size,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::new_ones");
  return Call(op).tensor(self).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor new_zeros(const Tensor& self, const std::vector<int64_t>& size,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::new_zeros");
  return Call(op).tensor(self).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// nextafter(Tensor self, Tensor other) -> Tensor
inline Tensor nextafter(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::nextafter");
  return Call(op).tensor(self).tensor(other).one();
}

// nextafter_(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor nextafter_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::nextafter_");
  return Call(op).tensor(self).tensor(other).one();
}

// nextafter.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor nextafter_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::nextafter", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// nonzero(Tensor self) -> Tensor
inline Tensor nonzero(const Tensor& self) {
  static const Operator op = Operator::find("aten::nonzero");
  return Call(op).tensor(self).one();
}

// nonzero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor nonzero_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::nonzero", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor
inline Tensor nonzero_static(const Tensor& self, int64_t size, const std::optional<int64_t>& fill_value = {}) {
  static const Operator op = Operator::find("aten::nonzero_static");
  return Call(op).tensor(self).integer(size).option(fill_value, &Call::integer).one();
}

// nonzero_static.out(Tensor self, *, SymInt size, int fill_value=-1, Tensor(a!) out) -> Tensor(a!)
inline Tensor nonzero_static_out(const Tensor& self, int64_t size, const Tensor& out,
    const std::optional<int64_t>& fill_value = {}) {
  static const Operator op = Operator::find("aten::nonzero_static", "out");
  return Call(op).tensor(self).integer(size).option(fill_value, &Call::integer).tensor(out).one();
}

// norm.Scalar(Tensor self, Scalar p=2) -> Tensor
inline Tensor norm(const Tensor& self, const std::optional<Scalar>& p = {}) {
  static const Operator op = Operator::find("aten::norm", "Scalar");
  return Call(op).tensor(self).option(p, &Call::scalar).one();
}

// norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor
inline Tensor norm_dim(const Tensor& self, const std::optional<Scalar>& p, const std::vector<int64_t>& dim,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::norm", "ScalarOpt_dim");
  return Call(op).tensor(self).nullable(p, &Call::scalar).integers(dim).option(keepdim, &Call::flag).one();
}

// norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor
inline Tensor norm_dim_dtype(const Tensor& self, const std::optional<Scalar>& p, const std::vector<int64_t>& dim,
    bool keepdim, int32_t dtype) {
  static const Operator op = Operator::find("aten::norm", "ScalarOpt_dim_dtype");
  return Call(op).tensor(self).nullable(p, &Call::scalar).integers(dim).flag(keepdim).dtype(dtype).one();
}

// norm.dtype_out(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor norm_dim_dtype_out(const Tensor& self, const std::optional<Scalar>& p,
    const std::vector<int64_t>& dim, bool keepdim, int32_t dtype, const Tensor& out) {
  static const Operator op = Operator::find("aten::norm", "dtype_out");
  return Call(op).tensor(self).nullable(p, &Call::scalar).integers(dim).flag(keepdim).dtype(dtype).tensor(out)
      .one();
}

// norm.out(Tensor self, Scalar? p, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor norm_dim_out(const Tensor& self, const std::optional<Scalar>& p, const std::vector<int64_t>& dim,
    const Tensor& out, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::norm", "out");
  return Call(op).tensor(self).nullable(p, &Call::scalar).integers(dim).option(keepdim, &Call::flag).tensor(out)
      .one();
}

// norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor
inline Tensor norm_dtype(const Tensor& self, const std::optional<Scalar>& p, int32_t dtype) {
  static const Operator op = Operator::find("aten::norm", "ScalarOpt_dtype");
  return Call(op).tensor(self).nullable(p, &Call::scalar).dtype(dtype).one();
}

// norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor
inline Tensor norm_except_dim(const Tensor& v, const std::optional<int64_t>& pow = {},
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::norm_except_dim");
  return Call(op).tensor(v).option(pow, &Call::integer).option(dim, &Call::integer).one();
}

// normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor
inline Tensor normal(const Tensor& mean, const Tensor& std, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::normal", "Tensor_Tensor");
  return Call(op).tensor(mean).tensor(std).generator(generator).one();
}

// normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)
inline Tensor normal_(const Tensor& self, const std::optional<double>& mean = {},
    const std::optional<double>& std = {}, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::normal_");
  return Call(op).tensor(self).option(mean, &Call::real).option(std, &Call::real).generator(generator).one();
}

// normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor
inline Tensor normal_float(const Tensor& mean, const std::optional<double>& std = {},
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::normal", "Tensor_float");
  return Call(op).tensor(mean).option(std, &Call::real).generator(generator).one();
}

// normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None,
//     Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor normal_float_float(double mean, double std, const std::vector<int64_t>& size,
    const Generator& generator = Generator(), const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::normal", "float_float");
  return Call(op).real(mean).real(std).integers(size).generator(generator).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// normal.float_float_out(float mean, float std, SymInt[] size, *, Generator? generator=None, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor normal_float_float_out(double mean, double std, const std::vector<int64_t>& size, const Tensor& out,
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::normal", "float_float_out");
  return Call(op).real(mean).real(std).integers(size).generator(generator).tensor(out).one();
}

// normal.Tensor_float_out(Tensor mean, float std=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor normal_float_out(const Tensor& mean, const Tensor& out, const std::optional<double>& std = {},
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::normal", "Tensor_float_out");
  return Call(op).tensor(mean).option(std, &Call::real).generator(generator).tensor(out).one();
}

// normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor
inline Tensor normal_float_tensor(double mean, const Tensor& std, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::normal", "float_Tensor");
  return Call(op).real(mean).tensor(std).generator(generator).one();
}

// normal.float_Tensor_out(float mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor normal_float_tensor_out(double mean, const Tensor& std, const Tensor& out,
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::normal", "float_Tensor_out");
  return Call(op).real(mean).tensor(std).generator(generator).tensor(out).one();
}

// normal.Tensor_Tensor_out(Tensor mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor normal_out(const Tensor& mean, const Tensor& std, const Tensor& out,
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::normal", "Tensor_Tensor_out");
  return Call(op).tensor(mean).tensor(std).generator(generator).tensor(out).one();
}

// not_equal.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor not_equal(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::not_equal", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// not_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor not_equal_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::not_equal_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// not_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor not_equal_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::not_equal", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// not_equal.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor not_equal_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::not_equal", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// not_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor not_equal_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::not_equal_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// not_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor not_equal_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::not_equal", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// nuclear_norm(Tensor self, bool keepdim=False) -> Tensor
inline Tensor nuclear_norm(const Tensor& self, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::nuclear_norm");
  return Call(op).tensor(self).option(keepdim, &Call::flag).one();
}

// nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor
inline Tensor nuclear_norm_dim(const Tensor& self, const std::vector<int64_t>& dim,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::nuclear_norm", "dim");
  return Call(op).tensor(self).integers(dim).option(keepdim, &Call::flag).one();
}

// nuclear_norm.dim_out(Tensor self, int[2] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor nuclear_norm_dim_out(const Tensor& self, const std::vector<int64_t>& dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::nuclear_norm", "dim_out");
  return Call(op).tensor(self).integers(dim).option(keepdim, &Call::flag).tensor(out).one();
}

// nuclear_norm.out(Tensor self, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor nuclear_norm_out(const Tensor& self, const Tensor& out, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::nuclear_norm", "out");
  return Call(op).tensor(self).option(keepdim, &Call::flag).tensor(out).one();
}

// ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)
//     -> Tensor
inline Tensor ones(const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::ones");
  return Call(op).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor ones_like(const Tensor& self, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::ones_like");
  return Call(op).tensor(self).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor ones_out(const std::vector<int64_t>& size, const Tensor& out) {
  static const Operator op = Operator::find("aten::ones", "out");
  return Call(op).integers(size).tensor(out).one();
}

// orgqr(Tensor self, Tensor input2) -> Tensor
inline Tensor orgqr(const Tensor& self, const Tensor& input2) {
  static const Operator op = Operator::find("aten::orgqr");
  return Call(op).tensor(self).tensor(input2).one();
}

// orgqr.out(Tensor self, Tensor input2, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor orgqr_out(const Tensor& self, const Tensor& input2, const Tensor& out) {
  static const Operator op = Operator::find("aten::orgqr", "out");
  return Call(op).tensor(self).tensor(input2).tensor(out).one();
}

// ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor
inline Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3,
    const std::optional<bool>& left = {}, const std::optional<bool>& transpose = {}) {
  static const Operator op = Operator::find("aten::ormqr");
  return Call(op).tensor(self).tensor(input2).tensor(input3).option(left, &Call::flag)
      .option(transpose, &Call::flag).one();
}

// ormqr.out(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor ormqr_out(const Tensor& self, const Tensor& input2, const Tensor& input3, const Tensor& out,
    const std::optional<bool>& left = {}, const std::optional<bool>& transpose = {}) {
  static const Operator op = Operator::find("aten::ormqr", "out");
  return Call(op).tensor(self).tensor(input2).tensor(input3).option(left, &Call::flag)
      .option(transpose, &Call::flag).tensor(out).one();
}

// outer(Tensor self, Tensor vec2) -> Tensor
inline Tensor outer(const Tensor& self, const Tensor& vec2) {
  static const Operator op = Operator::find("aten::outer");
  return Call(op).tensor(self).tensor(vec2).one();
}

// outer.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor outer_out(const Tensor& self, const Tensor& vec2, const Tensor& out) {
  static const Operator op = Operator::find("aten::outer", "out");
  return Call(op).tensor(self).tensor(vec2).tensor(out).one();
}

// permute(Tensor(a) self, int[] dims) -> Tensor(a)
inline Tensor permute(const Tensor& self, const std::vector<int64_t>& dims) {
  static const Operator op = Operator::find("aten::permute");
  return Call(op).tensor(self).integers(dims).one();
}

// permute_copy(Tensor self, int[] dims) -> Tensor
inline Tensor permute_copy(const Tensor& self, const std::vector<int64_t>& dims) {
  static const Operator op = Operator::find("aten::permute_copy");
  return Call(op).tensor(self).integers(dims).one();
}

// pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)
inline Tensor pin_memory(const Tensor& self, const std::optional<Device>& device = {}) {
  static const Operator op = Operator::find("aten::pin_memory");
  return Call(op).tensor(self).option(device, &Call::device).one();
}

// pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor
inline Tensor pinverse(const Tensor& self, const std::optional<double>& rcond = {}) {
  static const Operator op = Operator::find("aten::pinverse");
  return Call(op).tensor(self).option(rcond, &Call::real).one();
}

// poisson(Tensor self, Generator? generator=None) -> Tensor
inline Tensor poisson(const Tensor& self, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::poisson");
  return Call(op).tensor(self).generator(generator).one();
}

// polar(Tensor abs, Tensor angle) -> Tensor
inline Tensor polar(const Tensor& abs, const Tensor& angle) {
  static const Operator op = Operator::find("aten::polar");
  return Call(op).tensor(abs).tensor(angle).one();
}

// polar.out(Tensor abs, Tensor angle, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor polar_out(const Tensor& abs, const Tensor& angle, const Tensor& out) {
  static const Operator op = Operator::find("aten::polar", "out");
  return Call(op).tensor(abs).tensor(angle).tensor(out).one();
}

// polygamma(int n, Tensor self) -> Tensor
inline Tensor polygamma(int64_t n, const Tensor& self) {
  static const Operator op = Operator::find("aten::polygamma");
  return Call(op).integer(n).tensor(self).one();
}

// polygamma_(Tensor(a!) self, int n) -> Tensor(a!)
inline Tensor polygamma_(const Tensor& self, int64_t n) {
  static const Operator op = Operator::find("aten::polygamma_");
  return Call(op).tensor(self).integer(n).one();
}

// polygamma.out(int n, Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor polygamma_out(int64_t n, const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::polygamma", "out");
  return Call(op).integer(n).tensor(self).tensor(out).one();
}

// positive(Tensor(a) self) -> Tensor(a)
inline Tensor positive(const Tensor& self) {
  static const Operator op = Operator::find("aten::positive");
  return Call(op).tensor(self).one();
}

// pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor
inline Tensor pow(const Tensor& self, const Tensor& exponent) {
  static const Operator op = Operator::find("aten::pow", "Tensor_Tensor");
  return Call(op).tensor(self).tensor(exponent).one();
}

// pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)
inline Tensor pow_(const Tensor& self, const Tensor& exponent) {
  static const Operator op = Operator::find("aten::pow_", "Tensor");
  return Call(op).tensor(self).tensor(exponent).one();
}

// pow.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor pow_out(const Tensor& self, const Tensor& exponent, const Tensor& out) {
  static const Operator op = Operator::find("aten::pow", "Tensor_Tensor_out");
  return Call(op).tensor(self).tensor(exponent).tensor(out).one();
}

// pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor
inline Tensor pow_scalar(const Tensor& self, const Scalar& exponent) {
  static const Operator op = Operator::find("aten::pow", "Tensor_Scalar");
  return Call(op).tensor(self).scalar(exponent).one();
}

// pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)
inline Tensor pow_scalar_(const Tensor& self, const Scalar& exponent) {
  static const Operator op = Operator::find("aten::pow_", "Scalar");
  return Call(op).tensor(self).scalar(exponent).one();
}

// pow.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor pow_scalar_out(const Tensor& self, const Scalar& exponent, const Tensor& out) {
  static const Operator op = Operator::find("aten::pow", "Tensor_Scalar_out");
  return Call(op).tensor(self).scalar(exponent).tensor(out).one();
}

// prelu(Tensor self, Tensor weight) -> Tensor
inline Tensor prelu(const Tensor& self, const Tensor& weight) {
  static const Operator op = Operator::find("aten::prelu");
  return Call(op).tensor(self).tensor(weight).one();
}

// prod(Tensor self, *, ScalarType? dtype=None) -> Tensor
inline Tensor prod(const Tensor& self, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::prod");
  return Call(op).tensor(self).option(dtype, &Call::dtype).one();
}

// prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
inline Tensor prod_dim(const Tensor& self, int64_t dim, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::prod", "dim_int");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).option(dtype, &Call::dtype).one();
}

// prod.int_out(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor prod_dim_out(const Tensor& self, int64_t dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::prod", "int_out");
  return Call(op).tensor(self).integer(dim).option(keepdim, &Call::flag).option(dtype, &Call::dtype).tensor(out)
      .one();
}

// promote_types(ScalarType type1, ScalarType type2) -> ScalarType
inline int32_t promote_types(int32_t type1, int32_t type2) {
  static const Operator op = Operator::find("aten::promote_types");
  return Call(op).dtype(type1).dtype(type2).element_type();
}

// put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor
inline Tensor put(const Tensor& self, const Tensor& index, const Tensor& source,
    const std::optional<bool>& accumulate = {}) {
  static const Operator op = Operator::find("aten::put");
  return Call(op).tensor(self).tensor(index).tensor(source).option(accumulate, &Call::flag).one();
}

// put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)
inline Tensor put_(const Tensor& self, const Tensor& index, const Tensor& source,
    const std::optional<bool>& accumulate = {}) {
  static const Operator op = Operator::find("aten::put_");
  return Call(op).tensor(self).tensor(index).tensor(source).option(accumulate, &Call::flag).one();
}

// qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)
inline std::tuple<Tensor, Tensor> qr(const Tensor& self, const std::optional<bool>& some = {}) {
  static const Operator op = Operator::find("aten::qr");
  return Call(op).tensor(self).option(some, &Call::flag).two();
}

// qr.Q(Tensor self, bool some=True, *, Tensor(a!) Q, Tensor(b!) R) -> (Tensor(a!) Q, Tensor(b!) R)
inline std::tuple<Tensor, Tensor> qr_out(const Tensor& self, const Tensor& Q, const Tensor& R,
    const std::optional<bool>& some = {}) {
  static const Operator op = Operator::find("aten::qr", "Q");
  return Call(op).tensor(self).option(some, &Call::flag).tensor(Q).tensor(R).two();
}

// quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor
inline Tensor quantile(const Tensor& self, const Tensor& q, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}, const std::optional<std::string>& interpolation = {}) {
  static const Operator op = Operator::find("aten::quantile");
  return Call(op).tensor(self).tensor(q).option(dim, &Call::integer).option(keepdim, &Call::flag)
      .option(interpolation, &Call::string).one();
}

// quantile.out(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear", Tensor(a!)
//     out) -> Tensor(a!)
inline Tensor quantile_out(const Tensor& self, const Tensor& q, const Tensor& out,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<std::string>& interpolation = {}) {
  static const Operator op = Operator::find("aten::quantile", "out");
  return Call(op).tensor(self).tensor(q).option(dim, &Call::integer).option(keepdim, &Call::flag)
      .option(interpolation, &Call::string).tensor(out).one();
}

// quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear") ->
//     Tensor
inline Tensor quantile_scalar(const Tensor& self, double q, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& keepdim = {}, const std::optional<std::string>& interpolation = {}) {
  static const Operator op = Operator::find("aten::quantile", "scalar");
  return Call(op).tensor(self).real(q).option(dim, &Call::integer).option(keepdim, &Call::flag)
      .option(interpolation, &Call::string).one();
}

// quantile.scalar_out(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear",
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor quantile_scalar_out(const Tensor& self, double q, const Tensor& out,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<std::string>& interpolation = {}) {
  static const Operator op = Operator::find("aten::quantile", "scalar_out");
  return Call(op).tensor(self).real(q).option(dim, &Call::integer).option(keepdim, &Call::flag)
      .option(interpolation, &Call::string).tensor(out).one();
}

// rad2deg(Tensor self) -> Tensor
inline Tensor rad2deg(const Tensor& self) {
  static const Operator op = Operator::find("aten::rad2deg");
  return Call(op).tensor(self).one();
}

// rad2deg_(Tensor(a!) self) -> Tensor(a!)
inline Tensor rad2deg_(const Tensor& self) {
  static const Operator op = Operator::find("aten::rad2deg_");
  return Call(op).tensor(self).one();
}

// rad2deg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor rad2deg_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::rad2deg", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)
//     -> Tensor
inline Tensor rand(const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::rand");
  return Call(op).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor rand_generator(const std::vector<int64_t>& size, const Generator& generator,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::rand", "generator");
  return Call(op).integers(size).generator(generator).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// rand.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)
inline Tensor rand_generator_out(const std::vector<int64_t>& size, const Generator& generator, const Tensor& out) {
  static const Operator op = Operator::find("aten::rand", "generator_out");
  return Call(op).integers(size).generator(generator).tensor(out).one();
}

// rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor rand_like(const Tensor& self, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::rand_like");
  return Call(op).tensor(self).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor rand_like_generator(const Tensor& self, const Generator& generator,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {},
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::rand_like", "generator");
  return Call(op).tensor(self).generator(generator).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// rand.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor rand_out(const std::vector<int64_t>& size, const Tensor& out) {
  static const Operator op = Operator::find("aten::rand", "out");
  return Call(op).integers(size).tensor(out).one();
}

// randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor randint(int64_t high, const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::randint");
  return Call(op).integer(high).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor randint_generator(int64_t high, const std::vector<int64_t>& size, const Generator& generator,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::randint", "generator");
  return Call(op).integer(high).integers(size).generator(generator).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// randint.generator_out(SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)
inline Tensor randint_generator_out(int64_t high, const std::vector<int64_t>& size, const Generator& generator,
    const Tensor& out) {
  static const Operator op = Operator::find("aten::randint", "generator_out");
  return Call(op).integer(high).integers(size).generator(generator).tensor(out).one();
}

// randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
//     bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor randint_like(const Tensor& self, int64_t high, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::randint_like");
  return Call(op).tensor(self).integer(high).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout?
//     layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor randint_like_generator(const Tensor& self, int64_t high, const Generator& generator,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {},
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::randint_like", "generator");
  return Call(op).tensor(self).integer(high).generator(generator).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag)
      .option(memory_format, &Call::memory_format).one();
}

// randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? layout=None,
//     Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor randint_like_low_dtype(const Tensor& self, int64_t low, int64_t high,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {},
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::randint_like", "low_dtype");
  return Call(op).tensor(self).integer(low).integer(high).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator, ScalarType?
//     dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None)
//     -> Tensor
inline Tensor randint_like_low_generator_dtype(const Tensor& self, int64_t low, int64_t high,
    const Generator& generator, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::randint_like", "low_generator_dtype");
  return Call(op).tensor(self).integer(low).integer(high).generator(generator).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag)
      .option(memory_format, &Call::memory_format).one();
}

// randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor randint_like_tensor(const Tensor& self, const Tensor& high, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::randint_like", "Tensor");
  return Call(op).tensor(self).tensor(high).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, ScalarType? dtype=None, Layout?
//     layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor randint_like_tensor_generator(const Tensor& self, const Tensor& high, const Generator& generator,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {},
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::randint_like", "Tensor_generator");
  return Call(op).tensor(self).tensor(high).generator(generator).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag)
      .option(memory_format, &Call::memory_format).one();
}

// randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor randint_low(int64_t low, int64_t high, const std::vector<int64_t>& size,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::randint", "low");
  return Call(op).integer(low).integer(high).integers(size).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4,
//     Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline Tensor randint_low_generator(int64_t low, int64_t high, const std::vector<int64_t>& size,
    const Generator& generator, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::randint", "low_generator");
  return Call(op).integer(low).integer(high).integers(size).generator(generator).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// randint.low_generator_out(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor randint_low_generator_out(int64_t low, int64_t high, const std::vector<int64_t>& size,
    const Generator& generator, const Tensor& out) {
  static const Operator op = Operator::find("aten::randint", "low_generator_out");
  return Call(op).integer(low).integer(high).integers(size).generator(generator).tensor(out).one();
}

// randint.low_out(SymInt low, SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor randint_low_out(int64_t low, int64_t high, const std::vector<int64_t>& size, const Tensor& out) {
  static const Operator op = Operator::find("aten::randint", "low_out");
  return Call(op).integer(low).integer(high).integers(size).tensor(out).one();
}

// randint.out(SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor randint_out(int64_t high, const std::vector<int64_t>& size, const Tensor& out) {
  static const Operator op = Operator::find("aten::randint", "out");
  return Call(op).integer(high).integers(size).tensor(out).one();
}

// randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)
//     -> Tensor
inline Tensor randn(const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::randn");
  return Call(op).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor randn_generator(const std::vector<int64_t>& size, const Generator& generator,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::randn", "generator");
  return Call(op).integers(size).generator(generator).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// randn.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)
inline Tensor randn_generator_out(const std::vector<int64_t>& size, const Generator& generator, const Tensor& out) {
  static const Operator op = Operator::find("aten::randn", "generator_out");
  return Call(op).integers(size).generator(generator).tensor(out).one();
}

// randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor randn_like(const Tensor& self, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::randn_like");
  return Call(op).tensor(self).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor randn_like_generator(const Tensor& self, const Generator& generator,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {},
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::randn_like", "generator");
  return Call(op).tensor(self).generator(generator).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// randn.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor randn_out(const std::vector<int64_t>& size, const Tensor& out) {
  static const Operator op = Operator::find("aten::randn", "out");
  return Call(op).integers(size).tensor(out).one();
}

// random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)
inline Tensor random_(const Tensor& self, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::random_");
  return Call(op).tensor(self).generator(generator).one();
}

// random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)
inline Tensor random_from_(const Tensor& self, int64_t from, const std::optional<int64_t>& to,
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::random_", "from");
  return Call(op).tensor(self).integer(from).nullable(to, &Call::integer).generator(generator).one();
}

// random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)
inline Tensor random_to_(const Tensor& self, int64_t to, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::random_", "to");
  return Call(op).tensor(self).integer(to).generator(generator).one();
}

// randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) ->
//     Tensor
inline Tensor randperm(int64_t n, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::randperm");
  return Call(op).integer(n).option(dtype, &Call::dtype).option(layout, &Call::layout).option(device, &Call::device)
      .option(pin_memory, &Call::flag).one();
}

// randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor randperm_generator(int64_t n, const Generator& generator, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::randperm", "generator");
  return Call(op).integer(n).generator(generator).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// randperm.generator_out(SymInt n, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)
inline Tensor randperm_generator_out(int64_t n, const Generator& generator, const Tensor& out) {
  static const Operator op = Operator::find("aten::randperm", "generator_out");
  return Call(op).integer(n).generator(generator).tensor(out).one();
}

// randperm.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor randperm_out(int64_t n, const Tensor& out) {
  static const Operator op = Operator::find("aten::randperm", "out");
  return Call(op).integer(n).tensor(out).one();
}

// range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor range(const Scalar& start, const Scalar& end, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::range");
  return Call(op).scalar(start).scalar(end).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// range.out_(Scalar start, Scalar end, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor range_out(const Scalar& start, const Scalar& end, const Tensor& out) {
  static const Operator op = Operator::find("aten::range", "out_");
  return Call(op).scalar(start).scalar(end).tensor(out).one();
}

// range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None) -> Tensor
inline Tensor range_step(const Scalar& start, const Scalar& end, const Scalar& step,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::range", "step");
  return Call(op).scalar(start).scalar(end).scalar(step).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// range.out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor range_step_out(const Scalar& start, const Scalar& end, const Tensor& out,
    const std::optional<Scalar>& step = {}) {
  static const Operator op = Operator::find("aten::range", "out");
  return Call(op).scalar(start).scalar(end).option(step, &Call::scalar).tensor(out).one();
}

// ravel(Tensor(a) self) -> Tensor(a)
inline Tensor ravel(const Tensor& self) {
  static const Operator op = Operator::find("aten::ravel");
  return Call(op).tensor(self).one();
}

// real(Tensor(a) self) -> Tensor(a)
inline Tensor real(const Tensor& self) {
  static const Operator op = Operator::find("aten::real");
  return Call(op).tensor(self).one();
}

// reciprocal(Tensor self) -> Tensor
inline Tensor reciprocal(const Tensor& self) {
  static const Operator op = Operator::find("aten::reciprocal");
  return Call(op).tensor(self).one();
}

// reciprocal_(Tensor(a!) self) -> Tensor(a!)
inline Tensor reciprocal_(const Tensor& self) {
  static const Operator op = Operator::find("aten::reciprocal_");
  return Call(op).tensor(self).one();
}

// reciprocal.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor reciprocal_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::reciprocal", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// relu(Tensor self) -> Tensor
inline Tensor relu(const Tensor& self) {
  static const Operator op = Operator::find("aten::relu");
  return Call(op).tensor(self).one();
}

// relu_(Tensor(a!) self) -> Tensor(a!)
inline Tensor relu_(const Tensor& self) {
  static const Operator op = Operator::find("aten::relu_");
  return Call(op).tensor(self).one();
}

// remainder.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor remainder(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::remainder", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor remainder_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::remainder_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// remainder.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor remainder_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::remainder", "Tensor_out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// remainder.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor remainder_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::remainder", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor remainder_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::remainder_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// remainder.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor remainder_scalar_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::remainder", "Scalar_out");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
inline Tensor remainder_scalar_tensor(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::remainder", "Scalar_Tensor");
  return Call(op).scalar(self).tensor(other).one();
}

// renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor
inline Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  static const Operator op = Operator::find("aten::renorm");
  return Call(op).tensor(self).scalar(p).integer(dim).scalar(maxnorm).one();
}

// renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)
inline Tensor renorm_(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  static const Operator op = Operator::find("aten::renorm_");
  return Call(op).tensor(self).scalar(p).integer(dim).scalar(maxnorm).one();
}

// renorm.out(Tensor self, Scalar p, int dim, Scalar maxnorm, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor renorm_out(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm, const Tensor& out) {
  static const Operator op = Operator::find("aten::renorm", "out");
  return Call(op).tensor(self).scalar(p).integer(dim).scalar(maxnorm).tensor(out).one();
}

// repeat(Tensor self, SymInt[] repeats) -> Tensor
inline Tensor repeat(const Tensor& self, const std::vector<int64_t>& repeats) {
  static const Operator op = Operator::find("aten::repeat");
  return Call(op).tensor(self).integers(repeats).one();
}

// repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor
inline Tensor repeat_interleave(const Tensor& self, int64_t repeats, const std::optional<int64_t>& dim = {},
    const std::optional<int64_t>& output_size = {}) {
  static const Operator op = Operator::find("aten::repeat_interleave", "self_int");
  return Call(op).tensor(self).integer(repeats).option(dim, &Call::integer).option(output_size, &Call::integer)
      .one();
}

// repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor
inline Tensor repeat_interleave_indices(const Tensor& repeats, const std::optional<int64_t>& output_size = {}) {
  static const Operator op = Operator::find("aten::repeat_interleave", "Tensor");
  return Call(op).tensor(repeats).option(output_size, &Call::integer).one();
}

// repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor
inline Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats,
    const std::optional<int64_t>& dim = {}, const std::optional<int64_t>& output_size = {}) {
  static const Operator op = Operator::find("aten::repeat_interleave", "self_Tensor");
  return Call(op).tensor(self).tensor(repeats).option(dim, &Call::integer).option(output_size, &Call::integer)
      .one();
}

// reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)
inline Tensor reshape(const Tensor& self, const std::vector<int64_t>& shape) {
  static const Operator op = Operator::find("aten::reshape");
  return Call(op).tensor(self).integers(shape).one();
}

// reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)
inline Tensor reshape_as(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::reshape_as");
  return Call(op).tensor(self).tensor(other).one();
}

// resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)
inline Tensor resize_(const Tensor& self, const std::vector<int64_t>& size,
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::resize_");
  return Call(op).tensor(self).integers(size).option(memory_format, &Call::memory_format).one();
}

// resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)
inline Tensor resize_as_(const Tensor& self, const Tensor& the_template,
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::resize_as_");
  return Call(op).tensor(self).tensor(the_template).option(memory_format, &Call::memory_format).one();
}

// resolve_conj(Tensor(a) self) -> Tensor(a)
inline Tensor resolve_conj(const Tensor& self) {
  static const Operator op = Operator::find("aten::resolve_conj");
  return Call(op).tensor(self).one();
}

// resolve_neg(Tensor(a) self) -> Tensor(a)
inline Tensor resolve_neg(const Tensor& self) {
  static const Operator op = Operator::find("aten::resolve_neg");
  return Call(op).tensor(self).one();
}

// result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType
inline int32_t result_type(const Tensor& tensor, const Tensor& other) {
  static const Operator op = Operator::find("aten::result_type", "Tensor");
  return Call(op).tensor(tensor).tensor(other).element_type();
}

// result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType
inline int32_t result_type_scalar(const Tensor& tensor, const Scalar& other) {
  static const Operator op = Operator::find("aten::result_type", "Scalar");
  return Call(op).tensor(tensor).scalar(other).element_type();
}

// result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType
inline int32_t result_type_scalar_scalar(const Scalar& scalar1, const Scalar& scalar2) {
  static const Operator op = Operator::find("aten::result_type", "Scalar_Scalar");
  return Call(op).scalar(scalar1).scalar(scalar2).element_type();
}

// result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType
inline int32_t result_type_scalar_tensor(const Scalar& scalar, const Tensor& tensor) {
  static const Operator op = Operator::find("aten::result_type", "Scalar_Tensor");
  return Call(op).scalar(scalar).tensor(tensor).element_type();
}

// rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool
//     train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, const TensorList& params,
    bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  static const Operator op = Operator::find("aten::rnn_relu", "input");
  return Call(op).tensor(input).tensor(hx).tensors(params).flag(has_biases).integer(num_layers).real(dropout)
      .flag(train).flag(bidirectional).flag(batch_first).two();
}

// rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor
inline Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
    const Tensor& b_ih = Tensor(), const Tensor& b_hh = Tensor()) {
  static const Operator op = Operator::find("aten::rnn_relu_cell");
  return Call(op).tensor(input).tensor(hx).tensor(w_ih).tensor(w_hh).tensor(b_ih).tensor(b_hh).one();
}

// rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
//     float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> rnn_relu_packed(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
    const TensorList& params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  static const Operator op = Operator::find("aten::rnn_relu", "data");
  return Call(op).tensor(data).tensor(batch_sizes).tensor(hx).tensors(params).flag(has_biases).integer(num_layers)
      .real(dropout).flag(train).flag(bidirectional).two();
}

// rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool
//     train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, const TensorList& params,
    bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  static const Operator op = Operator::find("aten::rnn_tanh", "input");
  return Call(op).tensor(input).tensor(hx).tensors(params).flag(has_biases).integer(num_layers).real(dropout)
      .flag(train).flag(bidirectional).flag(batch_first).two();
}

// rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor
inline Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
    const Tensor& b_ih = Tensor(), const Tensor& b_hh = Tensor()) {
  static const Operator op = Operator::find("aten::rnn_tanh_cell");
  return Call(op).tensor(input).tensor(hx).tensor(w_ih).tensor(w_hh).tensor(b_ih).tensor(b_hh).one();
}

// rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
//     float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> rnn_tanh_packed(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
    const TensorList& params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  static const Operator op = Operator::find("aten::rnn_tanh", "data");
  return Call(op).tensor(data).tensor(batch_sizes).tensor(hx).tensors(params).flag(has_biases).integer(num_layers)
      .real(dropout).flag(train).flag(bidirectional).two();
}

// roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor
inline Tensor roll(const Tensor& self, const std::vector<int64_t>& shifts,
    const std::optional<std::vector<int64_t>>& dims = {}) {
  static const Operator op = Operator::find("aten::roll");
  return Call(op).tensor(self).integers(shifts).option(dims, &Call::integers).one();
}

// rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor
inline Tensor rot90(const Tensor& self, const std::optional<int64_t>& k = {},
    const std::optional<std::vector<int64_t>>& dims = {}) {
  static const Operator op = Operator::find("aten::rot90");
  return Call(op).tensor(self).option(k, &Call::integer).option(dims, &Call::integers).one();
}

// round(Tensor self) -> Tensor
inline Tensor round(const Tensor& self) {
  static const Operator op = Operator::find("aten::round");
  return Call(op).tensor(self).one();
}

// round_(Tensor(a!) self) -> Tensor(a!)
inline Tensor round_(const Tensor& self) {
  static const Operator op = Operator::find("aten::round_");
  return Call(op).tensor(self).one();
}

// round.decimals(Tensor self, *, int decimals) -> Tensor
inline Tensor round_decimals(const Tensor& self, int64_t decimals) {
  static const Operator op = Operator::find("aten::round", "decimals");
  return Call(op).tensor(self).integer(decimals).one();
}

// round_.decimals(Tensor(a!) self, *, int decimals) -> Tensor(a!)
inline Tensor round_decimals_(const Tensor& self, int64_t decimals) {
  static const Operator op = Operator::find("aten::round_", "decimals");
  return Call(op).tensor(self).integer(decimals).one();
}

// round.decimals_out(Tensor self, *, int decimals, Tensor(a!) out) -> Tensor(a!)
inline Tensor round_decimals_out(const Tensor& self, int64_t decimals, const Tensor& out) {
  static const Operator op = Operator::find("aten::round", "decimals_out");
  return Call(op).tensor(self).integer(decimals).tensor(out).one();
}

// round.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor round_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::round", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// row_indices(Tensor(a) self) -> Tensor(a)
inline Tensor row_indices(const Tensor& self) {
  static const Operator op = Operator::find("aten::row_indices");
  return Call(op).tensor(self).one();
}

// row_indices_copy(Tensor self) -> Tensor
inline Tensor row_indices_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::row_indices_copy");
  return Call(op).tensor(self).one();
}

// row_stack(Tensor[] tensors) -> Tensor
inline Tensor row_stack(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::row_stack");
  return Call(op).tensors(tensors).one();
}

// row_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor row_stack_out(const TensorList& tensors, const Tensor& out) {
  static const Operator op = Operator::find("aten::row_stack", "out");
  return Call(op).tensors(tensors).tensor(out).one();
}

// rsqrt(Tensor self) -> Tensor
inline Tensor rsqrt(const Tensor& self) {
  static const Operator op = Operator::find("aten::rsqrt");
  return Call(op).tensor(self).one();
}

// rsqrt_(Tensor(a!) self) -> Tensor(a!)
inline Tensor rsqrt_(const Tensor& self) {
  static const Operator op = Operator::find("aten::rsqrt_");
  return Call(op).tensor(self).one();
}

// rsqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor rsqrt_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::rsqrt", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
inline Tensor rsub(const Tensor& self, const Tensor& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::rsub", "Tensor");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).one();
}

// rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
inline Tensor rsub_scalar(const Tensor& self, const Scalar& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::rsub", "Scalar");
  return Call(op).tensor(self).scalar(other).option(alpha, &Call::scalar).one();
}

// float_power.Scalar(Scalar self, Tensor exponent) -> Tensor
inline Tensor scalar_float_power(const Scalar& self, const Tensor& exponent) {
  static const Operator op = Operator::find("aten::float_power", "Scalar");
  return Call(op).scalar(self).tensor(exponent).one();
}

// float_power.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor scalar_float_power_out(const Scalar& self, const Tensor& exponent, const Tensor& out) {
  static const Operator op = Operator::find("aten::float_power", "Scalar_out");
  return Call(op).scalar(self).tensor(exponent).tensor(out).one();
}

// pow.Scalar(Scalar self, Tensor exponent) -> Tensor
inline Tensor scalar_pow(const Scalar& self, const Tensor& exponent) {
  static const Operator op = Operator::find("aten::pow", "Scalar");
  return Call(op).scalar(self).tensor(exponent).one();
}

// pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor scalar_pow_out(const Scalar& self, const Tensor& exponent, const Tensor& out) {
  static const Operator op = Operator::find("aten::pow", "Scalar_out");
  return Call(op).scalar(self).tensor(exponent).tensor(out).one();
}

// scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None) -> Tensor
inline Tensor scalar_tensor(const Scalar& s, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::scalar_tensor");
  return Call(op).scalar(s).option(dtype, &Call::dtype).option(layout, &Call::layout).option(device, &Call::device)
      .option(pin_memory, &Call::flag).one();
}

// scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static const Operator op = Operator::find("aten::scatter", "src");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).one();
}

// scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)
inline Tensor scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static const Operator op = Operator::find("aten::scatter_", "src");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).one();
}

// scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor
inline Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static const Operator op = Operator::find("aten::scatter_add");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).one();
}

// scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)
inline Tensor scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static const Operator op = Operator::find("aten::scatter_add_");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).one();
}

// scatter_add.out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor scatter_add_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
    const Tensor& out) {
  static const Operator op = Operator::find("aten::scatter_add", "out");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).tensor(out).one();
}

// scatter.src_out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor scatter_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  static const Operator op = Operator::find("aten::scatter", "src_out");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).tensor(out).one();
}

// scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) ->
//     Tensor
inline Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
    const std::string& reduce, const std::optional<bool>& include_self = {}) {
  static const Operator op = Operator::find("aten::scatter_reduce", "two");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).string(reduce)
      .option(include_self, &Call::flag).one();
}

// scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True)
//     -> Tensor(a!)
inline Tensor scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
    const std::string& reduce, const std::optional<bool>& include_self = {}) {
  static const Operator op = Operator::find("aten::scatter_reduce_", "two");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).string(reduce)
      .option(include_self, &Call::flag).one();
}

// scatter_reduce.two_out(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor scatter_reduce_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
    const std::string& reduce, const Tensor& out, const std::optional<bool>& include_self = {}) {
  static const Operator op = Operator::find("aten::scatter_reduce", "two_out");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).string(reduce)
      .option(include_self, &Call::flag).tensor(out).one();
}

// scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor
inline Tensor scatter_src_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
    const std::string& reduce) {
  static const Operator op = Operator::find("aten::scatter", "reduce");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).string(reduce).one();
}

// scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)
inline Tensor scatter_src_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
    const std::string& reduce) {
  static const Operator op = Operator::find("aten::scatter_", "reduce");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).string(reduce).one();
}

// scatter.reduce_out(Tensor self, int dim, Tensor index, Tensor src, *, str reduce, Tensor(a!) out) -> Tensor(a!)
inline Tensor scatter_src_reduce_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
    const std::string& reduce, const Tensor& out) {
  static const Operator op = Operator::find("aten::scatter", "reduce_out");
  return Call(op).tensor(self).integer(dim).tensor(index).tensor(src).string(reduce).tensor(out).one();
}

// scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor
inline Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static const Operator op = Operator::find("aten::scatter", "value");
  return Call(op).tensor(self).integer(dim).tensor(index).scalar(value).one();
}

// scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)
inline Tensor scatter_value_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static const Operator op = Operator::find("aten::scatter_", "value");
  return Call(op).tensor(self).integer(dim).tensor(index).scalar(value).one();
}

// scatter.value_out(Tensor self, int dim, Tensor index, Scalar value, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor scatter_value_out(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
    const Tensor& out) {
  static const Operator op = Operator::find("aten::scatter", "value_out");
  return Call(op).tensor(self).integer(dim).tensor(index).scalar(value).tensor(out).one();
}

// scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor
inline Tensor scatter_value_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
    const std::string& reduce) {
  static const Operator op = Operator::find("aten::scatter", "value_reduce");
  return Call(op).tensor(self).integer(dim).tensor(index).scalar(value).string(reduce).one();
}

// scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor(a!)
inline Tensor scatter_value_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
    const std::string& reduce) {
  static const Operator op = Operator::find("aten::scatter_", "value_reduce");
  return Call(op).tensor(self).integer(dim).tensor(index).scalar(value).string(reduce).one();
}

// scatter.value_reduce_out(Tensor self, int dim, Tensor index, Scalar value, *, str reduce, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor scatter_value_reduce_out(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
    const std::string& reduce, const Tensor& out) {
  static const Operator op = Operator::find("aten::scatter", "value_reduce_out");
  return Call(op).tensor(self).integer(dim).tensor(index).scalar(value).string(reduce).tensor(out).one();
}

// searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str?
//     side=None, Tensor? sorter=None) -> Tensor
inline Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self,
    const std::optional<bool>& out_int32 = {}, const std::optional<bool>& right = {},
    const std::optional<std::string>& side = {}, const Tensor& sorter = Tensor()) {
  static const Operator op = Operator::find("aten::searchsorted", "Tensor");
  return Call(op).tensor(sorted_sequence).tensor(self).option(out_int32, &Call::flag).option(right, &Call::flag)
      .option(side, &Call::string).tensor(sorter).one();
}

// searchsorted.Tensor_out(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str?
//     side=None, Tensor? sorter=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor searchsorted_out(const Tensor& sorted_sequence, const Tensor& self, const Tensor& out,
    const std::optional<bool>& out_int32 = {}, const std::optional<bool>& right = {},
    const std::optional<std::string>& side = {}, const Tensor& sorter = Tensor()) {
  static const Operator op = Operator::find("aten::searchsorted", "Tensor_out");
  return Call(op).tensor(sorted_sequence).tensor(self).option(out_int32, &Call::flag).option(right, &Call::flag)
      .option(side, &Call::string).tensor(sorter).tensor(out).one();
}

// searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str?
//     side=None, Tensor? sorter=None) -> Tensor
inline Tensor searchsorted_scalar(const Tensor& sorted_sequence, const Scalar& self,
    const std::optional<bool>& out_int32 = {}, const std::optional<bool>& right = {},
    const std::optional<std::string>& side = {}, const Tensor& sorter = Tensor()) {
  static const Operator op = Operator::find("aten::searchsorted", "Scalar");
  return Call(op).tensor(sorted_sequence).scalar(self).option(out_int32, &Call::flag).option(right, &Call::flag)
      .option(side, &Call::string).tensor(sorter).one();
}

// searchsorted.Scalar_out(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str?
//     side=None, Tensor? sorter=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor searchsorted_scalar_out(const Tensor& sorted_sequence, const Scalar& self, const Tensor& out,
    const std::optional<bool>& out_int32 = {}, const std::optional<bool>& right = {},
    const std::optional<std::string>& side = {}, const Tensor& sorter = Tensor()) {
  static const Operator op = Operator::find("aten::searchsorted", "Scalar_out");
  return Call(op).tensor(sorted_sequence).scalar(self).option(out_int32, &Call::flag).option(right, &Call::flag)
      .option(side, &Call::string).tensor(sorter).tensor(out).one();
}

// segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int
//     axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor
inline Tensor segment_reduce(const Tensor& data, const std::string& reduce, const Tensor& lengths = Tensor(),
    const Tensor& indices = Tensor(), const Tensor& offsets = Tensor(), const std::optional<int64_t>& axis = {},
    const std::optional<bool>& unsafe = {}, const std::optional<Scalar>& initial = {}) {
  static const Operator op = Operator::find("aten::segment_reduce");
  return Call(op).tensor(data).string(reduce).tensor(lengths).tensor(indices).tensor(offsets)
      .option(axis, &Call::integer).option(unsafe, &Call::flag).option(initial, &Call::scalar).one();
}

// select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  static const Operator op = Operator::find("aten::select", "int");
  return Call(op).tensor(self).integer(dim).integer(index).one();
}

// select_copy.int(Tensor self, int dim, SymInt index) -> Tensor
inline Tensor select_copy(const Tensor& self, int64_t dim, int64_t index) {
  static const Operator op = Operator::find("aten::select_copy", "int");
  return Call(op).tensor(self).integer(dim).integer(index).one();
}

// select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor
inline Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  static const Operator op = Operator::find("aten::select_scatter");
  return Call(op).tensor(self).tensor(src).integer(dim).integer(index).one();
}

// set_(Tensor(a!) self) -> Tensor(a!)
inline Tensor set_(const Tensor& self) {
  static const Operator op = Operator::find("aten::set_");
  return Call(op).tensor(self).one();
}

// set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)
inline Tensor set_source_tensor_(const Tensor& self, const Tensor& source) {
  static const Operator op = Operator::find("aten::set_", "source_Tensor");
  return Call(op).tensor(self).tensor(source).one();
}

// set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] size, SymInt[]
//     stride=[]) -> Tensor(a!)
inline Tensor set_source_tensor_storage_offset_(const Tensor& self, const Tensor& source, int64_t storage_offset,
    const std::vector<int64_t>& size, const std::optional<std::vector<int64_t>>& stride = {}) {
  static const Operator op = Operator::find("aten::set_", "source_Tensor_storage_offset");
  return Call(op).tensor(self).tensor(source).integer(storage_offset).integers(size).option(stride, &Call::integers)
      .one();
}

// sgn(Tensor self) -> Tensor
inline Tensor sgn(const Tensor& self) {
  static const Operator op = Operator::find("aten::sgn");
  return Call(op).tensor(self).one();
}

// sgn_(Tensor(a!) self) -> Tensor(a!)
inline Tensor sgn_(const Tensor& self) {
  static const Operator op = Operator::find("aten::sgn_");
  return Call(op).tensor(self).one();
}

// sgn.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor sgn_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::sgn", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// sigmoid(Tensor self) -> Tensor
inline Tensor sigmoid(const Tensor& self) {
  static const Operator op = Operator::find("aten::sigmoid");
  return Call(op).tensor(self).one();
}

// sigmoid_(Tensor(a!) self) -> Tensor(a!)
inline Tensor sigmoid_(const Tensor& self) {
  static const Operator op = Operator::find("aten::sigmoid_");
  return Call(op).tensor(self).one();
}

// sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor sigmoid_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::sigmoid", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// sign(Tensor self) -> Tensor
inline Tensor sign(const Tensor& self) {
  static const Operator op = Operator::find("aten::sign");
  return Call(op).tensor(self).one();
}

// sign_(Tensor(a!) self) -> Tensor(a!)
inline Tensor sign_(const Tensor& self) {
  static const Operator op = Operator::find("aten::sign_");
  return Call(op).tensor(self).one();
}

// sign.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor sign_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::sign", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// signbit(Tensor self) -> Tensor
inline Tensor signbit(const Tensor& self) {
  static const Operator op = Operator::find("aten::signbit");
  return Call(op).tensor(self).one();
}

// signbit.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor signbit_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::signbit", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// sin(Tensor self) -> Tensor
inline Tensor sin(const Tensor& self) {
  static const Operator op = Operator::find("aten::sin");
  return Call(op).tensor(self).one();
}

// sin_(Tensor(a!) self) -> Tensor(a!)
inline Tensor sin_(const Tensor& self) {
  static const Operator op = Operator::find("aten::sin_");
  return Call(op).tensor(self).one();
}

// sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor sin_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::sin", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// sinc(Tensor self) -> Tensor
inline Tensor sinc(const Tensor& self) {
  static const Operator op = Operator::find("aten::sinc");
  return Call(op).tensor(self).one();
}

// sinc_(Tensor(a!) self) -> Tensor(a!)
inline Tensor sinc_(const Tensor& self) {
  static const Operator op = Operator::find("aten::sinc_");
  return Call(op).tensor(self).one();
}

// sinc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor sinc_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::sinc", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// sinh(Tensor self) -> Tensor
inline Tensor sinh(const Tensor& self) {
  static const Operator op = Operator::find("aten::sinh");
  return Call(op).tensor(self).one();
}

// sinh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor sinh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::sinh_");
  return Call(op).tensor(self).one();
}

// sinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor sinh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::sinh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)
inline Tensor slice(const Tensor& self, int64_t dim, int64_t start, int64_t end,
    const std::optional<int64_t>& step = {}) {
  static const Operator op = Operator::find("aten::slice", "Tensor");
  return Call(op).tensor(self).integer(dim).integer(start).integer(end).option(step, &Call::integer).one();
}

// slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor
inline Tensor slice_copy(const Tensor& self, const std::optional<int64_t>& dim = {},
    const std::optional<int64_t>& start = {}, const std::optional<int64_t>& end = {},
    const std::optional<int64_t>& step = {}) {
  static const Operator op = Operator::find("aten::slice_copy", "Tensor");
  return Call(op).tensor(self).option(dim, &Call::integer).option(start, &Call::integer).option(end, &Call::integer)
      .option(step, &Call::integer).one();
}

// slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor
inline Tensor slice_scatter(const Tensor& self, const Tensor& src, const std::optional<int64_t>& dim = {},
    const std::optional<int64_t>& start = {}, const std::optional<int64_t>& end = {},
    const std::optional<int64_t>& step = {}) {
  static const Operator op = Operator::find("aten::slice_scatter");
  return Call(op).tensor(self).tensor(src).option(dim, &Call::integer).option(start, &Call::integer)
      .option(end, &Call::integer).option(step, &Call::integer).one();
}

// slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)
inline std::tuple<Tensor, Tensor> slogdet(const Tensor& self) {
  static const Operator op = Operator::find("aten::slogdet");
  return Call(op).tensor(self).two();
}

// slogdet.out(Tensor self, *, Tensor(a!) sign, Tensor(b!) logabsdet) -> (Tensor(a!) sign, Tensor(b!) logabsdet)
inline std::tuple<Tensor, Tensor> slogdet_out(const Tensor& self, const Tensor& sign, const Tensor& logabsdet) {
  static const Operator op = Operator::find("aten::slogdet", "out");
  return Call(op).tensor(self).tensor(sign).tensor(logabsdet).two();
}

// smm(Tensor self, Tensor mat2) -> Tensor
inline Tensor smm(const Tensor& self, const Tensor& mat2) {
  static const Operator op = Operator::find("aten::smm");
  return Call(op).tensor(self).tensor(mat2).one();
}

// softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
inline Tensor softmax(const Tensor& self, int64_t dim, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::softmax", "int");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).one();
}

// softmax.int_out(Tensor self, int dim, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor softmax_out(const Tensor& self, int64_t dim, const Tensor& out,
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::softmax", "int_out");
  return Call(op).tensor(self).integer(dim).option(dtype, &Call::dtype).tensor(out).one();
}

// sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> sort(const Tensor& self, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& descending = {}) {
  static const Operator op = Operator::find("aten::sort");
  return Call(op).tensor(self).option(dim, &Call::integer).option(descending, &Call::flag).two();
}

// sort.values(Tensor self, int dim=-1, bool descending=False, *, Tensor(a!) values, Tensor(b!) indices) ->
//     (Tensor(a!) values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> sort_out(const Tensor& self, const Tensor& values, const Tensor& indices,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& descending = {}) {
  static const Operator op = Operator::find("aten::sort", "values");
  return Call(op).tensor(self).option(dim, &Call::integer).option(descending, &Call::flag).tensor(values)
      .tensor(indices).two();
}

// sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> sort_stable(const Tensor& self, const std::optional<bool>& stable,
    const std::optional<int64_t>& dim = {}, const std::optional<bool>& descending = {}) {
  static const Operator op = Operator::find("aten::sort", "stable");
  return Call(op).tensor(self).nullable(stable, &Call::flag).option(dim, &Call::integer)
      .option(descending, &Call::flag).two();
}

// sort.values_stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False, Tensor(a!) values,
//     Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> sort_stable_out(const Tensor& self, const std::optional<bool>& stable,
    const Tensor& values, const Tensor& indices, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& descending = {}) {
  static const Operator op = Operator::find("aten::sort", "values_stable");
  return Call(op).tensor(self).nullable(stable, &Call::flag).option(dim, &Call::integer)
      .option(descending, &Call::flag).tensor(values).tensor(indices).two();
}

// sparse_bsc_tensor.ccol_row_value(Tensor ccol_indices, Tensor row_indices, Tensor values, *, ScalarType?
//     dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_bsc_tensor_ccol_row_value(const Tensor& ccol_indices, const Tensor& row_indices,
    const Tensor& values, const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_bsc_tensor", "ccol_row_value");
  return Call(op).tensor(ccol_indices).tensor(row_indices).tensor(values).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_bsc_tensor.ccol_row_value_size(Tensor ccol_indices, Tensor row_indices, Tensor values, int[] size, *,
//     ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_bsc_tensor_ccol_row_value_size(const Tensor& ccol_indices, const Tensor& row_indices,
    const Tensor& values, const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_bsc_tensor", "ccol_row_value_size");
  return Call(op).tensor(ccol_indices).tensor(row_indices).tensor(values).integers(size).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_bsr_tensor.crow_col_value(Tensor crow_indices, Tensor col_indices, Tensor values, *, ScalarType?
//     dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_bsr_tensor_crow_col_value(const Tensor& crow_indices, const Tensor& col_indices,
    const Tensor& values, const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_bsr_tensor", "crow_col_value");
  return Call(op).tensor(crow_indices).tensor(col_indices).tensor(values).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_bsr_tensor.crow_col_value_size(Tensor crow_indices, Tensor col_indices, Tensor values, int[] size, *,
//     ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_bsr_tensor_crow_col_value_size(const Tensor& crow_indices, const Tensor& col_indices,
    const Tensor& values, const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_bsr_tensor", "crow_col_value_size");
  return Call(op).tensor(crow_indices).tensor(col_indices).tensor(values).integers(size).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_compressed_tensor.comp_plain_value(Tensor compressed_indices, Tensor plain_indices, Tensor values, *,
//     ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_compressed_tensor_comp_plain_value(const Tensor& compressed_indices,
    const Tensor& plain_indices, const Tensor& values, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_compressed_tensor", "comp_plain_value");
  return Call(op).tensor(compressed_indices).tensor(plain_indices).tensor(values).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_compressed_tensor.comp_plain_value_size(Tensor compressed_indices, Tensor plain_indices, Tensor values,
//     SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) ->
//     Tensor
inline Tensor sparse_compressed_tensor_comp_plain_value_size(const Tensor& compressed_indices,
    const Tensor& plain_indices, const Tensor& values, const std::vector<int64_t>& size,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_compressed_tensor", "comp_plain_value_size");
  return Call(op).tensor(compressed_indices).tensor(plain_indices).tensor(values).integers(size)
      .option(dtype, &Call::dtype).option(layout, &Call::layout).option(device, &Call::device)
      .option(pin_memory, &Call::flag).one();
}

// sparse_coo_tensor.indices(Tensor indices, Tensor values, *, ScalarType? dtype=None, Layout? layout=None, Device?
//     device=None, bool? pin_memory=None, bool? is_coalesced=None) -> Tensor
inline Tensor sparse_coo_tensor_indices(const Tensor& indices, const Tensor& values,
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {},
    const std::optional<bool>& is_coalesced = {}) {
  static const Operator op = Operator::find("aten::sparse_coo_tensor", "indices");
  return Call(op).tensor(indices).tensor(values).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(is_coalesced, &Call::flag).one();
}

// sparse_coo_tensor.indices_size(Tensor indices, Tensor values, int[] size, *, ScalarType? dtype=None, Layout?
//     layout=None, Device? device=None, bool? pin_memory=None, bool? is_coalesced=None) -> Tensor
inline Tensor sparse_coo_tensor_indices_size(const Tensor& indices, const Tensor& values,
    const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<bool>& is_coalesced = {}) {
  static const Operator op = Operator::find("aten::sparse_coo_tensor", "indices_size");
  return Call(op).tensor(indices).tensor(values).integers(size).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag)
      .option(is_coalesced, &Call::flag).one();
}

// sparse_coo_tensor.size(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=False) -> Tensor
inline Tensor sparse_coo_tensor_size(const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_coo_tensor", "size");
  return Call(op).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_csc_tensor.ccol_row_value(Tensor ccol_indices, Tensor row_indices, Tensor values, *, ScalarType?
//     dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_csc_tensor_ccol_row_value(const Tensor& ccol_indices, const Tensor& row_indices,
    const Tensor& values, const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_csc_tensor", "ccol_row_value");
  return Call(op).tensor(ccol_indices).tensor(row_indices).tensor(values).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_csc_tensor.ccol_row_value_size(Tensor ccol_indices, Tensor row_indices, Tensor values, int[] size, *,
//     ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_csc_tensor_ccol_row_value_size(const Tensor& ccol_indices, const Tensor& row_indices,
    const Tensor& values, const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_csc_tensor", "ccol_row_value_size");
  return Call(op).tensor(ccol_indices).tensor(row_indices).tensor(values).integers(size).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_csr_tensor.crow_col_value(Tensor crow_indices, Tensor col_indices, Tensor values, *, ScalarType?
//     dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_csr_tensor_crow_col_value(const Tensor& crow_indices, const Tensor& col_indices,
    const Tensor& values, const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_csr_tensor", "crow_col_value");
  return Call(op).tensor(crow_indices).tensor(col_indices).tensor(values).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_csr_tensor.crow_col_value_size(Tensor crow_indices, Tensor col_indices, Tensor values, int[] size, *,
//     ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) -> Tensor
inline Tensor sparse_csr_tensor_crow_col_value_size(const Tensor& crow_indices, const Tensor& col_indices,
    const Tensor& values, const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::sparse_csr_tensor", "crow_col_value_size");
  return Call(op).tensor(crow_indices).tensor(col_indices).tensor(values).integers(size).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// sparse_dim(Tensor self) -> int
inline int64_t sparse_dim(const Tensor& self) {
  static const Operator op = Operator::find("aten::sparse_dim");
  return Call(op).tensor(self).number();
}

// sparse_mask(Tensor self, Tensor mask) -> Tensor
inline Tensor sparse_mask(const Tensor& self, const Tensor& mask) {
  static const Operator op = Operator::find("aten::sparse_mask");
  return Call(op).tensor(self).tensor(mask).one();
}

// split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]
inline std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  static const Operator op = Operator::find("aten::split", "Tensor");
  return Call(op).tensor(self).integer(split_size).integer(dim).list();
}

// split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]
inline std::vector<Tensor> split_copy(const Tensor& self, int64_t split_size, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::split_copy", "Tensor");
  return Call(op).tensor(self).integer(split_size).option(dim, &Call::integer).list();
}

// split_copy.Tensor_out(Tensor self, SymInt split_size, int dim=0, *, Tensor(a!)[] out) -> ()
inline void split_copy_out(const Tensor& self, int64_t split_size, const TensorList& out,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::split_copy", "Tensor_out");
  Call(op).tensor(self).integer(split_size).option(dim, &Call::integer).tensors(out).done();
}

// split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]
inline std::vector<Tensor> split_sizes(const Tensor& self, const std::vector<int64_t>& split_size, int64_t dim) {
  static const Operator op = Operator::find("aten::split", "sizes");
  return Call(op).tensor(self).integers(split_size).integer(dim).list();
}

// split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]
inline std::vector<Tensor> split_with_sizes(const Tensor& self, const std::vector<int64_t>& split_sizes, int64_t dim) {
  static const Operator op = Operator::find("aten::split_with_sizes");
  return Call(op).tensor(self).integers(split_sizes).integer(dim).list();
}

// split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]
inline std::vector<Tensor> split_with_sizes_copy(const Tensor& self, const std::vector<int64_t>& split_sizes,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::split_with_sizes_copy");
  return Call(op).tensor(self).integers(split_sizes).option(dim, &Call::integer).list();
}

// split_with_sizes_copy.out(Tensor self, SymInt[] split_sizes, int dim=0, *, Tensor(a!)[] out) -> ()
inline void split_with_sizes_copy_out(const Tensor& self, const std::vector<int64_t>& split_sizes,
    const TensorList& out, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::split_with_sizes_copy", "out");
  Call(op).tensor(self).integers(split_sizes).option(dim, &Call::integer).tensors(out).done();
}

// sqrt(Tensor self) -> Tensor
inline Tensor sqrt(const Tensor& self) {
  static const Operator op = Operator::find("aten::sqrt");
  return Call(op).tensor(self).one();
}

// sqrt_(Tensor(a!) self) -> Tensor(a!)
inline Tensor sqrt_(const Tensor& self) {
  static const Operator op = Operator::find("aten::sqrt_");
  return Call(op).tensor(self).one();
}

// sqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor sqrt_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::sqrt", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// square(Tensor self) -> Tensor
inline Tensor square(const Tensor& self) {
  static const Operator op = Operator::find("aten::square");
  return Call(op).tensor(self).one();
}

// square_(Tensor(a!) self) -> Tensor(a!)
inline Tensor square_(const Tensor& self) {
  static const Operator op = Operator::find("aten::square_");
  return Call(op).tensor(self).one();
}

// square.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor square_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::square", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// squeeze(Tensor(a) self) -> Tensor(a)
inline Tensor squeeze(const Tensor& self) {
  static const Operator op = Operator::find("aten::squeeze");
  return Call(op).tensor(self).one();
}

// squeeze_(Tensor(a!) self) -> Tensor(a!)
inline Tensor squeeze_(const Tensor& self) {
  static const Operator op = Operator::find("aten::squeeze_");
  return Call(op).tensor(self).one();
}

// squeeze_copy(Tensor self) -> Tensor
inline Tensor squeeze_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::squeeze_copy");
  return Call(op).tensor(self).one();
}

// squeeze_copy.dim(Tensor self, int dim) -> Tensor
inline Tensor squeeze_copy_dim(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::squeeze_copy", "dim");
  return Call(op).tensor(self).integer(dim).one();
}

// squeeze_copy.dims(Tensor self, int[] dim) -> Tensor
inline Tensor squeeze_copy_dims(const Tensor& self, const std::vector<int64_t>& dim) {
  static const Operator op = Operator::find("aten::squeeze_copy", "dims");
  return Call(op).tensor(self).integers(dim).one();
}

// squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)
inline Tensor squeeze_dim(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::squeeze", "dim");
  return Call(op).tensor(self).integer(dim).one();
}

// squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)
inline Tensor squeeze_dim_(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::squeeze_", "dim");
  return Call(op).tensor(self).integer(dim).one();
}

// squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)
inline Tensor squeeze_dims(const Tensor& self, const std::vector<int64_t>& dim) {
  static const Operator op = Operator::find("aten::squeeze", "dims");
  return Call(op).tensor(self).integers(dim).one();
}

// squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)
inline Tensor squeeze_dims_(const Tensor& self, const std::vector<int64_t>& dim) {
  static const Operator op = Operator::find("aten::squeeze_", "dims");
  return Call(op).tensor(self).integers(dim).one();
}

// sspaddmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
inline Tensor sspaddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::sspaddmm");
  return Call(op).tensor(self).tensor(mat1).tensor(mat2).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .one();
}

// sspaddmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor sspaddmm_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Tensor& out,
    const std::optional<Scalar>& beta = {}, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::sspaddmm", "out");
  return Call(op).tensor(self).tensor(mat1).tensor(mat2).option(beta, &Call::scalar).option(alpha, &Call::scalar)
      .tensor(out).one();
}

// stack(Tensor[] tensors, int dim=0) -> Tensor
inline Tensor stack(const TensorList& tensors, int64_t dim) {
  static const Operator op = Operator::find("aten::stack");
  return Call(op).tensors(tensors).integer(dim).one();
}

// stack.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor stack_out(const TensorList& tensors, const Tensor& out, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::stack", "out");
  return Call(op).tensors(tensors).option(dim, &Call::integer).tensor(out).one();
}

// std(Tensor self, bool unbiased=True) -> Tensor
inline Tensor std(const Tensor& self, const std::optional<bool>& unbiased = {}) {
  static const Operator op = Operator::find("aten::std");
  return Call(op).tensor(self).option(unbiased, &Call::flag).one();
}

// std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor
inline Tensor std_correction(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<Scalar>& correction = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::std", "correction");
  return Call(op).tensor(self).option(dim, &Call::integers).option(correction, &Call::scalar)
      .option(keepdim, &Call::flag).one();
}

// std.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!)
//     out) -> Tensor(a!)
inline Tensor std_correction_out(const Tensor& self, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<Scalar>& correction = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::std", "correction_out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(correction, &Call::scalar)
      .option(keepdim, &Call::flag).tensor(out).one();
}

// std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor
inline Tensor std_dim(const Tensor& self, const std::optional<std::vector<int64_t>>& dim,
    const std::optional<bool>& unbiased = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::std", "dim");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(unbiased, &Call::flag)
      .option(keepdim, &Call::flag).one();
}

// std.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor std_dim_out(const Tensor& self, const std::optional<std::vector<int64_t>>& dim, const Tensor& out,
    const std::optional<bool>& unbiased = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::std", "out");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(unbiased, &Call::flag)
      .option(keepdim, &Call::flag).tensor(out).one();
}

// std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const std::optional<bool>& unbiased = {}) {
  static const Operator op = Operator::find("aten::std_mean");
  return Call(op).tensor(self).option(unbiased, &Call::flag).two();
}

// std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor,
//     Tensor)
inline std::tuple<Tensor, Tensor> std_mean_correction(const Tensor& self,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<Scalar>& correction = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::std_mean", "correction");
  return Call(op).tensor(self).option(dim, &Call::integers).option(correction, &Call::scalar)
      .option(keepdim, &Call::flag).two();
}

// std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> std_mean_dim(const Tensor& self, const std::optional<std::vector<int64_t>>& dim,
    const std::optional<bool>& unbiased = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::std_mean", "dim");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(unbiased, &Call::flag)
      .option(keepdim, &Call::flag).two();
}

// stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool
//     normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor
inline Tensor stft(const Tensor& self, int64_t n_fft, const std::optional<int64_t>& hop_length = {},
    const std::optional<int64_t>& win_length = {}, const Tensor& window = Tensor(),
    const std::optional<bool>& normalized = {}, const std::optional<bool>& onesided = {},
    const std::optional<bool>& return_complex = {}, const std::optional<bool>& align_to_window = {}) {
  static const Operator op = Operator::find("aten::stft");
  return Call(op).tensor(self).integer(n_fft).option(hop_length, &Call::integer).option(win_length, &Call::integer)
      .tensor(window).option(normalized, &Call::flag).option(onesided, &Call::flag)
      .option(return_complex, &Call::flag).option(align_to_window, &Call::flag).one();
}

// stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool
//     center=True, str pad_mode="reflect", bool normalized=False, bool? onesided=None, bool? return_complex=None,
//     bool? align_to_window=None) -> Tensor
inline Tensor stft_center(const Tensor& self, int64_t n_fft, const std::optional<int64_t>& hop_length = {},
    const std::optional<int64_t>& win_length = {}, const Tensor& window = Tensor(),
    const std::optional<bool>& center = {}, const std::optional<std::string>& pad_mode = {},
    const std::optional<bool>& normalized = {}, const std::optional<bool>& onesided = {},
    const std::optional<bool>& return_complex = {}, const std::optional<bool>& align_to_window = {}) {
  static const Operator op = Operator::find("aten::stft", "center");
  return Call(op).tensor(self).integer(n_fft).option(hop_length, &Call::integer).option(win_length, &Call::integer)
      .tensor(window).option(center, &Call::flag).option(pad_mode, &Call::string).option(normalized, &Call::flag)
      .option(onesided, &Call::flag).option(return_complex, &Call::flag).option(align_to_window, &Call::flag).one();
}

// sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
inline Tensor sub(const Tensor& self, const Tensor& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::sub", "Tensor");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).one();
}

// sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
inline Tensor sub_(const Tensor& self, const Tensor& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::sub_", "Tensor");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).one();
}

// sub.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor sub_out(const Tensor& self, const Tensor& other, const Tensor& out,
    const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::sub", "out");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).tensor(out).one();
}

// sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
inline Tensor sub_scalar(const Tensor& self, const Scalar& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::sub", "Scalar");
  return Call(op).tensor(self).scalar(other).option(alpha, &Call::scalar).one();
}

// sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)
inline Tensor sub_scalar_(const Tensor& self, const Scalar& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::sub_", "Scalar");
  return Call(op).tensor(self).scalar(other).option(alpha, &Call::scalar).one();
}

// subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
inline Tensor subtract(const Tensor& self, const Tensor& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::subtract", "Tensor");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).one();
}

// subtract_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
inline Tensor subtract_(const Tensor& self, const Tensor& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::subtract_", "Tensor");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).one();
}

// subtract.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
inline Tensor subtract_out(const Tensor& self, const Tensor& other, const Tensor& out,
    const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::subtract", "out");
  return Call(op).tensor(self).tensor(other).option(alpha, &Call::scalar).tensor(out).one();
}

// subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
inline Tensor subtract_scalar(const Tensor& self, const Scalar& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::subtract", "Scalar");
  return Call(op).tensor(self).scalar(other).option(alpha, &Call::scalar).one();
}

// subtract_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)
inline Tensor subtract_scalar_(const Tensor& self, const Scalar& other, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::subtract_", "Scalar");
  return Call(op).tensor(self).scalar(other).option(alpha, &Call::scalar).one();
}

// sum(Tensor self, *, ScalarType? dtype=None) -> Tensor
inline Tensor sum(const Tensor& self, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::sum");
  return Call(op).tensor(self).option(dtype, &Call::dtype).one();
}

// sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
inline Tensor sum_dim(const Tensor& self, const std::optional<std::vector<int64_t>>& dim,
    const std::optional<bool>& keepdim = {}, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::sum", "dim_IntList");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).one();
}

// sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor sum_dim_out(const Tensor& self, const std::optional<std::vector<int64_t>>& dim, const Tensor& out,
    const std::optional<bool>& keepdim = {}, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::sum", "IntList_out");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).tensor(out).one();
}

// sum_to_size(Tensor self, SymInt[] size) -> Tensor
inline Tensor sum_to_size(const Tensor& self, const std::vector<int64_t>& size) {
  static const Operator op = Operator::find("aten::sum_to_size");
  return Call(op).tensor(self).integers(size).one();
}

// svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, const std::optional<bool>& some = {},
    const std::optional<bool>& compute_uv = {}) {
  static const Operator op = Operator::find("aten::svd");
  return Call(op).tensor(self).option(some, &Call::flag).option(compute_uv, &Call::flag).three();
}

// svd.U(Tensor self, bool some=True, bool compute_uv=True, *, Tensor(a!) U, Tensor(b!) S, Tensor(c!) V) ->
//     (Tensor(a!) U, Tensor(b!) S, Tensor(c!) V)
inline std::tuple<Tensor, Tensor, Tensor> svd_out(const Tensor& self, const Tensor& U, const Tensor& S,
    const Tensor& V, const std::optional<bool>& some = {}, const std::optional<bool>& compute_uv = {}) {
  static const Operator op = Operator::find("aten::svd", "U");
  return Call(op).tensor(self).option(some, &Call::flag).option(compute_uv, &Call::flag).tensor(U).tensor(S)
      .tensor(V).three();
}

// swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)
inline Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  static const Operator op = Operator::find("aten::swapaxes");
  return Call(op).tensor(self).integer(axis0).integer(axis1).one();
}

// swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)
inline Tensor swapaxes_(const Tensor& self, int64_t axis0, int64_t axis1) {
  static const Operator op = Operator::find("aten::swapaxes_");
  return Call(op).tensor(self).integer(axis0).integer(axis1).one();
}

// swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
inline Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) {
  static const Operator op = Operator::find("aten::swapdims");
  return Call(op).tensor(self).integer(dim0).integer(dim1).one();
}

// swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)
inline Tensor swapdims_(const Tensor& self, int64_t dim0, int64_t dim1) {
  static const Operator op = Operator::find("aten::swapdims_");
  return Call(op).tensor(self).integer(dim0).integer(dim1).one();
}

// t(Tensor(a) self) -> Tensor(a)
inline Tensor t(const Tensor& self) {
  static const Operator op = Operator::find("aten::t");
  return Call(op).tensor(self).one();
}

// t_(Tensor(a!) self) -> Tensor(a!)
inline Tensor t_(const Tensor& self) {
  static const Operator op = Operator::find("aten::t_");
  return Call(op).tensor(self).one();
}

// t_copy(Tensor self) -> Tensor
inline Tensor t_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::t_copy");
  return Call(op).tensor(self).one();
}

// take(Tensor self, Tensor index) -> Tensor
inline Tensor take(const Tensor& self, const Tensor& index) {
  static const Operator op = Operator::find("aten::take");
  return Call(op).tensor(self).tensor(index).one();
}

// take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor
inline Tensor take_along_dim(const Tensor& self, const Tensor& indices, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::take_along_dim");
  return Call(op).tensor(self).tensor(indices).option(dim, &Call::integer).one();
}

// take_along_dim.out(Tensor self, Tensor indices, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor take_along_dim_out(const Tensor& self, const Tensor& indices, const Tensor& out,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::take_along_dim", "out");
  return Call(op).tensor(self).tensor(indices).option(dim, &Call::integer).tensor(out).one();
}

// take.out(Tensor self, Tensor index, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor take_out(const Tensor& self, const Tensor& index, const Tensor& out) {
  static const Operator op = Operator::find("aten::take", "out");
  return Call(op).tensor(self).tensor(index).tensor(out).one();
}

// tan(Tensor self) -> Tensor
inline Tensor tan(const Tensor& self) {
  static const Operator op = Operator::find("aten::tan");
  return Call(op).tensor(self).one();
}

// tan_(Tensor(a!) self) -> Tensor(a!)
inline Tensor tan_(const Tensor& self) {
  static const Operator op = Operator::find("aten::tan_");
  return Call(op).tensor(self).one();
}

// tan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor tan_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::tan", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// tanh(Tensor self) -> Tensor
inline Tensor tanh(const Tensor& self) {
  static const Operator op = Operator::find("aten::tanh");
  return Call(op).tensor(self).one();
}

// tanh_(Tensor(a!) self) -> Tensor(a!)
inline Tensor tanh_(const Tensor& self) {
  static const Operator op = Operator::find("aten::tanh_");
  return Call(op).tensor(self).one();
}

// tanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor tanh_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::tanh", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]
inline std::vector<Tensor> tensor_split_indices(const Tensor& self, const std::vector<int64_t>& indices,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::tensor_split", "indices");
  return Call(op).tensor(self).integers(indices).option(dim, &Call::integer).list();
}

// tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]
inline std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::tensor_split", "sections");
  return Call(op).tensor(self).integer(sections).option(dim, &Call::integer).list();
}

// tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) ->
//     Tensor(a)[]
inline std::vector<Tensor> tensor_split_tensor_indices_or_sections(const Tensor& self,
    const Tensor& tensor_indices_or_sections, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::tensor_split", "tensor_indices_or_sections");
  return Call(op).tensor(self).tensor(tensor_indices_or_sections).option(dim, &Call::integer).list();
}

// tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor
inline Tensor tensordot(const Tensor& self, const Tensor& other, const std::vector<int64_t>& dims_self,
    const std::vector<int64_t>& dims_other) {
  static const Operator op = Operator::find("aten::tensordot");
  return Call(op).tensor(self).tensor(other).integers(dims_self).integers(dims_other).one();
}

// tensordot.out(Tensor self, Tensor other, int[] dims_self, int[] dims_other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor tensordot_out(const Tensor& self, const Tensor& other, const std::vector<int64_t>& dims_self,
    const std::vector<int64_t>& dims_other, const Tensor& out) {
  static const Operator op = Operator::find("aten::tensordot", "out");
  return Call(op).tensor(self).tensor(other).integers(dims_self).integers(dims_other).tensor(out).one();
}

// tile(Tensor self, SymInt[] dims) -> Tensor
inline Tensor tile(const Tensor& self, const std::vector<int64_t>& dims) {
  static const Operator op = Operator::find("aten::tile");
  return Call(op).tensor(self).integers(dims).one();
}

// to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat?
//     memory_format=None) -> Tensor(a)
inline Tensor to(const Tensor& self, int32_t dtype, const std::optional<bool>& non_blocking = {},
    const std::optional<bool>& copy = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::to", "dtype");
  return Call(op).tensor(self).dtype(dtype).option(non_blocking, &Call::flag).option(copy, &Call::flag)
      .option(memory_format, &Call::memory_format).one();
}

// to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor
inline Tensor to_dense(const Tensor& self, const std::optional<int32_t>& dtype = {},
    const std::optional<bool>& masked_grad = {}) {
  static const Operator op = Operator::find("aten::to_dense");
  return Call(op).tensor(self).option(dtype, &Call::dtype).option(masked_grad, &Call::flag).one();
}

// to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False,
//     MemoryFormat? memory_format=None) -> Tensor(a)
inline Tensor to_device_dtype(const Tensor& self, const Device& device, int32_t dtype,
    const std::optional<bool>& non_blocking = {}, const std::optional<bool>& copy = {},
    const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::to", "device");
  return Call(op).tensor(self).device(device).dtype(dtype).option(non_blocking, &Call::flag)
      .option(copy, &Call::flag).option(memory_format, &Call::memory_format).one();
}

// to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)
inline Tensor to_dtype_layout(const Tensor& self, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<bool>& non_blocking = {},
    const std::optional<bool>& copy = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::to", "dtype_layout");
  return Call(op).tensor(self).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(non_blocking, &Call::flag)
      .option(copy, &Call::flag).option(memory_format, &Call::memory_format).one();
}

// to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat?
//     memory_format=None) -> Tensor(a)
inline Tensor to_other(const Tensor& self, const Tensor& other, const std::optional<bool>& non_blocking = {},
    const std::optional<bool>& copy = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::to", "other");
  return Call(op).tensor(self).tensor(other).option(non_blocking, &Call::flag).option(copy, &Call::flag)
      .option(memory_format, &Call::memory_format).one();
}

// to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None) -> Tensor
inline Tensor to_sparse(const Tensor& self, const std::optional<int32_t>& layout = {},
    const std::optional<std::vector<int64_t>>& blocksize = {}, const std::optional<int64_t>& dense_dim = {}) {
  static const Operator op = Operator::find("aten::to_sparse");
  return Call(op).tensor(self).option(layout, &Call::layout).option(blocksize, &Call::integers)
      .option(dense_dim, &Call::integer).one();
}

// to_sparse_bsc(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor
inline Tensor to_sparse_bsc(const Tensor& self, const std::vector<int64_t>& blocksize,
    const std::optional<int64_t>& dense_dim = {}) {
  static const Operator op = Operator::find("aten::to_sparse_bsc");
  return Call(op).tensor(self).integers(blocksize).option(dense_dim, &Call::integer).one();
}

// to_sparse_bsr(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor
inline Tensor to_sparse_bsr(const Tensor& self, const std::vector<int64_t>& blocksize,
    const std::optional<int64_t>& dense_dim = {}) {
  static const Operator op = Operator::find("aten::to_sparse_bsr");
  return Call(op).tensor(self).integers(blocksize).option(dense_dim, &Call::integer).one();
}

// to_sparse_csc(Tensor self, int? dense_dim=None) -> Tensor
inline Tensor to_sparse_csc(const Tensor& self, const std::optional<int64_t>& dense_dim = {}) {
  static const Operator op = Operator::find("aten::to_sparse_csc");
  return Call(op).tensor(self).option(dense_dim, &Call::integer).one();
}

// to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor
inline Tensor to_sparse_csr(const Tensor& self, const std::optional<int64_t>& dense_dim = {}) {
  static const Operator op = Operator::find("aten::to_sparse_csr");
  return Call(op).tensor(self).option(dense_dim, &Call::integer).one();
}

// to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor
inline Tensor to_sparse_dim(const Tensor& self, int64_t sparse_dim) {
  static const Operator op = Operator::find("aten::to_sparse", "sparse_dim");
  return Call(op).tensor(self).integer(sparse_dim).one();
}

// topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)
inline std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, const std::optional<int64_t>& dim = {},
    const std::optional<bool>& largest = {}, const std::optional<bool>& sorted = {}) {
  static const Operator op = Operator::find("aten::topk");
  return Call(op).tensor(self).integer(k).option(dim, &Call::integer).option(largest, &Call::flag)
      .option(sorted, &Call::flag).two();
}

// topk.values(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor(a!) values,
//     Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)
inline std::tuple<Tensor, Tensor> topk_out(const Tensor& self, int64_t k, const Tensor& values,
    const Tensor& indices, const std::optional<int64_t>& dim = {}, const std::optional<bool>& largest = {},
    const std::optional<bool>& sorted = {}) {
  static const Operator op = Operator::find("aten::topk", "values");
  return Call(op).tensor(self).integer(k).option(dim, &Call::integer).option(largest, &Call::flag)
      .option(sorted, &Call::flag).tensor(values).tensor(indices).two();
}

// trace(Tensor self) -> Tensor
inline Tensor trace(const Tensor& self) {
  static const Operator op = Operator::find("aten::trace");
  return Call(op).tensor(self).one();
}

// transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
inline Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  static const Operator op = Operator::find("aten::transpose", "int");
  return Call(op).tensor(self).integer(dim0).integer(dim1).one();
}

// transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)
inline Tensor transpose_(const Tensor& self, int64_t dim0, int64_t dim1) {
  static const Operator op = Operator::find("aten::transpose_");
  return Call(op).tensor(self).integer(dim0).integer(dim1).one();
}

// transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor
inline Tensor transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  static const Operator op = Operator::find("aten::transpose_copy", "int");
  return Call(op).tensor(self).integer(dim0).integer(dim1).one();
}

// trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor
inline Tensor trapezoid_dx(const Tensor& y, const std::optional<Scalar>& dx = {},
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::trapezoid", "dx");
  return Call(op).tensor(y).option(dx, &Call::scalar).option(dim, &Call::integer).one();
}

// trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor
inline Tensor trapezoid_x(const Tensor& y, const Tensor& x, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::trapezoid", "x");
  return Call(op).tensor(y).tensor(x).option(dim, &Call::integer).one();
}

// trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor
inline Tensor trapz_dx(const Tensor& y, const std::optional<double>& dx = {}, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::trapz", "dx");
  return Call(op).tensor(y).option(dx, &Call::real).option(dim, &Call::integer).one();
}

// trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor
inline Tensor trapz_x(const Tensor& y, const Tensor& x, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::trapz", "x");
  return Call(op).tensor(y).tensor(x).option(dim, &Call::integer).one();
}

// triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) ->
//     (Tensor solution, Tensor cloned_coefficient)
inline std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A,
    const std::optional<bool>& upper = {}, const std::optional<bool>& transpose = {},
    const std::optional<bool>& unitriangular = {}) {
  static const Operator op = Operator::find("aten::triangular_solve");
  return Call(op).tensor(self).tensor(A).option(upper, &Call::flag).option(transpose, &Call::flag)
      .option(unitriangular, &Call::flag).two();
}

// triangular_solve.X(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False, *,
//     Tensor(a!) X, Tensor(b!) M) -> (Tensor(a!) solution, Tensor(b!) cloned_coefficient)
inline std::tuple<Tensor, Tensor> triangular_solve_out(const Tensor& self, const Tensor& A, const Tensor& X,
    const Tensor& M, const std::optional<bool>& upper = {}, const std::optional<bool>& transpose = {},
    const std::optional<bool>& unitriangular = {}) {
  static const Operator op = Operator::find("aten::triangular_solve", "X");
  return Call(op).tensor(self).tensor(A).option(upper, &Call::flag).option(transpose, &Call::flag)
      .option(unitriangular, &Call::flag).tensor(X).tensor(M).two();
}

// tril(Tensor self, SymInt diagonal=0) -> Tensor
inline Tensor tril(const Tensor& self, const std::optional<int64_t>& diagonal = {}) {
  static const Operator op = Operator::find("aten::tril");
  return Call(op).tensor(self).option(diagonal, &Call::integer).one();
}

// tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)
inline Tensor tril_(const Tensor& self, const std::optional<int64_t>& diagonal = {}) {
  static const Operator op = Operator::find("aten::tril_");
  return Call(op).tensor(self).option(diagonal, &Call::integer).one();
}

// tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None,
//     bool? pin_memory=None) -> Tensor
inline Tensor tril_indices(int64_t row, int64_t col, const std::optional<int64_t>& offset = {},
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::tril_indices");
  return Call(op).integer(row).integer(col).option(offset, &Call::integer).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// tril.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor tril_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& diagonal = {}) {
  static const Operator op = Operator::find("aten::tril", "out");
  return Call(op).tensor(self).option(diagonal, &Call::integer).tensor(out).one();
}

// triu(Tensor self, SymInt diagonal=0) -> Tensor
inline Tensor triu(const Tensor& self, const std::optional<int64_t>& diagonal = {}) {
  static const Operator op = Operator::find("aten::triu");
  return Call(op).tensor(self).option(diagonal, &Call::integer).one();
}

// triu_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)
inline Tensor triu_(const Tensor& self, const std::optional<int64_t>& diagonal = {}) {
  static const Operator op = Operator::find("aten::triu_");
  return Call(op).tensor(self).option(diagonal, &Call::integer).one();
}

// triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None,
//     bool? pin_memory=None) -> Tensor
inline Tensor triu_indices(int64_t row, int64_t col, const std::optional<int64_t>& offset = {},
    const std::optional<int32_t>& dtype = {}, const std::optional<int32_t>& layout = {},
    const std::optional<Device>& device = {}, const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::triu_indices");
  return Call(op).integer(row).integer(col).option(offset, &Call::integer).option(dtype, &Call::dtype)
      .option(layout, &Call::layout).option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// triu.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor triu_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& diagonal = {}) {
  static const Operator op = Operator::find("aten::triu", "out");
  return Call(op).tensor(self).option(diagonal, &Call::integer).tensor(out).one();
}

// true_divide.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor true_divide(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::true_divide", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor true_divide_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::true_divide_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// true_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor true_divide_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::true_divide", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// true_divide.Scalar(Tensor self, Scalar other) -> Tensor
inline Tensor true_divide_scalar(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::true_divide", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// true_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor true_divide_scalar_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::true_divide_", "Scalar");
  return Call(op).tensor(self).scalar(other).one();
}

// trunc(Tensor self) -> Tensor
inline Tensor trunc(const Tensor& self) {
  static const Operator op = Operator::find("aten::trunc");
  return Call(op).tensor(self).one();
}

// trunc_(Tensor(a!) self) -> Tensor(a!)
inline Tensor trunc_(const Tensor& self) {
  static const Operator op = Operator::find("aten::trunc_");
  return Call(op).tensor(self).one();
}

// trunc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor trunc_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::trunc", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// type_as(Tensor self, Tensor other) -> Tensor
inline Tensor type_as(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::type_as");
  return Call(op).tensor(self).tensor(other).one();
}

// unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
inline std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::unbind", "int");
  return Call(op).tensor(self).integer(dim).list();
}

// unbind_copy.int(Tensor self, int dim=0) -> Tensor[]
inline std::vector<Tensor> unbind_copy(const Tensor& self, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::unbind_copy", "int");
  return Call(op).tensor(self).option(dim, &Call::integer).list();
}

// unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()
inline void unbind_copy_out(const Tensor& self, const TensorList& out, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::unbind_copy", "int_out");
  Call(op).tensor(self).option(dim, &Call::integer).tensors(out).done();
}

// unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)
inline Tensor unflatten(const Tensor& self, int64_t dim, const std::vector<int64_t>& sizes) {
  static const Operator op = Operator::find("aten::unflatten", "int");
  return Call(op).tensor(self).integer(dim).integers(sizes).one();
}

// unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)
inline Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  static const Operator op = Operator::find("aten::unfold");
  return Call(op).tensor(self).integer(dimension).integer(size).integer(step).one();
}

// unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor
inline Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  static const Operator op = Operator::find("aten::unfold_copy");
  return Call(op).tensor(self).integer(dimension).integer(size).integer(step).one();
}

// uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) -> Tensor(a!)
inline Tensor uniform_(const Tensor& self, const std::optional<double>& from = {},
    const std::optional<double>& to = {}, const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::uniform_");
  return Call(op).tensor(self).option(from, &Call::real).option(to, &Call::real).generator(generator).one();
}

// unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor,
//     Tensor, Tensor)
inline std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self,
    const std::optional<bool>& return_inverse = {}, const std::optional<bool>& return_counts = {},
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::unique_consecutive");
  return Call(op).tensor(self).option(return_inverse, &Call::flag).option(return_counts, &Call::flag)
      .option(dim, &Call::integer).three();
}

// unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]
inline std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::unsafe_chunk");
  return Call(op).tensor(self).integer(chunks).option(dim, &Call::integer).list();
}

// unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]
inline std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::unsafe_split", "Tensor");
  return Call(op).tensor(self).integer(split_size).option(dim, &Call::integer).list();
}

// unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]
inline std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, const std::vector<int64_t>& split_sizes,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::unsafe_split_with_sizes");
  return Call(op).tensor(self).integers(split_sizes).option(dim, &Call::integer).list();
}

// unsqueeze(Tensor(a) self, int dim) -> Tensor(a)
inline Tensor unsqueeze(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::unsqueeze");
  return Call(op).tensor(self).integer(dim).one();
}

// unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)
inline Tensor unsqueeze_(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::unsqueeze_");
  return Call(op).tensor(self).integer(dim).one();
}

// unsqueeze_copy(Tensor self, int dim) -> Tensor
inline Tensor unsqueeze_copy(const Tensor& self, int64_t dim) {
  static const Operator op = Operator::find("aten::unsqueeze_copy");
  return Call(op).tensor(self).integer(dim).one();
}

// values(Tensor(a) self) -> Tensor(a)
inline Tensor values(const Tensor& self) {
  static const Operator op = Operator::find("aten::values");
  return Call(op).tensor(self).one();
}

// values_copy(Tensor self) -> Tensor
inline Tensor values_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::values_copy");
  return Call(op).tensor(self).one();
}

// vander(Tensor x, int? N=None, bool increasing=False) -> Tensor
inline Tensor vander(const Tensor& x, const std::optional<int64_t>& N = {},
    const std::optional<bool>& increasing = {}) {
  static const Operator op = Operator::find("aten::vander");
  return Call(op).tensor(x).option(N, &Call::integer).option(increasing, &Call::flag).one();
}

// var(Tensor self, bool unbiased=True) -> Tensor
inline Tensor var(const Tensor& self, const std::optional<bool>& unbiased = {}) {
  static const Operator op = Operator::find("aten::var");
  return Call(op).tensor(self).option(unbiased, &Call::flag).one();
}

// var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor
inline Tensor var_correction(const Tensor& self, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<Scalar>& correction = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::var", "correction");
  return Call(op).tensor(self).option(dim, &Call::integers).option(correction, &Call::scalar)
      .option(keepdim, &Call::flag).one();
}

// var.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!)
//     out) -> Tensor(a!)
inline Tensor var_correction_out(const Tensor& self, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<Scalar>& correction = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::var", "correction_out");
  return Call(op).tensor(self).option(dim, &Call::integers).option(correction, &Call::scalar)
      .option(keepdim, &Call::flag).tensor(out).one();
}

// var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor
inline Tensor var_dim(const Tensor& self, const std::optional<std::vector<int64_t>>& dim,
    const std::optional<bool>& unbiased = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::var", "dim");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(unbiased, &Call::flag)
      .option(keepdim, &Call::flag).one();
}

// var.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor var_dim_out(const Tensor& self, const std::optional<std::vector<int64_t>>& dim, const Tensor& out,
    const std::optional<bool>& unbiased = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::var", "out");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(unbiased, &Call::flag)
      .option(keepdim, &Call::flag).tensor(out).one();
}

// var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const std::optional<bool>& unbiased = {}) {
  static const Operator op = Operator::find("aten::var_mean");
  return Call(op).tensor(self).option(unbiased, &Call::flag).two();
}

// var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor,
//     Tensor)
inline std::tuple<Tensor, Tensor> var_mean_correction(const Tensor& self,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<Scalar>& correction = {},
    const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::var_mean", "correction");
  return Call(op).tensor(self).option(dim, &Call::integers).option(correction, &Call::scalar)
      .option(keepdim, &Call::flag).two();
}

// var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> var_mean_dim(const Tensor& self, const std::optional<std::vector<int64_t>>& dim,
    const std::optional<bool>& unbiased = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::var_mean", "dim");
  return Call(op).tensor(self).nullable(dim, &Call::integers).option(unbiased, &Call::flag)
      .option(keepdim, &Call::flag).two();
}

// vdot(Tensor self, Tensor other) -> Tensor
inline Tensor vdot(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::vdot");
  return Call(op).tensor(self).tensor(other).one();
}

// vdot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor vdot_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::vdot", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// view(Tensor(a) self, SymInt[] size) -> Tensor(a)
inline Tensor view(const Tensor& self, const std::vector<int64_t>& size) {
  static const Operator op = Operator::find("aten::view");
  return Call(op).tensor(self).integers(size).one();
}

// view_as(Tensor(a) self, Tensor other) -> Tensor(a)
inline Tensor view_as(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::view_as");
  return Call(op).tensor(self).tensor(other).one();
}

// view_as_complex(Tensor(a) self) -> Tensor(a)
inline Tensor view_as_complex(const Tensor& self) {
  static const Operator op = Operator::find("aten::view_as_complex");
  return Call(op).tensor(self).one();
}

// view_as_complex_copy(Tensor self) -> Tensor
inline Tensor view_as_complex_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::view_as_complex_copy");
  return Call(op).tensor(self).one();
}

// view_as_real(Tensor(a) self) -> Tensor(a)
inline Tensor view_as_real(const Tensor& self) {
  static const Operator op = Operator::find("aten::view_as_real");
  return Call(op).tensor(self).one();
}

// view_as_real_copy(Tensor self) -> Tensor
inline Tensor view_as_real_copy(const Tensor& self) {
  static const Operator op = Operator::find("aten::view_as_real_copy");
  return Call(op).tensor(self).one();
}

// view_copy(Tensor self, SymInt[] size) -> Tensor
inline Tensor view_copy(const Tensor& self, const std::vector<int64_t>& size) {
  static const Operator op = Operator::find("aten::view_copy");
  return Call(op).tensor(self).integers(size).one();
}

// view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor
inline Tensor view_copy_dtype(const Tensor& self, int32_t dtype) {
  static const Operator op = Operator::find("aten::view_copy", "dtype");
  return Call(op).tensor(self).dtype(dtype).one();
}

// view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)
inline Tensor view_dtype(const Tensor& self, int32_t dtype) {
  static const Operator op = Operator::find("aten::view", "dtype");
  return Call(op).tensor(self).dtype(dtype).one();
}

// vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]
inline std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  static const Operator op = Operator::find("aten::vsplit", "int");
  return Call(op).tensor(self).integer(sections).list();
}

// vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]
inline std::vector<Tensor> vsplit_array(const Tensor& self, const std::vector<int64_t>& indices) {
  static const Operator op = Operator::find("aten::vsplit", "array");
  return Call(op).tensor(self).integers(indices).list();
}

// vstack(Tensor[] tensors) -> Tensor
inline Tensor vstack(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::vstack");
  return Call(op).tensors(tensors).one();
}

// vstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor vstack_out(const TensorList& tensors, const Tensor& out) {
  static const Operator op = Operator::find("aten::vstack", "out");
  return Call(op).tensors(tensors).tensor(out).one();
}

// where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
inline Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::where", "self");
  return Call(op).tensor(condition).tensor(self).tensor(other).one();
}

// where(Tensor condition) -> Tensor[]
inline std::vector<Tensor> where_indices(const Tensor& condition) {
  static const Operator op = Operator::find("aten::where");
  return Call(op).tensor(condition).list();
}

// where.self_out(Tensor condition, Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor where_out(const Tensor& condition, const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::where", "self_out");
  return Call(op).tensor(condition).tensor(self).tensor(other).tensor(out).one();
}

// where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor
inline Tensor where_scalar(const Tensor& condition, const Scalar& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::where", "Scalar");
  return Call(op).tensor(condition).scalar(self).scalar(other).one();
}

// where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor
inline Tensor where_scalar_other(const Tensor& condition, const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::where", "ScalarOther");
  return Call(op).tensor(condition).tensor(self).scalar(other).one();
}

// where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor
inline Tensor where_scalar_self(const Tensor& condition, const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::where", "ScalarSelf");
  return Call(op).tensor(condition).scalar(self).tensor(other).one();
}

// xlogy.Tensor(Tensor self, Tensor other) -> Tensor
inline Tensor xlogy(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::xlogy", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// xlogy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
inline Tensor xlogy_(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::xlogy_", "Tensor");
  return Call(op).tensor(self).tensor(other).one();
}

// xlogy.OutTensor(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlogy_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::xlogy", "OutTensor");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor
inline Tensor xlogy_scalar_other(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::xlogy", "Scalar_Other");
  return Call(op).tensor(self).scalar(other).one();
}

// xlogy_.Scalar_Other(Tensor(a!) self, Scalar other) -> Tensor(a!)
inline Tensor xlogy_scalar_other_(const Tensor& self, const Scalar& other) {
  static const Operator op = Operator::find("aten::xlogy_", "Scalar_Other");
  return Call(op).tensor(self).scalar(other).one();
}

// xlogy.OutScalar_Other(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlogy_scalar_other_out(const Tensor& self, const Scalar& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::xlogy", "OutScalar_Other");
  return Call(op).tensor(self).scalar(other).tensor(out).one();
}

// xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor
inline Tensor xlogy_scalar_self(const Scalar& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::xlogy", "Scalar_Self");
  return Call(op).scalar(self).tensor(other).one();
}

// xlogy.OutScalar_Self(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor xlogy_scalar_self_out(const Scalar& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::xlogy", "OutScalar_Self");
  return Call(op).scalar(self).tensor(other).tensor(out).one();
}

// zero_(Tensor(a!) self) -> Tensor(a!)
inline Tensor zero_(const Tensor& self) {
  static const Operator op = Operator::find("aten::zero_");
  return Call(op).tensor(self).one();
}

// zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)
//     -> Tensor
inline Tensor zeros(const std::vector<int64_t>& size, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}) {
  static const Operator op = Operator::find("aten::zeros");
  return Call(op).integers(size).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).one();
}

// zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
//     pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
inline Tensor zeros_like(const Tensor& self, const std::optional<int32_t>& dtype = {},
    const std::optional<int32_t>& layout = {}, const std::optional<Device>& device = {},
    const std::optional<bool>& pin_memory = {}, const std::optional<int32_t>& memory_format = {}) {
  static const Operator op = Operator::find("aten::zeros_like");
  return Call(op).tensor(self).option(dtype, &Call::dtype).option(layout, &Call::layout)
      .option(device, &Call::device).option(pin_memory, &Call::flag).option(memory_format, &Call::memory_format)
      .one();
}

// zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor zeros_out(const std::vector<int64_t>& size, const Tensor& out) {
  static const Operator op = Operator::find("aten::zeros", "out");
  return Call(op).integers(size).tensor(out).one();
}

}  // namespace tandem::abi::ops
