"""Which arguments each operator's case has: what its family needs, else what its type suggests.

Arguments are distinct from each other and, where that is possible, from the defaults. A recipe is by the operator's
name without `_`, then by argument: out= variants and those in place share it. `KEYS` are for one overload.
"""
from arguments import List, T

A = (3, 4)  # the shape of tensors that nothing else is known of


def I(*shape, low=1, high=8, dtype="int64"):
    return T(*shape, dtype=dtype, low=low, high=high)


def index(*values, shape=None, dtype="int64"):
    return T(*(shape or (len(values),)), dtype=dtype, values=list(values))


def out(dtype="float32"):
    return T(0, dtype=dtype, values=[])


BOOL = T(3, 4, dtype="bool", low=0, high=2)
FEW = I(3, 4, low=0, high=3, dtype="float32")
FEW_OTHER = T(3, 4, low=0, high=3, dtype="float32", values=[0.0, 1.0, 2.0, 2.0, 1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.0, 2.0])
SQUARE = T(3, 3)
SPD = T(3, 3, spd=True)
LOWER = T(3, 3, values=[2.0, 0.0, 0.0, 0.5, 1.5, 0.0, 0.25, 0.75, 1.25])
IMAGE1, IMAGE2, IMAGE3 = T(1, 2, 6), T(1, 2, 6, 7), T(1, 2, 6, 7, 5)
COMPLEX = T(3, 4, dtype="complex64")
INT_OUT = {"out": out("int64")}
BOOL_OUT = {"out": out("bool")}
COMPLEX_OUT = {"out": out("complex64")}


FAMILIES = {}


def family(names, **recipe):
    for name in names.split():
        FAMILIES.setdefault(name, {}).update(recipe)


# Element by element.
family("acosh arccosh", self=T(*A, low=1.1, high=3))
family("bitwise_and bitwise_or bitwise_xor bitwise_not gcd lcm bitwise_left_shift bitwise_right_shift",
       self=I(3, 4, high=60), other=I(3, 4, high=4), out=out("int64"))
for name in "and or xor left_shift right_shift".split():
    for kind in ("Scalar", "Tensor_Scalar", "Scalar_Tensor"):
        for key in (f"bitwise_{name}.{kind}", f"bitwise_{name}.{kind}_out", f"bitwise_{name}_.{kind}"):
            FAMILIES[key] = {"self": 3 if kind == "Scalar_Tensor" else I(3, 4, high=60), "out": out("int64"),
                             "other": I(3, 4, high=4) if kind == "Scalar_Tensor" else 2}
family("ceil floor round trunc fix frac sign sgn positive negative neg abs absolute signbit relu relu6 special_round "
       "hardshrink softshrink threshold leaky_relu elu selu celu gelu mish silu hardswish hardsigmoid hardtanh "
       "log_sigmoid softplus tanh sigmoid prelu rrelu nan_to_num clamp clip clamp_min clamp_max clamp.Tensor",
       self=T(*A, low=-2.5, high=2.5))
family("eq ne lt le gt ge greater greater_equal less less_equal not_equal isclose allclose equal maximum minimum fmax "
       "fmin logical_and logical_or logical_xor logical_not", self=FEW, other=FEW_OTHER)
family("signbit isposinf isneginf isin", out=out("bool"))
CLOSE = T(*A, low=0.4, high=0.6)
family("allclose isclose", self=CLOSE, other=CLOSE, rtol=0.9, atol=0.3, equal_nan=True)
family("conj conj_physical angle real imag resolve_conj view_as_real view_as_real_copy", self=COMPLEX)
family("conj_physical", out=out("complex64"))
family("resolve_neg chalf", self=T(*A))
family("view_as_complex view_as_complex_copy", self=T(3, 2))
family("complex polar", real=T(*A), imag=T(*A), abs=T(*A), angle=T(*A), out=out("complex64"))
family("polygamma special_polygamma mvlgamma special_multigammaln", n=2, p=2, self=T(*A, low=2.5, high=4))
family("ldexp", other=I(3, 4, high=3))
family("lerp", end=T(*A), weight=T(*A))
family("frexp", mantissa=out(), exponent=out("int32"))
family("igamma igammac special_gammainc special_gammaincc", self=T(*A, low=1, high=3), other=T(*A, low=1, high=3))
family("float_power", out=out("float64"), self=T(*A, dtype="float64"))
family("special_zeta", self=T(*A, low=1.5, high=3), other=T(*A, low=1.5, high=3))
family("heaviside", values=T(*A), self=T(*A, low=-1, high=1))
family("div divide floor_divide remainder fmod true_divide", rounding_mode="floor", self=T(*A, low=2, high=9))
family("round special_round", decimals=1)
family("special_airy_ai", x=T(*A))
for name in ("chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
             "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
             "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
             "shifted_chebyshev_polynomial_w").split():
    family("special_" + name, n=T(*A, low=1, high=4, values=[float(1 + i % 3) for i in range(12)]))
family("where", condition=BOOL)
family("masked_fill masked_select masked_scatter", mask=BOOL, value=2.5, source=T(12))
family("isreal is_complex is_conj is_neg", self=COMPLEX)
family("is_nonzero", self=T(1))
family("addcdiv addcmul", tensor1=T(*A), tensor2=T(*A))
family("copysign nextafter", self=T(*A, low=-1, high=1), other=T(*A, low=-1, high=1))
family("fill", value=2.5)

