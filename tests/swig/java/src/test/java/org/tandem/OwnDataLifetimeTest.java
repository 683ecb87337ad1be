package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.OwnSamples.Counting;
import org.tandem.OwnSamples.Squares;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.data.Samples;
import org.tandem.data.Tail;

/** What data sets of Java's own leave behind, and how native threads and the program's end get along with them. */
@Timeout(120)
class OwnDataLifetimeTest {
  private static final int BATCH = 4;

  private static Loader.Options options() {
    return new Loader.Options().batchSize(BATCH).globalBatch(true).tail(Tail.SHORT).seed(5);
  }

  private static final List<String> KINDS =
      List.of("tensor", "dataset", "loader", "callback", "scope", "error", "string");

  private static List<Long> live() { return KINDS.stream().map(Tandem::liveCount).toList(); }

  @Test
  void nothingLeaks() {
    List<Long> before = live();
    for (int threads = 0; threads <= 2; threads++) {
      try (Dataset own = OwnSamples.squares(200); Dataset mapped = own.map(sample -> {
        try (Scope scope = Scope.open()) {
          return new Tensor[] {scope.keep(sample[0].add(sample[0])), scope.keep(sample[1].mul(2).add(1))};
        }
      });
           Dataset stream = Dataset.of(new Counting(200), "i");
           Dataset failing = Dataset.of(OwnSamples.broken(new IOException("no")), "i", "square");
           Loader first = new Loader(mapped, options().threads(threads));
           Loader second = new Loader(stream, options().threads(threads).rank(1, 2));
           Loader third = new Loader(failing, options().threads(threads))) {
        for (long epoch = 0; epoch < 2; epoch++) {
          long number = epoch;
          assertEquals(200, OwnSamples.flat(OwnSamples.epoch(first, epoch)).size());
          OwnSamples.epoch(second, epoch);
          assertThrows(TandemException.class, () -> {
            for (Loader.Batch batch : third.epoch(number)) {
              batch.close();
            }
          });
        }
        first.epoch(2).iterator().next().close(); // closed in the middle
      }
      assertEquals(before, live(), KINDS + " with " + threads + " threads");
    }
  }

  /** References that a native thread got from Java go with each call, however many it makes. */
  @Test
  void nativeThreadsKeepNoReferences() throws Exception {
    Child child = Child.start(List.of("-Xcheck:jni"), Programs.class, "own-data");
    child.expect(0);
    assertEquals("20000 samples", child.output().strip());
  }

  private static WeakReference<Samples> loadAndClose() {
    Samples samples = new Squares(8);
    try (Dataset dataset = Dataset.of(samples, "i", "square"); Loader loader = new Loader(dataset, options())) {
      dataset.close();
      System.gc();
      assertEquals(8, OwnSamples.flat(OwnSamples.epoch(loader, 0)).size());
    }
    return new WeakReference<>(samples);
  }

  @Test
  void nativeCodeHoldsTheProgramsObjectAsLongAsItMayCallIt() throws InterruptedException {
    WeakReference<Samples> samples = loadAndClose();
    for (int i = 0; i < 100 && samples.get() != null; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertNull(samples.get());
  }

  @Test
  void theCollectorFreesDataSets() throws InterruptedException {
    long before = Tandem.liveCount("dataset");
    OwnSamples.squares(3);
    assertEquals(before + 1, Tandem.liveCount("dataset"));
    for (int i = 0; i < 100 && Tandem.liveCount("dataset") > before; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertTrue(Tandem.liveCount("dataset") <= before);
  }

  @Test
  void aLoaderIsClosedWhileItsThreadsAreInsideOfCallbacks() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(2);
    AtomicInteger running = new AtomicInteger();
    Samples slow = new Squares(1000) {
      @Override
      public Tensor[] get(long index) throws Exception {
        running.incrementAndGet();
        inside.countDown();
        Thread.sleep(20);
        Tensor[] sample = super.get(index);
        running.decrementAndGet();
        return sample;
      }
    };
    long callbacks = Tandem.liveCount("callback");
    try (Dataset dataset = Dataset.of(slow, "i", "square")) {
      Loader loader = new Loader(dataset, options().threads(2));
      loader.epoch(0).iterator().next().close();
      inside.await();
      loader.close();
      assertEquals(0, running.get(), "close() waits for what its threads call");
      loader.close();
      assertThrows(TandemClosedException.class, loader::state);
    }
    assertEquals(callbacks, Tandem.liveCount("callback"));
  }

  @Test
  void aCallbackMayCloseItsOwnLoader() throws InterruptedException {
    long before = Tandem.liveCount("loader");
    for (int threads : new int[] {0, 1, 2}) {
      AtomicReference<Loader> loader = new AtomicReference<>();
      CountDownLatch closed = new CountDownLatch(1);
      Samples closing = new Squares(64) {
        @Override
        public Tensor[] get(long index) throws Exception {
          loader.get().close();
          closed.countDown();
          return super.get(index);
        }
      };
      try (Dataset dataset = Dataset.of(closing, "i", "square")) {
        loader.set(new Loader(dataset, options().threads(threads)));
        Iterator<Loader.Batch> batches = loader.get().epoch(0).iterator();
        if (threads == 0) {
          assertThrows(TandemAbortedException.class, batches::next);
        }
        closed.await();
        assertThrows(TandemClosedException.class, batches::next);
      }
    }
    Garbage.collectUntil(() -> Tandem.liveCount("loader") == before, "a loader that a callback closed stays");
  }

  @Test
  void loadersThreadsAreDaemonsWithNamesAndClassLoaders() {
    Set<String> seen = Collections.newSetFromMap(new ConcurrentHashMap<>());
    Samples samples = new Squares(8) {
      @Override
      public Tensor[] get(long index) throws Exception {
        Thread thread = Thread.currentThread();
        seen.add(thread.getName() + " " + thread.isDaemon() + " " + (thread.getContextClassLoader() != null));
        return super.get(index);
      }
    };
    try (Dataset dataset = Dataset.of(samples, "i", "square");
         Loader loader = new Loader(dataset, options().threads(2))) {
      OwnSamples.epoch(loader, 0);
    }
    assertEquals(Set.of("tandem-loader true true"), seen);
  }

  @Test
  void aProgramThatEndsInsideOfCallbacksEndsCleanly() throws Exception {
    for (String how : List.of("busy", "asleep", "waiting-in-next", "asleep-as-main-returns")) {
      long start = System.nanoTime();
      Child child = Child.start(List.of(), Programs.class, "end-in-callbacks", how);
      child.expect(how.endsWith("as-main-returns") ? 0 : 3);
      assertEquals("leaving", child.output().strip(), how);
      long seconds = (System.nanoTime() - start) / 1_000_000_000;
      assertTrue(seconds < 9, how + ": the end took " + seconds + " s");
    }
  }

  /** A callback that nothing ends: the program still does, with its code. */
  @Test
  void aProgramThatACallbackEndsEndsWithItsCode() throws Exception {
    Child child = Child.start(List.of(), Programs.class, "end-in-callbacks", "from-inside");
    child.expect(3);
    assertTrue(child.output().startsWith("leaving"), child.output());
    assertFalse(child.output().contains("SIG"), child.output());
  }
}
