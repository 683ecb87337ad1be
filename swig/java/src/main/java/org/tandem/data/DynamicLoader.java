package org.tandem.data;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.tandem.Device;
import org.tandem.TandemClosedException;
import org.tandem.dist.Store;
import org.tandem.internal.NativeDynamicLoader;
import org.tandem.internal.NativeDynamicLoaderOptions;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;
import org.tandem.internal.ScopeFrame;

/**
 * Deals micro-batches of global batches out to whichever rank is free, so that faster ranks take more. The members of a
 * global batch are those that {@link Loader} has, whatever the number of ranks.
 *
 * <pre>{@code
 * while (loader.nextStep()) {
 *   for (Loader.Batch part : loader.parts()) { // a rank may get none
 *     try (part; Scope scope = Scope.open()) {
 *       … // backward of the sum of the part's losses
 *     }
 *   }
 *   … // sum the gradients over all ranks, and divide by loader.globalCount()
 *   optimizer.step();
 *   log.println(loader.commit());
 * }
 * }</pre>
 *
 * A step counts when it is committed. When ranks are lost, the group's collectives fail; the survivors form the next
 * generation, take model, state and quarantine of one of them, and make new loaders. A rank that was given up, but lives,
 * gets {@link org.tandem.TandemAbortedException}.
 *
 * <p>One thread at a time may use it; any may abort or close it. Must be closed.
 */
public final class DynamicLoader implements AutoCloseable {
  /** Defaults: one rank, shuffled with seed 0. */
  public static final class Options {
    private long batchSize = 1;
    private long microBatch = 1;
    private boolean shuffle = true;
    private Tail tail = Tail.SHORT;
    private long seed;
    private long shuffleBlock;
    private long shuffleWindow;
    private int threads = 1;
    private int prefetch = 1;
    private long prefetchBytes;
    private boolean pinMemory;
    private Device device = Device.CPU;
    private OnIoError onIoError = OnIoError.RETRY;
    private Duration ioRetry;
    private int mostFailures = 3;
    private int mostQuarantined = 1000;
    private Duration lostAfter = Duration.ofSeconds(30);
    private Duration timeout = Duration.ofMinutes(5);
    private String name = "";
    private long generation = 1;
    private int rank;
    private int worldSize = 1;
    private byte[] state = new byte[0];
    private String quarantine = "";

    /** Of all ranks together. */
    public Options batchSize(long value) {
      batchSize = value;
      return this;
    }

    /** That a rank is given at a time. */
    public Options microBatch(long value) {
      microBatch = value;
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

    /** SHORT, DROP or REPEAT. */
    public Options tail(Tail value) {
      tail = value;
      return this;
    }

    /** As {@link Loader.Options#shuffleBlocks}. */
    public Options shuffleBlocks(long block, long window) {
      shuffleBlock = block;
      shuffleWindow = window;
      return this;
    }

    /** That make micro-batches. */
    public Options threads(int value) {
      threads = value;
      return this;
    }

    /** Micro-batches of this rank made ahead. */
    public Options prefetch(int value) {
      prefetch = value;
      return this;
    }

    /** As {@link Loader.Options#prefetchBytes}. */
    public Options prefetchBytes(long value) {
      prefetchBytes = value;
      return this;
    }

    /** As {@link Loader.Options#onIoError}; a part counts as computed without what was left out of it. */
    public Options onIoError(OnIoError value, Duration retry) {
      onIoError = value;
      ioRetry = retry;
      return this;
    }

    /** As {@link Loader.Options#pinMemory}. */
    public Options pinMemory(boolean value) {
      pinMemory = value;
      return this;
    }

    /** As {@link Loader.Options#device}. */
    public Options device(Device value) {
      device = value;
      return this;
    }

    /** Of a sample in a step, on whichever ranks, before it is left out. */
    public Options mostFailures(int value) {
      mostFailures = value;
      return this;
    }

    /** Samples that may be left out; with one more a step fails. */
    public Options mostQuarantined(int value) {
      mostQuarantined = value;
      return this;
    }

    /** A rank without a sign of life for so long is given up. */
    public Options lostAfter(Duration value) {
      lostAfter = value;
      return this;
    }

    /** When ranks that live do not complete their parts. */
    public Options timeout(Duration value) {
      timeout = value;
      return this;
    }

    /** Of the loader among those that share the store; "": "loader". */
    public Options name(String value) {
      name = value;
      return this;
    }

    /** Counts up with every new group of the run, from 1 on. */
    public Options generation(long value) {
      generation = value;
      return this;
    }

    /** What a checkpoint has, to go on there: of {@link #state()} or {@link Loader#state}, and {@link #quarantine()}. */
    public Options from(byte[] stateValue, String quarantineValue) {
      state = stateValue.clone();
      quarantine = quarantineValue;
      return this;
    }

    private NativeDynamicLoaderOptions toNative() {
      NativeDynamicLoaderOptions natives = new NativeDynamicLoaderOptions();
      natives.setBatchSize(batchSize);
      natives.setMicroBatch(microBatch);
      natives.setShuffle(shuffle);
      natives.setTail(tail.number());
      natives.setSeed(seed);
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
      natives.setMostFailures(mostFailures);
      natives.setMostQuarantined(mostQuarantined);
      natives.setLostAfterMs(lostAfter.toMillis());
      natives.setTimeoutMs(timeout.toMillis());
      natives.setName(name);
      natives.setGeneration(generation);
      natives.setRank(rank);
      natives.setWorldSize(worldSize);
      return natives;
    }
  }

  private final NativeDynamicLoader handle;
  private final List<String> names;
  private final Object calls = new Object();

  private DynamicLoader(NativeDynamicLoader handle, List<String> names) {
    this.handle = handle;
    this.names = names;
  }

