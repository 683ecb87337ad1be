package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.data.Dataset;
import org.tandem.data.DynamicLoader;
import org.tandem.data.Loader;
import org.tandem.data.Tail;
import org.tandem.dist.Store;

/** Micro-batches for whichever rank is free, of data of Java's own. */
@Timeout(100)
class DynamicLoaderTest {
  private static final int COUNT = 45;

  private static DynamicLoader.Options options(int rank, int size) {
    return new DynamicLoader.Options().batchSize(8).microBatch(3).seed(5).rank(rank, size);
  }

  /** What one rank had in an epoch. */
  private static final class Epoch {
    final TreeMap<Long, List<Long>> steps = new TreeMap<>();
    final List<String> log = new ArrayList<>();
    byte[] state;

    /** {@code meet}: as the exchange of gradients would. */
    Epoch(DynamicLoader loader, CyclicBarrier meet) throws Exception {
      while (loader.nextStep()) {
        long own = 0;
        for (Loader.Batch part : loader.parts()) {
          try (part) {
            assertArrayEquals(part.samples(), part.get("i").toLongArray());
            own += part.localCount();
            steps.computeIfAbsent(loader.step(), step -> new ArrayList<>())
                .addAll(Arrays.stream(part.samples()).boxed().toList());
            assertEquals(loader.step() == 5 ? 5 : 8, part.globalCount());
          }
        }
        assertEquals(own, loader.localCount());
        assertEquals(loader.step() == 5 ? 5 : 8, loader.globalCount());
        meet.await();
        log.add(loader.commit());
      }
      assertEquals(1, loader.epoch());
      state = loader.state();
    }
  }

  @Test
  void ranksShareTheGlobalBatchesOfTheStaticPartition() throws Exception {
    Dataset dataset = OwnSamples.squares(COUNT);
    List<List<Long>> expected;
    byte[] end;
    try (Loader whole = new Loader(dataset,
             new Loader.Options().batchSize(8).globalBatch(true).tail(Tail.SHORT).seed(5))) {
      expected = OwnSamples.epoch(whole, 0).stream().map(OwnSamples::sorted).toList();
      end = whole.state();
    }
    for (int size = 1; size <= 3; size++) {
      int ranks = size;
      List<Epoch> epochs = new ArrayList<>();
      ExecutorService threads = Executors.newFixedThreadPool(size);
      CyclicBarrier meet = new CyclicBarrier(size);
      try (Store store = Store.hash()) {
        List<Future<Epoch>> running = new ArrayList<>();
        for (int i = 0; i < size; i++) {
          int rank = i;
          running.add(threads.submit(() -> {
            try (DynamicLoader loader = DynamicLoader.join(dataset, store, options(rank, ranks))) {
              return new Epoch(loader, meet);
            }
          }));
        }
        for (Future<Epoch> rank : running) {
          epochs.add(rank.get(60, TimeUnit.SECONDS));
        }
      } finally {
        threads.shutdownNow();
      }
      List<List<Long>> found = new ArrayList<>();
      for (long step = 0; step < expected.size(); step++) {
        List<Long> samples = new ArrayList<>();
        for (Epoch epoch : epochs) {
          samples.addAll(epoch.steps.getOrDefault(step, List.of()));
        }
        found.add(OwnSamples.sorted(samples));
      }
      assertEquals(expected, found, size + " ranks");
      for (int rank = 0; rank < size; rank++) {
        assertArrayEquals(end, epochs.get(rank).state);
        try (DynamicLoader again = DynamicLoader.replay(dataset, epochs.get(0).log, options(rank, size))) {
          assertEquals(epochs.get(rank).steps, new Epoch(again, new CyclicBarrier(1)).steps, "rank " + rank + " of " + size + " again");
        }
      }
    }
    dataset.close();
  }