# Products.
family("mm", self=T(3, 4), mat2=T(4, 5))
family("matmul linalg_matmul", self=T(3, 4), other=T(4, 5))
family("bmm", self=T(2, 3, 4), mat2=T(2, 4, 5))
family("mv", self=T(3, 4), vec=T(4))
family("dot vdot", self=T(5), tensor=T(5), other=T(5))
family("inner", self=T(2, 4), other=T(3, 4))
family("outer ger", self=T(3), vec2=T(4))
family("addmm", self=T(3, 5), mat1=T(3, 4), mat2=T(4, 5))
family("addbmm", self=T(3, 5), batch1=T(2, 3, 4), batch2=T(2, 4, 5))
family("baddbmm", self=T(2, 3, 5), batch1=T(2, 3, 4), batch2=T(2, 4, 5))
family("addmv", self=T(3), mat=T(3, 4), vec=T(4))
family("addr", self=T(3, 4), vec1=T(3), vec2=T(4))
family("chain_matmul linalg_multi_dot", matrices=List(T(3, 4), T(4, 5), T(5, 2)), tensors=List(T(3, 4), T(4, 5), T(5, 2)))
family("kron", self=T(2, 3), other=T(3, 2))
family("tensordot", self=T(2, 3, 4), other=T(4, 3, 5), dims_self=[2, 1], dims_other=[0, 1])
family("einsum", equation="ij,jk->ik", tensors=List(T(3, 4), T(4, 5)), path=None)
family("cross linalg_cross", self=T(3, 3), other=T(3, 3), dim=0)
family("cdist", x1=T(3, 4), x2=T(5, 4), compute_mode=1)
family("pdist", self=T(4, 3))
family("dist", p=3.0)
family("linalg_vecdot", x=T(3, 4), y=T(3, 4), dim=0)
family("trace", self=SQUARE)
family("matrix_power linalg_matrix_power matrix_exp linalg_matrix_exp", self=SQUARE, n=3)
family("combinations", self=T(4), r=3, with_replacement=True)
family("cartesian_prod", tensors=List(T(2), T(3)))
family("block_diag", tensors=List(T(2, 3), T(3, 2)))

# Linear algebra.
family("cholesky linalg_cholesky linalg_cholesky_ex cholesky_inverse logdet linalg_eigh linalg_eigvalsh linalg_ldl_factor "
       "linalg_ldl_factor_ex", self=SPD, L=out(), info=out("int32"), LD=out(), pivots=out("int32"), upper=True,
       eigvals=out(), eigvecs=out(), UPLO="U", hermitian=True, check_errors=True)
family("cholesky_inverse", self=LOWER)
family("linalg_eigh linalg_eigvalsh", self=SQUARE)
family("cholesky_solve", self=T(3, 2), input2=T(3, 3, values=LOWER.values), upper=True)
family("det linalg_det linalg_eig linalg_eigvals slogdet linalg_slogdet inverse linalg_inv linalg_inv_ex linalg_lu "
       "linalg_lu_factor linalg_lu_factor_ex linalg_solve linalg_solve_ex linalg_lu_solve linalg_ldl_solve linalg_cond",
       self=SPD, A=SPD, B=T(3, 2), eigenvalues=out("complex64"), eigenvectors=out("complex64"), sign=out(),
       logabsdet=out(), inverse=out(), info=out("int32"), P=out(), L=out(), U=out(), LU=SPD, result=out(), left=True,
       pivots=index(2, 3, 3, dtype="int32"), adjoint=True, check_errors=True, p="fro", pivot=True)
family("linalg_eigvals", out=out("complex64"))
family("linalg_lu_factor linalg_lu_factor_ex", LU=out(), pivots=out("int32"))
family("linalg_solve linalg_solve_ex linalg_lu_solve", B=T(2, 3), left=False)
family("linalg_ldl_solve", LD=SPD, pivots=index(1, 2, 3, dtype="int32"), hermitian=True)
family("lu_solve", self=T(3, 2), LU_data=SPD, LU_pivots=index(2, 3, 3, dtype="int32"))
family("lu_unpack", LU_data=SPD, LU_pivots=index(2, 3, 3, dtype="int32"), P=out(), L=out(), U=out(), unpack_data=True,
       unpack_pivots=False)
family("linalg_cond", p=1)
for key in ("linalg_cond.p_str", "linalg_cond.p_str_out"):
    FAMILIES[key] = {"self": SPD, "p": "fro"}
family("linalg_svd", A=T(3, 4), full_matrices=False, driver=None, U=out(), S=out(), Vh=out())
family("linalg_svdvals", A=T(3, 4), driver=None)
family("svd", self=T(4, 3), some=False, compute_uv=False, U=out(), S=out(), V=out())
family("linalg_qr", A=T(4, 3), mode="complete", Q=out(), R=out())
family("qr", self=T(4, 3), some=False, Q=out(), R=out())
family("geqrf", self=T(4, 3), a=out(), tau=out())
family("orgqr linalg_householder_product", self=T(4, 3), input=T(4, 3), input2=T(3), tau=T(3))
family("ormqr", self=T(4, 3), input2=T(3), input3=T(2, 4), left=False, transpose=True)
family("linalg_lstsq", self=T(4, 3), b=T(4, 2), rcond=0.9, driver="gelsd", solution=out(), residuals=out(),
       rank=out("int64"), singular_values=out())
family("linalg_solve_triangular", self=LOWER, B=T(2, 3), upper=False, left=False, unitriangular=True)
family("triangular_solve", self=T(3, 2), A=LOWER, upper=False, transpose=True, unitriangular=True, X=out(), M=out())
family("linalg_tensorinv", self=T(6, 2, 3), ind=1)
family("linalg_tensorsolve", self=T(2, 3, 6), other=T(2, 3), dims=None)
family("linalg_vander vander", x=T(4), N=3, increasing=True)
family("linalg_diagonal", A=T(3, 4, 5), offset=1, dim1=0, dim2=1)
family("linalg_norm linalg_matrix_norm linalg_vector_norm", self=T(3, 4), ord=2, dim=[0, 1], keepdim=True,
       dtype="float64", out=out("float64"))
family("linalg_vector_norm", ord=3, dim=[1])
for key in ("linalg_norm.ord_str", "linalg_matrix_norm.str_ord"):
    FAMILIES[key] = FAMILIES[key + "_out"] = dict(FAMILIES["linalg_norm"], ord="nuc")
