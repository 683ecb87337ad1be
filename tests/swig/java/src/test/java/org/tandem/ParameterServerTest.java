package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.dist.CheckpointFolder;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.rpc.EmbeddingTable;
import org.tandem.rpc.ParameterClient;
import org.tandem.rpc.ParameterServer;
import org.tandem.rpc.Rpc;

@Timeout(180)
class ParameterServerTest {
  private static final int STEPS = 6;
  private static final Tensor ALL_ROWS = Tensor.of(new long[] {0, 1, 2, 3, 4});

  /** The servers, then two trainers, each a process. */
  private static void run(Path folder, int servers, String how) throws Exception {
    List<Child> children = new ArrayList<>();
    for (int rank = 0; rank < servers + 2; rank++) {
      children.add(Child.start(
          List.of(), Programs.class, "parameters", folder.toString(), Integer.toString(servers), Integer.toString(rank), how));
    }
    for (Child child : children) {
      child.expect(0);
    }
  }

  @Test
  void trainersInStepAreAsOneProcess(@TempDir Path folder) throws Exception {
    run(folder, 2, "in step");
  }

  @Test
  void aTrainerGoesOnWithoutTheOther(@TempDir Path folder) throws Exception {
    run(folder, 1, "each by itself");
  }

  /** One of the processes. */
  static void process(Path folder, int servers, int rank, String how) {
    if (rank < servers) {
      serve(folder, servers, rank, how);
      return;
    }
    int trainer = rank - servers;
    join(folder, "trainer" + trainer, rank, servers + 2);
    try (Store store = Store.file(folder.resolve("trainers"), 2);
        ProcessGroup trainers = ProcessGroup.init(new ProcessGroup.Options().store(store).rank(trainer).worldSize(2))) {
      if (how.equals("in step")) {
        trainInStep(folder, trainers);
      } else {
        trainApart(trainers);
      }
    }
    Rpc.shutdown();
  }

  private static void join(Path folder, String name, int rank, int size) {
    try (Store store = Store.file(folder.resolve("workers"), size)) {
      Rpc.init(new Rpc.Options().name(name).store(store).rank(rank).worldSize(size).timeout(Duration.ofSeconds(60)));
    }
  }

  private static void serve(Path folder, int servers, int rank, String how) {
    try (ParameterServer server = new ParameterServer(1 << 20)) {
      assertThrows(TandemInvalidArgumentException.class, ParameterServer::new);
      join(folder, "server" + rank, rank, servers + 2);
      assertFalse(server.await(Duration.ofMillis(20)));
      assertTrue(server.await(Duration.ofSeconds(100)));
      ParameterServer.Statistics counted = server.statistics();
      assertTrue(counted.pushes() >= STEPS && counted.rowsRead() > 0 && counted.bytes() > 0, counted.toString());
      assertEquals(List.of(), server.trainers());
      assertTrue(server.tables().contains("words"), server.tables().toString());
      if (how.equals("in step")) {
        assertEquals(counted.pushes(), 2 * counted.updates(), counted.toString());
      }
      Rpc.shutdown();
      server.close();
      assertThrows(TandemClosedException.class, server::statistics);
    }
  }

  private static Tensor initialRows() {
    return Tensor.of(new double[] {0, 0.64, 0.98, 0.86, 0.33, -0.35, -0.87, -0.98, -0.63, 0.02}).reshape(5, 2);
  }

  private static ParameterClient.Options options(Tensor weight, String... servers) {
    return new ParameterClient.Options().servers(servers).trainers(2).timeout(Duration.ofSeconds(60))
        .table("words", new EmbeddingTable(5, 2).dtype(DType.FLOAT64).optimizer("Adagrad", new Options().set("lr", 0.1))
                            .byRange(true).initial(initialRows()))
        .table("drawn", new EmbeddingTable(40, 3).standardDeviation(0.5).seed(3))
        .dense(Map.of("weight", weight), "SGD", new Options().set("lr", 0.01));
  }

  private static void trainInStep(Path folder, ProcessGroup trainers) {
    int trainer = trainers.rank();
    Tensor weight = Tensor.of(new double[] {0.5 + trainer}).requiresGrad(true);
    EmbeddingTable adam = new EmbeddingTable(5, 2).optimizer("Adam", new Options());
    TandemException unfit = assertThrows(TandemUnsupportedException.class,
        () -> new ParameterClient(options(weight, "server0", "server1").table("more", adam)));
    assertTrue(unfit.getMessage().startsWith("ParameterClient: ") && unfit.getMessage().contains("more"), unfit.getMessage());
    assertThrows(TandemInvalidArgumentException.class, () -> new ParameterClient(options(weight)));
    assertThrows(TandemNotFoundException.class, () -> new ParameterClient(options(weight, "server7")));
    trainers.barrier();
    try (ParameterClient client = new ParameterClient(options(weight, "server0", "server1"))) {
      double first = weight.item(); // of who joined first
      assertTrue(first == 0.5 || first == 1.5, "the weight is " + first);
      compareSteps(client, trainer, weight, first);
      misuse(client);
      trainers.barrier();
      saveAndLoad(client, folder, trainers, weight);
      client.leave();
      client.leave();
      client.close();
      assertThrows(TandemClosedException.class, client::step);
    }
  }

  /** Of part {@code part} of two of a step's batch. */
  private static Tensor loss(int step, int part, Tensor weight, UnaryOperator<Tensor> lookUp) {
    long[] ids = LongStream.range(0, 4).filter(i -> i % 2 == part).map(i -> (i * 3 + (long) step * step) % 5).toArray();
    return lookUp.apply(Tensor.of(ids)).mul(weight).pow(2).sum();
  }

