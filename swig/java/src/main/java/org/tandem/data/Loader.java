package org.tandem.data;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeFields;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeLoader;
import org.tandem.internal.NativeLoaderOptions;
import org.tandem.internal.NativeTensor;

/**
 * Batches of RecordIO files: this rank's part of each global batch of a shuffle that is a pure function of seed, epoch
 * and position. Native threads fill them ahead. Must be closed.
 *
 * <pre>{@code
 * for (Batch batch : loader.epoch(1)) {
 *   try (batch; Scope scope = Scope.open()) {
 *     Tensor output = model.forward(batch.get(1));
 *     …
 *   }
 * }
 * }</pre>
 */
public final class Loader implements AutoCloseable {
  /** Defaults: one rank, batches of one, shuffled with seed 0. */
  public static final class Options {
    private long batchSize = 1;
    private int rank;
    private int worldSize = 1;
    private boolean shuffle = true;
    private long seed;
    private boolean dropLast;
    private int threads = 1;
    private int prefetch = 2;

    /** Per rank. */
    public Options batchSize(long value) {
      batchSize = value;
      return this;
    }

    public Options rank(int value, int worldSizeValue) {
      rank = value;
      worldSize = worldSizeValue;
      return this;
    }

    public Options shuffle(boolean value) {
      shuffle = value;
      return this;
    }

    public Options seed(long value) {
      seed = value;
      return this;
    }

    /** false: the tail is dealt out too, padded from the epoch's start so that all ranks get equally many. */
    public Options dropLast(boolean value) {
      dropLast = value;
      return this;
    }

    public Options threads(int value) {
      threads = value;
      return this;
    }

    /** Batches ahead. */
    public Options prefetch(int value) {
      prefetch = value;
      return this;
    }
  }

  /** One tensor a field, of shape [batch, sizes…]. Its tensors belong to it and to no scope. */
  public static final class Batch implements AutoCloseable {
    private final Tensor[] tensors;

    private Batch(Tensor[] tensors) {
      this.tensors = tensors;
    }

    public Tensor get(int field) {
      return tensors[field];
    }

    /** Number of samples. */
    public long size() {
      return tensors[0].size(0);
    }

    @Override
    public void close() {
      for (Tensor tensor : tensors) {
        tensor.close();
      }
    }
  }

  private final NativeLoader handle;

  public Loader(List<Path> paths, List<Field> fields, Options options) {
    NativeLibrary.load();
    try (NativeFields layout = new NativeFields(); NativeLoaderOptions natives = new NativeLoaderOptions()) {
      for (Field field : fields) {
        layout.add(field.name(), field.dtype().number(), field.sizes(), field.outDtype().number(), field.mean(),
            field.std(), field.scale());
      }
      natives.setBatchSize(options.batchSize);
      natives.setRank(options.rank);
      natives.setWorldSize(options.worldSize);
      natives.setShuffle(options.shuffle);
      natives.setSeed(options.seed);
      natives.setDropLast(options.dropLast);
      natives.setThreads(options.threads);
      natives.setPrefetch(options.prefetch);
      handle = new NativeLoader(paths.stream().map(Path::toString).toArray(String[]::new), layout, natives);
    }
  }

  private NativeLoader open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Loader", "the loader was closed before this call");
    }
    return handle;
  }

  /** Samples in all files. */
  public long sampleCount() {
    return open().sampleCount();
  }

  /** Batches that an epoch gives this rank. */
  public long batchCount() {
    return open().batchCount();
  }

  /** The batches of an epoch. Starting another drops what is left of it. */
  public Iterable<Batch> epoch(long epoch) {
    return epoch(epoch, 0);
  }

  /** From batch {@code firstBatch} on. */
  public Iterable<Batch> epoch(long epoch, long firstBatch) {
    return () -> {
      open().startEpoch(epoch, firstBatch);
      return new Batches();
    };
  }

  private final class Batches implements Iterator<Batch> {
    private Batch ahead;
    private boolean ended;

    @Override
    public boolean hasNext() {
      if (ahead == null && !ended) {
        NativeTensor[] tensors = org.tandem.internal.ScopeFrame.outside(() -> open().next());
        ended = tensors.length == 0;
        ahead = ended ? null : new Batch(Tensor.wrap(tensors));
      }
      return ahead != null;
    }

    @Override
    public Batch next() {
      if (!hasNext()) {
        throw new NoSuchElementException("the epoch has no more batches");
      }
      Batch batch = ahead;
      ahead = null;
      return batch;
    }
  }

  /** Ends its threads. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