family("linalg_matrix_rank", self=SQUARE, input=SQUARE, out=out("int64"), hermitian=True, tol=0.5, atol=0.1, rtol=0.6)
family("linalg_pinv", self=SQUARE, hermitian=True, rcond=0.6, atol=0.1, rtol=0.6)
family("pinverse", self=T(3, 4), rcond=0.1)
family("frobenius_norm nuclear_norm", self=T(3, 4), dim=[0, 1], keepdim=True)
family("norm", p=3, dim=[1], keepdim=True, dtype="float64", out=out("float64"))
FAMILIES["norm.out"] = dict(FAMILIES["norm"], out=out())
family("norm_except_dim", v=T(3, 4), pow=3, dim=1)
family("renorm", p=2, dim=1, maxnorm=0.5)

# Reductions and orders.
family("all any", self=BOOL, out=out("bool"), dim=1, keepdim=True)
for key in ("all.dims", "any.dims"):
    FAMILIES[key] = {"self": BOOL, "dim": [1], "keepdim": True}
family("sum nansum mean nanmean prod", dtype="float64", out=out("float64"), dim=[1], keepdim=True)
family("prod", dim=1)
family("cumsum cumprod logcumsumexp softmax log_softmax special_softmax special_log_softmax", dim=0, dtype="float64",
       out=out("float64"))
family("logcumsumexp", out=out())
for key in ("cumsum_", "cumprod_"):
    FAMILIES[key] = {"dim": 0, "dtype": None}
family("argmax argmin argsort", out=out("int64"), dim=0, keepdim=True, stable=True, descending=True)
family("max min median nanmedian mode kthvalue cummax cummin sort topk aminmax", dim=0, keepdim=True, k=2,
       values=out(), indices=out("int64"), max=out(), max_values=out("int64"), min=out(), min_indices=out("int64"),
       descending=True, stable=True, largest=False, sorted=True)
family("aminmax", max=out(), min=out())
family("min", min_indices=out("int64"))
family("amax amin logsumexp special_logsumexp count_nonzero", dim=[1], keepdim=True)
family("std var std_mean var_mean", dim=[1], keepdim=True, correction=2, unbiased=False)
family("quantile nanquantile", q=T(3, values=[0.25, 0.5, 0.75]), dim=0, keepdim=True, interpolation="lower")
for key in ("quantile.scalar", "nanquantile.scalar"):
    FAMILIES[key] = {"q": 0.3, "dim": 0, "keepdim": True, "interpolation": "lower"}
    FAMILIES[key + "_out"] = FAMILIES[key]
family("unique_consecutive", self=index(3, 3, 1, 1, 2), return_inverse=True, return_counts=True, dim=0)
family("bincount", self=index(1, 3, 3, 0), weights=T(4), minlength=6)
family("histc", bins=5, min=0.1, max=0.9)
family("histogram", bins=5, range=[0.1, 0.9], weight=T(*A), density=True, hist=out(), bin_edges=out())
for key in ("histogram.bins_tensor", "histogram.bins_tensor_out"):
    FAMILIES[key] = {"bins": T(4, values=[0.1, 0.3, 0.6, 0.9]), "weight": T(*A), "density": True, "hist": out(),
                     "bin_edges": out()}
family("histogramdd", self=T(6, 2), bins=[3, 4], range=[0.0, 1.0, 0.1, 0.9], weight=T(6), density=True)
FAMILIES["histogramdd.int_bins"] = {"self": T(6, 2), "bins": 3, "range": [0.0, 1.0, 0.1, 0.9], "weight": T(6),
                                    "density": True}
FAMILIES["histogramdd.TensorList_bins"] = {
    "self": T(6, 2), "bins": List(T(3, values=[0.0, 0.5, 1.0]), T(4, values=[0.0, 0.2, 0.7, 1.0])), "range": None,
    "weight": T(6), "density": True}
family("bucketize", boundaries=T(3, values=[0.2, 0.5, 0.8]), out_int32=True, right=True, out=out("int32"),
       self=T(4, values=[0.5, 0.1, 0.8, 0.3]))
FAMILIES["bucketize.Scalar"] = {"self": 0.5, "boundaries": T(3, values=[0.2, 0.5, 0.8]), "out_int32": True, "right": True}
family("searchsorted", sorted_sequence=T(3, values=[0.5, 0.8, 0.2]), self=T(4, values=[0.5, 0.1, 0.8, 0.3]), out_int32=True,
       right=True, side=None, sorter=index(2, 0, 1), out=out("int32"))
for key in ("searchsorted.Scalar", "searchsorted.Scalar_out"):
    FAMILIES[key] = dict(FAMILIES["searchsorted"], self=0.5)
family("isin", elements=FEW, test_elements=T(2, values=[1.0, 2.0]), element=1.0, test_element=2.0, assume_unique=False,
       invert=True)
family("nonzero argwhere", self=FEW, out=out("int64"))
family("nonzero_static", self=FEW, size=20, fill_value=-7, out=out("int64"))
family("cov corrcoef", correction=2, fweights=I(4), aweights=T(4))
family("trapezoid trapz cumulative_trapezoid", y=T(*A), x=T(*A), dx=0.5, dim=0)
family("gradient", spacing=2.0, dim=[0, 1], edge_order=1)
FAMILIES["gradient.scalararray"] = FAMILIES["gradient.scalarint"] = {"spacing": 2.0, "dim": 1, "edge_order": 2}
FAMILIES["gradient.scalararray"] = {"spacing": 2.0, "dim": [1, 0], "edge_order": 2}
FAMILIES["gradient.array"] = {"dim": [1, 0], "edge_order": 2}
FAMILIES["gradient.scalarrayint"] = {"spacing": [2.0], "dim": 1, "edge_order": 2}
FAMILIES["gradient.scalarrayarray"] = {"spacing": [2.0, 0.5], "dim": [1, 0], "edge_order": 2}
FAMILIES["gradient.tensorarrayint"] = {"spacing": List(T(4, values=[0.5, 1.0, 2.5, 3.0])), "dim": 1, "edge_order": 2}
FAMILIES["gradient.tensorarray"] = {"dim": [1, 0], "edge_order": 2, "spacing": List(
    T(4, values=[0.5, 1.0, 2.5, 3.0]), T(3, values=[0.5, 2.0, 2.5]))}