  @Test
  void samplesThatFailAreLeftOut() {
    List<Long> before = live();
    try (Dataset dataset = Dataset.of(new OwnSamples.Squares(6) {
           @Override
           public Tensor[] get(long index) throws Exception {
             if (index == 3) {
               throw new IOException("sector 3 is bad");
             }
             return super.get(index);
           }
         }, "i", "square");
        Store store = Store.hash()) {
      DynamicLoader.Options options = new DynamicLoader.Options().batchSize(6).mostFailures(2).threads(2);
      byte[] state;
      String quarantine;
      try (DynamicLoader loader = DynamicLoader.join(dataset, store, options)) {
        assertEquals(List.of("i", "square"), loader.fieldNames());
        loader.addTransforms("[{\"step\": \"to_float\", \"fields\": [\"square\"], \"scale\": 1}]");
        assertTrue(loader.nextStep());
        boolean failed = false;
        for (Loader.Batch part : loader.parts()) {
          try (part) {
            if (part.samples()[0] == 4 && !failed) {
              failed = true;
              loader.fail(4, "the loss is NaN");
            }
          }
        }
        assertEquals(5, loader.globalCount());
        String record = loader.commit();
        assertTrue(record.contains("sector 3 is bad"), record);
        state = loader.state();
        quarantine = loader.quarantine();
        assertTrue(quarantine.contains("java.io.IOException: sector 3 is bad"), quarantine);
        assertTrue(loader.statistics().contains("batches"), loader.statistics());
      }
      try (DynamicLoader next =
              DynamicLoader.join(dataset, store, options.generation(2).from(state, quarantine))) {
        assertEquals(1, next.epoch());
        assertTrue(next.nextStep());
        List<Long> seen = new ArrayList<>();
        next.parts().forEach(part -> {
          seen.add(part.samples()[0]);
          part.close();
        });
        assertEquals(List.of(0L, 1L, 2L, 4L, 5L), OwnSamples.sorted(seen));
      }
    }
    assertEquals(before, live());
  }

  private static List<Long> live() {
    return List.of(Tandem.liveCount("loader"), Tandem.liveCount("dataset"), Tandem.liveCount("callback"));
  }

  /** Rank 0 holds the only part; rank 1 waits for it. */
  private static void whileWaiting(int generation, java.util.function.Consumer<DynamicLoader> end) throws Exception {
    try (Dataset dataset = OwnSamples.squares(4); Store store = Store.hash()) {
      DynamicLoader.Options options =
          new DynamicLoader.Options().batchSize(4).microBatch(4).generation(generation);
      try (DynamicLoader holder = DynamicLoader.join(dataset, store, options.rank(0, 2));
          DynamicLoader waiter = DynamicLoader.join(dataset, store, options.rank(1, 2))) {
        assertTrue(holder.nextStep());
        holder.nextPart().close();
        assertTrue(waiter.nextStep());
        Thread ends = new Thread(() -> {
          try {
            Thread.sleep(100);
          } catch (InterruptedException early) {
            Thread.currentThread().interrupt();
          }
          end.accept(waiter);
        });
        ends.start();
        assertThrows(TandemAbortedException.class, waiter::nextPart);
        ends.join();
      }
    }
  }

  @Test
  void abortAndCloseEndAWait() throws Exception {
    whileWaiting(1, DynamicLoader::abort);
    whileWaiting(2, DynamicLoader::close);
  }

  @Test
  void misuseIsRefused() {
    try (Dataset dataset = OwnSamples.squares(4); Store store = Store.hash()) {
      assertThrows(TandemInvalidArgumentException.class,
          () -> DynamicLoader.join(dataset, store, new DynamicLoader.Options().batchSize(2).microBatch(0)));
      assertThrows(TandemInvalidArgumentException.class,
          () -> DynamicLoader.join(dataset, store, new DynamicLoader.Options().tail(Tail.PAD)));
      assertThrows(TandemDataLossException.class,
          () -> DynamicLoader.join(dataset, store, new DynamicLoader.Options().from(new byte[] {0, 1}, "")));
      assertThrows(TandemInvalidArgumentException.class,
          () -> DynamicLoader.replay(dataset, List.of("no json"), new DynamicLoader.Options()));
      DynamicLoader closed = DynamicLoader.join(dataset, store, new DynamicLoader.Options());
      closed.close();
      closed.close();
      closed.abort();
      assertThrows(TandemClosedException.class, closed::nextStep);
    }
  }
}
