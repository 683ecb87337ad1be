package org.tandem;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.dist.Launch;
import org.tandem.dist.Metrics;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.ReduceOp;
import org.tandem.dist.Store;

/** What the tests run as processes of their own. */
final class Programs {
  private Programs() {}

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "version" -> System.out.println(Tandem.version());
      case "load" -> Tandem.load(arguments[1], Tandem.LoadDevice.CPU);
      case "place" -> place();
      case "report" -> report();
      case "all-reduce" -> allReduce(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
      case "rpc" -> RpcTest.worker(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
      case "rpc-gpu" -> RpcGpuTest.worker(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
      case "parameters" -> ParameterServerTest.process(
          Path.of(arguments[1]), Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]), arguments[4]);
      case "several-values" -> severalValues(Path.of(arguments[1]), Integer.parseInt(arguments[2]), arguments[3]);
      case "train-a-script" -> ScriptModuleTest.train(
          Path.of(arguments[1]), Integer.parseInt(arguments[2]), arguments[3], Path.of(arguments[4]));
      case "end-while-computing" -> endWhileComputing();
      case "end-while-waiting" -> endWhileWaiting();
      case "end-with-a-dropped-work" -> endWithADroppedWork();
      case "close-while-used" -> closeWhileUsed();
      case "drop-a-scope" -> dropAScope();
      case "train-without-scopes" -> trainWithoutScopes();
      case "own-data" -> ownData();
      case "end-in-callbacks" -> endInCallbacks(arguments[1]);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  private static void place() {
    System.out.println(Launch.rank() + " of " + Launch.worldSize() + ", " + Launch.localRank() + " of " + Launch.localWorldSize()
        + " on " + Launch.nodeRank() + " by '" + Launch.launcher() + "'");
  }

  /** Steps that it reports, until it is ended. */
  private static void report() throws InterruptedException {
    for (int step = 1; step < 100_000; step++) {
      new Metrics().epoch(2).samples(8).loss(1.5 + step).waited(Duration.ofMillis(250)).report();
      Thread.sleep(10);
    }
  }

  /** One of two ranks that meet through a file. */
  private static void allReduce(Path file, int rank) {
    try (Store store = Store.file(file, 2);
        ProcessGroup group = ProcessGroup.init(
            new ProcessGroup.Options().store(store).rank(rank).worldSize(2).timeout(Duration.ofSeconds(60)));
        Tensor tensor = Tensor.of(new float[] {rank + 1, 10 * (rank + 1)})) {
      group.allReduce(tensor);
      float[] sum = tensor.toFloatArray();
      System.out.println("sum " + sum[0] + " " + sum[1] + " on rank " + group.rank() + " of " + group.size());
    }
  }

  /** One of two ranks that train a module of several inputs and outputs. */
  private static void severalValues(Path file, int rank, String how) {
    try (Store store = Store.file(file, 2);
        ProcessGroup group = ProcessGroup.init(
            new ProcessGroup.Options().store(store).rank(rank).worldSize(2).timeout(Duration.ofSeconds(60)))) {
      double off = Translator.trainsAsOne(group, how);
      System.out.println(off < 1e-5 ? "as one" : "parameters are off by " + off);
    }
  }

  /** main returns while daemon threads are inside operators and backward. */
  private static void endWhileComputing() throws InterruptedException {
    int threads = 4;
    CountDownLatch computing = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(() -> compute(computing));
      thread.setDaemon(true);
      thread.start();
    }
    computing.await();
    System.out.println("leaving");
  }

  private static void compute(CountDownLatch computing) {
    boolean first = true;
    try {
      while (true) {
        try (Scope scope = Scope.open()) {
          Tensor x = Tensor.randn(300, 300).requiresGrad(true);
          x.matmul(x).tanh().matmul(x).sum().backward();
        }
        if (first) {
          computing.countDown();
          first = false;
        }
      }
    } catch (TandemClosedException atTheEnd) {
      // What a thread meets that computes while the program ends.
    }
  }

  /** main returns while a daemon thread waits for a rank that never calls. */
  private static void endWhileWaiting() throws InterruptedException {
    CountDownLatch waiting = new CountDownLatch(1);
    Thread thread = new Thread(() -> {
      try (Store store = Store.hash()) {
        store.set("ready", "1");
        waiting.countDown();
        ProcessGroup.init(new ProcessGroup.Options().store(store).rank(0).worldSize(2)
            .timeout(Duration.ofMinutes(5))).close();
      } catch (TandemException atTheEnd) {
        // Aborted by the end of the program.
      }
    });
    thread.setDaemon(true);
    thread.start();
    waiting.await();
    System.out.println("leaving");
  }

  /** main returns while a work that nobody has waits for a rank that never calls. */
  private static void endWithADroppedWork() throws InterruptedException {
    Store store = Store.hash();
    Thread other = new Thread(() -> held = ProcessGroup.init(options(store).rank(1)));
    other.start();
    ProcessGroup group = ProcessGroup.init(options(store).rank(0));
    other.join();
    group.allReduceAsync(Tensor.scalar(1), ReduceOp.SUM);
    for (int i = 0; i < 20; i++) {
      System.gc();
      Thread.sleep(10);
    }
    System.out.println("leaving");
  }

