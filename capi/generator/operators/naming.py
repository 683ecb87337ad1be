"""Names in words, as Go has them and others derive them. They depend on operator and overload alone; each language freezes
its own in its operators.txt.

The operator's words are capitalised; the overload's follow, but for those that say what Go's parameter types say
anyway; `_` at the end of an operator becomes I (in place), and an out= variant is its operator's name and Out.
"""
import re

# Words that are not just capitalised.
WORDS = {w.lower(): w for w in """
    AddBMM AddCDiv AddCMul AddMM AddMV AllClose AMax AMin AMinMax ArgMax ArgMin ArgSort ArgWhere AtLeast ATol
    BAddBMM BCE BFloat16 BinCount BMM BSC BSR CDist CELU ChainMatMul COO CorrCoef CSC CSR CTC CumMax CumMin CumProd
    CumSum Deg2Rad DSplit DStack DType EigVals EigValsH ELU FFT FFT2 FFTFreq FFTN FFTShift FlipLR FlipUD FMax FMin
    FMod GCD GELU GLU GRU HFFT HFFT2 HFFTN HistogramDD HSplit HStack IFFT IFFT2 IFFTN IFFTShift IHFFT IHFFT2 IHFFTN
    IRFFT IRFFT2 IRFFTN IsClose IsFinite IsIn IsInf IsNaN IsNegInf IsPosInf IsReal ISTFT KeepDim KL KthValue LCM LDL
    LogAddExp LogAddExp2 LogCumSumExp LogDet LogSumExp LP LSTM LstSq LU MatMul MH MM MoveAxis MoveDim MSE MT MV NaN
    NaNMean NaNMedian NaNQuantile NaNSum ND NDTR NDTRI NLL NonZero PDist PReLU QR Rad2Deg RandInt RandN RandPerm
    ReLU ReLU6 RFFT RFFT2 RFFTFreq RFFTN RMS RNN RReLU RTol ScalarArray ScalarInt SearchSorted SELU SiLU SlogDet
    STFT SVD SVDVals SwapAxes SwapDims TensorArray TensorArrayInt TensorDot TensorInv TensorSolve TopK UPLO VDot
    VecDot VSplit VStack XLog1pY XLogY
    """.split()} | {
    "aminmax": "AMinMax", "atleast": "AtLeast",
    "intlist": "List", "scalarrayarray": "ScalarArrayArray", "scalarrayint": "ScalarArrayInt"}
# Words of an overload that the parameter's type says, or nothing.
SILENT = {"int", "IntList", "using", "ints", "ScalarOpt"}

# Names that the rule would make twice, or make clumsy. By operator and overload.
NAMES = {
    "clamp.Tensor": "ClampTensor", "clamp_max.Tensor": "ClampMaxTensor", "clamp_min.Tensor": "ClampMinTensor",
    "clip.Tensor": "ClipTensor", "narrow.Tensor": "NarrowTensor", "randint_like.Tensor": "RandIntLikeTensor",
    "randint_like.Tensor_generator": "RandIntLikeTensorGenerator",
    "linspace.Tensor_Tensor": "LinspaceTensor", "linspace.Tensor_Scalar": "LinspaceTensorScalar",
    "logspace.Tensor_Tensor": "LogspaceTensor", "logspace.Tensor_Scalar": "LogspaceTensorScalar",
    "pow.Scalar": "ScalarPow", "pow_.Scalar": "PowScalar",
    "float_power.Scalar": "ScalarFloatPower", "float_power_.Scalar": "FloatPowerScalar",
    "empty.memory_format": "Empty", "index.Tensor": "IndexTensors", "to.dtype": "To", "to.device": "ToDeviceDType",
    "cross_entropy_loss": "CrossEntropy", "nll_loss_nd": "NLLLoss",
    "ctc_loss.IntList": "CTCLoss", "ctc_loss.Tensor": "CTCLossTensor",
    "conv_transpose2d.input": "ConvTranspose2d", "conv_transpose3d.input": "ConvTranspose3d",
    "lstm.input": "LSTM", "gru.input": "GRU", "rnn_tanh.input": "RNNTanh", "rnn_relu.input": "RNNReLU",
    "lstm.data": "LSTMPacked", "gru.data": "GRUPacked", "rnn_tanh.data": "RNNTanhPacked",
    "rnn_relu.data": "RNNReLUPacked",
    "repeat_interleave.self_int": "RepeatInterleave", "repeat_interleave.self_Tensor": "RepeatInterleaveTensor",
    "repeat_interleave.Tensor": "RepeatInterleaveIndices",
    "norm.Scalar": "Norm", "frobenius_norm.dim": "FrobeniusNorm",
    "scatter.src": "Scatter", "scatter.reduce": "ScatterSrcReduce", "scatter_reduce.two": "ScatterReduce",
    "where": "WhereIndices", "where.self": "Where", "histogram.bin_ct": "Histogram",
    "histogram.bins_tensor": "HistogramBins", "to_sparse.sparse_dim": "ToSparseDim",
}


def words(text):
    return "".join(WORDS.get(w.lower(), w[:1].upper() + w[1:]) for w in text.split("_") if w)


def suffix(overload):
    parts = [p for p in overload.split("_") if p not in SILENT]
    while parts[:1] == ["Tensor"]:
        parts = parts[1:]
    return words("_".join(parts))


def name(op, namespace):
    """Of an operator that is no out= variant. `namespace` ("linalg") is left out: it is the package."""
    base = op.name[:-1] if op.in_place else op.name
    if namespace:
        base = base.removeprefix(namespace + "_")
    chosen = NAMES.get(op.key) or NAMES.get(op.key.replace("_.", ".")) or words(base) + suffix(op.overload)
    return chosen + ("I" if op.in_place else "")


def field(argument):
    """Of an options struct."""
    return words(argument)


KEYWORDS = set("""break case chan const continue default defer else fallthrough for func go goto if import interface map
    package range return select struct switch type var""".split())


def parameter(argument):
    first, *rest = [w for w in argument.split("_") if w]
    plain = (first if len(first) == 1 else first[0].lower() + first[1:]) + words("_".join(rest))
    if argument.isupper():
        plain = argument.lower()
    return plain + "_" if plain in KEYWORDS or plain in ("t", "o", "options") else plain


def snake(op, namespace):
    """The name for languages that write words so: of the operator, its overload, and `_` for in place."""
    camel = name(op, namespace).removesuffix("I" if op.in_place else "")
    base = op.name.removesuffix("_")
    base = base.removeprefix(namespace + "_") if namespace else base
    # The operator's own spelling, where Go's name is its words.
    if camel.startswith(words(base)):
        text, camel = base, camel[len(words(base)):]
    else:
        text = ""
    for known in ("ReLU", "DType", "CumMax"):
        camel = camel.replace(known, known.capitalize())
    rest = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", camel)).lower()
    return "_".join(part for part in (text, rest) if part) + ("_" if op.name.endswith("_") else "")
