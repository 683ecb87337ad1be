package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tandem.nn.Functional;
import org.tandem.nn.Init;
import org.tandem.nn.PackedSequence;
import org.tandem.nn.TorchModule;
import org.tandem.nn.Utils;

/** Values are those of tests/cpp/nn/reference.py; here that arguments and options arrive. */
class NnUtilsTest {
  @Test
  void startingValues() {
    try (Scope scope = Scope.open()) {
      Tensor weight = Tensor.zeros(DType.FLOAT32, 6, 4);
      Tandem.manualSeed(3);
      float[] first = Init.kaimingUniform(weight, new Options().set("nonlinearity", "relu")).toFloatArray();
      Tandem.manualSeed(3);
      assertArrayEquals(first, Init.uniform(weight, -Math.sqrt(1.5), Math.sqrt(1.5)).toFloatArray(), 1e-6f);
      assertEquals(24, Init.ones(weight).sum().item());
      assertEquals(4, Init.eye(weight).sum().item());
      assertEquals(Math.sqrt(2), Init.calculateGain("relu"));
      assertEquals(1, Init.calculateGain("leaky_relu", 1));
      TandemException refused = assertThrows(TandemInvalidArgumentException.class,
          () -> Init.kaimingNormal(weight, new Options().set("mode", "fan")));
      assertTrue(refused.getMessage().contains("not \"fan\""), refused.getMessage());
      refused = assertThrows(TandemInvalidArgumentException.class,
          () -> Init.kaimingNormal(weight, new Options().set("modes", "fan_in")));
      assertTrue(refused.getMessage().contains("are a, mode, nonlinearity, generator"), refused.getMessage());
    }
  }

  @Test
  void functions() {
    try (Scope scope = Scope.open()) {
      Tensor image = Tensor.of(new float[] {0, 1, 2, 3}, 1, 1, 2, 2);
      Tensor wide = Functional.interpolate(image,
          new Options().set("size", new long[] {2, 3}).set("mode", "bilinear").set("align_corners", true));
      assertArrayEquals(new float[] {0, 0.5f, 1, 2, 2.5f, 3}, wide.toFloatArray());
      Tensor columns = Functional.unfold(image, new long[] {1, 1}, new Options());
      assertArrayEquals(new long[] {1, 1, 4}, columns.sizes());
      assertEquals(1, Functional.normalize(image, new Options().set("dim", new long[] {2, 3})).pow(2).sum().item(), 1e-6);
      Tensor query = Tensor.rand(3, 2, 4);
      Tensor[] attended = Functional.multiHeadAttentionForward(query, query, query, 2, Tensor.rand(12, 4), null, 0,
          Tensor.rand(4, 4), null, new Options().set("need_weights", false));
      assertArrayEquals(new long[] {3, 2, 4}, attended[0].sizes());
      assertNull(attended[1]);
    }
  }

  @Test
  void parametrizations() {
    try (Scope scope = Scope.open(); TorchModule linear = new TorchModule("Linear", new Options().set("in_features", 3)
        .set("out_features", 2))) {
      Tensor x = Tensor.rand(4, 3);
      float[] before = linear.forward(x).toFloatArray();
      Tensor bias = linear.namedParameters().get("bias");
      linear.parametrize("weight_norm", "weight", new Options().set("dim", 1));
      assertEquals(List.of("bias", "parametrizations.weight.original0", "parametrizations.weight.original1"),
          List.copyOf(linear.namedParameters().keySet()));
      assertSame(bias, linear.namedParameters().get("bias"));
      assertArrayEquals(before, linear.forward(x).toFloatArray(), 1e-6f);
      TandemException refused = assertThrows(TandemNotFoundException.class,
          () -> linear.parametrize("spectral_norm", "weights", new Options()));
      assertTrue(refused.getMessage().contains("no parameter 'weights'"), refused.getMessage());
      linear.removeParametrizations("weight");
      assertEquals(List.of("bias", "weight"), List.copyOf(linear.namedParameters().keySet()));
      assertArrayEquals(before, linear.forward(x).toFloatArray(), 1e-6f);
    }
  }

  /** Of modules of one process; processes are those of tests/cpp/rpc/hogwild_test.cpp. */
  @Test
  void sharedParameters() {
    Options options = new Options().set("in_features", 3).set("out_features", 2);
    try (Scope scope = Scope.open(); TorchModule first = new TorchModule("Linear", options);
        TorchModule second = new TorchModule("Linear", options);
        TorchModule other = new TorchModule("Linear", new Options().set("in_features", 4).set("out_features", 2))) {
      assertTrue(Utils.shareParameters(first, "java", Duration.ofSeconds(1)));
      assertFalse(Utils.shareParameters(second, "java", Duration.ofSeconds(1)));
      Init.ones(first.getParameter("weight"));
      assertEquals(6, second.getParameter("weight").sum().item());
      TandemException refused = assertThrows(TandemInvalidArgumentException.class,
          () -> Utils.shareParameters(other, "java", Duration.ofSeconds(1)));
      assertTrue(refused.getMessage().contains("here weight: Float of sizes [2, 4]"), refused.getMessage());
    }
  }

  @Test
  void gradientsAndSequences() {
    try (Scope scope = Scope.open(); TorchModule lstm = new TorchModule("LSTM", new Options().set("input_size", 2)
        .set("hidden_size", 3))) {
      PackedSequence packed = Utils.packSequence(List.of(Tensor.rand(2, 2), Tensor.rand(4, 2)), false);
      Tensor[] out = lstm.forwardAll(packed.tensors());
      PackedSequence output = new PackedSequence(out[0], out[1], out[2], out[3]);
      Tensor[] padded = Utils.padPackedSequence(output, true, 0);
      assertArrayEquals(new long[] {2, 4, 3}, padded[0].sizes());
      padded[0].sum().backward();
      double norm = Utils.clipGradNorm(lstm.parameters(), 1e-3).item();
      assertTrue(norm > 1e-3);
      assertEquals(1e-3 * norm / (norm + 1e-6),
          Utils.getTotalNorm(lstm.parameters().stream().map(Tensor::grad).toList(), 2).item(), 1e-6);
      Tensor vec = Utils.parametersToVector(lstm.parameters()).detach();
      Utils.vectorToParameters(vec.mul(0), lstm.parameters());
      assertEquals(0, lstm.parameters().get(0).abs().sum().item());
    }
  }
}
