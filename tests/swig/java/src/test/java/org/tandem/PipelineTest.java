package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.tandem.dist.PipelineStage;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;

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
}
