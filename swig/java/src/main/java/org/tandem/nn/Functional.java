package org.tandem.nn;

import org.tandem.Operator;
import org.tandem.Options;
import org.tandem.Tensor;

/** Functions without state. Source: torch.nn.functional. */
public final class Functional {
  private Functional() {}

  // Looked up at the first use of this class's nested holders, so that loading the class needs no library.
  private static final class Ops {
    static final Operator LINEAR = Operator.find("aten::linear", "");
    static final Operator CROSS_ENTROPY = Operator.find("aten::cross_entropy_loss", "");
    static final Operator NLL = Operator.find("aten::nll_loss", "");
    static final Operator MSE = Operator.find("aten::mse_loss", "");
    static final Operator MAX_POOL = Operator.find("aten::max_pool2d", "");
    static final Operator AVG_POOL = Operator.find("aten::avg_pool2d", "");
    static final Operator DROPOUT = Operator.find("aten::dropout", "");
    static final Operator INTERPOLATE = Operator.find("tandem::interpolate", "");
    static final Operator NORMALIZE = Operator.find("tandem::normalize", "");
    static final Operator UNFOLD = Operator.find("tandem::unfold", "");
    static final Operator FOLD = Operator.find("tandem::fold", "");
    static final Operator GRID_SAMPLE = Operator.find("tandem::grid_sample", "");
    static final Operator AFFINE_GRID = Operator.find("tandem::affine_grid", "");
    static final Operator GUMBEL_SOFTMAX = Operator.find("tandem::gumbel_softmax", "");
    static final Operator DROPOUT_1D = Operator.find("tandem::dropout1d", "");
    static final Operator DROPOUT_2D = Operator.find("tandem::dropout2d", "");
    static final Operator DROPOUT_3D = Operator.find("tandem::dropout3d", "");
    static final Operator GAUSSIAN_NLL = Operator.find("tandem::gaussian_nll_loss", "");
    static final Operator MULTILABEL_SOFT_MARGIN = Operator.find("tandem::multilabel_soft_margin_loss", "");
    static final Operator LOCAL_RESPONSE_NORM = Operator.find("tandem::local_response_norm", "");
    static final Operator LP_POOL_1D = Operator.find("tandem::lp_pool1d", "");
    static final Operator LP_POOL_2D = Operator.find("tandem::lp_pool2d", "");
    static final Operator LP_POOL_3D = Operator.find("tandem::lp_pool3d", "");
    static final Operator SOFTMIN = Operator.find("tandem::softmin", "");
    static final Operator SOFTSIGN = Operator.find("tandem::softsign", "");
    static final Operator TANHSHRINK = Operator.find("tandem::tanhshrink", "");
    static final Operator ATTENTION = Operator.find("tandem::multi_head_attention_forward", "");
  }

  public static Tensor relu(Tensor input) {
    return input.relu();
  }

  /** [..., in] times a weight [out, in], transposed, plus a bias [out], or null: [..., out]. */
  public static Tensor linear(Tensor input, Tensor weight, Tensor bias) {
    return Ops.LINEAR.call(input, weight, bias);
  }

  /** Of [N, C, H, W] over squares of side {@code kernel}, without overlap. */
  public static Tensor maxPool2d(Tensor input, long kernel) {
    return Ops.MAX_POOL.call(input, new long[] {kernel, kernel});
  }

  public static Tensor avgPool2d(Tensor input, long kernel) {
    return Ops.AVG_POOL.call(input, new long[] {kernel, kernel});
  }

  public static Tensor dropout(Tensor input, double probability, boolean training) {
    return Ops.DROPOUT.call(input, probability, training);
  }

  /** Mean over the batch; {@code logits} [N, classes], {@code labels} [N] of int64. */
  public static Tensor crossEntropy(Tensor logits, Tensor labels) {
    return Ops.CROSS_ENTROPY.call(logits, labels);
  }

  /** Mean over the batch; {@code logProbabilities} [N, classes], {@code labels} [N] of int64. */
  public static Tensor nllLoss(Tensor logProbabilities, Tensor labels) {
    return Ops.NLL.call(logProbabilities, labels);
  }

  public static Tensor mseLoss(Tensor input, Tensor target) {
    return Ops.MSE.call(input, target);
  }

  // Those below take options by Python's names.

  /**
   * Resizes the 1 to 3 last dimensions of [N, C, …]: "size" (long[]) or "scale_factor" (double[]), one for each or one for
   * all; "mode" is "nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic" or "trilinear"; "align_corners",
   * "recompute_scale_factor", "antialias" (boolean).
   */
  public static Tensor interpolate(Tensor input, Options options) {
    return Ops.INTERPOLATE.callNamed(options, input);
  }

  /** input / its norm over dimension 1; "p" (double), "dim" (long[]), "eps" (double). */
  public static Tensor normalize(Tensor input, Options options) {
    return Ops.NORMALIZE.callNamed(options, input);
  }