family("diff", n=2, dim=0, prepend=T(1, 4), append=T(2, 4))
family("multinomial", self=T(2, 5), num_samples=3, replacement=True, out=out("int64"))
family("segment_reduce", data=T(6), reduce="sum", lengths=index(2, 4), indices=None, offsets=None, axis=0, unsafe=True,
       initial=1.5)
family("hash_tensor", dim=[1], keepdim=True, mode=0, out=out("uint64"))

# Shapes, views, indices.
family("view reshape", size=[4, 3], shape=[4, 3], dtype="int32")
family("view_copy", size=[4, 3], dtype="int32")
family("view_as reshape_as expand_as type_as resize_as", other=T(4, 3), the_template=T(2, 5))
family("expand_as", self=T(3, 1), other=T(3, 4))
family("type_as", other=T(1, dtype="float64"))
family("expand expand_copy broadcast_to", self=T(3, 1), size=[3, 5])
family("sum_to_size", self=T(3, 4), size=[3, 1])
family("permute permute_copy", self=T(2, 3, 4), dims=[2, 0, 1])
family("transpose transpose_copy swapaxes swapdims", dim0=0, dim1=1, axis0=0, axis1=1)
family("movedim moveaxis", self=T(2, 3, 4), source=[0, 1], destination=[2, 0])
for key in ("movedim.int", "moveaxis.int"):
    FAMILIES[key] = {"self": T(2, 3, 4), "source": 0, "destination": 2}
family("flatten", self=T(2, 3, 4, 5), start_dim=1, end_dim=2)
family("unflatten", self=T(3, 12), dim=1, sizes=[4, 3])
family("squeeze squeeze_copy", self=T(1, 3, 1, 4), dim=2)
for key in ("squeeze.dims", "squeeze_.dims", "squeeze_copy.dims"):
    FAMILIES[key] = {"self": T(1, 3, 1, 4), "dim": [0, 2]}
family("unsqueeze unsqueeze_copy", dim=1)
family("slice slice_copy", self=T(6, 7), dim=1, start=1, end=5, step=2)
family("slice_scatter", self=T(6, 7), src=T(6, 2), dim=1, start=1, end=5, step=2)
family("select select_copy", dim=1, index=2)
family("select_scatter", src=T(3), dim=1, index=2)
family("diagonal diagonal_copy", self=T(3, 4, 5), offset=1, dim1=1, dim2=2)
family("diagonal_scatter", self=T(3, 4, 5), src=T(3, 4), offset=1, dim1=1, dim2=2)
family("diag_embed", self=T(2, 3), offset=1, dim1=0, dim2=1)
family("diag diagflat", self=T(3), diagonal=1, offset=1)
family("tril triu", diagonal=1)
family("tril_indices triu_indices", row=3, col=4, offset=1, dtype="int64")
family("narrow narrow_copy", dim=1, start=1, length=2)
FAMILIES["narrow.Tensor"] = {"dim": 1, "start": T(dtype="int64", values=[1]), "length": 2}
family("as_strided as_strided_copy", self=T(12), size=[2, 3], stride=[4, 1], storage_offset=1)
family("as_strided_scatter", self=T(12), src=T(2, 3), size=[2, 3], stride=[4, 1], storage_offset=1)
family("unfold unfold_copy", self=T(3, 7), dimension=1, size=3, step=2)
family("split unsafe_split split_copy", self=T(3, 7), split_size=3, dim=1)
FAMILIES["split.sizes"] = {"self": T(3, 7), "split_size": [3, 4], "dim": 1}
family("split_with_sizes unsafe_split_with_sizes split_with_sizes_copy", self=T(3, 7), split_sizes=[3, 4], dim=1)
family("chunk unsafe_chunk", self=T(3, 7), chunks=3, dim=1)
family("split_copy split_with_sizes_copy unbind_copy", out=List(out(), out(), out()))
FAMILIES["split_copy.Tensor_out"] = dict(FAMILIES["split_copy"], out=List(T(3, 3), T(3, 3), T(3, 1)))
FAMILIES["split_with_sizes_copy.out"] = dict(FAMILIES["split_with_sizes_copy"], out=List(out(), out()))
family("tensor_split", self=T(3, 7), sections=3, indices=[2, 5], dim=1)
FAMILIES["tensor_split.tensor_indices_or_sections"] = {
    "self": T(3, 7), "tensor_indices_or_sections": index(2, 5), "dim": 1}
family("hsplit", self=T(3, 6), sections=3, indices=[2, 5])
family("vsplit", self=T(6, 3), sections=3, indices=[2, 5])
family("dsplit", self=T(2, 3, 6), sections=3, indices=[2, 5])
family("unbind unbind_copy", dim=0)
family("cat concat concatenate", tensors=List(T(3, 2), T(3, 4)), dim=1)
family("stack", tensors=List(T(3, 4), T(3, 4)), dim=1)
family("pad_sequence", sequences=List(T(3, 2), T(4, 2)), batch_first=True, padding_value=0.5, padding_side="left")
family("repeat tile", repeats=[2, 3], dims=[2, 3])
family("repeat_interleave", repeats=2, dim=1, output_size=8)
FAMILIES["repeat_interleave.Tensor"] = {"repeats": index(2, 1, 3), "output_size": 6}
FAMILIES["repeat_interleave.self_Tensor"] = {"repeats": index(2, 1, 3, 2), "dim": 1, "output_size": 8}
family("roll", shifts=[1, 2], dims=[0, 1])
family("rot90", k=3, dims=[1, 0])
family("flip", dims=[1])
family("fliplr flipud", self=T(3, 4))
family("meshgrid", tensors=List(T(3), T(4)), indexing="xy")
family("t t_copy", self=T(3, 4))
family("mT mH adjoint", self=T(2, 3, 4))
family("atleast_1d atleast_2d atleast_3d", self=T(3), tensors=List(T(3), T(2)))
family("index", indices=List(None, index(2, 0, 3)))
family("index_put", indices=List(None, index(2, 0, 3)), values=T(3, 3), accumulate=True)
family("index_select", dim=1, index=index(2, 0))
family("index_add", dim=1, index=index(2, 0), source=T(3, 2), alpha=2)
family("index_copy", dim=1, index=index(2, 0), source=T(3, 2))
family("index_fill", dim=1, index=index(2, 0), value=2.5)
for key in ("index_fill.int_Tensor", "index_fill_.int_Tensor"):
    FAMILIES[key] = {"dim": 1, "index": index(2, 0), "value": T(values=[2.5])}
