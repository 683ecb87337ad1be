package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.ReduceOp;
import org.tandem.dist.Store;
import org.tandem.dist.Work;
import org.tandem.nn.Functional;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.Sequential;
import org.tandem.optim.SGD;

@Timeout(120)
class DistTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** Runs {@code body} as ranks that are threads of this process. */
  private static void ranks(int count, Consumer<ProcessGroup> body) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try (Store store = Store.hash()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int rank = i;
        running.add(threads.submit(() -> {
          try (ProcessGroup group = ProcessGroup.init(
                  new ProcessGroup.Options().store(store).rank(rank).worldSize(count).timeout(TIMEOUT))) {
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

  @Test
  void collectivesOfTwoRanks() throws Exception {
    ranks(2, group -> {
      try (Scope scope = Scope.open()) {
        float rank = group.rank();
        assertEquals(2, group.size());
        assertEquals("gloo", group.backend());
        Tensor tensor = Tensor.of(new float[] {rank + 1, 10 * (rank + 1)});
        group.allReduce(tensor);
        assertArrayEquals(new float[] {3, 30}, tensor.toFloatArray());
        group.broadcast(tensor.fillInPlace(rank), 1);
        assertArrayEquals(new float[] {1, 1}, tensor.toFloatArray());
        List<Tensor> all = List.of(Tensor.zeros(DType.INT64, 1), Tensor.zeros(DType.INT64, 1));
        group.allGather(all, Tensor.of(new long[] {(1L << 40) + group.rank()}));
        assertEquals((1L << 40) + 1, all.get(1).itemLong());
        Tensor most = Tensor.of(new float[] {rank});
        try (Work work = group.allReduceAsync(most, ReduceOp.MAX)) {
          work.await();
          assertTrue(work.isCompleted());
        }
        assertEquals(1, most.item());
        group.reduce(most, 0, ReduceOp.SUM);
        group.barrier();
      }
    });
  }

  @Test
  void twoProcessesReduceOverAFile(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("store");
    List<Child> children = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      children.add(Child.start(List.of(), Programs.class, "all-reduce", file.toString(), Integer.toString(rank)));
    }
    for (int rank = 0; rank < 2; rank++) {
      children.get(rank).expect(0);
      String output = children.get(rank).output();
      assertTrue(output.contains("sum 3.0 30.0 on rank " + rank + " of 2"), output);
    }
  }

  @Test
  void thePlaceIsTheLaunchersOrTheSchedulers() throws Exception {
    Map<String, String> launched = Map.of("RANK", "5", "WORLD_SIZE", "8", "LOCAL_RANK", "1");
    Map<String, String> scheduled = Map.of("OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2",
        "OMPI_COMM_WORLD_LOCAL_RANK", "1", "OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    Map<Map<String, String>, String> expected = Map.of(Map.of(), "0 of 1, 0 of 1 on 0 by ''",
        launched, "5 of 8, 1 of 1 on 0 by 'the environment'", scheduled, "1 of 2, 1 of 2 on 0 by 'Open MPI'");
    for (Map.Entry<Map<String, String>, String> one : expected.entrySet()) {
      Child child = Child.start(List.of(), one.getKey(), Programs.class, "place");
      child.expect(0);
      assertEquals(one.getValue(), child.output().strip());
    }
    Child child = Child.start(List.of(), Map.of("RANK", "5"), Programs.class, "place");
    child.expect(1);
    assertTrue(child.output().contains("WORLD_SIZE"), child.output());
  }

  @Test
  void abortWakesTheWaiter() throws Exception {
    ranks(2, group -> {
      if (group.rank() == 1) {
        return; // leaves without taking part
      }
      Thread aborter = new Thread(() -> {
        try {
          Thread.sleep(200);
        } catch (InterruptedException early) {
          Thread.currentThread().interrupt();
        }
        group.abort();
      });
      aborter.start();
      try (Tensor tensor = Tensor.scalar(1)) {
        TandemException error = assertThrows(TandemException.class, () -> group.allReduce(tensor));
        assertTrue(error.code() == ErrorCode.ABORTED || error.code() == ErrorCode.PEER_LOST, error.getMessage());
      }
      try {
        aborter.join();
      } catch (InterruptedException early) {
        Thread.currentThread().interrupt();
      }
    });
  }

  private static Module net() {
    return new Sequential(new Linear(8, 16), Sequential.step(Tensor::relu), new Linear(16, 3));
  }

  /** Parameters after ten steps on samples [from, to) of a fixed set. */
  private static float[] train(Module model, Module net, int from, int to) {
    try (SGD optimizer = new SGD(net.parameters(), 0.1, new SGD.Options().momentum(0.9))) {
      for (int step = 0; step < 10; step++) {
        try (Scope scope = Scope.open()) {
          Tensor inputs = Tensor.arange(0, 64).to(DType.FLOAT32).mul(0.37 + step).add(1).exp().log().tanh()
              .add(step * 0.01).reshape(8, 8);
          Tensor labels = Tensor.of(new long[] {0, 1, 2, 0, 1, 2, 0, 1});
          Tensor loss = Functional.crossEntropy(
              model.forward(inputs.narrow(0, from, to - from)), labels.narrow(0, from, to - from));
          optimizer.zeroGrad();
          loss.backward();
          optimizer.step();
        }
      }
      return flat(net);
    }
  }

  private static float[] flat(Module net) {
    try (Scope scope = Scope.open()) {
      return Tensor.cat(net.parameters().stream().map(p -> p.detach().flatten(0)).toList(), 0).toFloatArray();
    }
  }

  @Test
  void twoRanksTrainLikeOne() throws Exception {
    Tandem.manualSeed(3);
    float[] alone;
    float[] start;
    Module single = net();
    start = flat(single);
    java.util.Map<String, Tensor> state = new java.util.LinkedHashMap<>();
    single.stateDict().forEach((name, tensor) -> state.put(name, tensor.detach().copy()));
    alone = train(single, single, 0, 8);
    single.close();
    float[][] results = new float[2][];
    ranks(2, group -> {
      try (Module net = net()) {
        if (group.rank() == 0) {
          net.loadStateDict(state); // rank 1 gets it from rank 0
        }
        try (DistributedDataParallel ddp = new DistributedDataParallel(
                net, group, new DistributedDataParallel.Options().gradientAsBucketView(true))) {
          results[group.rank()] = train(ddp, net, group.rank() * 4, group.rank() * 4 + 4);
        }
      }
    });
    assertArrayEquals(results[0], results[1]);
    assertArrayEquals(alone, results[0], 1e-5f);
    assertFalse(Arrays.equals(start, alone));
  }

  @Test
  void noSyncKeepsGradientsLocal() throws Exception {
    ranks(2, group -> {
      try (Linear net = new Linear(2, 1); DistributedDataParallel ddp = new DistributedDataParallel(net, group)) {
        Tensor weight = net.namedParameters().get("weight");
        try (Scope scope = Scope.open()) {
          try (DistributedDataParallel.NoSync local = ddp.noSync()) {
            ddp.forward(Tensor.full(group.rank(), DType.FLOAT32, 1, 2)).sum().backward();
          }
          assertEquals(group.rank(), weight.grad().flatten(0).select(0, 0).item());
          weight.grad().fillInPlace(0);
          ddp.forward(Tensor.full(group.rank(), DType.FLOAT32, 1, 2)).sum().backward();
          assertEquals(0.5, weight.grad().flatten(0).select(0, 0).item());
        }
      }
    });
  }
}
