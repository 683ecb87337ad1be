// Written by capi/operators/generate.py; do not edit.
// Linear algebra: torch.linalg.
#pragma once

#include "tandem/abi/ops/call.hpp"

namespace tandem::abi::ops::linalg {

// linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor
inline Tensor cholesky(const Tensor& self, const std::optional<bool>& upper = {}) {
  static const Operator op = Operator::find("aten::linalg_cholesky");
  return Call(op).tensor(self).option(upper, &Call::flag).one();
}

// linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)
inline std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& self, const std::optional<bool>& upper = {},
    const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_cholesky_ex");
  return Call(op).tensor(self).option(upper, &Call::flag).option(check_errors, &Call::flag).two();
}

// linalg_cholesky_ex.L(Tensor self, *, bool upper=False, bool check_errors=False, Tensor(a!) L, Tensor(b!) info)
//     -> (Tensor(a!) L, Tensor(b!) info)
inline std::tuple<Tensor, Tensor> cholesky_ex_out(const Tensor& self, const Tensor& L, const Tensor& info,
    const std::optional<bool>& upper = {}, const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_cholesky_ex", "L");
  return Call(op).tensor(self).option(upper, &Call::flag).option(check_errors, &Call::flag).tensor(L).tensor(info)
      .two();
}

// linalg_cholesky.out(Tensor self, *, bool upper=False, Tensor(a!) out) -> Tensor(a!)
inline Tensor cholesky_out(const Tensor& self, const Tensor& out, const std::optional<bool>& upper = {}) {
  static const Operator op = Operator::find("aten::linalg_cholesky", "out");
  return Call(op).tensor(self).option(upper, &Call::flag).tensor(out).one();
}

// linalg_cond(Tensor self, Scalar? p=None) -> Tensor
inline Tensor cond(const Tensor& self, const std::optional<Scalar>& p = {}) {
  static const Operator op = Operator::find("aten::linalg_cond");
  return Call(op).tensor(self).option(p, &Call::scalar).one();
}

// linalg_cond.out(Tensor self, Scalar? p=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cond_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& p = {}) {
  static const Operator op = Operator::find("aten::linalg_cond", "out");
  return Call(op).tensor(self).option(p, &Call::scalar).tensor(out).one();
}

// linalg_cond.p_str(Tensor self, str p) -> Tensor
inline Tensor cond_p_str(const Tensor& self, const std::string& p) {
  static const Operator op = Operator::find("aten::linalg_cond", "p_str");
  return Call(op).tensor(self).string(p).one();
}

// linalg_cond.p_str_out(Tensor self, str p, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor cond_p_str_out(const Tensor& self, const std::string& p, const Tensor& out) {
  static const Operator op = Operator::find("aten::linalg_cond", "p_str_out");
  return Call(op).tensor(self).string(p).tensor(out).one();
}

// linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor
inline Tensor cross(const Tensor& self, const Tensor& other, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::linalg_cross");
  return Call(op).tensor(self).tensor(other).option(dim, &Call::integer).one();
}

// linalg_cross.out(Tensor self, Tensor other, *, int dim=-1, Tensor(a!) out) -> Tensor(a!)
inline Tensor cross_out(const Tensor& self, const Tensor& other, const Tensor& out,
    const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::linalg_cross", "out");
  return Call(op).tensor(self).tensor(other).option(dim, &Call::integer).tensor(out).one();
}

// linalg_det(Tensor A) -> Tensor
inline Tensor det(const Tensor& A) {
  static const Operator op = Operator::find("aten::linalg_det");
  return Call(op).tensor(A).one();
}

// linalg_det.out(Tensor A, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor det_out(const Tensor& A, const Tensor& out) {
  static const Operator op = Operator::find("aten::linalg_det", "out");
  return Call(op).tensor(A).tensor(out).one();
}

// linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)
inline Tensor diagonal(const Tensor& A, const std::optional<int64_t>& offset = {},
    const std::optional<int64_t>& dim1 = {}, const std::optional<int64_t>& dim2 = {}) {
  static const Operator op = Operator::find("aten::linalg_diagonal");
  return Call(op).tensor(A).option(offset, &Call::integer).option(dim1, &Call::integer).option(dim2, &Call::integer)
      .one();
}

// linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)
inline std::tuple<Tensor, Tensor> eig(const Tensor& self) {
  static const Operator op = Operator::find("aten::linalg_eig");
  return Call(op).tensor(self).two();
}

// linalg_eig.out(Tensor self, *, Tensor(a!) eigenvalues, Tensor(b!) eigenvectors) -> (Tensor(a!) eigenvalues,
//     Tensor(b!) eigenvectors)
inline std::tuple<Tensor, Tensor> eig_out(const Tensor& self, const Tensor& eigenvalues, const Tensor& eigenvectors) {
  static const Operator op = Operator::find("aten::linalg_eig", "out");
  return Call(op).tensor(self).tensor(eigenvalues).tensor(eigenvectors).two();
}

// linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)
inline std::tuple<Tensor, Tensor> eigh(const Tensor& self, const std::optional<std::string>& UPLO = {}) {
  static const Operator op = Operator::find("aten::linalg_eigh");
  return Call(op).tensor(self).option(UPLO, &Call::string).two();
}

// linalg_eigh.eigvals(Tensor self, str UPLO="L", *, Tensor(a!) eigvals, Tensor(b!) eigvecs) -> (Tensor(a!)
//     eigenvalues, Tensor(b!) eigenvectors)
inline std::tuple<Tensor, Tensor> eigh_out(const Tensor& self, const Tensor& eigvals, const Tensor& eigvecs,
    const std::optional<std::string>& UPLO = {}) {
  static const Operator op = Operator::find("aten::linalg_eigh", "eigvals");
  return Call(op).tensor(self).option(UPLO, &Call::string).tensor(eigvals).tensor(eigvecs).two();
}

// linalg_eigvals(Tensor self) -> Tensor
inline Tensor eigvals(const Tensor& self) {
  static const Operator op = Operator::find("aten::linalg_eigvals");
  return Call(op).tensor(self).one();
}

// linalg_eigvals.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor eigvals_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::linalg_eigvals", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor
inline Tensor eigvalsh(const Tensor& self, const std::optional<std::string>& UPLO = {}) {
  static const Operator op = Operator::find("aten::linalg_eigvalsh");
  return Call(op).tensor(self).option(UPLO, &Call::string).one();
}

// linalg_eigvalsh.out(Tensor self, str UPLO="L", *, Tensor(a!) out) -> Tensor(a!)
inline Tensor eigvalsh_out(const Tensor& self, const Tensor& out, const std::optional<std::string>& UPLO = {}) {
  static const Operator op = Operator::find("aten::linalg_eigvalsh", "out");
  return Call(op).tensor(self).option(UPLO, &Call::string).tensor(out).one();
}

// linalg_householder_product(Tensor input, Tensor tau) -> Tensor
inline Tensor householder_product(const Tensor& input, const Tensor& tau) {
  static const Operator op = Operator::find("aten::linalg_householder_product");
  return Call(op).tensor(input).tensor(tau).one();
}

// linalg_householder_product.out(Tensor input, Tensor tau, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor householder_product_out(const Tensor& input, const Tensor& tau, const Tensor& out) {
  static const Operator op = Operator::find("aten::linalg_householder_product", "out");
  return Call(op).tensor(input).tensor(tau).tensor(out).one();
}

// linalg_inv(Tensor A) -> Tensor
inline Tensor inv(const Tensor& A) {
  static const Operator op = Operator::find("aten::linalg_inv");
  return Call(op).tensor(A).one();
}

// linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)
inline std::tuple<Tensor, Tensor> inv_ex(const Tensor& A, const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_inv_ex");
  return Call(op).tensor(A).option(check_errors, &Call::flag).two();
}

// linalg_inv_ex.inverse(Tensor A, *, bool check_errors=False, Tensor(a!) inverse, Tensor(b!) info) -> (Tensor(a!)
//     inverse, Tensor(b!) info)
inline std::tuple<Tensor, Tensor> inv_ex_out(const Tensor& A, const Tensor& inverse, const Tensor& info,
    const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_inv_ex", "inverse");
  return Call(op).tensor(A).option(check_errors, &Call::flag).tensor(inverse).tensor(info).two();
}