  /**
   * Joins the other ranks of its generation in the store, which may be the group's and serve other loaders by other
   * names; data set and store may be closed then.
   *
   * @throws org.tandem.TandemInvalidArgumentException options that cannot be, or differ between ranks of one generation
   * @throws org.tandem.TandemAbortedException a newer generation has begun
   */
  public static DynamicLoader join(Dataset dataset, Store store, Options options) {
    NativeLibrary.load();
    try (NativeDynamicLoaderOptions natives = options.toNative()) {
      return new DynamicLoader(new NativeDynamicLoader(dataset.nativeHandle(), Natives.of(store), natives,
          options.state, options.quarantine), dataset.fieldNames());
    }
  }

  /**
   * Has this rank do again what it did by a run's log, the lines that {@link #commit} gave, in that order and without a
   * store. Steps past the log's end are {@link org.tandem.TandemOutOfRangeException}.
   */
  public static DynamicLoader replay(Dataset dataset, List<String> log, Options options) {
    NativeLibrary.load();
    try (NativeDynamicLoaderOptions natives = options.toNative()) {
      return new DynamicLoader(NativeDynamicLoader.replay(dataset.nativeHandle(), log.toArray(String[] ::new), natives,
                                   options.state, options.quarantine),
          dataset.fieldNames());
    }
  }

  private <T> T call(Function<NativeDynamicLoader, T> body) {
    synchronized (calls) {
      if (handle.isClosed()) {
        throw new TandemClosedException("DynamicLoader", "the loader was closed before this call");
      }
      return body.apply(handle);
    }
  }

  private void run(java.util.function.Consumer<NativeDynamicLoader> body) {
    call(loader -> {
      body.accept(loader);
      return null;
    });
  }

  /** Of a sample's tensors. */
  public List<String> fieldNames() {
    return names;
  }

  /** As {@link Loader#addTransforms}, on micro-batches; before the first step. */
  public DynamicLoader addTransforms(String json) {
    run(loader -> loader.addTransforms(json));
    return this;
  }

  /** Begins the step behind the one that was committed last; false, once, at an epoch's end. */
  public boolean nextStep() {
    return call(NativeDynamicLoader::nextStep);
  }

  /**
   * Micro-batches of the step for this rank, until all of the global batch is computed by whichever ranks. Asking for one
   * says that the one before is computed. Its global count is that of the step with all its samples.
   *
   * @throws org.tandem.TandemAbortedException this rank was given up, or the loader aborted
   * @throws org.tandem.TandemTimeoutException other ranks, which are named, did not complete their parts
   * @throws org.tandem.TandemDataLossException too many samples cannot be loaded
   */
  public Iterable<Loader.Batch> parts() {
    return Parts::new;
  }

  /** One of {@link #parts}; null when there is none any more. */
  public Loader.Batch nextPart() {
    return call(loader -> {
      NativeTensor[] tensors = ScopeFrame.outside(loader::next);
      return tensors.length == 0
          ? null
          : new Loader.Batch(names, tensors, loader.samples(), loader.stepSize(), loader.skipped());
    });
  }

  private final class Parts implements Iterator<Loader.Batch> {
    private Loader.Batch ahead;
    private boolean ended;

    @Override
    public boolean hasNext() {
      if (ahead == null && !ended) {
        ahead = nextPart();
        ended = ahead == null;
      }
      return ahead != null;
    }

    @Override
    public Loader.Batch next() {
      if (!hasNext()) {
        throw new NoSuchElementException("the step has no more parts");
      }
      Loader.Batch part = ahead;
      ahead = null;
      return part;
    }
  }

  /**
   * Says, instead of computing the part that was given last, that {@code sample} of it cannot be computed. The part goes
   * back, and the sample's failures are counted as if it could not be loaded.
   */
  public void fail(long sample, String reason) {
    run(loader -> loader.fail(sample, reason));
  }

  /** Of the open step, or of the next one. */
  public long epoch() {
    return call(NativeDynamicLoader::epoch);
  }

  /** The open one, or the next one; its number in the epoch. */
  public long step() {
    return call(NativeDynamicLoader::step);
  }

  /** Samples of the step that this rank computed. */
  public long localCount() {
    return call(NativeDynamicLoader::localCount);
  }

  /** Samples of the step that all ranks computed; 0 before there are no more parts. */
  public long globalCount() {
    return call(NativeDynamicLoader::globalCount);
  }

  /**
   * Says that the optimizer has made the step: state and quarantine count it from now on, whatever the others say to it,
   * which the next step tells.
   *
   * @return who computed what, a line of JSON for the run's log
   */
  public String commit() {
    return call(NativeDynamicLoader::commit);
  }

  /** As {@link Loader#state}, and the same bytes. Save the model with it, and with the quarantine, after a commit. */
  public byte[] state() {
    return call(NativeDynamicLoader::state);
  }

  /** Samples that are left out, by the steps that this model has seen: JSON. */
  public String quarantine() {
    return call(NativeDynamicLoader::quarantine);
  }

  /** As {@link Loader#statistics}, with micro-batches for batches. */
  public String statistics() {
    return call(NativeDynamicLoader::statistics);
  }

  /**
   * From any thread: calls that wait, and all later ones but a whole step's commit, end with {@link
   * org.tandem.TandemAbortedException}.
   */
  public void abort() {
    try {
      handle.abort();
    } catch (TandemClosedException closed) {
      // By another thread, or before: there is nothing to abort any more.
    }
  }

  /** Ends calls that wait, and its threads. A second call does nothing. */
  @Override
  public void close() {
    abort();
    synchronized (calls) {
      handle.close();
    }
  }
}