  private static void compareSteps(ParameterClient client, int trainer, Tensor weight, double first) {
    Tensor rows = initialRows().requiresGrad(true);
    Tensor own = Tensor.of(new double[] {first}).requiresGrad(true);
    Tensor sums = Tensor.zeros(DType.FLOAT64, 5, 2);
    for (int step = 0; step < STEPS; step++) {
      assertEquals(step, client.steps());
      loss(step, trainer, weight, ids -> client.embedding("words", ids)).backward();
      client.step();
      UnaryOperator<Tensor> lookUp = ids -> rows.indexSelect(0, ids);
      loss(step, 0, own, lookUp).add(loss(step, 1, own, lookUp)).div(2).backward();
      try (var off = Tandem.noGrad()) { // Adagrad and SGD
        sums.addInPlace(rows.grad().pow(2));
        rows.addInPlace(rows.grad().div(sums.sqrt().add(1e-10)).mul(-0.1));
        own.addInPlace(own.grad().mul(-0.01));
      }
      rows.setGrad(null);
      own.setGrad(null);
    }
    Tensor now = client.embedding("words", ALL_ROWS);
    assertTrue(now.requiresGrad());
    assertArrayEquals(rows.detach().toDoubleArray(), now.detach().toDoubleArray(), 1e-12);
    assertEquals(own.item(), weight.item(), 1e-12);
    Tensor drawn = client.embedding("drawn", Tensor.of(new long[] {0, 39, 7, 8}).reshape(2, 2)).detach();
    assertArrayEquals(new long[] {2, 2, 3}, drawn.sizes());
    double largest = drawn.abs().max().item();
    assertTrue(drawn.dtype() == DType.FLOAT32 && largest > 0 && largest < 4, drawn.toString());
  }

  private static void misuse(ParameterClient client) {
    assertThrows(TandemNotFoundException.class, () -> client.embedding("users", ALL_ROWS));
    String far = assertThrows(TandemOutOfRangeException.class, () -> client.embedding("words", Tensor.of(new long[] {5}))).getMessage();
    assertTrue(far.startsWith("ParameterClient.embedding: ") && far.contains("words"), far);
    assertThrows(TandemInvalidArgumentException.class, () -> client.embedding("words", Tensor.of(new double[] {1})));
    assertThrows(TandemNotFoundException.class, () -> client.setOptions("words", new Options().set("speed", 1)));
    assertThrows(TandemInvalidArgumentException.class, // one a process
        () -> new ParameterClient(new ParameterClient.Options().servers("server0")));
  }

  private static void saveAndLoad(ParameterClient client, Path folder, ProcessGroup trainers, Tensor weight) {
    try (CheckpointFolder checkpoints = new CheckpointFolder(folder.resolve("saved"), 0, trainers)) {
      assertTrue(checkpoints.load(client).isEmpty());
      Tensor before = client.embedding("words", ALL_ROWS);
      double weightBefore = weight.item();
      Map<String, Tensor> net = Map.of("net", Tensor.of(new double[] {4}));
      checkpoints.saveAsync(1, new CheckpointFolder.Content().add("model", net).addTables(client).values("{\"kept\": 1}"));
      checkpoints.await();
      trainers.barrier();
      if (trainers.rank() == 0) {
        client.setOptions("words", new Options().set("lr", 0.2));
        client.setOptions("", new Options().set("lr", 0.02));
      }
      trainers.barrier();
      before.sum().add(weight.sum()).backward();
      client.step();
      assertEquals(weightBefore - 0.02, weight.item(), 1e-12);
      assertNotEquals(before.detach().sum().item(), client.embedding("words", ALL_ROWS).detach().sum().item());
      trainers.barrier();
      CheckpointFolder.Loaded loaded = checkpoints.load(client).orElseThrow();
      assertEquals(1, loaded.step());
      assertEquals(2, loaded.worldSize());
      assertEquals("{\"kept\": 1}", loaded.values());
      assertEquals(List.of("model"), List.copyOf(loaded.sections().keySet()));
      assertArrayEquals(before.detach().toDoubleArray(), client.embedding("words", ALL_ROWS).detach().toDoubleArray());
      assertEquals(weightBefore, weight.item());

      Map<String, Map<String, Tensor>> all = checkpoints.load(1).sections();
      assertArrayEquals(before.detach().toDoubleArray(), all.get("tables").get("words").toDoubleArray());
      assertTrue(all.get("table_optimizers").containsKey("words.sum"), all.get("table_optimizers").keySet().toString());

      checkpoints.save(2, new CheckpointFolder.Content().add("model", net));
      assertThrows(TandemException.class, () -> checkpoints.load(client));
      assertEquals(1, checkpoints.load(1, client).step());
      assertThrows(TandemInvalidArgumentException.class, () -> checkpoints.load(-1, client));
    }
  }

  /** Trainer 1 makes one step, and gives up; the other one makes its steps. */
  private static void trainApart(ProcessGroup trainers) {
    Tensor weight = Tensor.of(new double[] {0.5}).requiresGrad(true);
    try (ParameterClient client =
             new ParameterClient(options(weight, "server0").synchronous(false).staleness(2).goOnWithoutLost(true))) {
      int steps = trainers.rank() == 0 ? STEPS : 1;
      for (int step = 0; step < steps; step++) {
        loss(step, trainers.rank(), weight, ids -> client.embedding("words", ids)).backward();
        client.step();
      }
      assertEquals(steps, client.steps());
      if (trainers.rank() == 0) {
        client.leave();
      }
    }
    trainers.barrier();
  }
}
