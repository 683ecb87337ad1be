package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tandem.nn.BatchNorm1d;
import org.tandem.nn.Conv2d;
import org.tandem.nn.CrossEntropyLoss;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.MultiheadAttention;
import org.tandem.nn.Sequential;
import org.tandem.nn.Upsample;
import org.tandem.nn.ZeroPad2d;

/** Classes that are written from what the registry says of itself. */
class ModulesTest {
  @Test
  void settingsAreOptions() {
    try (Scope scope = Scope.open();
        Conv2d conv = new Conv2d(1, 2, new long[] {3, 5}, new Conv2d.Options().padding("same").bias(false));
        Conv2d strided = new Conv2d(1, 2, 3, new Conv2d.Options().stride(2, 1).padding(1));
        ZeroPad2d pad = new ZeroPad2d(new long[] {1, 0, 2, 0});
        Upsample up = new Upsample(new Upsample.Options().scaleFactor(2, 3).mode("bilinear"))) {
      Tensor x = Tensor.ones(DType.FLOAT32, 1, 1, 6, 6);
      assertArrayEquals(new long[] {1, 2, 6, 6}, conv.forward(x).sizes());
      assertArrayEquals(new long[] {1, 2, 3, 6}, strided.forward(x).sizes());
      assertArrayEquals(new long[] {1, 1, 8, 7}, pad.forward(x).sizes());
      assertArrayEquals(new long[] {1, 1, 12, 18}, up.forward(x).sizes());
      assertEquals(List.of("weight"), List.copyOf(conv.namedParameters().keySet()));
    }
    assertThrows(TandemInvalidArgumentException.class, () -> new Conv2d(1, 2, 3, new Conv2d.Options().groups(3)));
  }

  @Test
  void optionsMayBeTensorsAndNone() {
    try (Scope scope = Scope.open();
        CrossEntropyLoss loss =
            new CrossEntropyLoss(new CrossEntropyLoss.Options().weight(Tensor.of(new float[] {0, 2}, 2)).reduction("none"));
        BatchNorm1d norm = new BatchNorm1d(1, new BatchNorm1d.Options().noMomentum())) {
      float[] losses = loss.forward(Tensor.zeros(DType.FLOAT32, 2, 2), Tensor.of(new long[] {0, 1}, 2)).toFloatArray();
      assertEquals(0, losses[0]);
      assertEquals(2 * Math.log(2), losses[1], 1e-6);
      for (float value : new float[] {1, 2, 6}) {
        norm.forward(Tensor.of(new float[] {value, value}, 2, 1));
      }
      assertEquals(3, norm.namedBuffers().get("running_mean").toFloatArray()[0], 1e-6);
    }
  }

  @Test
  void treesAreWalkedAndFrozen() {
    try (Sequential inner = new Sequential(new Linear(2, 3)); Sequential net = new Sequential(inner, new Linear(3, 1))) {
      assertEquals(List.of("", "0", "0.0", "1"), List.copyOf(net.namedModules().keySet()));
      List<Module> visited = new ArrayList<>();
      net.apply(visited::add);
      assertEquals(List.of(inner, net), List.of(visited.get(1), visited.get(3)));
      assertEquals(13, net.parameterCount());
      inner.requiresGrad(false);
      assertEquals(2, net.parameters().stream().filter(Tensor::requiresGrad).count());
    }
  }

  @Test
  void severalInputsAndResults() {
    try (Scope scope = Scope.open();
        MultiheadAttention attention =
            new MultiheadAttention(4, 2, new MultiheadAttention.Options().batchFirst(true))) {
      Tensor x = Tensor.ones(DType.FLOAT32, 2, 3, 4);
      Tensor[] results = attention.forward(x, x, x);
      assertArrayEquals(new long[] {2, 3, 4}, results[0].sizes());
      assertArrayEquals(new long[] {2, 3, 3}, results[1].sizes());
    }
  }
}
