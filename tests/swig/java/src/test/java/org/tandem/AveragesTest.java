package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tandem.nn.BatchNormStatistics;
import org.tandem.nn.BatchNorm2d;
import org.tandem.nn.Dropout;
import org.tandem.nn.Linear;
import org.tandem.nn.Sequential;
import org.tandem.optim.Averages;
import org.tandem.optim.LBFGS;
import org.tandem.optim.SGD;

/** Averages of weights, the statistics that go with them, and steps with closures. */
class AveragesTest {
  private static Tensor number(double value) { return Tensor.scalar(value).requiresGrad(true); }

  private static void set(Tensor tensor, double value) {
    try (var off = Tandem.noGrad()) {
      tensor.copyInPlace(Tensor.scalar(value));
    }
  }

  @Test
  void averagesMoveAndSwap() {
    try (Scope scope = Scope.open()) {
      Tensor x = number(1);
      Tensor buffer = Tensor.scalar(5);
      Averages ema = Averages.ema(List.of(x), List.of(buffer), 0.75);
      Averages swa = Averages.swa(List.of(x), List.of(buffer), true);
      for (double value : new double[] {1, 3, 5}) {
        set(x, value);
        set(buffer, value * 10);
        ema.update();
        swa.update();
      }
      assertEquals(0.75 * (0.75 + 0.75) + 1.25, ema.stateDict().get("parameter.0").item());
      assertEquals(50, ema.stateDict().get("buffer.0").item(), "copied");
      assertEquals(3, swa.stateDict().get("parameter.0").item(), 1e-6);
      assertEquals(30, swa.stateDict().get("buffer.0").item(), 1e-5);
      swa.swap();
      assertEquals(3, x.item(), 1e-6);
      swa.swap();
      assertEquals(5, x.item());

      Averages again = Averages.swa(List.of(x), List.of(buffer), true);
      again.loadStateDict(swa.stateDict());
      set(x, 7);
      again.update();
      assertEquals(4, again.stateDict().get("parameter.0").item(), 1e-6);
      assertThrows(TandemInvalidArgumentException.class, () -> again.loadStateDict(Map.of()));
      for (double decay : new double[] {1.5, Double.NaN}) {
        assertThrows(TandemInvalidArgumentException.class, () -> Averages.ema(List.of(x), List.of(), decay));
      }
      again.close();
      assertThrows(TandemClosedException.class, again::update);
    }
  }

  @Test
  void statisticsAreMeansOverAllBatches() {
    try (Scope scope = Scope.open()) {
      BatchNorm2d norm = new BatchNorm2d(1);
      Dropout frozen = new Dropout(0.5);
      Sequential model = new Sequential(norm, frozen);
      frozen.eval();
      float[][] batches = {{1, 3}, {5, 9}, {0, 6}};
      norm.forward(Tensor.of(new float[] {100, 200}, 2, 1, 1, 1)); // what is to be forgotten
      BatchNormStatistics.update(model, () -> {
        assertTrue(frozen.isTraining());
        for (float[] batch : batches) {
          assertFalse(model.forward(Tensor.of(batch, 2, 1, 1, 1)).requiresGrad());
        }
      });
      assertEquals(4, norm.namedBuffers().get("running_mean").item(), 1e-5);
      assertEquals((2.0 + 8 + 18) / 3, norm.namedBuffers().get("running_var").item(), 1e-4);
      assertTrue(norm.isTraining());
      assertFalse(frozen.isTraining());
      norm.forward(Tensor.of(new float[] {0, 0}, 2, 1, 1, 1));
      assertEquals(3.6, norm.namedBuffers().get("running_mean").item(), 1e-5, "the momentum is 0.1 again");
      BatchNormStatistics.update(new Linear(1, 1), () -> {
        throw new AssertionError("there is nothing to compute");
      });
    }
  }

  @Test
  void lbfgsCallsItsClosureUntilItConverges() {
    try (Scope scope = Scope.open()) {
      Tensor x = number(5);
      int[] calls = {0};
      LBFGS lbfgs = new LBFGS(List.of(x), 1, new LBFGS.Options().lineSearchFn("strong_wolfe").maxIter(10));
      assertThrows(TandemUnsupportedException.class, lbfgs::step);
      Tensor first = lbfgs.step(() -> {
        calls[0]++;
        lbfgs.zeroGrad();
        Tensor loss = x.sub(2).pow(2);
        loss.backward();
        return loss;
      });
      assertEquals(9, first.item());
      assertEquals(2, x.item(), 1e-4);
      assertTrue(calls[0] > 1);
      assertEquals(10, lbfgs.getDouble(0, "lr") * 10);
    }
  }

  @Test
  void aClosureThatFailsIsTheCause() {
    try (Scope scope = Scope.open()) {
      Tensor x = number(5);
      Exception own = new Exception("my own");
      SGD sgd = new SGD(List.of(x), 0.5);
      assertSame(own, assertThrows(TandemException.class, () -> sgd.step(() -> {
        throw own;
      })).getCause());
      assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> sgd.step(() -> null))
                     .getMessage()
                     .contains("the closure gave nothing"));
      assertEquals(5, x.item());
    }
  }
}
