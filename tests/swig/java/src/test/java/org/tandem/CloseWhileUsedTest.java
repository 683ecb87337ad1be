package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.dist.Work;

/** What one thread closes while another is inside of it. */
@Timeout(240)
class CloseWhileUsedTest {
  private static final long WAIT_SECONDS = 60;

  /** A call on a thread of its own, and what it threw. */
  private static final class Inside {
    private final CompletableFuture<Throwable> thrown = new CompletableFuture<>();

    /** Returns when the thread is in that native function. */
    Inside(String function, Runnable call) throws InterruptedException {
      Thread thread = new Thread(() -> {
        try {
          call.run();
          thrown.complete(null);
        } catch (Throwable error) {
          thrown.complete(error);
        }
      });
      thread.start();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
      while (true) {
        StackTraceElement[] stack = thread.getStackTrace();
        if (stack.length > 0 && stack[0].getMethodName().equals(function)) {
          Thread.sleep(50);
          return;
        }
        assertTrue(System.nanoTime() < end && thread.isAlive(), "never in " + function);
        Thread.sleep(1);
      }
    }

    Throwable end() throws Exception {
      return thrown.get(WAIT_SECONDS, TimeUnit.SECONDS);
    }
  }

  @Test
  void aStoreIsFreedByTheLastCallThatLeavesIt() throws Exception {
    long before = Tandem.liveCount("store");
    Store store = Store.hash();
    Inside waiter = new Inside("NativeStore_await", () -> store.waitFor(List.of("never"), Duration.ofSeconds(3)));
    store.close();
    assertEquals(before + 1, Tandem.liveCount("store"), "freed while a call is inside");
    assertThrows(TandemClosedException.class, () -> store.set("a", "b"));
    store.close();
    assertInstanceOf(TandemTimeoutException.class, waiter.end());
    assertEquals(before, Tandem.liveCount("store"));
  }

  private static ProcessGroup join(Store store, int rank) {
    return ProcessGroup.init(
        new ProcessGroup.Options().store(store).rank(rank).worldSize(2).timeout(Duration.ofMinutes(30)));
  }

  @Test
  void closingAGroupWakesWhoWaitsInIt() throws Exception {
    long before = Tandem.liveCount("process_group");
    try (Store store = Store.hash()) {
      CompletableFuture<ProcessGroup> other = CompletableFuture.supplyAsync(() -> join(store, 1));
      ProcessGroup group = join(store, 0);
      try (ProcessGroup second = other.get(WAIT_SECONDS, TimeUnit.SECONDS)) {
        Inside waiter = new Inside("NativeProcessGroup_barrier", group::barrier);
        group.close();
        assertInstanceOf(TandemException.class, waiter.end());
        assertThrows(TandemClosedException.class, group::barrier);
      }
    }
    assertEquals(before, Tandem.liveCount("process_group"));
  }

  @Test
  void aWorkIsFreedByWhoAwaitsIt() throws Exception {
    long before = Tandem.liveCount("work");
    try (Store store = Store.hash()) {
      CompletableFuture<ProcessGroup> other = CompletableFuture.supplyAsync(() -> join(store, 1));
      try (ProcessGroup group = join(store, 0); ProcessGroup second = other.get(WAIT_SECONDS, TimeUnit.SECONDS)) {
        Work work = group.barrierAsync();
        Inside waiter = new Inside("NativeWork_await", work::await);
        work.close(); // which need not wait: the other thread does
        assertEquals(before + 1, Tandem.liveCount("work"), "freed while a call is inside");
        second.barrier();
        assertEquals(null, waiter.end());
      }
    }
    assertEquals(before, Tandem.liveCount("work"));
  }

  @Test
  void aLoaderIsFreedByWhoAsksForABatch() throws Exception {
    long before = Tandem.liveCount("loader");
    CompletableFuture<Void> go = new CompletableFuture<>();
    Dataset slow = Dataset.of(new OwnSamples.Squares(8) {
      @Override
      public Tensor[] get(long index) throws Exception {
        go.get();
        return super.get(index);
      }
    }, "i", "square");
    try (slow) {
      Loader loader = new Loader(slow, new Loader.Options().batchSize(4).threads(1));
      Inside asking = new Inside("NativeLoader_next", () -> loader.epoch(0).iterator().next().close());
      loader.close();
      assertEquals(before + 1, Tandem.liveCount("loader"), "freed while a call is inside");
      go.complete(null);
      assertInstanceOf(TandemAbortedException.class, asking.end());
    }
    assertEquals(before, Tandem.liveCount("loader"));
  }

  /** Closed between any two calls of one that gives batches, with another close beside. */
  @Test
  void noBatchIsLostInALoaderThatIsClosed() throws Exception {
    long loaders = Tandem.liveCount("loader");
    try (Tensor samples = Tensor.ones(DType.FLOAT32, 20000, 1); Dataset dataset = Dataset.ofTensors(List.of(samples))) {
      long tensors = Tandem.liveCount("tensor");
      for (int round = 0; round < 200; round++) {
        Loader loader = new Loader(dataset, new Loader.Options().threads(0));
        AtomicLong given = new AtomicLong();
        CompletableFuture<Throwable> end = CompletableFuture.supplyAsync(() -> {
          try {
            for (Loader.Batch batch : loader.epoch(0)) {
              batch.close();
              given.incrementAndGet();
            }
            return null;
          } catch (TandemException closed) {
            return closed;
          }
        });
        while (given.get() < round % 20 && !end.isDone()) {
          Thread.onSpinWait();
        }
        CompletableFuture<Void> other = CompletableFuture.runAsync(loader::close);
        loader.close();
        other.get(WAIT_SECONDS, TimeUnit.SECONDS);
        Throwable thrown = end.get(WAIT_SECONDS, TimeUnit.SECONDS);
        assertTrue(thrown instanceof TandemAbortedException || thrown instanceof TandemClosedException,
            () -> String.valueOf(thrown));
        assertThrows(TandemClosedException.class, () -> loader.epoch(0).iterator());
        assertEquals(tensors, Tandem.liveCount("tensor"), "in round " + round);
        assertEquals(loaders, Tandem.liveCount("loader"), "in round " + round);
      }
    }
  }

  @Test
  void tensorsAndGroupsThatAreClosedUnderTheirUsersSayThatTheyAreClosed() throws Exception {
    Child child = Child.start(List.of(), Programs.class, "close-while-used");
    child.expect(0);
    assertEquals("left 0 0", child.output().strip());
  }

  @Test
  void aClosedObjectInAListIsRefusedAndNotTakenForNone() {
    try (Tensor open = Tensor.scalar(1)) {
      Tensor closed = Tensor.scalar(2);
      closed.close();
      assertThrows(TandemClosedException.class, () -> Tensor.stack(List.of(open, closed), 0));
      assertThrows(TandemClosedException.class, () -> Dataset.ofTensors(List.of(closed)));
    }
  }
}