family("index_reduce", dim=1, index=index(2, 0), source=T(3, 2), reduce="prod", include_self=False)
family("gather", dim=1, index=index(2, 0, 1, 3, 3, 0, shape=(3, 2)), sparse_grad=False)
family("scatter scatter_add scatter_reduce", dim=1, index=index(2, 0, 1, 3, 3, 0, shape=(3, 2)), src=T(3, 2), value=2.5,
       reduce="multiply", include_self=False)
family("scatter_reduce", reduce="amax")
family("take", index=index(7, 2, 11))
family("take_along_dim", indices=index(2, 0, 1, 3, 3, 0, shape=(3, 2)), dim=1)
family("put", index=index(7, 2, 11), source=T(3), accumulate=True)
family("fill_diagonal", fill_value=2.5, wrap=True, self=T(7, 3))
for key in ("masked_fill.Tensor", "masked_fill_.Tensor", "fill_.Tensor"):
    FAMILIES[key] = {"mask": BOOL, "value": T(values=[2.5])}
family("column_stack row_stack hstack vstack dstack", tensors=List(T(3, 4), T(3, 4)))
family("broadcast_tensors", tensors=List(T(3, 1), T(1, 4)))
family("resize", size=[2, 5], memory_format=None)
family("channel_shuffle", self=T(1, 6, 2, 2), groups=3)
family("pixel_shuffle", self=T(1, 4, 2, 3), upscale_factor=2)
family("pixel_unshuffle", self=T(1, 1, 4, 6), downscale_factor=2)
family("one_hot", self=index(2, 0, 1), num_classes=5)
family("to type_as", dtype="float64", device="cpu", layout=0, pin_memory=None, non_blocking=True, copy=True,
       memory_format=None, other=T(1, dtype="float64"))
family("clone contiguous", self=T(1, 2, 3, 4), memory_format=2)
family("set", source=T(5), size=[2, 2], stride=[2, 1], storage_offset=1)
FAMILIES["set_.source_Tensor_storage_offset"] = {"source": T(5), "size": [2, 2], "stride": [1, 2], "storage_offset": 1}
family("copy", src=T(4), non_blocking=True)

# Making tensors.
for_making = dict(size=[2, 3], dtype="float64", layout=0, device="cpu", pin_memory=False, out=out(), memory_format=None)
family("zeros ones empty full rand randn zeros_like ones_like empty_like full_like rand_like randn_like new_empty "
       "new_zeros new_ones new_full new_empty_strided empty_strided empty_permuted scalar_tensor eye arange range linspace "
       "logspace randint randint_like randperm normal bartlett_window blackman_window hamming_window hann_window "
       "kaiser_window fft_fftfreq fft_rfftfreq tril_indices triu_indices", **for_making)
family("tril_indices triu_indices", dtype="int32")
family("empty_strided new_empty_strided", stride=[1, 2])
family("empty_permuted", physical_layout=[1, 0])
family("full new_full full_like", fill_value=2.5)
family("randint", low=2, high=9, size=[2, 3])
family("randint_like", low=2, high=9)
FAMILIES["randint_like.Tensor"] = FAMILIES["randint_like.Tensor_generator"] = dict(for_making, high=T(dtype="int64", values=[9]))
family("randperm", n=7, dtype="int32", out=out("int64"))
family("eye", n=3, m=4)
family("arange range", start=1, end=9, step=2)
family("linspace logspace", start=1, end=4, steps=5, base=3.0)
for op in ("linspace", "logspace"):
    for key, start, end in (("Tensor_Tensor", True, True), ("Tensor_Scalar", True, False), ("Scalar_Tensor", False, True)):
        recipe = dict(for_making, start=T(values=[1.5]) if start else 1.5, end=T(values=[4.0]) if end else 4, steps=5,
                      base=3.0)
        FAMILIES[f"{op}.{key}"] = FAMILIES[f"{op}.{key}_out"] = recipe
family("bartlett_window blackman_window hamming_window hann_window kaiser_window", window_length=6, periodic=False,
       alpha=0.6, beta=0.3)
family("kaiser_window", beta=7.0)
family("fft_fftfreq fft_rfftfreq", n=7, d=0.5)
family("normal", mean=0.5, std=1.5)
FAMILIES["normal.Tensor_float"] = {"mean": T(*A), "std": 1.5}
FAMILIES["normal.float_Tensor"] = {"mean": 0.5, "std": T(*A)}
FAMILIES["normal.Tensor_Tensor"] = {"mean": T(*A), "std": T(*A)}
for key in ("Tensor_float", "float_Tensor", "Tensor_Tensor"):
    FAMILIES[f"normal.{key}_out"] = FAMILIES[f"normal.{key}"]
FAMILIES["normal.Tensor_float_out"] = dict(FAMILIES["normal.Tensor_float"], out=T(*A))
family("bernoulli", p=0.3)
FAMILIES["bernoulli_.Tensor"] = {"p": T(*A)}
family("random", to=9)
FAMILIES["random_.from"] = {"from": 2, "to": 9}
family("uniform", **{"from": 0.5, "to": 1.5})
family("exponential cauchy geometric log_normal", lambd=1.5, median=0.5, sigma=1.5, p=0.3, mean=0.5, std=0.7)
family("poisson", self=T(*A, low=1, high=5))
family("binomial", count=I(3, 4, dtype="float32"), prob=T(*A))
family("result_type promote_types can_cast", type1="int32", type2="float16", scalar1=2, scalar2=0.5, other=T(1),
       **{"from": "int32", "to": "float16"})
