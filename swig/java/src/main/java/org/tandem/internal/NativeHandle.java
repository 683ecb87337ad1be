package org.tandem.internal;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.tandem.TandemClosedException;

/**
 * Base of SWIG's proxies: one native object, freed once.
 *
 * <p>It is freed by {@link #close()}, by the scope that owns it (tensors only), or when it is no longer reachable; a work
 * then only once its collective is done. Groups, stores, loaders and the like are never freed by the collector, since
 * ranks would then leave at different times; they are only reported.
 *
 * <p>Any thread may close it while others are in its methods: generated code pins what a call uses, and what is closed
 * meanwhile is freed by the last call that leaves.
 */
public abstract class NativeHandle implements AutoCloseable {
  enum Kind {
    TENSOR,
    COLLECTED,
    /** Freeing it may wait for other ranks. */
    WORK,
    REPORTED,
    /** Never closed while it is in use: it lives within a method of this library, or is not closed at all. */
    CONFINED;

    private static final Set<String> COLLECTED_TYPES = Set.of("NativeModule", "NativeOptimizer", "NativeLrScheduler",
        "NativeAveragedParameters", "NativeDataset", "NativeRecordIOReader", "NativeRref", "NativeRpcFuture");
    private static final Set<String> REPORTED_TYPES =
        Set.of("NativeStore", "NativeProcessGroup", "NativeDdp", "NativeLoader", "NativeDynamicLoader",
            "NativeRecordIOWriter", "NativeCheckpointFolder", "NativeElastic", "NativeDeviceMesh", "NativePipeline",
            "NativeDistributedOptimizer", "NativeParameterServer", "NativeParameterClient");
    private static final Set<String> CONFINED_TYPES =
        Set.of("NativeArguments", "NativeCheckpoint", "NativeDdpOptions", "NativeDevice", "NativeDynamicLoaderOptions",
            "NativeElasticOptions", "NativeEmbeddingTable", "NativeEmbeddingTables", "NativeFields", "NativeFileOptions",
            "NativeLoadedCheckpoint", "NativeLoaderOptions", "NativeMatch", "NativeNamedTensors", "NativeNoGrad",
            "NativeOperator", "NativeOptions", "NativeOwnTensors", "NativeParameterClientOptions", "NativePipelineOptions",
            "NativePipelineSplitOptions", "NativeProcessGroupOptions", "NativeResults", "NativeRpcOptions",
            "NativeSchemaOptions");

    static Kind of(String type) {
      if (type.equals("NativeTensor")) {
        return TENSOR;
      }
      if (type.equals("NativeWork")) {
        return WORK;
      }
      if (CONFINED_TYPES.contains(type)) {
        return CONFINED;
      }
      if (REPORTED_TYPES.contains(type)) {
        return REPORTED;
      }
      if (COLLECTED_TYPES.contains(type)) {
        return COLLECTED;
      }
      throw new IllegalArgumentException(type + " has no kind");
    }
  }

  /** Freeing them waits for their threads, which may be inside of the program's callbacks. */
  private static final Set<String> JOINING_TYPES = Set.of("NativeLoader", "NativeDynamicLoader");
  static final Cleaner CLEANER = Cleaner.create();
  private static final AtomicLong LEAKED = new AtomicLong();

  /** In {@link #users}, beside their number. */
  private static final int CLOSED = Integer.MIN_VALUE;
  private static final AtomicIntegerFieldUpdater<NativeHandle> USERS =
      AtomicIntegerFieldUpdater.newUpdater(NativeHandle.class, "users");

  /** Address of the C++ object; 0 once closed. The name is the one that generated code uses. */
  protected long swigCPtr;

  private volatile int users;
  private final boolean shared;
  private final Release release;
  private volatile Cleaner.Cleanable cleanable;
  private volatile ScopeFrame frame;

  NativeHandle(long pointer, Kind kind, LongConsumer delete) {
    swigCPtr = pointer;
    shared = kind != Kind.CONFINED;
    release = new Release(pointer, kind, getClass().getSimpleName(), delete);
    if (kind == Kind.TENSOR) {
      if (ScopeFrame.adopt(this)) {
        return;
      }
      MemoryPressure.relieve();
    }
    cleanable = CLEANER.register(this, release);
  }

  // ------------------------------------------------------------------------------------------ for generated code

  /**
   * Until {@link #unpin}, the native object is not freed. What is closed may be pinned as well: the pointer, read after
   * this, is 0 then.
   */
  final void pin() {
    if (shared) {
      USERS.getAndIncrement(this);
    }
  }

  final void unpin() {
    if (shared && USERS.decrementAndGet(this) == CLOSED) {
      free();
    }
  }

  /** Null is nothing, here and below. */
  public static void pin(NativeHandle handle) {
    if (handle != null) {
      handle.pin();
    }
  }

  public static void unpin(NativeHandle handle) {
    if (handle != null) {
      handle.unpin();
    }
  }