  /** Windows of [N, C, H, W] as columns [N, C · kernel, windows]; "dilation", "padding", "stride" (long[2]). */
  public static Tensor unfold(Tensor input, long[] kernelSize, Options options) {
    return Ops.UNFOLD.callNamed(options, input, kernelSize);
  }

  /** Adds up the columns of {@link #unfold} to images of {@code outputSize}, with its options. */
  public static Tensor fold(Tensor input, long[] outputSize, long[] kernelSize, Options options) {
    return Ops.FOLD.callNamed(options, input, outputSize, kernelSize);
  }

  /**
   * Samples [N, C, H, W] at places [N, h, w, 2] from -1 to 1; "mode" is "bilinear", "nearest" or "bicubic", "padding_mode"
   * "zeros", "border" or "reflection"; "align_corners" (boolean).
   */
  public static Tensor gridSample(Tensor input, Tensor grid, Options options) {
    return Ops.GRID_SAMPLE.callNamed(options, input, grid);
  }

  /** The grid to which maps {@code theta} [N, 2, 3] take pixels of images of {@code size}, or [N, 3, 4] those of volumes. */
  public static Tensor affineGrid(Tensor theta, long[] size, boolean alignCorners) {
    return Ops.AFFINE_GRID.call(theta, size, alignCorners);
  }

  /** "tau" (double), "hard" (boolean), "dim" (long). */
  public static Tensor gumbelSoftmax(Tensor logits, Options options) {
    return Ops.GUMBEL_SOFTMAX.callNamed(options, logits);
  }

  /** Of whole channels of [N, C, L], or without N. */
  public static Tensor dropout1d(Tensor input, double probability, boolean training) {
    return Ops.DROPOUT_1D.call(input, probability, training);
  }

  /** Of whole channels of [N, C, H, W]; three dimensions are [N, C, L]. */
  public static Tensor dropout2d(Tensor input, double probability, boolean training) {
    return Ops.DROPOUT_2D.call(input, probability, training);
  }

  /** Of whole channels of [N, C, D, H, W], or without N. */
  public static Tensor dropout3d(Tensor input, double probability, boolean training) {
    return Ops.DROPOUT_3D.call(input, probability, training);
  }

  /** {@code var} has the input's shape, 1 in one place, or not the last; "full" (boolean), "eps" (double). */
  public static Tensor gaussianNllLoss(Tensor input, Tensor target, Tensor var, Options options) {
    return Ops.GAUSSIAN_NLL.callNamed(options, input, target, var);
  }

  /** Mean over classes, the last dimension, and batch. */
  public static Tensor multilabelSoftMarginLoss(Tensor input, Tensor target) {
    return Ops.MULTILABEL_SOFT_MARGIN.call(input, target);
  }

  /** Over {@code size} channels of [N, C, …]; "alpha", "beta", "k" (double). */
  public static Tensor localResponseNorm(Tensor input, long size, Options options) {
    return Ops.LOCAL_RESPONSE_NORM.callNamed(options, input, size);
  }

  /** "stride" (long[1]), "ceil_mode" (boolean). */
  public static Tensor lpPool1d(Tensor input, double normType, long[] kernelSize, Options options) {
    return Ops.LP_POOL_1D.callNamed(options, input, normType, kernelSize);
  }

  /** "stride" (long[2]), "ceil_mode" (boolean). */
  public static Tensor lpPool2d(Tensor input, double normType, long[] kernelSize, Options options) {
    return Ops.LP_POOL_2D.callNamed(options, input, normType, kernelSize);
  }

  /** "stride" (long[3]), "ceil_mode" (boolean). */
  public static Tensor lpPool3d(Tensor input, double normType, long[] kernelSize, Options options) {
    return Ops.LP_POOL_3D.callNamed(options, input, normType, kernelSize);
  }

  public static Tensor softmin(Tensor input, long dim) {
    return Ops.SOFTMIN.call(input, dim);
  }

  public static Tensor softsign(Tensor input) {
    return Ops.SOFTSIGN.call(input);
  }

  public static Tensor tanhshrink(Tensor input) {
    return Ops.TANHSHRINK.call(input);
  }

  /**
   * Attention of [length, N, embed] over [source, N, …] by weights of that name in torch.nn.MultiheadAttention; biases and
   * {@code inProjWeight} may be null. Options are those of Python from "training" on, tensors as well.
   *
   * @return the output, and the weights [N, length, source], null when "need_weights" is false
   */
  public static Tensor[] multiHeadAttentionForward(Tensor query, Tensor key, Tensor value, long heads,
      Tensor inProjWeight, Tensor inProjBias, double dropout, Tensor outProjWeight, Tensor outProjBias,
      Options options) {
    Object[] made = Ops.ATTENTION.callAllNamed(options, query, key, value, query.sizes()[query.sizes().length - 1], heads,
        inProjWeight, inProjBias, null, null, false, dropout, outProjWeight, outProjBias);
    return new Tensor[] {(Tensor) made[0], (Tensor) made[1]};
  }
}