// linalg_inv.out(Tensor A, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor inv_out(const Tensor& A, const Tensor& out) {
  static const Operator op = Operator::find("aten::linalg_inv", "out");
  return Call(op).tensor(A).tensor(out).one();
}

// linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)
inline std::tuple<Tensor, Tensor> ldl_factor(const Tensor& self, const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_ldl_factor");
  return Call(op).tensor(self).option(hermitian, &Call::flag).two();
}

// linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor
//     pivots, Tensor info)
inline std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& self,
    const std::optional<bool>& hermitian = {}, const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_ldl_factor_ex");
  return Call(op).tensor(self).option(hermitian, &Call::flag).option(check_errors, &Call::flag).three();
}

// linalg_ldl_factor_ex.out(Tensor self, *, bool hermitian=False, bool check_errors=False, Tensor(a!) LD,
//     Tensor(b!) pivots, Tensor(c!) info) -> (Tensor(a!) LD, Tensor(b!) pivots, Tensor(c!) info)
inline std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex_out(const Tensor& self, const Tensor& LD,
    const Tensor& pivots, const Tensor& info, const std::optional<bool>& hermitian = {},
    const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_ldl_factor_ex", "out");
  return Call(op).tensor(self).option(hermitian, &Call::flag).option(check_errors, &Call::flag).tensor(LD)
      .tensor(pivots).tensor(info).three();
}

// linalg_ldl_factor.out(Tensor self, *, bool hermitian=False, Tensor(a!) LD, Tensor(b!) pivots) -> (Tensor(a!) LD,
//     Tensor(b!) pivots)
inline std::tuple<Tensor, Tensor> ldl_factor_out(const Tensor& self, const Tensor& LD, const Tensor& pivots,
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_ldl_factor", "out");
  return Call(op).tensor(self).option(hermitian, &Call::flag).tensor(LD).tensor(pivots).two();
}

// linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor
inline Tensor ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B,
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_ldl_solve");
  return Call(op).tensor(LD).tensor(pivots).tensor(B).option(hermitian, &Call::flag).one();
}

// linalg_ldl_solve.out(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False, Tensor(a!) out) -> Tensor(a!)
inline Tensor ldl_solve_out(const Tensor& LD, const Tensor& pivots, const Tensor& B, const Tensor& out,
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_ldl_solve", "out");
  return Call(op).tensor(LD).tensor(pivots).tensor(B).option(hermitian, &Call::flag).tensor(out).one();
}

// linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor
//     residuals, Tensor rank, Tensor singular_values)
inline std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& self, const Tensor& b,
    const std::optional<double>& rcond = {}, const std::optional<std::string>& driver = {}) {
  static const Operator op = Operator::find("aten::linalg_lstsq");
  return Call(op).tensor(self).tensor(b).option(rcond, &Call::real).option(driver, &Call::string).four();
}

// linalg_lstsq.out(Tensor self, Tensor b, float? rcond=None, *, str? driver=None, Tensor(a!) solution, Tensor(b!)
//     residuals, Tensor(c!) rank, Tensor(d!) singular_values) -> (Tensor(a!) solution, Tensor(b!) residuals,
//     Tensor(c!) rank, Tensor(d!) singular_values)
inline std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq_out(const Tensor& self, const Tensor& b,
    const Tensor& solution, const Tensor& residuals, const Tensor& rank, const Tensor& singular_values,
    const std::optional<double>& rcond = {}, const std::optional<std::string>& driver = {}) {
  static const Operator op = Operator::find("aten::linalg_lstsq", "out");
  return Call(op).tensor(self).tensor(b).option(rcond, &Call::real).option(driver, &Call::string).tensor(solution)
      .tensor(residuals).tensor(rank).tensor(singular_values).four();
}

// linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)
inline std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& A, const std::optional<bool>& pivot = {}) {
  static const Operator op = Operator::find("aten::linalg_lu");
  return Call(op).tensor(A).option(pivot, &Call::flag).three();
}

// linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)
inline std::tuple<Tensor, Tensor> lu_factor(const Tensor& A, const std::optional<bool>& pivot = {}) {
  static const Operator op = Operator::find("aten::linalg_lu_factor");
  return Call(op).tensor(A).option(pivot, &Call::flag).two();
}

// linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor
//     info)
inline std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& A, const std::optional<bool>& pivot = {},
    const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_lu_factor_ex");
  return Call(op).tensor(A).option(pivot, &Call::flag).option(check_errors, &Call::flag).three();
}

// linalg_lu_factor_ex.out(Tensor A, *, bool pivot=True, bool check_errors=False, Tensor(a!) LU, Tensor(b!) pivots,
//     Tensor(c!) info) -> (Tensor(a!) LU, Tensor(b!) pivots, Tensor(c!) info)
inline std::tuple<Tensor, Tensor, Tensor> lu_factor_ex_out(const Tensor& A, const Tensor& LU, const Tensor& pivots,
    const Tensor& info, const std::optional<bool>& pivot = {}, const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_lu_factor_ex", "out");
  return Call(op).tensor(A).option(pivot, &Call::flag).option(check_errors, &Call::flag).tensor(LU).tensor(pivots)
      .tensor(info).three();
}

// linalg_lu_factor.out(Tensor A, *, bool pivot=True, Tensor(a!) LU, Tensor(b!) pivots) -> (Tensor(a!) LU,
//     Tensor(b!) pivots)
inline std::tuple<Tensor, Tensor> lu_factor_out(const Tensor& A, const Tensor& LU, const Tensor& pivots,
    const std::optional<bool>& pivot = {}) {
  static const Operator op = Operator::find("aten::linalg_lu_factor", "out");
  return Call(op).tensor(A).option(pivot, &Call::flag).tensor(LU).tensor(pivots).two();
}

// linalg_lu.out(Tensor A, *, bool pivot=True, Tensor(a!) P, Tensor(b!) L, Tensor(c!) U) -> (Tensor(a!) P,
//     Tensor(b!) L, Tensor(c!) U)
inline std::tuple<Tensor, Tensor, Tensor> lu_out(const Tensor& A, const Tensor& P, const Tensor& L,
    const Tensor& U, const std::optional<bool>& pivot = {}) {
  static const Operator op = Operator::find("aten::linalg_lu", "out");
  return Call(op).tensor(A).option(pivot, &Call::flag).tensor(P).tensor(L).tensor(U).three();
}

// linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor
inline Tensor lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B,
    const std::optional<bool>& left = {}, const std::optional<bool>& adjoint = {}) {
  static const Operator op = Operator::find("aten::linalg_lu_solve");
  return Call(op).tensor(LU).tensor(pivots).tensor(B).option(left, &Call::flag).option(adjoint, &Call::flag).one();
}

// linalg_lu_solve.out(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor(a!) out)
//     -> Tensor(a!)
inline Tensor lu_solve_out(const Tensor& LU, const Tensor& pivots, const Tensor& B, const Tensor& out,
    const std::optional<bool>& left = {}, const std::optional<bool>& adjoint = {}) {
  static const Operator op = Operator::find("aten::linalg_lu_solve", "out");
  return Call(op).tensor(LU).tensor(pivots).tensor(B).option(left, &Call::flag).option(adjoint, &Call::flag)
      .tensor(out).one();
}

// linalg_matmul(Tensor self, Tensor other) -> Tensor
inline Tensor matmul(const Tensor& self, const Tensor& other) {
  static const Operator op = Operator::find("aten::linalg_matmul");
  return Call(op).tensor(self).tensor(other).one();
}

// linalg_matmul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor matmul_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  static const Operator op = Operator::find("aten::linalg_matmul", "out");
  return Call(op).tensor(self).tensor(other).tensor(out).one();
}

// linalg_matrix_exp(Tensor self) -> Tensor
inline Tensor matrix_exp(const Tensor& self) {
  static const Operator op = Operator::find("aten::linalg_matrix_exp");
  return Call(op).tensor(self).one();
}

// linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None)
//     -> Tensor
inline Tensor matrix_norm(const Tensor& self, const Scalar& ord,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_norm");
  return Call(op).tensor(self).scalar(ord).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).one();
}

// linalg_matrix_norm.out(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType?
//     dtype=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor matrix_norm_out(const Tensor& self, const Scalar& ord, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_norm", "out");
  return Call(op).tensor(self).scalar(ord).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).tensor(out).one();
}

// linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType?
//     dtype=None) -> Tensor
inline Tensor matrix_norm_str_ord(const Tensor& self, const std::optional<std::string>& ord = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_norm", "str_ord");
  return Call(op).tensor(self).option(ord, &Call::string).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).one();
}

// linalg_matrix_norm.str_ord_out(Tensor self, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, *,
//     ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor matrix_norm_str_ord_out(const Tensor& self, const Tensor& out,
    const std::optional<std::string>& ord = {}, const std::optional<std::vector<int64_t>>& dim = {},
    const std::optional<bool>& keepdim = {}, const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_norm", "str_ord_out");
  return Call(op).tensor(self).option(ord, &Call::string).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).tensor(out).one();
}

// linalg_matrix_power(Tensor self, int n) -> Tensor
inline Tensor matrix_power(const Tensor& self, int64_t n) {
  static const Operator op = Operator::find("aten::linalg_matrix_power");
  return Call(op).tensor(self).integer(n).one();
}

// linalg_matrix_power.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor matrix_power_out(const Tensor& self, int64_t n, const Tensor& out) {
  static const Operator op = Operator::find("aten::linalg_matrix_power", "out");
  return Call(op).tensor(self).integer(n).tensor(out).one();
}

// linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor
inline Tensor matrix_rank(const Tensor& self, double tol, const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_rank");
  return Call(op).tensor(self).real(tol).option(hermitian, &Call::flag).one();
}

// linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) ->
//     Tensor
inline Tensor matrix_rank_a_tol_r_tol_float(const Tensor& self, const std::optional<double>& atol = {},
    const std::optional<double>& rtol = {}, const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_rank", "atol_rtol_float");
  return Call(op).tensor(self).option(atol, &Call::real).option(rtol, &Call::real).option(hermitian, &Call::flag)
      .one();
}

// linalg_matrix_rank.atol_rtol_float_out(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor matrix_rank_a_tol_r_tol_float_out(const Tensor& self, const Tensor& out,
    const std::optional<double>& atol = {}, const std::optional<double>& rtol = {},
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_rank", "atol_rtol_float_out");
  return Call(op).tensor(self).option(atol, &Call::real).option(rtol, &Call::real).option(hermitian, &Call::flag)
      .tensor(out).one();
}

// linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False)
//     -> Tensor
inline Tensor matrix_rank_a_tol_r_tol_tensor(const Tensor& input, const Tensor& atol = Tensor(),
    const Tensor& rtol = Tensor(), const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_rank", "atol_rtol_tensor");
  return Call(op).tensor(input).tensor(atol).tensor(rtol).option(hermitian, &Call::flag).one();
}

// linalg_matrix_rank.atol_rtol_tensor_out(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool
//     hermitian=False, Tensor(a!) out) -> Tensor(a!)
inline Tensor matrix_rank_a_tol_r_tol_tensor_out(const Tensor& input, const Tensor& out,
    const Tensor& atol = Tensor(), const Tensor& rtol = Tensor(), const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_rank", "atol_rtol_tensor_out");
  return Call(op).tensor(input).tensor(atol).tensor(rtol).option(hermitian, &Call::flag).tensor(out).one();
}

// linalg_matrix_rank.out(Tensor self, float tol, bool hermitian=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor matrix_rank_out(const Tensor& self, double tol, const Tensor& out,
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_rank", "out");
  return Call(op).tensor(self).real(tol).option(hermitian, &Call::flag).tensor(out).one();
}

// linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor
inline Tensor matrix_rank_tol_tensor(const Tensor& input, const Tensor& tol,
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_rank", "tol_tensor");
  return Call(op).tensor(input).tensor(tol).option(hermitian, &Call::flag).one();
}

// linalg_matrix_rank.out_tol_tensor(Tensor input, Tensor tol, bool hermitian=False, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor matrix_rank_tol_tensor_out(const Tensor& input, const Tensor& tol, const Tensor& out,
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_matrix_rank", "out_tol_tensor");
  return Call(op).tensor(input).tensor(tol).option(hermitian, &Call::flag).tensor(out).one();
}

// linalg_multi_dot(Tensor[] tensors) -> Tensor
inline Tensor multi_dot(const TensorList& tensors) {
  static const Operator op = Operator::find("aten::linalg_multi_dot");
  return Call(op).tensors(tensors).one();
}

