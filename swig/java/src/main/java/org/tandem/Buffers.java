package org.tandem;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Consumer;

/** Java's buffers, as tensors are copied from them and to them. */
final class Buffers {
  private Buffers() {}

  /** A new tensor; no sizes: one dimension. {@code fill} puts that many elements into its memory. */
  static Tensor filled(DType dtype, long elements, long[] sizes, Consumer<ByteBuffer> fill) {
    long[] shape = sizes.length == 0 ? new long[] {elements} : sizes;
    long wanted = 1;
    for (long size : shape) {
      wanted = Math.multiplyExact(wanted, size);
    }
    if (wanted != elements) {
      throw new TandemInvalidArgumentException("Tensor.of",
          "shape " + Arrays.toString(shape) + " holds " + wanted + " elements, but " + elements + " are given");
    }
    requireBuffer(elements * dtype.bytes(), "Tensor.of");
    Tensor tensor = Tensor.empty(dtype, shape);
    if (elements > 0) {
      fill.accept(tensor.nativeHandle().data().order(ByteOrder.nativeOrder()));
    }
    return tensor;
  }

  static void requireBuffer(long bytes, String operation) {
    if (bytes > Integer.MAX_VALUE) {
      throw new TandemInvalidArgumentException(
          operation, bytes + " bytes do not fit into a Java buffer; take parts with narrow()");
    }
  }

  static ByteBuffer direct(long bytes, String operation) {
    requireBuffer(bytes, operation);
    return ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
  }

  /** A buffer in another byte order would hold other numbers, and native code writes read-only ones as well. */
  static void requireNative(ByteOrder order, boolean readOnly, String operation) {
    if (readOnly) {
      throw new TandemInvalidArgumentException(operation, "the buffer is read-only");
    }
    if (order != ByteOrder.nativeOrder()) {
      throw new TandemInvalidArgumentException(operation, "the buffer is " + order
          + "; use ByteBuffer.allocateDirect(…).order(ByteOrder.nativeOrder()).asFloatBuffer()");
    }
  }
}
