package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TensorTest {
  // Beyond 32 bits: a `long` that SWIG took for C's would lose it.
  private static final long BIG = 1L << 40;

  @Test
  void sixtyFourBitsPassEveryWay() {
    try (Scope scope = Scope.open()) {
      assertEquals(BIG + 7, Tensor.of(new long[] {BIG + 7}).itemLong());
      assertArrayEquals(new long[] {BIG, -BIG}, Tensor.of(new long[] {BIG, -BIG}).toLongArray());
      // As an argument, within a list, as a size, as a stride and as a result.
      assertArrayEquals(new long[] {BIG, BIG + 1}, Tensor.arange(BIG, BIG + 2).toLongArray());
      Tensor huge = Tensor.scalar(1).reshape(1, 1);
      Tensor expanded = Operator.find("aten::expand", "").call(huge, new long[] {BIG, 1});
      assertArrayEquals(new long[] {BIG, 1}, expanded.sizes());
      assertEquals(BIG, expanded.numel());
      assertEquals(BIG, expanded.size(0));
      Object[] size = Operator.find("aten::size", "int").callAll(expanded, 0);
      assertEquals(BIG, size[0]);
      assertEquals(BIG * 4, expanded.nbytes());
    }
  }

  @Test
  void theProfilerTellsWhatRan(@org.junit.jupiter.api.io.TempDir java.nio.file.Path folder) throws Exception {
    Tandem.startProfiler(true);
    try (Scope scope = Scope.open()) {
      Operator.find("aten::tanh", "").call(Tensor.of(new float[] {1, 2}));
    }
    java.nio.file.Path file = folder.resolve("profile.json");
    assertTrue(Tandem.stopProfiler(file.toString()).contains("aten::tanh"));
    assertTrue(java.nio.file.Files.readString(file).contains("aten::tanh"));
    assertThrows(TandemInvalidArgumentException.class, () -> Tandem.stopProfiler(""));
  }

  @Test
  void storeCountersHoldSixtyFourBits() {
    try (org.tandem.dist.Store store = org.tandem.dist.Store.hash()) {
      assertEquals(BIG, store.add("n", BIG));
      assertEquals(BIG + 1, store.add("n", 1));
    }
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void everyDtypeKeepsItsBytes(DType dtype) {
    byte[] bytes = new byte[6 * dtype.bytes()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (dtype == DType.BOOL ? i % 2 : i + 1);
    }
    try (Tensor tensor = Tensor.of(ByteBuffer.wrap(bytes), dtype, 2, 3)) {
      assertEquals(dtype, tensor.dtype());
      assertArrayEquals(new long[] {2, 3}, tensor.sizes());
      assertArrayEquals(new long[] {3, 1}, tensor.strides());
      assertEquals(bytes.length, tensor.nbytes());
      assertArrayEquals(bytes, tensor.toByteArray());
    }
  }

  @Test
  void arraysOfEachTypeComeBack() {
    try (Scope scope = Scope.open()) {
      assertArrayEquals(new float[] {1, -2.5f}, Tensor.of(new float[] {1, -2.5f}).toFloatArray());
      assertArrayEquals(new double[] {1e300}, Tensor.of(new double[] {1e300}).toDoubleArray());
      assertArrayEquals(new int[] {1 << 30, -1}, Tensor.of(new int[] {1 << 30, -1}).toIntArray());
      assertEquals(DType.INT16, Tensor.of(new short[] {3}).dtype());
      assertEquals(DType.BOOL, Tensor.of(new boolean[] {true, false}).dtype());
      assertEquals(1, Tensor.of(new boolean[] {true, false}).sum().itemLong());
    }
  }

  @Test
  void memoryIsTheTensorsOwn() {
    try (Tensor tensor = Tensor.zeros(DType.FLOAT32, 4)) {
      FloatBuffer view = tensor.memory().asFloatBuffer();
      view.put(2, 5f);
      assertArrayEquals(new float[] {0, 0, 5, 0}, tensor.toFloatArray());
      tensor.fillInPlace(3);
      assertEquals(3f, view.get(0));
    }
  }

  @Test
  void memoryOutlivesItsTensor() throws InterruptedException {
    FloatBuffer view;
    try (Scope scope = Scope.open()) {
      view = Tensor.full(7, DType.FLOAT32, 1000).memory().asFloatBuffer();
    }
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(10);
      try (Tensor other = Tensor.full(1, DType.FLOAT32, 1000)) {
        assertEquals(7f, view.get(999));
      }
    }
    java.lang.ref.Reference.reachabilityFence(view);
  }

  @Test
  void buffersAreCopiedFromTheirPositionAndKeepIt() {
    FloatBuffer source = ByteBuffer.allocateDirect(20).order(ByteOrder.nativeOrder()).asFloatBuffer();
    source.put(new float[] {1, 2, 3, 4, 5}).position(2);
    try (Tensor tensor = Tensor.of(source)) {
      assertArrayEquals(new float[] {3, 4, 5}, tensor.toFloatArray());
      assertEquals(2, source.position());
      source.position(1).limit(4);
      tensor.copyFrom(source);
      assertArrayEquals(new float[] {2, 3, 4}, tensor.toFloatArray());
      FloatBuffer target = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder()).asFloatBuffer();
      target.position(1);
      tensor.copyTo(target);
      assertEquals(2f, target.get(1));
      assertEquals(4f, target.get(3));
    }
  }

  @Test
  void buffersInWhichTheNumbersWouldBeOthersAreRefused() {
    FloatBuffer swapped = ByteBuffer.allocateDirect(12).order(ByteOrder.BIG_ENDIAN).asFloatBuffer();
    FloatBuffer readOnly = ByteBuffer.allocateDirect(12).order(ByteOrder.nativeOrder()).asFloatBuffer().asReadOnlyBuffer();
    try (Tensor tensor = Tensor.of(new float[] {1, 2, 3})) {
      assertThrows(TandemInvalidArgumentException.class, () -> tensor.copyTo(swapped));
      assertThrows(TandemInvalidArgumentException.class, () -> tensor.copyFrom(swapped));
      assertThrows(TandemInvalidArgumentException.class, () -> tensor.copyTo(readOnly));
      assertThrows(TandemInvalidArgumentException.class,
          () -> tensor.copyTo(ByteBuffer.allocateDirect(12).asReadOnlyBuffer()));
      tensor.copyFrom(readOnly);
      assertArrayEquals(new float[3], tensor.toFloatArray());
    }
  }

  @Test
  void strangeLayoutsAreCopiedInOrderOfIndices() {
    try (Scope scope = Scope.open()) {
      Tensor matrix = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3).transpose(0, 1);
      assertArrayEquals(new float[] {1, 4, 2, 5, 3, 6}, matrix.toFloatArray());
      assertThrows(TandemInvalidArgumentException.class, matrix::memory);
    }
  }

  @Test
  void emptyTensorsHaveNoBytes() {
    try (Tensor empty = Tensor.of(new float[0])) {
      assertEquals(0, empty.numel());
      assertEquals(0, empty.memory().remaining());
      assertEquals(0, empty.toFloatArray().length);
    }
  }

  @Test
  void mathematicsAndGradients() {
    try (Scope scope = Scope.open()) {
      Tensor x = Tensor.of(new float[] {1, 2, 3}).requiresGrad(true);
      assertNull(x.grad());
      x.mul(x).sum().backward();
      assertArrayEquals(new float[] {2, 4, 6}, x.grad().toFloatArray());
      x.setGrad(null);
      assertNull(x.grad());
      Tensor a = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);
      assertArrayEquals(new float[] {7, 10, 15, 22}, a.matmul(a).toFloatArray());
      assertEquals(2.5, a.mean().item());
      assertArrayEquals(new long[] {1, 1}, a.argmax(1).toLongArray());
      assertArrayEquals(new long[] {2, 1, 2}, Tensor.stack(List.of(a, a), 1).select(0, 0).unsqueeze(1).permute(0, 1, 2)
          .sizes());
      assertFalse(Tandem.noGrad(() -> x.mul(2).requiresGrad()));
      assertTrue(x.mul(2).requiresGrad());
      assertTrue(a.toString().contains("CPUFloatType"));
    }
  }

  @Test
  void devicesAreReadAndWritten() {
    assertEquals(Device.cuda(1), Device.parse("cuda:1"));
    assertEquals("cuda:1", Device.cuda(1).toString());
    assertEquals(Device.CPU, Device.parse("cpu"));
    assertThrows(TandemInvalidArgumentException.class, () -> Device.parse("toaster"));
    try (Tensor tensor = Tensor.scalar(1)) {
      assertEquals(Device.Type.CPU, tensor.device().type());
    }
  }

  @Test
  void textPassesAsUtf8() {
    String key = "Schlüssel 鍵 \uD83D\uDD11";
    try (org.tandem.dist.Store store = org.tandem.dist.Store.hash()) {
      store.set(key, key);
      assertEquals(key, store.getString(key));
      assertThrows(TandemInvalidArgumentException.class, () -> store.set("a\0b", "x"));
    }
  }
}
