package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.dist.DeviceMesh;
import org.tandem.dist.Pipeline;
import org.tandem.dist.PipelineSplit;
import org.tandem.dist.PipelineStage;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.nn.ExportedProgram;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.Sequential;
import org.tandem.optim.SGD;

@Timeout(120)
class PipelineTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Tensor[] NONE = {};

  private static void ranks(int count, Consumer<ProcessGroup> body) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try (Store store = Store.hash()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int rank = i;
        running.add(threads.submit(() -> {
          try (ProcessGroup group = ProcessGroup.init(
                  new ProcessGroup.Options().store(store).rank(rank).worldSize(count).timeout(TIMEOUT));
              Scope scope = Scope.open()) {
            body.accept(group);
          }
        }));
      }
      for (Future<?> rank : running) {
        rank.get(TIMEOUT.toSeconds() * 2, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** The same numbers whoever makes it. */
  private static Linear layer(int index) {
    Linear layer = new Linear(3, 3);
    try (Tandem.NoGrad off = Tandem.noGrad()) {
      layer.namedParameters().forEach((name, tensor) -> {
        float[] values = new float[(int) tensor.numel()];
        for (int i = 0; i < values.length; i++) {
          values[i] = (float) Math.sin(i * 1.7 + index);
        }
        tensor.copyInPlace(Tensor.of(values).reshape(tensor.sizes()));
      });
    }
    return layer;
  }

  private static Tensor batch(int rows, int seed) {
    float[] values = new float[rows * 3];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) Math.cos(i * 0.7 + seed);
    }
    return Tensor.of(values).reshape(rows, 3);
  }

  private static Tensor loss(Tensor[] outputs, Tensor[] targets) {
    return outputs[0].sub(targets[0]).pow(2).mean();
  }

  private static float[] gradient(Module module, String name) {
    return module.namedParameters().get(name).grad().reshape(-1).toFloatArray();
  }

  /** Two pipelines of two stages, whose weights are one, against one process. */
  @Test
  void trainsAsOneProcess() throws Exception {
    ranks(4, world -> {
      Linear first = layer(0);
      Tensor x = batch(8, 1);
      Tensor y = batch(8, 2);
      Tensor weight = first.namedParameters().get("weight");
      Tensor hidden = first.call(x).tanh();
      Tensor whole = hidden.matmul(weight.transpose(0, 1));
      Tensor expected = loss(new Tensor[] {whole}, new Tensor[] {y});
      expected.backward();
      try (DeviceMesh mesh = new DeviceMesh(world, new long[] {2, 2}, "dp", "pp")) {
        assertArrayEquals(new long[] {world.rank() / 2, world.rank() % 2}, mesh.coordinate());
        assertEquals(List.of("dp", "pp"), mesh.names());
        int stage = mesh.localRank("pp");
        int replica = mesh.localRank("dp");
        Linear own = layer(stage == 0 ? 0 : 7); // which gets the first one's weight
        PipelineStage part = new PipelineStage(stage, own).prefix("layer" + stage + ".")
            .tied(Map.of("layer" + stage + ".weight", "weight"))
            .forward(inputs -> new Tensor[] {stage == 0 ? own.call(inputs[0]).tanh()
                : inputs[0].matmul(own.namedParameters().get("weight").transpose(0, 1))});
        Pipeline.Options options = new Pipeline.Options().microBatches(2).findUnusedParameters(true).loss(PipelineTest::loss);
        try (Pipeline pipeline = new Pipeline(mesh, "pp", List.of(part), options)) {
          Tensor[] inputs = stage == 0 ? new Tensor[] {x.narrow(0, replica * 4L, 4)} : NONE;
          Tensor[] targets = stage == 1 ? new Tensor[] {y.narrow(0, replica * 4L, 4)} : NONE;
          double loss = pipeline.step(inputs, targets);
          assertEquals(expected.item(), loss, 1e-5);
          assertArrayEquals(gradient(first, "weight"), gradient(own, "weight"), 1e-5f);
          if (stage == 0) {
            assertArrayEquals(gradient(first, "bias"), gradient(own, "bias"), 1e-5f);
          }
          assertEquals(loss, pipeline.evaluate(inputs, targets), 1e-6);
          Tensor[] outputs = pipeline.forward(inputs);
          assertEquals(stage, outputs.length);
          if (stage == 1) {
            assertArrayEquals(whole.narrow(0, replica * 4L, 4).reshape(-1).toFloatArray(),
                outputs[0].reshape(-1).toFloatArray(), 1e-5f);
          }
          assertEquals(world.rank() == 0, pipeline.saves("weight"));
        }
        try (DeviceMesh row = mesh.submesh("pp"); DeviceMesh flat = mesh.flatten("all")) {
          assertEquals(2, row.size());
          assertEquals(world.rank(), flat.localRank("all"));
          assertThrows(TandemNotFoundException.class, () -> row.group("dp"));
        }
      }
      world.barrier();
    });
  }

  @Test
  void aStageThatThrowsFailsAllRanks() throws Exception {
    ranks(2, group -> {
      int[] calls = {0};
      Linear own = layer(group.rank());
      PipelineStage part = new PipelineStage(group.rank(), own).prefix("layer" + group.rank() + ".").forward(inputs -> {
        if (++calls[0] == 2 && group.rank() == 1) {
          throw new IllegalStateException("out of luck");
        }
        return new Tensor[] {own.call(inputs[0])};
      });
      Tensor[] x = {batch(4, 1)};
      Pipeline.Options options = new Pipeline.Options().microBatches(2).loss(PipelineTest::loss);
      try (Pipeline pipeline = new Pipeline(group, List.of(part), options)) {
        RuntimeException error = assertThrows(RuntimeException.class, () -> pipeline.step(x, x));
        assertTrue(error.getMessage().contains("micro-batch 1 on stage 1 (rank 1)"), error.getMessage());
        assertTrue(error.getMessage().contains("out of luck"), error.getMessage());
        assertTrue(pipeline.step(x, x) > 0);
      }
      PipelineStage wrong = new PipelineStage(group.rank(), own).prefix("layer" + group.rank() + ".");
      if (group.rank() == 1) {
        wrong.tied(Map.of("layer1.wait", "weight"));
      }
      TandemException refused = assertThrows(TandemException.class, () -> new Pipeline(group, List.of(wrong), options).close());
      assertTrue(refused.getMessage().contains("stage 1 has no parameter 'layer1.wait'"), refused.getMessage());
      group.barrier();
    });
  }

  private static void sleep(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private static Module slow(long milliseconds) {
    return Sequential.step(x -> {
      sleep(milliseconds);
      return x.mul(2);
    });
  }

  /** Rank 0 measures: on the others another layer is the slow one. */
  @Test
  void isSplitByTheFirstRanksMeasurement() throws Exception {
    ranks(2, group -> {
      boolean first = group.rank() == 0;
      Sequential slow = new Sequential(slow(0), slow(first ? 0 : 50), slow(0), slow(first ? 50 : 0));
      List<PipelineStage> stages = PipelineSplit.byTime(group, PipelineSplit.layers(slow), batch(2, 1));
      assertEquals(1, stages.size());
      assertEquals(group.rank(), stages.get(0).index());
      Pipeline.Options options = new Pipeline.Options().microBatches(2).loss(PipelineTest::loss);
      Tensor[] x = {batch(4, 1)};
      try (Pipeline pipeline = new Pipeline(group, stages, options)) {
        Tensor[] outputs = pipeline.forward(x);
        assertEquals(group.rank(), outputs.length);
        if (!first) {
          assertArrayEquals(x[0].mul(16).reshape(-1).toFloatArray(), outputs[0].reshape(-1).toFloatArray(), 1e-5f);
        }
      }
      TandemException refused = assertThrows(TandemInvalidArgumentException.class,
          () -> PipelineSplit.byTime(group, PipelineSplit.layers(new Sequential(slow(0))), x));
      assertTrue(refused.getMessage().contains("1 layers do not divide into 2 stages"), refused.getMessage());
      // What one rank alone cannot give, the other hears of, too.
      List<PipelineStage> layers = List.of(new PipelineStage(0, layer(0)).prefix("a."),
          new PipelineStage(1, layer(1)).prefix(first ? "b." : "a."));
      refused = assertThrows(TandemInvalidArgumentException.class, () -> PipelineSplit.byTime(group, layers, x));
      assertTrue(refused.getMessage().contains("two layers have a tensor 'a.weight' of their own"), refused.getMessage());
      PipelineStage fails = new PipelineStage(1, layer(1)).prefix("1.").forward(inputs -> {
        throw new IllegalStateException("out of luck");
      });
      RuntimeException failed = assertThrows(RuntimeException.class,
          () -> PipelineSplit.byTime(group, List.of(new PipelineStage(0, layer(0)).prefix("0."), fails), x));
      assertTrue(failed.getMessage().contains("layer 1 of 2 fails"), failed.getMessage());
      group.barrier();
    });
  }

  private static void trainsSplit(ProcessGroup group, List<PipelineStage> layers, Module whole, Tensor x, Tensor y) {
    List<PipelineStage> stages = PipelineSplit.byTime(group, layers, new Tensor[] {x.narrow(0, 0, 2)},
        new PipelineSplit.Options().repeats(1).loss(PipelineTest::loss, y.narrow(0, 0, 2)));
    Map<String, Tensor> own = stages.get(0).namedParameters();
    assertTrue(!own.isEmpty() && own.size() < whole.parameters().size(), own.keySet().toString());
    Pipeline.Options options = new Pipeline.Options().microBatches(2).loss(PipelineTest::loss);
    try (Pipeline pipeline = new Pipeline(group, stages, options);
        SGD sgd = new SGD(stages.get(0).parameters(), 0.1);
        SGD alone = new SGD(whole.parameters(), 0.1)) {
      for (int step = 0; step < 3; step++) {
        Tensor wanted = loss(new Tensor[] {whole.call(x)}, new Tensor[] {y});
        alone.zeroGrad();
        wanted.backward();
        alone.step();
        sgd.zeroGrad();
        assertEquals(wanted.item(), pipeline.step(group.rank() == 0 ? new Tensor[] {x} : NONE,
            group.rank() == 1 ? new Tensor[] {y} : NONE), 1e-5);
        sgd.step();
      }
      own.forEach((name, tensor) -> assertTrue(tensor.sub(whole.namedParameters().get(name)).abs().max().item() < 1e-5, name));
    }
  }

  private static Sequential tied() {
    Sequential net = new Sequential(layer(0), Sequential.step(Tensor::tanh), layer(1), layer(2), layer(3));
    net.tie("4.weight", "0.weight"); // in the first stage and the last
    return net;
  }

  @Test
  void trainsWhatIsSplit() throws Exception {
    Path mlp = Path.of(System.getProperty("tandem.source"), "tests", "cpp", "exported", "files", "mlp.pt2");
    ranks(2, group -> {
      trainsSplit(group, PipelineSplit.layers(tied()), tied(), batch(4, 1), batch(4, 2));
      Tensor x = Tensor.cat(List.of(batch(4, 1), batch(4, 2)), 1).to(DType.FLOAT64);
      trainsSplit(group, PipelineSplit.layers(ExportedProgram.loadProgram(mlp), 4), ExportedProgram.loadProgram(mlp), x,
          batch(4, 3).to(DType.FLOAT64));
      group.barrier();
    });
  }

  private static List<PipelineStage> half(ProcessGroup group) {
    Sequential net = new Sequential(new Linear(300, 300), new Linear(300, 300), new Linear(300, 300), new Linear(300, 300));
    return PipelineSplit.byTime(group, PipelineSplit.layers(net), Tensor.ones(DType.FLOAT32, 2, 300));
  }

  /** Two ranks, which had the whole model each, have it once together. */
  @Test
  void nothingIsKeptOfOtherStages() throws Exception {
    long before = Tandem.tensorLiveBytes();
    long whole = 4 * 4 * (300L * 300 + 300);
    ranks(2, group -> {
      List<PipelineStage> own = half(group);
      group.barrier();
      try {
        Garbage.collectUntil(() -> Tandem.tensorLiveBytes() - before < whole * 5 / 4, "other ranks' layers are still there");
      } catch (InterruptedException ended) {
        throw new IllegalStateException(ended);
      }
      group.barrier();
      long bytes = own.get(0).parameters().stream().mapToLong(tensor -> 4 * tensor.numel()).sum();
      assertTrue(bytes > 0 && bytes < whole, () -> bytes + " of " + whole);
    });
  }

  @Test
  void joinsLayersByHand() {
    List<PipelineStage> layers = PipelineSplit.layers(tied());
    List<PipelineStage> stages = PipelineSplit.join(layers, 0, 3);
    assertEquals(List.of("0.weight", "0.bias", "2.weight", "2.bias"), List.copyOf(stages.get(0).namedParameters().keySet()));
    assertEquals(List.of("3.weight", "3.bias", "0.weight", "4.bias"), List.copyOf(stages.get(1).namedParameters().keySet()));
    for (int[] wrong : new int[][] {{1, 2}, {0, 0}, {0, 6}, {0, 3, 2}}) {
      assertThrows(TandemInvalidArgumentException.class, () -> PipelineSplit.join(layers, wrong));
    }
    PipelineStage ties = new PipelineStage(0, layer(0)).tied(Map.of("weight", "w"));
    assertThrows(TandemInvalidArgumentException.class, () -> PipelineSplit.join(List.of(ties), 0));
  }
}
