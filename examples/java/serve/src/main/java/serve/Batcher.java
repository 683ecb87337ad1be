package serve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.tandem.TandemException;

/** Computes requests that arrive together as one batch, on one thread. */
final class Batcher implements AutoCloseable {
  private static final Request LAST = new Request(new Rows(0, new double[0]), new CompletableFuture<>());

  private final Model model;
  private final Duration wait;
  private final BlockingQueue<Request> queue;
  private final Thread thread = new Thread(this::run, "batches");
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong batches = new AtomicLong();
  private final AtomicLong largest = new AtomicLong();

  private record Request(Rows rows, CompletableFuture<String> answer) {}

  /** For at most so many requests at once, the first of which waits so long for others. */
  Batcher(Model model, int most, Duration wait) {
    this.model = model;
    this.wait = wait;
    queue = new LinkedBlockingQueue<>(most + 1);
    thread.setDaemon(true);
    thread.start();
  }

  /** The results in JSON, later, or the exception that the model throws. */
  CompletableFuture<String> predict(Rows rows) {
    Request request = new Request(rows, new CompletableFuture<>());
    queue.add(request);
    return request.answer;
  }

  /** {"requests": …, "batches": …, "largest_batch": …} of what was computed. */
  String statistics() {
    return "{\"requests\": " + requests + ", \"batches\": " + batches + ", \"largest_batch\": " + largest + "}";
  }

  private void run() {
    try {
      Request next = queue.take();
      while (next != LAST) {
        List<Request> batch = new ArrayList<>();
        next = gather(next, batch);
        compute(batch);
        if (next == null) {
          next = queue.take();
        }
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** Takes requests until the batch is full or the time is over; gives what did not fit, which begins the next batch, or null. */
  private Request gather(Request first, List<Request> batch) throws InterruptedException {
    long over = System.nanoTime() + wait.toNanos();
    int count = 0;
    Request next = first;
    while (next != null && next != LAST && count + next.rows.count() <= model.most()) {
      batch.add(next);
      count += next.rows.count();
      if (count == model.most()) {
        return null;
      }
      next = queue.poll(Math.max(0, over - System.nanoTime()), TimeUnit.NANOSECONDS);
    }
    return next;
  }

  private void compute(List<Request> batch) {
    requests.addAndGet(batch.size());
    batches.incrementAndGet();
    largest.accumulateAndGet(batch.stream().mapToInt(request -> request.rows.count()).sum(), Math::max);
    try {
      List<String> results = model.predict(batch.stream().map(Request::rows).toList());
      for (int i = 0; i < batch.size(); i++) {
        batch.get(i).answer.complete(results.get(i));
      }
    } catch (TandemException error) {
      // What is wrong with one request is no fault of the others.
      if (batch.size() == 1) {
        batch.get(0).answer.completeExceptionally(error);
      } else {
        batch.forEach(this::computeAlone);
      }
    } catch (RuntimeException | Error error) {
      batch.forEach(request -> request.answer.completeExceptionally(error));
    }
  }

  private void computeAlone(Request request) {
    try {
      request.answer.complete(model.predict(List.of(request.rows)).get(0));
    } catch (RuntimeException | Error error) {
      request.answer.completeExceptionally(error);
    }
  }

  /** Ends it after what is in the queue. */
  @Override
  public void close() {
    queue.add(LAST);
    try {
      thread.join();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
