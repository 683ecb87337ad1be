package org.tandem.nn;

import org.tandem.Operator;
import org.tandem.Options;
import org.tandem.Tensor;

/**
 * Starting values of parameters. Each overwrites the tensor, without a record for autograd, and gives it back. Seeded alike,
 * random numbers are Python's. Source: torch.nn.init.
 */
public final class Init {
  private Init() {}

  private static final class Ops {
    static final Operator GAIN = find("calculate_gain");
    static final Operator UNIFORM = find("uniform_");
    static final Operator NORMAL = find("normal_");
    static final Operator TRUNC_NORMAL = find("trunc_normal_");
    static final Operator CONSTANT = find("constant_");
    static final Operator ONES = find("ones_");
    static final Operator ZEROS = find("zeros_");
    static final Operator EYE = find("eye_");
    static final Operator DIRAC = find("dirac_");
    static final Operator XAVIER_UNIFORM = find("xavier_uniform_");
    static final Operator XAVIER_NORMAL = find("xavier_normal_");
    static final Operator KAIMING_UNIFORM = find("kaiming_uniform_");
    static final Operator KAIMING_NORMAL = find("kaiming_normal_");
    static final Operator ORTHOGONAL = find("orthogonal_");
    static final Operator SPARSE = find("sparse_");

    private static Operator find(String name) {
      return Operator.find("tandem::init_" + name, "");
    }
  }

  private static Tensor into(Tensor tensor, Operator operator, Object... more) {
    Object[] arguments = new Object[more.length + 1];
    arguments[0] = tensor;
    System.arraycopy(more, 0, arguments, 1, more.length);
    operator.call(arguments).close();
    return tensor;
  }

  /** By how much weights are to be larger before "relu", "tanh", "leaky_relu", "selu", "sigmoid" or "linear". */
  public static double calculateGain(String nonlinearity) {
    return (Double) Ops.GAIN.callAll(nonlinearity)[0];
  }

  /** {@code param}: the negative slope of "leaky_relu". */
  public static double calculateGain(String nonlinearity, double param) {
    return (Double) Ops.GAIN.callAll(nonlinearity, param)[0];
  }

  /** From [a, b). */
  public static Tensor uniform(Tensor tensor, double a, double b) {
    return into(tensor, Ops.UNIFORM, a, b);
  }

  public static Tensor normal(Tensor tensor, double mean, double std) {
    return into(tensor, Ops.NORMAL, mean, std);
  }

  /** Values outside of [a, b] are drawn again; exact where {@code mean} lies within two {@code std} of it. */
  public static Tensor truncNormal(Tensor tensor, double mean, double std, double a, double b) {
    return into(tensor, Ops.TRUNC_NORMAL, mean, std, a, b);
  }

  public static Tensor constant(Tensor tensor, double value) {
    return into(tensor, Ops.CONSTANT, value);
  }

  public static Tensor ones(Tensor tensor) {
    return into(tensor, Ops.ONES);
  }

  public static Tensor zeros(Tensor tensor) {
    return into(tensor, Ops.ZEROS);
  }

  /** The identity, of a matrix. */
  public static Tensor eye(Tensor tensor) {
    return into(tensor, Ops.EYE);
  }

  /** A convolution's weights that leave channels as they are, in each of {@code groups} groups. */
  public static Tensor dirac(Tensor tensor, long groups) {
    return into(tensor, Ops.DIRAC, groups);
  }

  public static Tensor xavierUniform(Tensor tensor, double gain) {
    return into(tensor, Ops.XAVIER_UNIFORM, gain);
  }

  public static Tensor xavierNormal(Tensor tensor, double gain) {
    return into(tensor, Ops.XAVIER_NORMAL, gain);
  }

  /** "a" (double), "mode": "fan_in" or "fan_out", "nonlinearity": as {@link #calculateGain} has them. */
  public static Tensor kaimingUniform(Tensor tensor, Options options) {
    Ops.KAIMING_UNIFORM.callNamed(options, tensor).close();
    return tensor;
  }

  /** Options: as {@link #kaimingUniform} has them. */
  public static Tensor kaimingNormal(Tensor tensor, Options options) {
    Ops.KAIMING_NORMAL.callNamed(options, tensor).close();
    return tensor;
  }

  /** Rows or columns of the matrix [size 0, all others] are orthonormal, times {@code gain}. */
  public static Tensor orthogonal(Tensor tensor, double gain) {
    return into(tensor, Ops.ORTHOGONAL, gain);
  }

  /** A matrix with the fraction {@code sparsity} of each column zero, the others normal. */
  public static Tensor sparse(Tensor tensor, double sparsity, double std) {
    return into(tensor, Ops.SPARSE, sparsity, std);
  }
}