// linalg_multi_dot.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor multi_dot_out(const TensorList& tensors, const Tensor& out) {
  static const Operator op = Operator::find("aten::linalg_multi_dot", "out");
  return Call(op).tensors(tensors).tensor(out).one();
}

// linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) ->
//     Tensor
inline Tensor norm(const Tensor& self, const std::optional<Scalar>& ord = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_norm");
  return Call(op).tensor(self).option(ord, &Call::scalar).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).one();
}

// linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) ->
//     Tensor
inline Tensor norm_ord_str(const Tensor& self, const std::string& ord,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_norm", "ord_str");
  return Call(op).tensor(self).string(ord).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).one();
}

// linalg_norm.ord_str_out(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor norm_ord_str_out(const Tensor& self, const std::string& ord, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_norm", "ord_str_out");
  return Call(op).tensor(self).string(ord).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).tensor(out).one();
}

// linalg_norm.out(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor norm_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& ord = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_norm", "out");
  return Call(op).tensor(self).option(ord, &Call::scalar).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).tensor(out).one();
}

// linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor
inline Tensor pinv(const Tensor& self, double rcond, const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_pinv");
  return Call(op).tensor(self).real(rcond).option(hermitian, &Call::flag).one();
}

// linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor
inline Tensor pinv_a_tol_r_tol_float(const Tensor& self, const std::optional<double>& atol = {},
    const std::optional<double>& rtol = {}, const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_pinv", "atol_rtol_float");
  return Call(op).tensor(self).option(atol, &Call::real).option(rtol, &Call::real).option(hermitian, &Call::flag)
      .one();
}

// linalg_pinv.atol_rtol_float_out(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor pinv_a_tol_r_tol_float_out(const Tensor& self, const Tensor& out,
    const std::optional<double>& atol = {}, const std::optional<double>& rtol = {},
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_pinv", "atol_rtol_float_out");
  return Call(op).tensor(self).option(atol, &Call::real).option(rtol, &Call::real).option(hermitian, &Call::flag)
      .tensor(out).one();
}

// linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) ->
//     Tensor
inline Tensor pinv_a_tol_r_tol_tensor(const Tensor& self, const Tensor& atol = Tensor(),
    const Tensor& rtol = Tensor(), const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_pinv", "atol_rtol_tensor");
  return Call(op).tensor(self).tensor(atol).tensor(rtol).option(hermitian, &Call::flag).one();
}

// linalg_pinv.atol_rtol_tensor_out(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor pinv_a_tol_r_tol_tensor_out(const Tensor& self, const Tensor& out, const Tensor& atol = Tensor(),
    const Tensor& rtol = Tensor(), const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_pinv", "atol_rtol_tensor_out");
  return Call(op).tensor(self).tensor(atol).tensor(rtol).option(hermitian, &Call::flag).tensor(out).one();
}

// linalg_pinv.out(Tensor self, float rcond, bool hermitian=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor pinv_out(const Tensor& self, double rcond, const Tensor& out,
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_pinv", "out");
  return Call(op).tensor(self).real(rcond).option(hermitian, &Call::flag).tensor(out).one();
}

// linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor
inline Tensor pinv_rcond_tensor(const Tensor& self, const Tensor& rcond, const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_pinv", "rcond_tensor");
  return Call(op).tensor(self).tensor(rcond).option(hermitian, &Call::flag).one();
}

// linalg_pinv.out_rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor pinv_rcond_tensor_out(const Tensor& self, const Tensor& rcond, const Tensor& out,
    const std::optional<bool>& hermitian = {}) {
  static const Operator op = Operator::find("aten::linalg_pinv", "out_rcond_tensor");
  return Call(op).tensor(self).tensor(rcond).option(hermitian, &Call::flag).tensor(out).one();
}

// linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R)
inline std::tuple<Tensor, Tensor> qr(const Tensor& A, const std::optional<std::string>& mode = {}) {
  static const Operator op = Operator::find("aten::linalg_qr");
  return Call(op).tensor(A).option(mode, &Call::string).two();
}