FAMILIES["result_type.Tensor"] = {"tensor": I(3, 4), "other": T(1, dtype="float16")}
FAMILIES["result_type.Scalar"] = {"tensor": I(3, 4), "other": 0.5}
FAMILIES["result_type.Scalar_Tensor"] = {"scalar": 0.5, "tensor": I(3, 4)}

# Fourier.
for name in ("fft ifft fft2 ifft2 fftn ifftn hfft hfft2 hfftn irfft irfft2 irfftn").split():
    family("fft_" + name, self=T(4, 6, 2, dtype="complex64"), n=5, s=[3, 5], dim=[0, 1], norm="ortho", out=out("complex64"))
for name in ("rfft rfft2 rfftn ihfft ihfft2 ihfftn").split():
    family("fft_" + name, self=T(4, 6, 2), n=5, s=[3, 5], dim=[0, 1], norm="ortho", out=out("complex64"))
for name in ("fft ifft hfft irfft rfft ihfft").split():
    family("fft_" + name, dim=0)
family("fft_hfft fft_hfft2 fft_hfftn fft_irfft fft_irfft2 fft_irfftn", out=out())
family("fft_fftshift fft_ifftshift", dim=[1])
family("stft", self=T(40), n_fft=8, hop_length=3, win_length=6, window=T(6), normalized=True, onesided=True,
       return_complex=True, center=True, pad_mode="constant", align_to_window=None)
FAMILIES["stft"]["align_to_window"] = None
family("istft", self=T(5, 9, dtype="complex64"), n_fft=8, hop_length=3, win_length=6, window=T(6, low=0.5, high=1.0),
       center=True, normalized=True, onesided=True, length=20, return_complex=False)

# Neural networks.
for n, image, more in ((1, IMAGE1, []), (2, IMAGE2, [3]), (3, IMAGE3, [3, 2])):
    family(f"conv{n}d", input=image, weight=T(4, 1, *[3, 2, 2][:n]), bias=T(4), stride=[2, 1, 1][:n],
           padding=[1, 2, 0][:n], dilation=[2, 3, 1][:n], groups=2)
    FAMILIES[f"conv{n}d.padding"] = dict(FAMILIES[f"conv{n}d"], padding="same", stride=[1] * n)
    family(f"conv_transpose{n}d", input=image, weight=T(2, 2, *[3, 2, 2][:n]), bias=T(4), stride=[2, 3, 2][:n],
           padding=[1, 0, 1][:n], output_padding=[1, 2, 0][:n], dilation=[2, 3, 1][:n], groups=2)
    family(f"max_pool{n}d max_pool{n}d_with_indices", self=image, kernel_size=[3, 2, 2][:n], stride=[2, 1, 1][:n],
           padding=[1, 0, 1][:n], dilation=[2, 3, 1][:n], ceil_mode=True, out=out(), indices=out("int64"))
    family(f"avg_pool{n}d", self=image, kernel_size=[3, 2, 2][:n], stride=[2, 1, 1][:n], padding=[1, 0, 1][:n],
           ceil_mode=True, count_include_pad=False, divisor_override=5 if n == 2 else None)
    family(f"adaptive_avg_pool{n}d adaptive_max_pool{n}d", self=image, output_size=[2, 3, 2][:n], out=out(),
           indices=out("int64"))
    family(f"reflection_pad{n}d replication_pad{n}d", self=image, padding=[1, 2, 2, 1, 1, 0][:2 * n])
    for kind in ("nearest", {1: "linear", 2: "bilinear", 3: "trilinear"}[n], "bicubic"):
        sizes = [9, 10, 7][:n]
        family(f"upsample_{kind}{n}d", self=image, input=image, output_size=sizes, align_corners=False, scales=1.3,
               scales_d=1.5, scales_h=1.5, scales_w=1.4)
        FAMILIES[f"upsample_{kind}{n}d.vec"] = {"input": image, "output_size": None, "align_corners": True,
                                                "scale_factors": [1.5, 1.4, 1.3][:n]}
family("max_unpool2d", self=T(1, 1, 2, 2), indices=index(0, 3, 8, 15, shape=(1, 1, 2, 2)), output_size=[4, 4])
family("max_unpool3d", self=T(1, 1, 1, 2, 2), indices=index(0, 3, 8, 15, shape=(1, 1, 1, 2, 2)), output_size=[2, 4, 4],
       stride=[2, 2, 2], padding=[0, 0, 0])
family("fractional_max_pool2d", self=IMAGE2, kernel_size=[2, 3], output_size=[3, 2], random_samples=T(1, 2, 2),
       output=out(), indices=out("int64"))
family("fractional_max_pool3d", self=IMAGE3, kernel_size=[2, 3, 2], output_size=[3, 2, 2], random_samples=T(1, 2, 3),
       output=out(), indices=out("int64"))
family("linear", input=T(3, 4), weight=T(5, 4), bias=T(5))
family("bilinear", input1=T(3, 4), input2=T(3, 2), weight=T(5, 4, 2), bias=T(5))
family("embedding", weight=T(5, 3), indices=index(2, 0, 4), padding_idx=1, scale_grad_by_freq=True, sparse=False)
family("embedding_bag", weight=T(5, 3), indices=index(2, 0, 4, 1), offsets=index(0, 1), scale_grad_by_freq=False, mode=0,
       sparse=False, per_sample_weights=T(4), include_last_offset=False, padding_idx=1)
family("layer_norm rms_norm", input=T(2, 3, 4), normalized_shape=[3, 4], weight=T(3, 4), bias=T(3, 4), eps=0.01,
       cudnn_enable=False)
family("group_norm", input=T(2, 6, 3), num_groups=3, weight=T(6), bias=T(6), eps=0.01, cudnn_enabled=False)
family("batch_norm instance_norm", input=T(4, 3, 5), weight=T(3), bias=T(3), running_mean=T(3), running_var=T(3),
       training=True, use_input_stats=True, momentum=0.3, eps=0.01, cudnn_enabled=False)
