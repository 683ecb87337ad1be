package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.AbstractList;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Operators that are called while another collects its arguments. */
class OperatorTest {
  /** Makes its elements as they are asked for. */
  private static List<Tensor> computed(int size, IntFunction<Tensor> element) {
    return new AbstractList<>() {
      @Override
      public Tensor get(int index) {
        return element.apply(index);
      }

      @Override
      public int size() {
        return size;
      }
    };
  }

  @Test
  void aListMayCallOperatorsForItsElements() {
    Operator where = Operator.find("aten::index", "Tensor");
    try (Scope scope = Scope.open()) {
      Tensor row = Tensor.of(new float[] {10, 11, 12, 13});
      List<Tensor> indices = computed(1, i -> Tensor.of(new long[] {2, 0}).add(Tensor.of(new long[] {1})));
      assertArrayEquals(new float[] {13, 11}, where.call(row, indices).toFloatArray());
      List<Tensor> nested = computed(3, i -> Tensor.cat(computed(2, j -> Tensor.scalar(i).add(j).reshape(1)), 0));
      assertArrayEquals(new float[] {0, 1, 1, 2, 2, 3}, Tensor.cat(nested, 0).toFloatArray());
    }
  }

  @Test
  void aCallWhoseArgumentsFailLeavesNothingBehind() {
    long before = Tandem.liveCount("tensor");
    try (Scope scope = Scope.open()) {
      Tensor one = Tensor.scalar(1);
      Operator add = Operator.find("aten::add", "Tensor");
      List<Tensor> failing = computed(2, i -> {
        throw new IllegalStateException("element " + i);
      });
      for (int i = 0; i < 100; i++) {
        assertThrows(IllegalStateException.class, () -> Tensor.cat(failing, 0));
        assertThrows(TandemInvalidArgumentException.class, () -> add.call(one, new Object()));
        assertThrows(TandemInvalidArgumentException.class, () -> add.call(one, List.of("text")));
        assertEquals(2, one.add(one).item());
      }
    }
    assertEquals(before, Tandem.liveCount("tensor"));
  }
}
