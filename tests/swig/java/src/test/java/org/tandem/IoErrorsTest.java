package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.MalformedURLException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tandem.OwnSamples.Squares;
import org.tandem.data.Dataset;
import org.tandem.data.DynamicLoader;
import org.tandem.data.Loader;
import org.tandem.data.OnIoError;
import org.tandem.data.Samples;
import org.tandem.dist.Store;

/** What loaders do where samples cannot be read: onIoError and timeout. */
@Timeout(120)
class IoErrorsTest {
  private static final int COUNT = 8;
  private static final Duration BRIEF = Duration.ofMillis(300);
  private static final List<Exception> OF_READING = List.of(new TandemIOException("get", "away"),
      new TandemTimeoutException("get", "late"), new ConnectException("refused"), new TimeoutException("late"),
      new FileSystemException("/mnt/x", null, "Input/output error"),
      new UncheckedIOException(new ConnectException("no")));
  private static final List<Exception> OF_CONTENT = List.of(new IOException("bad header"),
      new NoSuchFileException("/mnt/x"), new MalformedURLException("no protocol"), new IllegalStateException("broken"));

  /** Sample 7 fails so many times. It is the last of its batch, so none is behind the end of a brief search. */
  private static Dataset failing(Exception failure, int times) {
    AtomicInteger left = new AtomicInteger(times);
    return Dataset.of(new Squares(COUNT) {
      @Override
      public Tensor[] get(long index) throws Exception {
        if (index == 7 && left.getAndDecrement() > 0) {
          throw failure;
        }
        return super.get(index);
      }
    }, "i", "square");
  }

  private static Loader.Options options() {
    return new Loader.Options().batchSize(4).globalBatch(true).shuffle(false).threads(2);
  }

  @Test
  void whatCannotBeReadIsTriedAgain() {
    for (Exception failure : OF_READING) {
      try (Dataset dataset = failing(failure, 2); Loader loader = new Loader(dataset, options())) {
        assertEquals(OwnSamples.range(0, COUNT), OwnSamples.flat(OwnSamples.epoch(loader, 0)), failure.toString());
      }
    }
  }

  @Test
  void orSkipped() {
    for (Exception failure : OF_READING) {
      try (Dataset dataset = failing(failure, Integer.MAX_VALUE);
           Loader loader = new Loader(dataset, options().onIoError(OnIoError.SKIP, BRIEF))) {
        long samples = 0;
        long skipped = 0;
        for (Loader.Batch batch : loader.epoch(0)) {
          try (batch) {
            samples += batch.localCount();
            skipped += batch.skipped();
            assertEquals(batch.globalCount(), batch.localCount() + batch.skipped());
          }
        }
        assertEquals(COUNT - 1, samples, failure.toString());
        assertEquals(1, skipped, failure.toString());
      }
    }
  }

  @Test
  void orAnErrorAtOnceOrInTime() {
    for (Exception failure : OF_READING) {
      for (OnIoError policy : List.of(OnIoError.FAIL, OnIoError.RETRY)) {
        try (Dataset dataset = failing(failure, Integer.MAX_VALUE);
             Loader loader = new Loader(dataset, options().onIoError(policy, BRIEF))) {
          TandemException error = assertThrows(TandemException.class, () -> OwnSamples.epoch(loader, 0));
          assertTrue(error instanceof TandemIOException || error instanceof TandemTimeoutException, error.toString());
          assertTrue(error.getMessage().contains("cannot load sample 7: "), error.getMessage());
          assertSame(failure, error.getCause());
        }
      }
    }
  }

  @Test
  void whatIsWrongWithASampleIsNot() {
    for (Exception failure : OF_CONTENT) {
      try (Dataset dataset = failing(failure, 1);
           Loader loader = new Loader(dataset, options().onIoError(OnIoError.SKIP, BRIEF))) {
        TandemException error = assertThrows(TandemException.class, () -> OwnSamples.epoch(loader, 0));
        assertEquals(ErrorCode.CALLBACK, error.code(), failure.toString());
        assertSame(failure, error.getCause());
      }
    }
  }

  @Test
  void norIsLackOfMemory() {
    TandemException failure = new TandemOutOfMemoryException("get", "none left");
    try (Dataset dataset = failing(failure, 1);
         Loader loader = new Loader(dataset, options().onIoError(OnIoError.SKIP, BRIEF))) {
      TandemException error = assertThrows(TandemOutOfMemoryException.class, () -> OwnSamples.epoch(loader, 0));
      assertSame(failure, error.getCause());
    }
  }

  /** The step's record says what was skipped, so that it is run again without it. */
  @Test
  void aLogHasWhatWasSkipped() {
    String log;
    DynamicLoader.Options options =
        new DynamicLoader.Options().batchSize(COUNT).microBatch(4).onIoError(OnIoError.SKIP, BRIEF).shuffle(false);
    try (Dataset dataset = failing(new ConnectException("refused"), Integer.MAX_VALUE); Store store = Store.hash();
         DynamicLoader loader = DynamicLoader.join(dataset, store, options)) {
      assertEquals(1, skippedOfAStep(loader));
      log = loader.commit();
      assertTrue(log.contains("\"skipped\":[[1,3,1]]"), log);
    }
    try (Dataset dataset = failing(new ConnectException("refused"), 0);
         DynamicLoader again = DynamicLoader.replay(dataset, List.of(log), options)) {
      assertEquals(1, skippedOfAStep(again));
      assertEquals(log, again.commit());
    }
  }

  private static long skippedOfAStep(DynamicLoader loader) {
    long skipped = 0;
    assertTrue(loader.nextStep());
    for (Loader.Batch part : loader.parts()) {
      try (part) {
        skipped += part.skipped();
      }
    }
    assertEquals(COUNT - 1, loader.globalCount());
    return skipped;
  }

  @Test
  void aBatchIsNotWaitedForForEver() {
    CountDownLatch goesOn = new CountDownLatch(1);
    Samples stuck = new Squares(4) {
      @Override
      public Tensor[] get(long index) throws Exception {
        goesOn.await();
        return super.get(index);
      }
    };
    try (Dataset dataset = Dataset.of(stuck, "i", "square");
         Loader loader = new Loader(dataset, options().timeout(Duration.ofMillis(100)))) {
      TandemException error = assertThrows(TandemTimeoutException.class, () -> OwnSamples.epoch(loader, 0));
      assertTrue(error.getMessage().contains("batch 0 is not made after 100 ms"), error.getMessage());
      goesOn.countDown();
    }
  }
}
