package org.tandem;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;

/** What the tests run as processes of their own. */
final class Programs {
  private Programs() {}

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "version" -> System.out.println(Tandem.version());
      case "load" -> Tandem.load(arguments[1], Tandem.LoadDevice.CPU);
      case "all-reduce" -> allReduce(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
      case "end-while-computing" -> endWhileComputing();
      case "end-while-waiting" -> endWhileWaiting();
      case "train-without-scopes" -> trainWithoutScopes();
      default -> throw new IllegalArgumentException(arguments[0]);
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
