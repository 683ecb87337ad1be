package org.tandem;

import static org.tandem.TensorOperators.*;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import java.util.List;
import org.tandem.internal.NativeDevice;
import org.tandem.internal.NativeHandle;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;
import org.tandem.internal.ScopeFrame;
import org.tandem.internal.TandemNative;

/**
 * A LibTorch tensor.
 *
 * <p>Methods are PyTorch's, results are new tensors unless the name ends in {@code InPlace}. A tensor belongs to the
 * {@link Scope} that is open when it is made, or else lives until {@link #close()} or until it is no longer reachable.
 * Using a closed tensor is a {@link TandemClosedException}; wrong shapes and dtypes are {@link
 * TandemInvalidArgumentException}. May be used from any thread; several at once may read it.
 */
public final class Tensor implements AutoCloseable {
  private final NativeTensor handle;

  static {
    Natives.provideTensors(Tensor::nativeHandle, Tensor::new);
  }

  /** Takes over {@code handle}. */
  Tensor(NativeTensor handle) {
    this.handle = handle;
  }

  /** The open handle. */
  NativeTensor nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Tensor", "the tensor was closed before this call, by close() or with its scope");
    }
    return handle;
  }

  // ------------------------------------------------------------------------------------------------------- making

  /** Uninitialised. */
  public static Tensor empty(DType dtype, long... sizes) {
    return EMPTY.call(sizes, dtype);
  }

  public static Tensor zeros(DType dtype, long... sizes) {
    return ZEROS.call(sizes, dtype);
  }

  public static Tensor ones(DType dtype, long... sizes) {
    return ONES.call(sizes, dtype);
  }

  public static Tensor full(double value, DType dtype, long... sizes) {
    return FULL.call(sizes, value, dtype);
  }

  /** Uniform in [0, 1), float32. */
  public static Tensor rand(long... sizes) {
    return RAND.call(sizes, DType.FLOAT32);
  }

  /** Normal with mean 0 and deviation 1, float32. */
  public static Tensor randn(long... sizes) {
    return RANDN.call(sizes, DType.FLOAT32);
  }

  /** begin, begin + 1, … up to, but not with, end; int64. */
  public static Tensor arange(long begin, long end) {
    return ARANGE.call(begin, end, DType.INT64);
  }

  public static Tensor cat(List<Tensor> tensors, long dim) {
    return CAT.call(tensors, dim);
  }

  public static Tensor stack(List<Tensor> tensors, long dim) {
    return STACK.call(tensors, dim);
  }

  /** Copies {@code data}; no sizes: one dimension of its length. */
  public static Tensor of(float[] data, long... sizes) {
    return of(FloatBuffer.wrap(data), sizes);
  }

  public static Tensor of(double[] data, long... sizes) {
    return of(DoubleBuffer.wrap(data), sizes);
  }

  public static Tensor of(long[] data, long... sizes) {
    return of(LongBuffer.wrap(data), sizes);
  }

  public static Tensor of(int[] data, long... sizes) {
    return of(IntBuffer.wrap(data), sizes);
  }

  public static Tensor of(short[] data, long... sizes) {
    return of(ShortBuffer.wrap(data), sizes);
  }

  /** int8. */
  public static Tensor of(byte[] data, long... sizes) {
    return of(ByteBuffer.wrap(data), DType.INT8, sizes);
  }

  public static Tensor of(boolean[] data, long... sizes) {
    byte[] bytes = new byte[data.length];
    for (int i = 0; i < data.length; i++) {
      bytes[i] = (byte) (data[i] ? 1 : 0);
    }
    return of(ByteBuffer.wrap(bytes), DType.BOOL, sizes);
  }

  /** Copies the buffer's remaining elements into a new float32 tensor; the buffer's position stays. */
  public static Tensor of(FloatBuffer data, long... sizes) {
    return Buffers.filled(DType.FLOAT32, data.remaining(), sizes, t -> t.asFloatBuffer().put(data.duplicate()));
  }

  public static Tensor of(DoubleBuffer data, long... sizes) {
    return Buffers.filled(DType.FLOAT64, data.remaining(), sizes, t -> t.asDoubleBuffer().put(data.duplicate()));
  }

  public static Tensor of(LongBuffer data, long... sizes) {
    return Buffers.filled(DType.INT64, data.remaining(), sizes, t -> t.asLongBuffer().put(data.duplicate()));
  }

  public static Tensor of(IntBuffer data, long... sizes) {
    return Buffers.filled(DType.INT32, data.remaining(), sizes, t -> t.asIntBuffer().put(data.duplicate()));
  }

  public static Tensor of(ShortBuffer data, long... sizes) {
    return Buffers.filled(DType.INT16, data.remaining(), sizes, t -> t.asShortBuffer().put(data.duplicate()));
  }

  /** Copies the buffer's remaining bytes as elements of {@code dtype} in the machine's byte order. */
  public static Tensor of(ByteBuffer data, DType dtype, long... sizes) {
    if (data.remaining() % dtype.bytes() != 0) {
      throw new TandemInvalidArgumentException("Tensor.of",
          data.remaining() + " bytes are no whole number of elements of " + dtype);
    }
    return Buffers.filled(dtype, data.remaining() / dtype.bytes(), sizes, t -> t.put(data.duplicate()));
  }

  public static Tensor scalar(double value) {
    return full(value, DType.FLOAT32);
  }

  // ------------------------------------------------------------------------------------------------------ looking

  public long[] sizes() {
    return nativeHandle().sizes();
  }

  /** Size of dimension {@code dim}; negative numbers count from the end. */
  public long size(int dim) {
    long[] sizes = sizes();
    int index = dim < 0 ? dim + sizes.length : dim;
    if (index < 0 || index >= sizes.length) {
      throw new TandemOutOfRangeException("Tensor.size", "no dimension " + dim + " in " + Arrays.toString(sizes));
    }
    return sizes[index];
  }

  /** In elements; empty for sparse tensors. */
  public long[] strides() {
    return nativeHandle().strides();
  }

  public int dim() {
    return (int) nativeHandle().dim();
  }

  public long numel() {
    return nativeHandle().numel();
  }

  public long nbytes() {
    return nativeHandle().nbytes();
  }

  public DType dtype() {
    return DType.of(nativeHandle().dtype());
  }

  public Device device() {
    try (NativeDevice device = nativeHandle().device()) {
      return Device.of(device.getType(), device.getIndex());
    }
  }

  public boolean requiresGrad() {
    return nativeHandle().requiresGrad();
  }

  public boolean isLeaf() {
    return nativeHandle().isLeaf();
  }

  public boolean isContiguous() {
    return nativeHandle().isContiguous();
  }

  /** Whether both are the same LibTorch tensor, not only equal. */
  public boolean isSame(Tensor other) {
    return nativeHandle().isSame(other.nativeHandle());
  }

  public boolean isClosed() {
    return handle.isClosed();
  }

  /** The element of a tensor that has one. */
  public double item() {
    return nativeHandle().itemDouble();
  }

  public long itemLong() {
    return nativeHandle().itemInt64();
  }

  /** As PyTorch prints it. */
  @Override
  public String toString() {
    return isClosed() ? "Tensor(closed)" : handle.toString();
  }

  // ----------------------------------------------------------------------------------------------------- bulk data

  /**
   * The elements themselves, without a copy, in the machine's byte order. The memory stays valid as long as the buffer
   * or one of its views is reachable, even when the tensor is closed.
   *
   * @throws TandemInvalidArgumentException not a contiguous CPU tensor, or larger than 2 GiB
   */
  public ByteBuffer memory() {
    NativeTensor tensor = nativeHandle();
    if (!tensor.isContiguous()) {
      throw new TandemInvalidArgumentException("Tensor.memory", "the tensor is not contiguous; use contiguous() first");
    }
    Buffers.requireBuffer(tensor.nbytes(), "Tensor.memory");
    if (tensor.nbytes() == 0) {
      return ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder());
    }
    // A second tensor over the same storage, which lives as long as the buffer.
    NativeTensor holder = ScopeFrame.outside(() -> DETACH.call(this)).handle;
    ByteBuffer buffer = holder.data();
    NativeHandle.whenUnreachable(buffer, holder::close);
    return buffer.order(ByteOrder.nativeOrder());
  }

  /** A copy of all elements, from any device, in the machine's byte order. */
  public ByteBuffer toByteBuffer() {
    NativeTensor tensor = nativeHandle();
    ByteBuffer copy = Buffers.direct(tensor.nbytes(), "Tensor.toByteBuffer");
    tensor.copyTo(copy, tensor.nbytes());
    return copy;
  }

  /** Copies all elements to {@code destination}, a direct buffer with exactly as many elements remaining. */
  public void copyTo(FloatBuffer destination) {
    expect(DType.FLOAT32, destination.remaining());
    Buffers.requireNative(destination.order(), destination.isReadOnly(), "Tensor.copyTo");
    nativeHandle().copyTo(destination.slice(), nbytes());
  }

  /** Overwrites all elements from {@code source}, a direct buffer with exactly as many elements remaining. */
  public void copyFrom(FloatBuffer source) {
    expect(DType.FLOAT32, source.remaining());
    Buffers.requireNative(source.order(), false, "Tensor.copyFrom");
    nativeHandle().copyFrom(source.slice(), nbytes());
  }

  /** Copies all elements to {@code destination}, a direct buffer with exactly as many bytes remaining. */
  public void copyTo(ByteBuffer destination) {
    Buffers.requireNative(ByteOrder.nativeOrder(), destination.isReadOnly(), "Tensor.copyTo");
    nativeHandle().copyTo(destination.slice(), destination.remaining());
  }

  public void copyFrom(ByteBuffer source) {
    nativeHandle().copyFrom(source.slice(), source.remaining());
  }

  public float[] toFloatArray() {
    FloatBuffer all = expect(DType.FLOAT32, numel()).toByteBuffer().asFloatBuffer();
    float[] array = new float[all.remaining()];
    all.get(array);
    return array;
  }

  public double[] toDoubleArray() {
    DoubleBuffer all = expect(DType.FLOAT64, numel()).toByteBuffer().asDoubleBuffer();
    double[] array = new double[all.remaining()];
    all.get(array);
    return array;
  }

  public long[] toLongArray() {
    LongBuffer all = expect(DType.INT64, numel()).toByteBuffer().asLongBuffer();
    long[] array = new long[all.remaining()];
    all.get(array);
    return array;
  }

  public int[] toIntArray() {
    IntBuffer all = expect(DType.INT32, numel()).toByteBuffer().asIntBuffer();
    int[] array = new int[all.remaining()];
    all.get(array);
    return array;
  }

  /** The bytes of all elements. */
  public byte[] toByteArray() {
    ByteBuffer all = toByteBuffer();
    byte[] array = new byte[all.remaining()];
    all.get(array);
    return array;
  }

  private Tensor expect(DType wanted, long elements) {
    if (dtype() != wanted || numel() != elements) {
      throw new TandemInvalidArgumentException("Tensor", "the tensor has " + numel() + " elements of " + dtype()
          + ", not " + elements + " of " + wanted + "; convert it with to()");
    }
    return this;
  }

  // ------------------------------------------------------------------------------------------------------ autograd

  /** Gradients of this scalar accumulate into the leaves' {@link #grad()}. Source: torch.Tensor.backward. */
  public void backward() {
    backward(false);
  }

  public void backward(boolean retainGraph) {
    TandemNative.backward(new NativeTensor[] {nativeHandle()}, new NativeTensor[0], retainGraph, false);
  }

  /** Weighted by {@code gradient}, of this tensor's shape. */
  public void backward(Tensor gradient) {
    TandemNative.backward(
        new NativeTensor[] {nativeHandle()}, new NativeTensor[] {gradient.nativeHandle()}, false, false);
  }

  /** The accumulated gradient; null when there is none. */
  public Tensor grad() {
    NativeTensor grad = nativeHandle().grad();
    if (grad.defined()) {
      return new Tensor(grad);
    }
    grad.close();
    return null;
  }

  /** null drops it. */
  public void setGrad(Tensor grad) {
    if (grad == null) {
      nativeHandle().clearGrad();
    } else {
      nativeHandle().setGrad(grad.nativeHandle());
    }
  }

  public Tensor requiresGrad(boolean on) {
    nativeHandle().setRequiresGrad(on);
    return this;
  }

  /** The same elements without history. */
  public Tensor detach() {
    return DETACH.call(this);
  }

  // --------------------------------------------------------------------------------------------------- mathematics

  public Tensor add(Tensor other) {
    return ADD.call(this, other);
  }

  public Tensor add(double other) {
    return ADD_SCALAR.call(this, other);
  }

  public Tensor sub(Tensor other) {
    return SUB.call(this, other);
  }

  public Tensor sub(double other) {
    return SUB_SCALAR.call(this, other);
  }

  public Tensor mul(Tensor other) {
    return MUL.call(this, other);
  }

  public Tensor mul(double other) {
    return MUL_SCALAR.call(this, other);
  }

  public Tensor div(Tensor other) {
    return DIV.call(this, other);
  }

  public Tensor div(double other) {
    return DIV_SCALAR.call(this, other);
  }

  public Tensor pow(double exponent) {
    return POW.call(this, exponent);
  }

  public Tensor neg() {
    return NEG.call(this);
  }

  public Tensor abs() {
    return ABS.call(this);
  }

  public Tensor exp() {
    return EXP.call(this);
  }

  public Tensor log() {
    return LOG.call(this);
  }

  public Tensor sqrt() {
    return SQRT.call(this);
  }

  public Tensor tanh() {
    return TANH.call(this);
  }

  public Tensor sigmoid() {
    return SIGMOID.call(this);
  }

  public Tensor relu() {
    return RELU.call(this);
  }

  public Tensor matmul(Tensor other) {
    return MATMUL.call(this, other);
  }

  public Tensor softmax(long dim) {
    return SOFTMAX.call(this, dim);
  }

  public Tensor logSoftmax(long dim) {
    return LOG_SOFTMAX.call(this, dim);
  }

  public Tensor sum() {
    return SUM.call(this);
  }

  public Tensor sum(long... dims) {
    return SUM_DIM.call(this, dims);
  }

  public Tensor mean() {
    return MEAN.call(this);
  }

  public Tensor mean(long... dims) {
    return MEAN_DIM.call(this, dims);
  }

  public Tensor max() {
    return MAX.call(this);
  }

  public Tensor min() {
    return MIN.call(this);
  }

  /** Index of the largest element along {@code dim}, int64. */
  public Tensor argmax(long dim) {
    return ARGMAX.call(this, dim);
  }

  /** Element by element, bool. */
  public Tensor eq(Tensor other) {
    return EQ.call(this, other);
  }

  public Tensor addInPlace(Tensor other) {
    ADD_.call(this, other).close();
    return this;
  }

  public Tensor mulInPlace(double other) {
    MUL_.call(this, other).close();
    return this;
  }

  public Tensor fillInPlace(double value) {
    FILL_.call(this, value).close();
    return this;
  }

  /** Overwrites this tensor's elements, converting dtype and device. */
  public Tensor copyInPlace(Tensor source) {
    COPY_.call(this, source).close();
    return this;
  }

  // --------------------------------------------------------------------------------------------- shape and dtype

  /** One size may be -1: what is left. */
  public Tensor reshape(long... sizes) {
    return RESHAPE.call(this, sizes);
  }

  public Tensor flatten(long startDim) {
    return FLATTEN.call(this, startDim);
  }

  public Tensor transpose(long a, long b) {
    return TRANSPOSE.call(this, a, b);
  }

  public Tensor permute(long... dims) {
    return PERMUTE.call(this, dims);
  }

  public Tensor squeeze(long dim) {
    return SQUEEZE.call(this, dim);
  }

  public Tensor unsqueeze(long dim) {
    return UNSQUEEZE.call(this, dim);
  }

  /** Indices [start, start + length) of {@code dim}, sharing storage. */
  public Tensor narrow(long dim, long start, long length) {
    return NARROW.call(this, dim, start, length);
  }

  /** Index {@code index} of {@code dim}, which goes; shares storage. */
  public Tensor select(long dim, long index) {
    return SELECT.call(this, dim, index);
  }

  public Tensor indexSelect(long dim, Tensor indices) {
    return INDEX_SELECT.call(this, dim, indices);
  }

  /** A copy of the elements. */
  public Tensor copy() {
    return CLONE.call(this);
  }

  public Tensor contiguous() {
    return CONTIGUOUS.call(this);
  }

  public Tensor to(DType dtype) {
    return TO_DTYPE.call(this, dtype);
  }

  public Tensor to(Device device) {
    return TO_DEVICE.call(this, null, null, device);
  }

  // -------------------------------------------------------------------------------------------------------- leaving

  /** Frees the tensor now. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