family("dropout alpha_dropout feature_dropout feature_alpha_dropout", input=T(3, 4), self=T(3, 4), p=0.4, train=True)
family("prelu", weight=T(4))
family("glu", self=T(3, 4), dim=0)
FAMILIES["glu"]["self"] = T(4, 3)
FAMILIES["glu.out"] = FAMILIES["glu"]
family("rrelu", lower=0.1, upper=0.4, training=True)
family("hardtanh", min_val=-0.5, max_val=0.75)
family("leaky_relu", negative_slope=0.2)
family("threshold", threshold=0.5, value=0.25)
family("gelu", approximate="tanh")
family("clamp clip", min=-1.0, max=1.5)
for key in ("clamp.Tensor", "clip.Tensor", "clamp_.Tensor", "clip_.Tensor", "clamp.Tensor_out", "clip.Tensor_out",
            "clamp_min.Tensor", "clamp_max.Tensor", "clamp_min_.Tensor", "clamp_max_.Tensor", "clamp_min.Tensor_out",
            "clamp_max.Tensor_out"):
    FAMILIES[key] = {"self": T(*A, low=-2, high=2), "min": T(*A, low=-1, high=0), "max": T(*A, low=0, high=1)}
family("logit special_logit", eps=0.2)
family("nan_to_num", self=T(4, values=[float("nan"), float("inf"), -float("inf"), 0.5]), nan=1.0, posinf=2.0, neginf=3.0)
family("scaled_dot_product_attention", query=T(1, 2, 3, 4), key=T(1, 2, 5, 4), value=T(1, 2, 5, 4),
       attn_mask=T(3, 5), dropout_p=0.0, is_causal=False, scale=0.7, enable_gqa=False)
family("pad", self=T(3, 4), pad=[1, 2], mode="reflect", value=None)
family("im2col", self=IMAGE2, kernel_size=[2, 3], dilation=[1, 2], padding=[1, 0], stride=[2, 1])
family("col2im", self=T(1, 8, 9), output_size=[4, 4], kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], stride=[1, 1])
family("conv_tbc", self=T(6, 2, 3), weight=T(3, 3, 4), bias=T(4), pad=1)
family("affine_grid_generator", theta=T(2, 2, 3), size=[2, 3, 4, 5], align_corners=True)
family("grid_sampler grid_sampler_2d", input=T(1, 2, 4, 5), grid=T(1, 3, 3, 2, low=-1, high=1), interpolation_mode=0,
       padding_mode=1, align_corners=True)
family("grid_sampler_3d", input=T(1, 2, 4, 5, 3), grid=T(1, 3, 3, 2, 3, low=-1, high=1), interpolation_mode=0,
       padding_mode=1, align_corners=True)
family("cosine_similarity pairwise_distance", x1=T(3, 4), x2=T(3, 4), dim=0, eps=0.01, p=3.0, keepdim=True)

# Losses.
family("mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss", self=T(*A, low=-3, high=3), target=T(*A), reduction=2, beta=0.7,
       delta=0.7)
family("binary_cross_entropy binary_cross_entropy_with_logits", self=T(*A), target=T(*A), weight=T(*A), pos_weight=T(4),
       reduction=2)
FAMILIES["binary_cross_entropy.out"] = dict(FAMILIES["binary_cross_entropy"], out=T(3, 4), reduction=0)
family("cross_entropy_loss nll_loss_nd", self=T(3, 5), target=index(2, 0, 4), weight=T(5), reduction=2, ignore_index=4,
       label_smoothing=0.2)
family("kl_div poisson_nll_loss hinge_embedding_loss", self=T(*A), input=T(*A), target=T(*A), reduction=2,
       log_target=True, log_input=False, full=True, eps=0.01, margin=0.7)
family("cosine_embedding_loss margin_ranking_loss", input1=T(3, 4), input2=T(3, 4), target=T(3, values=[1.0, -1.0, 1.0]),
       margin=0.3, reduction=2)
family("margin_ranking_loss", input1=T(3), input2=T(3))
family("triplet_margin_loss", anchor=T(3, 4), positive=T(3, 4), negative=T(3, 4), margin=0.7, p=3.0, eps=0.01, swap=True,
       reduction=2)
family("multi_margin_loss", self=T(3, 5), target=index(2, 0, 4), p=2, margin=0.7, weight=T(5), reduction=2)
family("multilabel_margin_loss", self=T(2, 4), target=index(2, 0, -1, 1, 3, -1, 0, 1, shape=(2, 4)), reduction=2)
family("ctc_loss", log_probs=T(6, 2, 4, low=-3, high=-0.5), targets=index(1, 2, 2, 1, shape=(2, 2)), input_lengths=[6, 5],
       target_lengths=[2, 1], blank=3, reduction=2, zero_infinity=True)
FAMILIES["ctc_loss.Tensor"] = dict(FAMILIES["ctc_loss"], input_lengths=index(6, 5), target_lengths=index(2, 1))

# Recurrent layers: input 3, hidden 2.
for kind, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    parameters = List(T(2 * gates, 3), T(2 * gates, 2), T(2 * gates), T(2 * gates))
    states = List(T(1, 4, 2), T(1, 4, 2)) if kind == "lstm" else T(1, 4, 2)
    common = dict(hx=states, params=parameters, has_biases=True, num_layers=1, dropout=0.0, train=True,
                  bidirectional=False, batch_first=False)
    FAMILIES[f"{kind}.input"] = dict(common, input=T(5, 4, 3))
    FAMILIES[f"{kind}.data"] = dict(common, data=T(9, 3), batch_sizes=index(4, 3, 2))
    family(f"{kind}_cell", input=T(4, 3), hx=List(T(4, 2), T(4, 2)) if kind == "lstm" else T(4, 2),
           w_ih=T(2 * gates, 3), w_hh=T(2 * gates, 2), b_ih=T(2 * gates), b_hh=T(2 * gates))

# Sparse tensors.
COO, CSR = T(3, 4, form="coo", values=[0.0, 1.5, 0.0, 0.0, 2.5, 0.0, 0.0, 3.5, 0.0, 0.0, 4.5, 0.0]), T(
    3, 4, form="csr", values=[0.0, 1.5, 0.0, 0.0, 2.5, 0.0, 0.0, 3.5, 0.0, 0.0, 4.5, 0.0])