// linalg_qr.out(Tensor A, str mode="reduced", *, Tensor(a!) Q, Tensor(b!) R) -> (Tensor(a!) Q, Tensor(b!) R)
inline std::tuple<Tensor, Tensor> qr_out(const Tensor& A, const Tensor& Q, const Tensor& R,
    const std::optional<std::string>& mode = {}) {
  static const Operator op = Operator::find("aten::linalg_qr", "out");
  return Call(op).tensor(A).option(mode, &Call::string).tensor(Q).tensor(R).two();
}

// linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)
inline std::tuple<Tensor, Tensor> slogdet(const Tensor& A) {
  static const Operator op = Operator::find("aten::linalg_slogdet");
  return Call(op).tensor(A).two();
}

// linalg_slogdet.out(Tensor A, *, Tensor(a!) sign, Tensor(b!) logabsdet) -> (Tensor(a!) sign, Tensor(b!)
//     logabsdet)
inline std::tuple<Tensor, Tensor> slogdet_out(const Tensor& A, const Tensor& sign, const Tensor& logabsdet) {
  static const Operator op = Operator::find("aten::linalg_slogdet", "out");
  return Call(op).tensor(A).tensor(sign).tensor(logabsdet).two();
}

// linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor
inline Tensor solve(const Tensor& A, const Tensor& B, const std::optional<bool>& left = {}) {
  static const Operator op = Operator::find("aten::linalg_solve");
  return Call(op).tensor(A).tensor(B).option(left, &Call::flag).one();
}

// linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)
inline std::tuple<Tensor, Tensor> solve_ex(const Tensor& A, const Tensor& B, const std::optional<bool>& left = {},
    const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_solve_ex");
  return Call(op).tensor(A).tensor(B).option(left, &Call::flag).option(check_errors, &Call::flag).two();
}

// linalg_solve_ex.out(Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor(a!) result,
//     Tensor(b!) info) -> (Tensor(a!) result, Tensor(b!) info)
inline std::tuple<Tensor, Tensor> solve_ex_out(const Tensor& A, const Tensor& B, const Tensor& result,
    const Tensor& info, const std::optional<bool>& left = {}, const std::optional<bool>& check_errors = {}) {
  static const Operator op = Operator::find("aten::linalg_solve_ex", "out");
  return Call(op).tensor(A).tensor(B).option(left, &Call::flag).option(check_errors, &Call::flag).tensor(result)
      .tensor(info).two();
}

// linalg_solve.out(Tensor A, Tensor B, *, bool left=True, Tensor(a!) out) -> Tensor(a!)
inline Tensor solve_out(const Tensor& A, const Tensor& B, const Tensor& out, const std::optional<bool>& left = {}) {
  static const Operator op = Operator::find("aten::linalg_solve", "out");
  return Call(op).tensor(A).tensor(B).option(left, &Call::flag).tensor(out).one();
}

// linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) ->
//     Tensor
inline Tensor solve_triangular(const Tensor& self, const Tensor& B, bool upper,
    const std::optional<bool>& left = {}, const std::optional<bool>& unitriangular = {}) {
  static const Operator op = Operator::find("aten::linalg_solve_triangular");
  return Call(op).tensor(self).tensor(B).flag(upper).option(left, &Call::flag).option(unitriangular, &Call::flag)
      .one();
}

// linalg_solve_triangular.out(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor solve_triangular_out(const Tensor& self, const Tensor& B, bool upper, const Tensor& out,
    const std::optional<bool>& left = {}, const std::optional<bool>& unitriangular = {}) {
  static const Operator op = Operator::find("aten::linalg_solve_triangular", "out");
  return Call(op).tensor(self).tensor(B).flag(upper).option(left, &Call::flag).option(unitriangular, &Call::flag)
      .tensor(out).one();
}

// linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, const std::optional<bool>& full_matrices = {},
    const std::optional<std::string>& driver = {}) {
  static const Operator op = Operator::find("aten::linalg_svd");
  return Call(op).tensor(A).option(full_matrices, &Call::flag).option(driver, &Call::string).three();
}

