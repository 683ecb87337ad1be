package org.tandem;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.tandem.data.Dataset;
import org.tandem.data.IterableSamples;
import org.tandem.data.Loader;
import org.tandem.data.SampleStream;
import org.tandem.data.Samples;

/** Data of the tests' own, and what comes of it. */
final class OwnSamples {
  private OwnSamples() {}

  /** Sample i is i, and [i, i²]. */
  static class Squares implements Samples {
    final int count;
    final AtomicInteger asked = new AtomicInteger();

    Squares(int count) {
      this.count = count;
    }

    @Override
    public long size() {
      return count;
    }

    @Override
    public Tensor[] get(long index) throws Exception {
      asked.incrementAndGet();
      return new Tensor[] {Tensor.full(index, DType.INT64), Tensor.of(new float[] {index, index * index})};
    }
  }

  static Dataset squares(int count) {
    return Dataset.of(new Squares(count), "i", "square");
  }

  /** Twelve squares, of which the sixth fails. */
  static Samples broken(Throwable failure) {
    return new Squares(12) {
      @Override
      public Tensor[] get(long index) throws Exception {
        if (index == 5) {
          if (failure instanceof Error error) {
            throw error;
          }
          Exception exception = (Exception) failure;
          throw exception;
        }
        return super.get(index);
      }
    };
  }

  /** {@code count} numbers from 1000 · epoch + seed on; number {@code broken} fails. */
  static class Counting implements IterableSamples {
    final int count;
    final AtomicInteger opened = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();
    volatile Exception failure;

    Counting(int count) {
      this.count = count;
    }

    @Override
    public SampleStream open(long seed, long epoch) {
      opened.incrementAndGet();
      return new SampleStream() {
        private int at;

        @Override
        public Tensor[] next() throws Exception {
          if (at == count) {
            return null;
          }
          if (at == 7 && failure != null) {
            throw failure;
          }
          return new Tensor[] {Tensor.full(1000 * epoch + seed + at++, DType.INT64)};
        }

        @Override
        public void close() {
          closed.incrementAndGet();
        }
      };
    }
  }

  /** The first field of the batches that are left of an epoch, without rows that are no samples. */
  static List<List<Long>> epoch(Loader loader, long epoch) {
    List<List<Long>> batches = new ArrayList<>();
    for (Loader.Batch batch : loader.epoch(epoch)) {
      try (batch) {
        batches.add(Arrays.stream(batch.get(0).toLongArray()).limit(batch.localCount()).boxed().toList());
      }
    }
    return batches;
  }

  static List<Long> flat(List<List<Long>> batches) {
    return batches.stream().flatMap(List::stream).toList();
  }

  static List<Long> sorted(List<Long> numbers) {
    return numbers.stream().sorted().toList();
  }

  static List<Long> range(long begin, long end) {
    return java.util.stream.LongStream.range(begin, end).boxed().toList();
  }
}
