package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.TorchModule;

/** Modules that take and give several values. */
@Timeout(300)
class SeveralValuesTest {
  @Test
  void twoProcessesTrainAsOne(@TempDir Path folder) throws Exception {
    for (String how : List.of("search", "search noSync", "static", "static noSync", "samples")) {
      Path file = folder.resolve(how);
      List<Child> children = new ArrayList<>();
      for (int rank = 0; rank < 2; rank++) {
        children.add(
            Child.start(List.of(), Programs.class, "several-values", file.toString(), Integer.toString(rank), how));
      }
      for (Child child : children) {
        child.expect(0);
        assertTrue(child.output().contains("as one"), how + ": " + child.output());
      }
    }
  }

  @Test
  void modulesTakeAndGiveTuples() {
    try (Scope scope = Scope.open();
        TorchModule lstm = new TorchModule("LSTM", new Options().set("input_size", 3L).set("hidden_size", 4L))) {
      Tensor x = Tensor.ones(DType.FLOAT32, 2, 1, 3);
      Tensor[] first = lstm.forwardAll(x);
      assertEquals(3, first.length);
      Tensor[] second = lstm.forwardAll(x, List.of(first[1], first[2]));
      assertArrayEquals(new long[] {1, 1, 4}, second[2].sizes());
      assertTrue(second[0].sub(first[0]).abs().sum().item() > 0);
      assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> lstm.forwardAll(x, first[1]))
                     .getMessage().contains("a tuple of two tensors"));
      assertThrows(TandemInvalidArgumentException.class, () -> lstm.forwardAll(x, "state"));
      TandemUnsupportedException none =
          assertThrows(TandemUnsupportedException.class, () -> new Module() {}.forward(x));
      assertTrue(none.getMessage().contains("no forward of one input"), none.getMessage());
    }
  }

  private static void alone(DistributedDataParallel.Options options, Linear net, java.util.function.Consumer<DistributedDataParallel> body) {
    try (Store store = Store.hash();
        ProcessGroup group =
            ProcessGroup.init(new ProcessGroup.Options().store(store).rank(0).worldSize(1));
        DistributedDataParallel ddp = new DistributedDataParallel(net, group, options);
        Scope scope = Scope.open()) {
      body.accept(ddp);
    }
  }

  /** No record. */
  static final class Hidden {
    final Tensor loss;

    Hidden(Tensor loss) {
      this.loss = loss;
    }
  }

  @Test
  void errorsSayWhatForwardGave() {
    try (Linear net = new Linear(2, 1)) {
      alone(new DistributedDataParallel.Options(), net, ddp -> {
        Tensor x = Tensor.ones(DType.FLOAT32, 1, 2);
        Map<String, Function<Tensor, Object>> wrong = Map.of("forward gave no tensor", input -> List.of(1, "a"),
            "field 'loss' of org.tandem.SeveralValuesTest$Hidden holds a tensor", input -> new Hidden(net.forward(input)),
            "must not contain itself", input -> {
              List<Object> ring = new ArrayList<>();
              ring.add(net.forward(input));
              ring.add(ring);
              return ring;
            });
        wrong.forEach((message, forward) -> {
          TandemInvalidArgumentException error =
              assertThrows(TandemInvalidArgumentException.class, () -> ddp.forward(x, forward));
          assertTrue(error.getMessage().contains(message), error.getMessage());
        });
        ddp.forward(x).sum().backward();
        assertEquals(1, net.namedParameters().get("bias").grad().item());
      });
    }
  }

  private static double[] weightGradients(Store store, int rank) {
    try (ProcessGroup group = ProcessGroup.init(new ProcessGroup.Options().store(store).rank(rank).worldSize(2));
        Scope scope = Scope.open(); Linear net = new Linear(1, 1);
        DistributedDataParallel ddp = new DistributedDataParallel(
            net, group, new DistributedDataParallel.Options().averageBySamples(true))) {
      ddp.setBatchSamples(rank == 0 ? 1 : 3);
      TandemInvalidArgumentException wrong =
          assertThrows(TandemInvalidArgumentException.class, () -> ddp.setBatchSamples(-2));
      assertTrue(wrong.getMessage().startsWith("DistributedDataParallel.setBatchSamples: "), wrong.getMessage());
      double[] gradients = new double[2];
      for (int i = 0; i < 2; ++i) {
        net.namedParameters().get("weight").setGrad(null);
        ddp.forward(Tensor.full(rank + 1, DType.FLOAT32, 1, 1)).sum().backward();
        gradients[i] = net.namedParameters().get("weight").grad().item();
        ddp.setBatchSamples(-1); // one sample on each rank, as the inputs say
      }
      return gradients;
    }
  }

  /** Gradients are 1 and 2; the inputs would say that both ranks have as many samples. */
  @Test
  void aRankSaysHowManySamplesItsBatchesHave() throws Exception {
    try (Store store = Store.hash()) {
      double[] want = {(1 * 1 + 3 * 2) / 4.0, (1 + 2) / 2.0};
      CompletableFuture<double[]> other = CompletableFuture.supplyAsync(() -> weightGradients(store, 1));
      assertArrayEquals(want, weightGradients(store, 0));
      assertArrayEquals(want, other.get(60, TimeUnit.SECONDS));
    }
  }

  record Inputs(Map<String, Tensor[]> nested, Tensor ids, Tensor none) {}

  @Test
  void mixedPrecisionCastsInputsAtAnyDepth() {
    try (Linear net = new Linear(2, 1)) {
      DistributedDataParallel.Options options =
          new DistributedDataParallel.Options().mixedPrecision(DType.BFLOAT16, null, null);
      alone(options, net, ddp -> {
        Tensor x = Tensor.ones(DType.FLOAT32, 1, 2);
        Inputs given = new Inputs(Map.of("x", new Tensor[] {x}), Tensor.of(new long[] {1, 2}), null);
        Tensor y = ddp.forward(given, inputs -> {
          assertEquals(DType.BFLOAT16, inputs.nested().get("x")[0].dtype());
          assertEquals(DType.INT64, inputs.ids().dtype());
          assertNull(inputs.none());
          return net.forward(inputs.nested().get("x")[0]);
        });
        assertEquals(DType.BFLOAT16, y.dtype());
        assertSame(x, given.nested().get("x")[0]);
        y.sum().backward();
        assertEquals(DType.FLOAT32, net.namedParameters().get("weight").grad().dtype());

        assertThrows(IllegalStateException.class, () -> ddp.forward(x, input -> {
          assertEquals(DType.BFLOAT16, net.namedParameters().get("weight").dtype());
          throw new IllegalStateException("not today");
        }));
        assertEquals(DType.FLOAT32, net.namedParameters().get("weight").dtype());
      });
    }
  }
}