// linalg_svd.U(Tensor A, bool full_matrices=True, *, str? driver=None, Tensor(a!) U, Tensor(b!) S, Tensor(c!) Vh)
//     -> (Tensor(a!) U, Tensor(b!) S, Tensor(c!) Vh)
inline std::tuple<Tensor, Tensor, Tensor> svd_out(const Tensor& A, const Tensor& U, const Tensor& S,
    const Tensor& Vh, const std::optional<bool>& full_matrices = {}, const std::optional<std::string>& driver = {}) {
  static const Operator op = Operator::find("aten::linalg_svd", "U");
  return Call(op).tensor(A).option(full_matrices, &Call::flag).option(driver, &Call::string).tensor(U).tensor(S)
      .tensor(Vh).three();
}

// linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor
inline Tensor svdvals(const Tensor& A, const std::optional<std::string>& driver = {}) {
  static const Operator op = Operator::find("aten::linalg_svdvals");
  return Call(op).tensor(A).option(driver, &Call::string).one();
}

// linalg_svdvals.out(Tensor A, *, str? driver=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor svdvals_out(const Tensor& A, const Tensor& out, const std::optional<std::string>& driver = {}) {
  static const Operator op = Operator::find("aten::linalg_svdvals", "out");
  return Call(op).tensor(A).option(driver, &Call::string).tensor(out).one();
}

// linalg_tensorinv(Tensor self, int ind=2) -> Tensor
inline Tensor tensorinv(const Tensor& self, const std::optional<int64_t>& ind = {}) {
  static const Operator op = Operator::find("aten::linalg_tensorinv");
  return Call(op).tensor(self).option(ind, &Call::integer).one();
}

// linalg_tensorinv.out(Tensor self, int ind=2, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor tensorinv_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& ind = {}) {
  static const Operator op = Operator::find("aten::linalg_tensorinv", "out");
  return Call(op).tensor(self).option(ind, &Call::integer).tensor(out).one();
}

// linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor
inline Tensor tensorsolve(const Tensor& self, const Tensor& other,
    const std::optional<std::vector<int64_t>>& dims = {}) {
  static const Operator op = Operator::find("aten::linalg_tensorsolve");
  return Call(op).tensor(self).tensor(other).option(dims, &Call::integers).one();
}

// linalg_tensorsolve.out(Tensor self, Tensor other, int[]? dims=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor tensorsolve_out(const Tensor& self, const Tensor& other, const Tensor& out,
    const std::optional<std::vector<int64_t>>& dims = {}) {
  static const Operator op = Operator::find("aten::linalg_tensorsolve", "out");
  return Call(op).tensor(self).tensor(other).option(dims, &Call::integers).tensor(out).one();
}

// linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor
inline Tensor vander(const Tensor& x, const std::optional<int64_t>& N = {}) {
  static const Operator op = Operator::find("aten::linalg_vander");
  return Call(op).tensor(x).option(N, &Call::integer).one();
}

// linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor
inline Tensor vecdot(const Tensor& x, const Tensor& y, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::linalg_vecdot");
  return Call(op).tensor(x).tensor(y).option(dim, &Call::integer).one();
}

// linalg_vecdot.out(Tensor x, Tensor y, *, int dim=-1, Tensor(a!) out) -> Tensor(a!)
inline Tensor vecdot_out(const Tensor& x, const Tensor& y, const Tensor& out, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::linalg_vecdot", "out");
  return Call(op).tensor(x).tensor(y).option(dim, &Call::integer).tensor(out).one();
}

// linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
//     -> Tensor
inline Tensor vector_norm(const Tensor& self, const std::optional<Scalar>& ord = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_vector_norm");
  return Call(op).tensor(self).option(ord, &Call::scalar).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).one();
}

// linalg_vector_norm.out(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType?
//     dtype=None, Tensor(a!) out) -> Tensor(a!)
inline Tensor vector_norm_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& ord = {},
    const std::optional<std::vector<int64_t>>& dim = {}, const std::optional<bool>& keepdim = {},
    const std::optional<int32_t>& dtype = {}) {
  static const Operator op = Operator::find("aten::linalg_vector_norm", "out");
  return Call(op).tensor(self).option(ord, &Call::scalar).option(dim, &Call::integers).option(keepdim, &Call::flag)
      .option(dtype, &Call::dtype).tensor(out).one();
}

}  // namespace tandem::abi::ops::linalg