  static void pin(NativeHandle[] handles) {
    for (int i = 0; handles != null && i < handles.length; i++) {
      pin(handles[i]);
    }
  }

  static void unpin(NativeHandle[] handles) {
    for (int i = 0; handles != null && i < handles.length; i++) {
      unpin(handles[i]);
    }
  }

  /** 0 for null. */
  static long getCPtr(NativeHandle handle) {
    if (handle == null) {
      return 0;
    }
    long pointer = handle.swigCPtr;
    if (pointer == 0) {
      throw new TandemClosedException(handle.release.name(), "it was closed before this call");
    }
    return pointer;
  }

  static long[] pointers(NativeHandle[] handles) {
    long[] pointers = new long[handles.length];
    for (int i = 0; i < pointers.length; i++) {
      pointers[i] = getCPtr(handles[i]);
    }
    return pointers;
  }

  // ----------------------------------------------------------------------------------------------------- the end

  public boolean isClosed() {
    return swigCPtr == 0;
  }

  /**
   * Frees the native object: now, or when the calls that other threads are in have left it, which a group's and a
   * loader's do at once. A second call does nothing.
   */
  @Override
  public void close() {
    swigCPtr = 0; // before the mark: who pins after it finds no pointer
    if (USERS.compareAndSet(this, 0, CLOSED)) {
      free();
      return;
    }
    int before = USERS.getAndAccumulate(this, CLOSED + 1, (old, mark) -> old < 0 ? old : old + mark);
    if (before < 0) {
      return; // closed already
    }
    try { // with a pin of its own
      if (before > 0) {
        wake(release.pointer());
      }
    } catch (TandemClosedException atExit) {
      // Tandem.shutdown() has woken them.
    } finally {
      unpin();
    }
  }

  /** Ends the calls that wait in the native object, which is pinned. */
  void wake(long pointer) {}

  private void free() {
    release.free();
    Cleaner.Cleanable registered = cleanable;
    if (registered != null) {
      registered.clean();
    }
  }

  /** Closes this object without freeing the native one, which is the caller's then; 0 when other calls use it. */
  long handOver() {
    long pointer = swigCPtr;
    if (!USERS.compareAndSet(this, 0, CLOSED)) {
      return 0;
    }
    swigCPtr = 0;
    release.take();
    Cleaner.Cleanable registered = cleanable;
    if (registered != null) {
      registered.clean();
    }
    return pointer;
  }

  // ------------------------------------------------------------------------------------------------------- scopes

  /** For {@link ScopeFrame}: the frame that owns this object; null for the collector. */
  void setFrame(ScopeFrame next) {
    frame = next;
    if (next == null && cleanable == null) {
      cleanable = CLEANER.register(this, release);
    }
  }

  ScopeFrame frame() {
    return frame;
  }

  /** Objects of reported kinds, scopes and modes that became unreachable without close(). */
  public static long leaked() {
    return LEAKED.get();
  }

  /** Logs what was dropped, once. */
  public static void report(String what) {
    LEAKED.incrementAndGet();
    System.getLogger("org.tandem").log(Level.WARNING, what);
  }

  /** Runs {@code action}, which does not refer to {@code object}, when that is no longer reachable, or cleaned. */
  public static Cleaner.Cleanable whenUnreachable(Object object, Runnable action) {
    return CLEANER.register(object, action);
  }

  /** What is left of a handle when it is gone; holds no reference to it. */
  private static final class Release implements Runnable {
    private long pointer;
    private final Kind kind;
    private final String type;
    private final LongConsumer delete;

    Release(long pointer, Kind kind, String type, LongConsumer delete) {
      this.pointer = pointer;
      this.kind = kind;
      this.type = type;
      this.delete = delete;
    }

    String name() {
      return type.substring("Native".length());
    }

    synchronized long pointer() {
      return pointer;
    }

    /** The pointer, which is the caller's then; 0 when it was taken. */
    synchronized long take() {
      long taken = pointer;
      pointer = 0;
      return taken;
    }

    void free() {
      long freed = take();
      if (freed == 0) {
        return;
      }
      if (JOINING_TYPES.contains(type) && Upcall.isInside()) {
        // The thread may be one of those that this waits for.
        Thread closer = new Thread(() -> delete(freed), "tandem-close");
        closer.setDaemon(true);
        closer.start();
      } else {
        delete(freed);
      }
    }

    private void delete(long freed) {
      try {
        delete.accept(freed);
      } catch (TandemClosedException atExit) {
        // After Tandem.shutdown() the process ends, and its memory with it.
      }
    }

    @Override
    public void run() {
      if (kind == Kind.WORK) {
        long dropped = take();
        if (dropped != 0) {
          DroppedWorks.add(dropped);
        }
      } else if (kind != Kind.REPORTED) {
        free();
      } else if (take() != 0) {
        report("a " + name() + " was dropped without close(); it stays open until the process ends");
      }
    }
  }
}
