package org.tandem.data;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.tandem.Device;
import org.tandem.TandemClosedException;
import org.tandem.TandemNotFoundException;
import org.tandem.Tensor;
import org.tandem.internal.NativeFields;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeLoader;
import org.tandem.internal.NativeLoaderOptions;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;
import org.tandem.internal.ScopeFrame;

/**
 * Batches of RecordIO files, or of a data set: this rank's part of each global batch of a shuffle that is a pure function
 * of seed, epoch and position. Native threads fill them ahead. One thread at a time may use it; any may close it. Must
 * be closed.
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
    private Boolean shuffle;
    private long seed;
    private boolean dropLast;
    private Tail tail;
    private int threads = 1;
    private int prefetch = 2;
    private boolean globalBatch;
    private long shuffleBlock;
    private long shuffleWindow;
    private long prefetchBytes;
    private boolean pinMemory;
    private Device device = Device.CPU;
    private OnIoError onIoError = OnIoError.RETRY;
    private Duration ioRetry;
    private Duration timeout;

    /** Per rank, unless {@link #globalBatch} says otherwise. */
    public Options batchSize(long value) {
      batchSize = value;
      return this;
    }

    /** The batch size is that of all ranks together, which need not be a multiple of their number. */
    public Options globalBatch(boolean value) {
      globalBatch = value;
      return this;
    }

    public Options rank(int value, int worldSizeValue) {
      rank = value;
      worldSize = worldSizeValue;
      return this;
    }

    /** Unset: true, but for samples that come one after the other. */
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

    /** In place of {@link #dropLast}. */
    public Options tail(Tail value) {
      tail = value;
      return this;
    }

    /**
     * For files that are read by the chunk: blocks of {@code block} consecutive samples are shuffled, then the samples
     * within each {@code window} (0: 16) consecutive ones of the shuffled blocks.
     */
    public Options shuffleBlocks(long block, long window) {
      shuffleBlock = block;
      shuffleWindow = window;
      return this;
    }

    /** That make batches; 0: asking for a batch makes it. */
    public Options threads(int value) {
      threads = value;
      return this;
    }

    /** Batches ahead. */
    public Options prefetch(int value) {
      prefetch = value;
      return this;
    }

    /** Of batches ahead: none is begun that would be too much. 0: 256 MiB. */
    public Options prefetchBytes(long value) {
      prefetchBytes = value;
      return this;
    }

    /**
     * Batches in page-locked memory, from which copies to a GPU run beside computation; {@link
     * org.tandem.TandemUnsupportedException} in a process without CUDA.
     */
    public Options pinMemory(boolean value) {
      pinMemory = value;
      return this;
    }

    /**
     * Where batches are, but masks: the CPU unless set otherwise. For a GPU they are made in page-locked memory and
     * copied by the loader's threads, ahead of their use and beside computation. {@link
     * org.tandem.TandemUnsupportedException} in a process without CUDA.
     */
    public Options device(Device value) {
      device = value;
      return this;
    }

    /** Where samples cannot be read, and for how long that is tried again: for three minutes unless set otherwise. */
    public Options onIoError(OnIoError value, Duration retry) {
      onIoError = value;
      ioRetry = retry;
      return this;
    }

    /** How long a batch is waited for, half an hour unless set otherwise; zero: without a limit. */
    public Options timeout(Duration value) {
      timeout = value;
      return this;
    }

    private NativeLoaderOptions toNative(boolean shuffleByDefault) {
      NativeLoaderOptions natives = new NativeLoaderOptions();
      natives.setBatchSize(batchSize);
      natives.setGlobalBatch(globalBatch);
      natives.setRank(rank);
      natives.setWorldSize(worldSize);
      natives.setShuffle(shuffle == null ? shuffleByDefault : shuffle);
      natives.setSeed(seed);
      natives.setDropLast(dropLast);
      if (tail != null) {
        natives.setTail(tail.number());
      }
      natives.setShuffleBlock(shuffleBlock);
      natives.setShuffleWindow(shuffleWindow);
      natives.setThreads(threads);
      natives.setPrefetch(prefetch);
      natives.setPrefetchBytes(prefetchBytes);
      natives.setPinMemory(pinMemory);
      natives.setDeviceType(device.type().number());
      natives.setDeviceIndex(device.index());
      natives.setOnIoError(onIoError.number());
      natives.setIoRetryMs(OnIoError.milliseconds(ioRetry));
      natives.setTimeoutMs(OnIoError.milliseconds(timeout));
      return natives;
    }
  }

  /** One tensor a field, of shape [batch, sizes…]. Its tensors belong to it and to no scope. */
  public static final class Batch implements AutoCloseable {
    private final List<String> names;
    private final Tensor[] tensors;
    private final long[] samples;
    private final long globalCount;
    private final long skipped;

    Batch(List<String> names, NativeTensor[] tensors, long[] samples, long globalCount, long skipped) {
      this.names = names;
      this.tensors = Natives.tensors(tensors);
      this.samples = samples;
      this.globalCount = globalCount;
      this.skipped = skipped;
    }

    public Tensor get(int field) {
      return tensors[field];
    }

    /**
     * The tensor of that field.
     *
     * @throws TandemNotFoundException there is none
     */
    public Tensor get(String field) {
      int index = names.indexOf(field);
      if (index < 0) {
        throw new TandemNotFoundException("Loader.Batch", "no field '" + field + "', but " + names);
      }
      return tensors[index];
    }

    /** Number of rows. */
    public long size() {
      return tensors[0].size(0);
    }

    /** Which samples the rows are; rows behind them are zeros ({@link Tail#PAD}). */
    public long[] samples() {
      return samples.clone();
    }

    public long localCount() {
      return samples.length;
    }

    /** Samples in the batches of all ranks together. */
    public long globalCount() {
      return globalCount;
    }

    /**
     * Samples of this rank's part that could not be read and are left out ({@link OnIoError#SKIP}). They are in
     * {@link #globalCount}, but in nothing else here.
     */
    public long skipped() { return skipped; }

    /** Which rows are samples: bool [rows]. */
    public Tensor mask() {
      boolean[] mask = new boolean[(int) size()];
      java.util.Arrays.fill(mask, 0, samples.length, true);
      return Tensor.of(mask);
    }

    @Override
    public void close() {
      for (Tensor tensor : tensors) {
        tensor.close();
      }
    }
  }

  private final NativeLoader handle;
  private final List<String> names;

  public Loader(List<Path> paths, List<Field> fields, Options options) {
    NativeLibrary.load();
    try (NativeFields layout = Field.layout(fields); NativeLoaderOptions natives = options.toNative(true)) {
      handle = new NativeLoader(paths.stream().map(Path::toString).toArray(String[]::new), layout, natives);
    }
    names = fields.stream().map(Field::name).toList();
  }

  /** Batches of a data set, which may be closed then. */
  public Loader(Dataset dataset, Options options) {
    try (NativeLoaderOptions natives = options.toNative(!dataset.isIterable())) {
      handle = new NativeLoader(dataset.nativeHandle(), natives);
    }
    names = dataset.fieldNames();
  }

  private NativeLoader open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Loader", "the loader was closed before this call");
    }
    return handle;
  }

  /** Of a sample's tensors. */
  public List<String> fieldNames() {
    return names;
  }

  /** Samples in all files; -1, here and below: unknown, see {@link IterableSamples}. */
  public long sampleCount() {
    return open().sampleCount();
  }

  /** Batches that an epoch gives this rank. */
  public long batchCount() {
    return open().batchCount();
  }

  /**
   * Steps on each whole batch, in the loader's threads, after those that were added before; before the first epoch.
   *
   * @param json {@code [{"step": "normalize", "fields": ["image"], "mean": [0.5], "std": [0.25]}]}; docs/samples.md has
   *     all steps
   */
  public Loader addTransforms(String json) {
    open().addTransforms(json);
    return this;
  }

  /**
   * The batches of an epoch; of the one that {@link #restore} went on with those that are left, the first time. Starting
   * another drops what is left of it.
   */
  public Iterable<Batch> epoch(long epoch) {
    return from(epoch, -1);
  }

  /** From batch {@code firstBatch} on. */
  public Iterable<Batch> epoch(long epoch, long firstBatch) {
    return from(epoch, Math.max(firstBatch, 0));
  }

  private Iterable<Batch> from(long epoch, long firstBatch) {
    return () -> {
      open().startEpoch(epoch, firstBatch);
      return new Batches();
    };
  }

  private Batch nextBatch() {
    NativeLoader loader = open();
    NativeTensor[] tensors = ScopeFrame.outside(loader::next);
    try {
      return tensors.length == 0 ? null
                                 : new Batch(names, tensors, loader.samples(), loader.globalCount(), loader.skipped());
    } catch (RuntimeException closedMeanwhile) {
      for (NativeTensor tensor : tensors) {
        tensor.close();
      }
      throw closedMeanwhile;
    }
  }

  private final class Batches implements Iterator<Batch> {
    private Batch ahead;
    private boolean ended;

    @Override
    public boolean hasNext() {
      if (ahead == null && !ended) {
        ahead = nextBatch();
        ended = ahead == null;
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

  /** Has {@link #state} count the batch that was given last. Call it after the optimizer's step. */
  public void commit() {
    open().commit();
  }

  /**
   * Where training goes on: less than 256 bytes, the same on every rank. It counts the batches up to the last one that
   * was committed, and those before the one that was given last. Batches that are only made ahead never count.
   */
  public byte[] state() {
    return open().state();
  }

  /**
   * Goes on where a {@link #state} says: with its seed and epoch, at the sample where its last batch ended, on however
   * many ranks, with batches of this loader's size. Before the first epoch.
   *
   * @throws org.tandem.TandemDataLossException it is no state, or a damaged one
   * @throws org.tandem.TandemInvalidArgumentException it is of another data set or order
   */
  public void restore(byte[] state) {
    open().restore(state);
  }

  /** The epoch to go on with: 0, or that of {@link #restore}; after an epoch's last batch the one behind it. */
  public long currentEpoch() {
    return open().currentEpoch();
  }

  /** One line about where time went, which ends with what the bottleneck is. */
  public String statistics() {
    return open().statistics();
  }

  /**
   * Ends its threads, and waits for what they call, unless a callback of a data set calls this; another thread that
   * waits for a batch gets a {@link org.tandem.TandemAbortedException}. A second call does nothing.
   */
  @Override
  public void close() {
    handle.close();
  }
}