  private static ProcessGroup held;

  private static ProcessGroup.Options options(Store store) {
    return new ProcessGroup.Options().store(store).worldSize(2).timeout(Duration.ofMinutes(30));
  }

  /** One thread closes what others are using. Prints how often they were told so. */
  private static void closeWhileUsed() throws Exception {
    AtomicReference<Tensor> tensor = new AtomicReference<>(Tensor.ones(DType.FLOAT32, 8));
    AtomicReference<ProcessGroup> group = new AtomicReference<>(alone());
    AtomicLong told = new AtomicLong();
    AtomicBoolean ended = new AtomicBoolean();
    List<Thread> users = new ArrayList<>();
    for (Runnable use : List.<Runnable>of(() -> read(tensor.get()), () -> read(tensor.get()),
             () -> group.get().abort(), () -> group.get().barrier())) {
      Thread user = new Thread(() -> {
        while (!ended.get()) {
          try {
            use.run();
          } catch (TandemClosedException closed) {
            told.incrementAndGet();
          } catch (TandemAbortedException | TandemPeerLostException aborted) {
            // As the others say.
          }
        }
      });
      users.add(user);
      user.start();
    }
    for (int i = 0; i < 20_000; i++) {
      tensor.getAndSet(Tensor.ones(DType.FLOAT32, 8)).close();
      if (i % 100 == 0) {
        group.getAndSet(alone()).close();
      }
    }
    ended.set(true);
    for (Thread user : users) {
      user.join();
    }
    tensor.get().close();
    group.get().close();
    System.out.println("left " + Tandem.liveCount("tensor") + " " + Tandem.liveCount("process_group"));
  }

  private static ProcessGroup alone() {
    try (Store store = Store.hash()) {
      return ProcessGroup.init(new ProcessGroup.Options().backend("none").store(store).rank(0).worldSize(1));
    }
  }

  private static void read(Tensor tensor) {
    try (Tensor sum = tensor.sum()) {
      if (sum.item() != 8) {
        throw new IllegalStateException("the sum is " + sum.item());
      }
    }
  }

  /** Where it was opened is told. */
  private static void dropAScope() throws Exception {
    Scope.open();
    Tensor.scalar(1);
    for (int i = 0; i < 100 && Tandem.liveCount("tensor") > 0; i++) {
      System.gc();
      Thread.sleep(10);
    }
    System.out.println("left " + Tandem.liveCount("tensor"));
  }

  /** Data of Java's own through two native threads. */
  private static void ownData() {
    int samples = 0;
    try (Dataset dataset = OwnSamples.squares(5000).map(sample -> sample);
        Dataset stream = Dataset.of(new OwnSamples.Counting(5000), "i");
        Loader first = new Loader(dataset, new Loader.Options().batchSize(1000).threads(2));
        Loader second = new Loader(stream, new Loader.Options().batchSize(1000).threads(2))) {
      for (int epoch = 0; epoch < 2; epoch++) {
        samples += OwnSamples.flat(OwnSamples.epoch(first, epoch)).size();
        samples += OwnSamples.flat(OwnSamples.epoch(second, epoch)).size();
      }
    }
    System.out.println(samples + " samples");
  }

  /** The program ends while a loader's threads are inside of its callbacks. */
  private static void endInCallbacks(String how) throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(2);
    Dataset dataset = Dataset.of(new OwnSamples.Squares(1 << 20) {
      @Override
      public Tensor[] get(long index) throws Exception {
        if (asked.get() > 100) {
          inside.countDown();
          switch (how) {
            case "busy" -> { }
            case "stuck", "stuck-as-main-returns" -> {
              while (true) {
                Thread.onSpinWait();
              }
            }
            case "from-inside" -> {
              System.out.println("leaving");
              System.exit(3);
            }
            default -> Thread.sleep(Long.MAX_VALUE);
          }
        }
        return super.get(index);
      }
    }, "i", "square");
    Loader loader = new Loader(dataset, new Loader.Options().batchSize(64).threads(2).prefetch(4));
    Thread consumer = new Thread(() -> {
      try {
        while (true) {
          loader.epoch(0).forEach(Loader.Batch::close);
        }
      } catch (TandemException atTheEnd) {
        // Aborted by the end of the program.
      }
    });
    consumer.setDaemon(true);
    if (!how.startsWith("asleep")) {
      consumer.start();
    } else {
      loader.epoch(0).iterator();
    }
    inside.await();
    if (how.equals("from-inside")) {
      Thread.sleep(Long.MAX_VALUE);
    }
    System.out.println("leaving");
    if (!how.endsWith("as-main-returns")) {
      System.exit(3);
    }
  }

  /** Tensors that nobody closes: 64 MB each, 4 GB in all. Prints what stayed alive at most. */
  private static void trainWithoutScopes() {
    long most = 0;
    for (int i = 0; i < 64; i++) {
      Tensor.zeros(DType.FLOAT32, 16, 1 << 20);
      most = Math.max(most, Tandem.tensorLiveBytes());
    }
    System.out.println("most " + (most >> 20));
  }
}