CSC = T(3, 4, form="csc", values=CSR.values)
family("coalesce indices values indices_copy values_copy is_coalesced sparse_dim dense_dim to_dense", self=COO)
family("to_dense", dtype=None, masked_grad=False)
family("crow_indices col_indices crow_indices_copy col_indices_copy", self=CSR)
family("ccol_indices row_indices ccol_indices_copy row_indices_copy", self=CSC)
family("smm hspmm", self=COO, mat1=COO, mat2=T(4, 2))
family("sspaddmm", self=T(3, 2, form="coo", values=[0.5, 0.0, 0.0, 1.5, 0.0, 2.5]), mat1=COO, mat2=T(4, 2))
for name in ("hspmm", "sspaddmm"):
    FAMILIES[name + ".out"] = dict(FAMILIES[name], out=T(3, 2, form="coo", values=[0.0] * 6))
family("sparse_mask", self=T(3, 4), mask=COO)
family("to_sparse to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc", self=T(4, 4, values=[
    0.0, 1.5, 0.0, 0.0, 2.5, 0.0, 0.0, 3.5, 0.0, 0.0, 4.5, 0.0, 0.0, 0.0, 0.0, 5.5]), layout=None, blocksize=[2, 2],
    dense_dim=None, sparse_dim=2)
FAMILIES["to_sparse"] = dict(FAMILIES["to_sparse_bsr"], layout=1, blocksize=None)
family("to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc", dense_dim=0)
making_sparse = dict(dtype="float64", layout=None, device="cpu", pin_memory=False, size=[3, 4], is_coalesced=None)
family("sparse_coo_tensor", indices=index(0, 1, 2, 1, 3, 2, shape=(2, 3)), values=T(3), **making_sparse)
FAMILIES["sparse_coo_tensor.size"] = dict(making_sparse, layout=1)
DOUBLES = T(3, dtype="float64")
family("sparse_csr_tensor sparse_compressed_tensor", crow_indices=index(0, 1, 2, 3), compressed_indices=index(0, 1, 2, 3),
       plain_indices=index(1, 0, 3), col_indices=index(1, 0, 3), values=DOUBLES, **making_sparse)
family("sparse_csr_tensor sparse_compressed_tensor", layout=2)
family("sparse_csc_tensor", ccol_indices=index(0, 1, 2, 3, 3), row_indices=index(1, 0, 2), values=DOUBLES, **making_sparse)
family("sparse_bsr_tensor", crow_indices=index(0, 1, 2), col_indices=index(1, 0), values=T(2, 2, 2, dtype="float64"),
       **dict(making_sparse, size=[4, 4]))
family("sparse_bsc_tensor", ccol_indices=index(0, 1, 2), row_indices=index(1, 0), values=T(2, 2, 2, dtype="float64"),
       **dict(making_sparse, size=[4, 4]))

family("fake_quantize_per_tensor_affine", scale=0.1, zero_point=3, quant_min=0, quant_max=20)
FAMILIES["fake_quantize_per_tensor_affine.tensor_qparams"] = {
    "scale": T(1, values=[0.1]), "zero_point": index(3, dtype="int32"), "fake_quant_enabled": index(1), "quant_min": 0,
    "quant_max": 20}
family("fake_quantize_per_channel_affine", scale=T(4), zero_point=I(4, dtype="int32"), axis=1, quant_min=0, quant_max=20)

# Rows whose result is memory that nothing was written to: dtype, layout and sizes are compared.
SHAPES_ONLY = set("""empty.memory_format empty_like empty_permuted empty_strided new_empty new_empty_strided empty.out
    resize_ resize_as_""".split())

# Rows without a case that runs, and why.
NO_CASE = {f"{name}.{kind}": "has a kernel for CUDA alone" for name in ("mm", "bmm", "addmm", "baddbmm")
           for kind in ("dtype", "dtype_out")} | {
    "pin_memory": "needs a GPU",
    "from_file": "needs a file",
    "indices_copy": "has no kernel for sparse tensors, in LibTorch",
    "values_copy": "has no kernel for sparse tensors, in LibTorch",
}


def argument_of(op, i):
    """The value of an operator's argument, as arguments.line() takes it."""
    a = op.arguments[i]
    base = op.name.rstrip("_")
    for key in (op.key, op.key.replace("_.", ".") if op.in_place else op.key.removesuffix("_out"), base):
        recipe = FAMILIES.get(key, {})
        if a.name in recipe and fits(a.type, recipe[a.name]):
            value = recipe[a.name]
            return value[0] if isinstance(value, list) and "[]" not in a.type else value
    return by_type(a, i)


def fits(type_name, value):
    """A recipe is for several overloads: some have a tensor or a text where others have a number."""
    if value is None:
        return True
    if type_name.startswith("Tensor"):
        return isinstance(value, List if "[]" in type_name else T)
    if type_name.startswith(("str", "ScalarType", "Device")):
        return isinstance(value, str)
    return isinstance(value, list) if type_name.startswith(("Scalar[]", "float[]")) else not isinstance(value, (str, T, List))


def by_type(a, i):
    if a.written and a.keyword:
        if a.type == "Tensor[]":
            return List(out(), out())
        return out("int64") if "ind" in a.name else out()
    kinds = {
        "Tensor": T(*A), "Tensor?": T(*A), "Tensor[]": List(T(*A), T(*A)), "Scalar": 0.6 + 0.25 * i, "float": 0.3 + 0.1 * i,
        "int": i, "bool": True, "int[]": [i], "str": "text", "ScalarType": "float64", "Device": "cpu", "Layout": 0,
        "Generator": 31 + i, "MemoryFormat": 0, "float[]": [0.5 + i],
    }
    if a.type == "Scalar[]":
        return [0.5, 2.0]
    return kinds[a.type] if a.type in kinds else kinds[a.type.rstrip("?")]
