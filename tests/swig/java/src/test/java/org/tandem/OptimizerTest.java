package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tandem.optim.Adam;
import org.tandem.optim.Optimizer;
import org.tandem.optim.SGD;

/** Groups of parameters with settings of their own. */
class OptimizerTest {
  private static Tensor parameter(double value) { return Tensor.scalar(value).requiresGrad(true); }

  @Test
  void aGroupStepsByItsOwnSettings() {
    try (Scope scope = Scope.open()) {
      Tensor a = parameter(1);
      Tensor b = parameter(1);
      try (SGD sgd = new SGD(List.of(a), 0.125, new SGD.Options().weightDecay(0.5))) {
        sgd.addGroup(List.of(b), new Options().set("weight_decay", 0.0).set("lr", 0.25));
        a.mul(2).add(b.mul(2)).backward();
        sgd.step();
        assertEquals(1 - 0.125 * (2 + 0.5), a.item());
        assertEquals(1 - 0.25 * 2, b.item());
        assertEquals(2, sgd.groupCount());
        assertThrows(TandemInvalidArgumentException.class, sgd::learningRate);
        sgd.setLearningRate(0.5);
        assertEquals(0.5, sgd.learningRate());
        assertEquals(0.5, sgd.getDouble(1, "lr"));
      }
    }
  }

  @Test
  void settingsAreOfEveryKind() {
    try (Scope scope = Scope.open(); Adam adam = new Adam(List.of(parameter(1)), 0.1)) {
      adam.addGroup(List.of(parameter(2)), new Options().set("amsgrad", true).set("betas", new double[] {0.5, 0.6}));
      assertTrue(adam.getBoolean(1, "amsgrad"));
      assertFalse(adam.getBoolean(0, "amsgrad"));
      assertArrayEquals(new double[] {0.5, 0.6}, adam.getDoubles(1, "betas"));
      adam.set(Optimizer.ALL_GROUPS, new Options().set("betas", new double[] {0.1, 0.2}).set("eps", 0.5));
      assertArrayEquals(new double[] {0.1, 0.2}, adam.getDoubles(Optimizer.ALL_GROUPS, "betas"));
      assertEquals(0.5, adam.getDouble(0, "eps"));
    }
  }

  @Test
  void whatIsWrongIsNamed() {
    try (Scope scope = Scope.open()) {
      Tensor a = parameter(1);
      try (SGD sgd = new SGD(List.of(a), 0.1)) {
        assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> sgd.addGroup(List.of(a), new Options()))
                       .getMessage()
                       .contains("a second time"));
        assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> sgd.addGroup(List.of(), new Options()))
                       .getMessage()
                       .contains("empty"));
        assertTrue(assertThrows(
            TandemNotFoundException.class, () -> sgd.addGroup(List.of(parameter(2)), new Options().set("rate", 1.0)))
                       .getMessage()
                       .contains("weight_decay"));
        assertTrue(assertThrows(TandemOutOfRangeException.class, () -> sgd.getDouble(1, "lr"))
                       .getMessage()
                       .contains("no group 1; it has 1"));
        assertThrows(TandemInvalidArgumentException.class, () -> sgd.getBoolean(0, "lr"));
        assertEquals(1, sgd.groupCount());
      }
    }
  }
}
