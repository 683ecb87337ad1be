package org.tandem;

/** The operators that {@link Tensor}'s methods call. */
final class TensorOperators {
  static final LazyOperator EMPTY = new LazyOperator("empty", "memory_format");
  static final LazyOperator ZEROS = new LazyOperator("zeros");
  static final LazyOperator ONES = new LazyOperator("ones");
  static final LazyOperator FULL = new LazyOperator("full");
  static final LazyOperator RAND = new LazyOperator("rand");
  static final LazyOperator RANDN = new LazyOperator("randn");
  static final LazyOperator ARANGE = new LazyOperator("arange", "start");
  static final LazyOperator CAT = new LazyOperator("cat");
  static final LazyOperator STACK = new LazyOperator("stack");
  static final LazyOperator DETACH = new LazyOperator("detach");
  static final LazyOperator ADD = new LazyOperator("add", "Tensor");
  static final LazyOperator ADD_SCALAR = new LazyOperator("add", "Scalar");
  static final LazyOperator SUB = new LazyOperator("sub", "Tensor");
  static final LazyOperator SUB_SCALAR = new LazyOperator("sub", "Scalar");
  static final LazyOperator MUL = new LazyOperator("mul", "Tensor");
  static final LazyOperator MUL_SCALAR = new LazyOperator("mul", "Scalar");
  static final LazyOperator DIV = new LazyOperator("div", "Tensor");
  static final LazyOperator DIV_SCALAR = new LazyOperator("div", "Scalar");
  static final LazyOperator POW = new LazyOperator("pow", "Tensor_Scalar");
  static final LazyOperator NEG = new LazyOperator("neg");
  static final LazyOperator ABS = new LazyOperator("abs");
  static final LazyOperator EXP = new LazyOperator("exp");
  static final LazyOperator LOG = new LazyOperator("log");
  static final LazyOperator SQRT = new LazyOperator("sqrt");
  static final LazyOperator TANH = new LazyOperator("tanh");
  static final LazyOperator SIGMOID = new LazyOperator("sigmoid");
  static final LazyOperator RELU = new LazyOperator("relu");
  static final LazyOperator MATMUL = new LazyOperator("matmul");
  static final LazyOperator SOFTMAX = new LazyOperator("softmax", "int");
  static final LazyOperator LOG_SOFTMAX = new LazyOperator("log_softmax", "int");
  static final LazyOperator SUM = new LazyOperator("sum");
  static final LazyOperator SUM_DIM = new LazyOperator("sum", "dim_IntList");
  static final LazyOperator MEAN = new LazyOperator("mean");
  static final LazyOperator MEAN_DIM = new LazyOperator("mean", "dim");
  static final LazyOperator MAX = new LazyOperator("max");
  static final LazyOperator MIN = new LazyOperator("min");
  static final LazyOperator ARGMAX = new LazyOperator("argmax");
  static final LazyOperator EQ = new LazyOperator("eq", "Tensor");
  static final LazyOperator ADD_ = new LazyOperator("add_", "Tensor");
  static final LazyOperator MUL_ = new LazyOperator("mul_", "Scalar");
  static final LazyOperator FILL_ = new LazyOperator("fill_", "Scalar");
  static final LazyOperator COPY_ = new LazyOperator("copy_");
  static final LazyOperator RESHAPE = new LazyOperator("reshape");
  static final LazyOperator FLATTEN = new LazyOperator("flatten", "using_ints");
  static final LazyOperator TRANSPOSE = new LazyOperator("transpose", "int");
  static final LazyOperator PERMUTE = new LazyOperator("permute");
  static final LazyOperator SQUEEZE = new LazyOperator("squeeze", "dim");
  static final LazyOperator UNSQUEEZE = new LazyOperator("unsqueeze");
  static final LazyOperator NARROW = new LazyOperator("narrow");
  static final LazyOperator SELECT = new LazyOperator("select", "int");
  static final LazyOperator INDEX_SELECT = new LazyOperator("index_select");
  static final LazyOperator CLONE = new LazyOperator("clone");
  static final LazyOperator CONTIGUOUS = new LazyOperator("contiguous");
  static final LazyOperator TO_DTYPE = new LazyOperator("to", "dtype");
  static final LazyOperator TO_DEVICE = new LazyOperator("to", "dtype_layout");

  private TensorOperators() {}
}
