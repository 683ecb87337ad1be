package org.tandem;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.function.Supplier;
import org.tandem.internal.NativeDevice;
import org.tandem.internal.NativeHandle;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeNoGrad;
import org.tandem.internal.Natives;
import org.tandem.internal.TandemNative;

/** Loading, leaving, and settings of the process or the thread. */
public final class Tandem {
  /** Whether LibTorch runs with CUDA. AUTO: when it can, or as TANDEM_DEVICE says. */
  public enum LoadDevice {
    AUTO(0),
    CPU(1),
    CUDA(2);

    private final int number;

    LoadDevice(int number) {
      this.number = number;
    }

    /** In the C ABI. */
    int number() {
      return number;
    }
  }

  private Tandem() {}

  /** Loads the native libraries, which otherwise happens at the first use of anything. */
  public static void load() {
    load("", LoadDevice.AUTO);
  }

  /**
   * @param libtorch absolute path of the folder that holds lib/libtorch_cpu.so; "": TANDEM_LIBTORCH or the one that is
   *     found beside libtandem
   * @throws TandemLibraryException a library is missing, of a wrong version, or already loaded from elsewhere
   */
  public static void load(String libtorch, LoadDevice device) {
    NativeLibrary.load();
    TandemNative.load(libtorch, device.number());
  }

  /**
   * Aborts process groups, ends native threads, and waits for calls that are still inside. Threads inside of a data
   * set's callbacks are interrupted. Later calls are {@link TandemClosedException}. Runs by itself when the program
   * ends.
   *
   * @return false when a call was still inside after {@code timeout}
   */
  public static boolean shutdown(Duration timeout) {
    NativeLibrary.load();
    return NativeLibrary.shutdown(timeout.toMillis());
  }

  public static String version() {
    NativeLibrary.load();
    return TandemNative.version();
  }

  /** "2.11.0", or "" before loading. */
  public static String libtorchVersion() {
    NativeLibrary.load();
    return TandemNative.libtorchVersion();
  }

  public static int cudaDeviceCount() {
    NativeLibrary.load();
    return TandemNative.cudaDeviceCount();
  }

  /** Seeds the generators of all devices. Source: torch.manual_seed. */
  public static void manualSeed(long seed) {
    NativeLibrary.load();
    TandemNative.manualSeed(seed);
  }

  /**
   * Where the random numbers of a device's default generator are: uint8, for {@link #setRngState}. Source:
   * torch.get_rng_state, torch.cuda.get_rng_state.
   */
  public static Tensor rngState(Device device) {
    NativeLibrary.load();
    try (NativeDevice natives = new NativeDevice(device.type().number(), device.index())) {
      return Natives.tensor(TandemNative.rngState(natives));
    }
  }

  /**
   * Has the default generator go on there. Source: torch.set_rng_state.
   *
   * @throws TandemInvalidArgumentException it is no state of a generator of such a device
   */
  public static void setRngState(Device device, Tensor state) {
    NativeLibrary.load();
    try (NativeDevice natives = new NativeDevice(device.type().number(), device.index())) {
      TandemNative.setRngState(natives, Natives.of(state));
    }
  }

  /** LibTorch's threads within one operator. */
  public static void setNumThreads(int threads) {
    NativeLibrary.load();
    TandemNative.setNumThreads(threads);
  }

  public static int numThreads() {
    NativeLibrary.load();
    return TandemNative.getNumThreads();
  }

  /**
   * Has LibTorch's profiler, Kineto, note everything that runs in this process from now on, on all threads: operators,
   * collectives, and kernels where there is a GPU.
   */
  public static void startProfiler(boolean recordShapes) {
    NativeLibrary.load();
    TandemNative.startProfiler(recordShapes, false);
  }

  /** Ends the profile, writes a file for Perfetto ("": none), and gives a table of what took time. */
  public static String stopProfiler(String path) {
    NativeLibrary.load();
    return TandemNative.stopProfiler(path);
  }

  /** Live native handles of a type ("tensor", "process_group", …), -1 for an unknown one. For leak tests. */
  public static long liveCount(String type) {
    NativeLibrary.load();
    return TandemNative.liveCount(type);
  }

  /** Bytes of storage that live tensor handles keep alive, an upper bound. */
  public static long tensorLiveBytes() {
    NativeLibrary.load();
    return TandemNative.tensorLiveBytes();
  }

  /** No gradients are recorded on this thread until it is closed: {@code try (var off = Tandem.noGrad()) { … }}. */
  public static NoGrad noGrad() {
    NativeLibrary.load();
    return new NoGrad();
  }

  public static <T> T noGrad(Supplier<T> body) {
    try (NoGrad off = noGrad()) {
      return body.get();
    }
  }

  /**
   * Restores, when closed, what was before, on the thread that made it, and ends those that were made after it. A
   * second close() does nothing. One that is dropped is reported by a warning: its thread goes on without recording.
   */
  public static final class NoGrad implements AutoCloseable {
    /** What is left of a mode when it was dropped. */
    private static final class Mode implements Runnable {
      private final Thread thread = Thread.currentThread();
      private boolean closed;

      @Override
      public void run() {
        if (!closed && thread.isAlive()) {
          NativeHandle.report("a NoGrad of thread '" + thread.getName()
              + "' was dropped without close(); that thread records no gradients any more");
        }
      }
    }

    private final NativeNoGrad handle = new NativeNoGrad();
    private final Mode mode = new Mode();
    private final Cleaner.Cleanable dropped = NativeHandle.whenUnreachable(this, mode);

    private NoGrad() {}

    @Override
    public void close() {
      if (Thread.currentThread() != mode.thread) {
        throw new TandemInvalidArgumentException("Tandem.NoGrad.close",
            "it belongs to thread '" + mode.thread.getName() + "', which must close it: the mode is that thread's");
      }
      if (!mode.closed) {
        mode.closed = true;
        dropped.clean();
        handle.close();
      }
    }
  }
}
