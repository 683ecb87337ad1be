package org.tandem.nn;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.Operator;
import org.tandem.Tensor;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.Natives;
import org.tandem.internal.TandemNative;

/** What is done to all parameters of a model at once, and to sequences. Source: torch.nn.utils. */
public final class Utils {
  private Utils() {}

  private static final class Ops {
    static final Operator TOTAL_NORM = find("get_total_norm");
    static final Operator CLIP_NORM = find("clip_grad_norm_");
    static final Operator CLIP_WITH_NORM = find("clip_grads_with_norm_");
    static final Operator CLIP_VALUE = find("clip_grad_value_");
    static final Operator TO_VECTOR = find("parameters_to_vector");
    static final Operator FROM_VECTOR = find("vector_to_parameters");
    static final Operator PACK_PADDED = find("pack_padded_sequence");
    static final Operator PACK = find("pack_sequence");
    static final Operator PAD_PACKED = find("pad_packed_sequence");
    static final Operator UNPACK = find("unpack_sequence");
    static final Operator UNPAD = find("unpad_sequence");

    private static Operator find(String name) {
      return Operator.find("tandem::utils_" + name, "");
    }
  }

  /** The norm of all tensors together, as a tensor of no dimensions. */
  public static Tensor getTotalNorm(List<Tensor> tensors, double normType) {
    return Ops.TOTAL_NORM.call(tensors, normType);
  }

  /** Scales the gradients down to a norm of {@code maxNorm}, all together: the norm before, which nothing waits for. */
  public static Tensor clipGradNorm(List<Tensor> parameters, double maxNorm) {
    return Ops.CLIP_NORM.call(parameters, maxNorm);
  }

  /** With another norm; {@code errorIfNonfinite} waits for the device and throws where the norm is infinite or NaN. */
  public static Tensor clipGradNorm(List<Tensor> parameters, double maxNorm, double normType, boolean errorIfNonfinite) {
    return Ops.CLIP_NORM.call(parameters, maxNorm, normType, errorIfNonfinite);
  }

  /** Multiplies the gradients by maxNorm / (totalNorm + 1e-6) where that is below one. */
  public static void clipGradsWithNorm(List<Tensor> parameters, double maxNorm, Tensor totalNorm) {
    Ops.CLIP_WITH_NORM.callAll(parameters, maxNorm, totalNorm);
  }

  /** Limits the elements of the gradients to [-clipValue, clipValue]. */
  public static void clipGradValue(List<Tensor> parameters, double clipValue) {
    Ops.CLIP_VALUE.callAll(parameters, clipValue);
  }

  /** Parameters and buffers of a program's one model, waiting for local rank 0 for five minutes. */
  public static boolean shareParameters(Module module) { return shareParameters(module, "", Duration.ofMinutes(5)); }

  /**
   * Hogwild!: puts the parameters and buffers, in place, into memory that all processes of {@code tandem run
   * --shared-parameters} have (without a launcher: all threads of this one). Each then steps an optimizer of its own on
   * them, without locks; moments and momentum are its process's. All begin with what local rank 0 has; who comes later, or was
   * started again, gets what they are by then. The module is a CPU's and stays there. Source: torch.nn.Module.share_memory.
   *
   * @param name of the model, in a program that shares several
   * @param timeout for local rank 0 to share its own
   * @return whether this process's values are those that all begin with
   * @throws org.tandem.TandemInvalidArgumentException the module differs from the other processes', or there is no such memory
   * @throws org.tandem.TandemTimeoutException local rank 0 has not shared it
   */
  public static boolean shareParameters(Module module, String name, Duration timeout) {
    NativeLibrary.load();
    Map<String, Tensor> tensors = new LinkedHashMap<>(module.namedParameters());
    tensors.putAll(module.namedBuffers());
    return TandemNative.shareParameters(
        tensors.keySet().toArray(String[] ::new), Natives.of(tensors.values()), name, timeout.toMillis());
  }

  /** All elements, one parameter after the other. */
  public static Tensor parametersToVector(List<Tensor> parameters) {
    return Ops.TO_VECTOR.call(parameters);
  }

  /** Makes each parameter a view of its part of {@code vec}. */
  public static void vectorToParameters(Tensor vec, List<Tensor> parameters) {
    Ops.FROM_VECTOR.callAll(vec, parameters);
  }

  /** {@code input}: [length, batch, …], or [batch, length, …] with {@code batchFirst}; longest first if enforceSorted. */
  public static PackedSequence packPaddedSequence(Tensor input, long[] lengths, boolean batchFirst,
      boolean enforceSorted) {
    try (Tensor given = Tensor.of(lengths, lengths.length)) {
      return packed(Ops.PACK_PADDED.callAll(input, given, batchFirst, enforceSorted));
    }
  }

  public static PackedSequence packSequence(List<Tensor> sequences, boolean enforceSorted) {
    return packed(Ops.PACK.callAll(sequences, enforceSorted));
  }

  private static PackedSequence packed(Object[] parts) {
    return new PackedSequence((Tensor) parts[0], (Tensor) parts[1], (Tensor) parts[2], (Tensor) parts[3]);
  }

  /** What was padded, and the lengths. */
  public static Tensor[] padPackedSequence(PackedSequence sequence, boolean batchFirst, double paddingValue) {
    Object[] made = Ops.PAD_PACKED.callAll(sequence.data(), sequence.batchSizes(), sequence.sortedIndices(),
        sequence.unsortedIndices(), batchFirst, paddingValue);
    return new Tensor[] {(Tensor) made[0], (Tensor) made[1]};
  }

  /** The sequences that were packed, in their order. */
  public static Tensor[] unpackSequence(PackedSequence sequence) {
    return (Tensor[]) Ops.UNPACK.callAll(sequence.data(), sequence.batchSizes(), sequence.sortedIndices(),
        sequence.unsortedIndices())[0];
  }

  /** The first {@code lengths[i]} elements of each sequence, as views. */
  public static Tensor[] unpadSequence(Tensor padded, Tensor lengths, boolean batchFirst) {
    return (Tensor[]) Ops.UNPAD.callAll(padded, lengths, batchFirst)[0];
  }
}
