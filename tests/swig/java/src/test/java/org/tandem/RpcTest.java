package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.dist.Store;
import org.tandem.nn.ScriptModule;
import org.tandem.rpc.AutogradContext;
import org.tandem.rpc.DistributedOptimizer;
import org.tandem.rpc.RRef;
import org.tandem.rpc.Rpc;

@Timeout(180)
class RpcTest {
  /** Two workers; what the first one finds wrong ends it with another code. */
  @Test
  void workersCallEachOther(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("store");
    List<Child> children = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      children.add(Child.start(List.of(), Programs.class, "rpc", file.toString(), Integer.toString(rank)));
    }
    for (Child child : children) {
      child.expect(0);
    }
  }

  /** One of two workers that meet through a file. */
  static void worker(Path file, int rank) {
    assertThrows(TandemClosedException.class, Rpc::workers);
    Tensor weight = Tensor.of(new double[] {2, 3}).requiresGrad(true);
    Rpc.register("twice", given -> ((Tensor) given[0]).mul(2));
    Rpc.register("echo", given -> given[0]);
    Rpc.register("fails", given -> { throw new IllegalStateException("out of paper"); });
    Rpc.register("lost", given -> { throw new TandemDataLossException("Read", "record 7 is torn"); });
    Rpc.register("strange", given -> new Object());
    Rpc.register("parameter", given -> RRef.of(weight));
    Rpc.register("scaled", given -> ((Tensor) given[0]).mul(weight));
    Rpc.register("back", given -> Rpc.call("worker0", "scaled", given[0]));
    Rpc.register("circle", given -> awaited((Long) given[0])); // through worker 0 back to this one
    Rpc.register("back to worker 1", given -> Rpc.call("worker1", "echo", given[0]));
    Rpc.register("weight", given -> weight.detach());
    List<Long> hooked = new ArrayList<>();
    Rpc.register("before", given -> {
      hooked.add((Long) given[0]);
      return null;
    });
    Rpc.register("script", ScriptModule.compile("def sum_of(x: List[int], by: float = 0.5) -> float:\n    return sum(x) * by\n"));
    Rpc.register("bytes", ScriptModule.compile(
        "def list() -> List[str]:\n    return ['a', '\\377' + 'b']\ndef text() -> List[str]:\n    return ['a', 'b']\n"));
    assertThrows(TandemInvalidArgumentException.class, () -> Rpc.register("twice", given -> null));
    try (Store store = Store.file(file, 2)) {
      TandemException noGpu = assertThrows(TandemInvalidArgumentException.class,
          () -> Rpc.init(new Rpc.Options().store(store).rank(rank).worldSize(2).deviceMap("worker1", Device.CPU, Device.CPU)));
      assertTrue(noGpu.getMessage().contains("'deviceMaps'[0].to is no GPU"), noGpu.getMessage());
      Rpc.init(new Rpc.Options().store(store).rank(rank).worldSize(2).timeout(Duration.ofSeconds(60)).numWorkerThreads(4)
                   .mostWorkerThreads(64));
    }
    if (rank == 0) {
      values();
      failures();
      circles();
      references();
      training(weight);
      assertEquals(1, hooked.size());
    }
    Rpc.shutdown();
    assertFalse(Rpc.isInitialized());
    assertThrows(TandemClosedException.class, () -> Rpc.call("worker0", "echo", 1));
  }

  private static void values() {
    assertEquals(new Rpc.Worker("worker0", 0), Rpc.self());
    assertArrayEquals(new float[] {2, 4}, ((Tensor) Rpc.call("worker1", "twice", Tensor.of(new float[] {1, 2}))).toFloatArray());
    assertEquals(3.0, ((Tensor) Rpc.call("worker1", "aten::add", Tensor.of(new float[] {1}), Tensor.of(new float[] {2}))).item());
    assertEquals(3.0, Rpc.call("worker1", "script.sum_of", List.of(1, 2, 3)));
    assertEquals(List.of(1L, "two", true, Map.of("a", 2.5), Tuple.of(1L, "x")),
        Rpc.call("worker1", "echo", List.of(1, "two", true, Map.of("a", 2.5), Tuple.of(1, "x"))));
    byte[] bytes = {0, -1, 'a'};
    assertArrayEquals(bytes, (byte[]) Rpc.call("worker1", "echo", (Object) bytes));
    List<?> strings = (List<?>) Rpc.call("worker1", "bytes.list");
    assertEquals("a", strings.get(0)); // a typed list
    assertArrayEquals(new byte[] {-1, 'b'}, (byte[]) strings.get(1));
    assertEquals(List.of("a", "b"), Rpc.call("worker1", "bytes.text"));
    assertNull(Rpc.call("worker1", "echo", (Object) null));
    assertEquals(8L, Rpc.callAsync("worker1", "echo", 7).thenApply(seven -> (Long) seven + 1).join());
    assertTrue(Rpc.statistics().get("worker1").calls() >= 7);
  }

  private static void failures() {
    TandemException failed = assertThrows(TandemException.class, () -> Rpc.call("worker1", "fails"));
    assertEquals(ErrorCode.CALLBACK, failed.code());
    assertTrue(failed.getMessage().contains("fails on worker 'worker1': java.lang.IllegalStateException: out of paper"),
        failed.getMessage());
    TandemException lost = assertThrows(TandemDataLossException.class, () -> Rpc.call("worker1", "lost"));
    assertTrue(lost.getMessage().contains("record 7 is torn"), lost.getMessage());
    assertThrows(TandemInvalidArgumentException.class, () -> Rpc.call("worker1", "strange"));
    assertThrows(TandemNotFoundException.class, () -> Rpc.call("worker1", "nothing"));
    assertThrows(TandemNotFoundException.class, () -> Rpc.call("worker7", "echo"));
    assertThrows(TandemInvalidArgumentException.class, () -> Rpc.call("worker1", "echo", new Object()));
    Throwable async =
        assertThrows(CompletionException.class, () -> Rpc.callAsync("worker1", "lost").join()).getCause();
    assertEquals(TandemDataLossException.class, async.getClass());
  }

  private static Object awaited(long way) throws Exception {
    CompletableFuture<Object> call = Rpc.callAsync("worker0", "back to worker 1", way);
    return switch ((int) way % 3) {
      case 0 -> call.get();
      case 1 -> call.get(30, TimeUnit.SECONDS);
      default -> call.thenApply(back -> back).join();
    };
  }

  /** More functions wait on worker 1 than may run there at a time, and those that they wait for run there. */
  private static void circles() {
    List<CompletableFuture<Object>> under = new ArrayList<>();
    for (long i = 0; i < 12; i++) {
      under.add(Rpc.callAsync("worker1", "circle", i));
    }
    for (int i = 0; i < under.size(); i++) {
      assertEquals((long) i, under.get(i).join());
    }
  }

  private static void references() {
    try (RRef there = Rpc.remote("worker1", "echo", List.of(1, 2))) {
      assertEquals("worker1", there.owner().name());
      assertFalse(there.isOwner());
      assertEquals(List.of(1L, 2L), there.toHere());
      assertThrows(TandemInvalidArgumentException.class, there::localValue);
      try (RRef back = (RRef) ((Map<?, ?>) Rpc.call("worker1", "echo", Map.of("reference", there))).get("reference")) {
        assertEquals(List.of(1L, 2L), back.toHere());
      }
      there.close();
      assertThrows(TandemClosedException.class, there::toHere);
    }
  }

  private static void training(Tensor weight) {
    RRef theirs = (RRef) Rpc.call("worker1", "parameter");
    RRef ours = RRef.of(weight);
    assertThrows(TandemException.class,
        () -> new DistributedOptimizer("SGD", List.of(theirs), new Options().set("speed", 1.0)));
    try (theirs; ours;
        DistributedOptimizer optimizer = new DistributedOptimizer("SGD", List.of(theirs, ours), new Options().set("lr", 1.0),
            new DistributedOptimizer.Settings().beforeStep("before"));
        AutogradContext pass = new AutogradContext()) {
      optimizer.setOptions(new Options().set("lr", 0.5));
      Tensor x = Tensor.of(new double[] {1, 10});
      Tensor both = (Tensor) Rpc.call("worker1", "back", Rpc.call("worker1", "scaled", x)); // x * w1 * w0
      Tensor loss = both.sum();
      assertEquals(4 + 90, loss.item());
      pass.backward(loss);
      Tensor[] gradients = pass.gradients(weight, x);
      assertArrayEquals(new double[] {2, 30}, gradients[0].toDoubleArray());
      assertNull(gradients[1]);
      optimizer.step(pass);
      pass.close();
      assertThrows(TandemClosedException.class, () -> optimizer.step(pass));
    }
    assertArrayEquals(new double[] {1, -12}, weight.detach().toDoubleArray());
    assertArrayEquals(new double[] {1, -12}, ((Tensor) Rpc.call("worker1", "weight")).toDoubleArray());
  }
}
