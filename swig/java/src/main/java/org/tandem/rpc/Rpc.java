package org.tandem.rpc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;
import org.tandem.Device;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.dist.Launch;
import org.tandem.dist.Store;
import org.tandem.internal.NativeArguments;
import org.tandem.internal.NativeDevice;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeResults;
import org.tandem.internal.NativeRpcFuture;
import org.tandem.internal.NativeRpcOptions;
import org.tandem.internal.Natives;
import org.tandem.internal.OwnFunctions;
import org.tandem.internal.TandemNative;
import org.tandem.internal.Values;
import org.tandem.nn.ScriptModule;

/**
 * Calls between the processes of a job: operators of LibTorch, methods of TorchScript's modules, and functions that programs
 * register by name. Values are null, Boolean, Long, Integer, Double, Float, String, byte[], {@link org.tandem.Tensor}, {@link
 * RRef}, {@link org.tandem.Tuple}, and collections, arrays and maps for lists and dicts, at any depth; they come as Long and
 * Double, {@code List<Object>} and {@code Map<Object, Object>}, and strings that are no text as byte[]. Tensors come as copies
 * on the CPU, or where {@link Options#deviceMap} has their GPU.
 *
 * <p>Workers trust each other: whoever reaches a worker's port can call every operator of LibTorch in that process;
 * docs/rpc.md has more. Outside of {@link #init} and {@link #shutdown} methods throw {@link
 * org.tandem.TandemClosedException}. Source: torch.distributed.rpc.
 */
public final class Rpc {
  private static final long THREADS_CONTEXT = -1;

  private Rpc() {}

  /** How a worker joins. What is unset comes from the environment that a launcher makes. */
  public static final class Options {
    private String name;
    private String initMethod = "env://";
    private Store store;
    private int rank = -1;
    private int worldSize = -1;
    private Duration timeout = Duration.ofMinutes(5);
    private Duration callTimeout = Duration.ofMinutes(1);
    private long mostOutstanding = 16384;
    private String address = "";
    private int numWorkerThreads = 16;
    private int mostWorkerThreads = 1024;
    private final List<DeviceMap> deviceMaps = new ArrayList<>();

    /** This worker's own: 1 to 128 letters, digits, '-', '_' and ':'. Unset: "worker" and the rank. */
    public Options name(String value) {
      name = value;
      return this;
    }

    /** "env://", "tcp://host:port" or "file:///path". */
    public Options initMethod(String value) {
      initMethod = value;
      return this;
    }

    /** Instead of an init method. */
    public Options store(Store value) {
      store = value;
      return this;
    }

    /** Of this process, the worker's id. */
    public Options rank(int value) {
      rank = value;
      return this;
    }

    public Options worldSize(int value) {
      worldSize = value;
      return this;
    }

    /** Of meeting the other workers. */
    public Options timeout(Duration value) {
      timeout = value;
      return this;
    }

    /** Of a call. */
    public Options callTimeout(Duration value) {
      callTimeout = value;
      return this;
    }

    /** Calls of this worker under way at a time; later ones wait for room. */
    public Options mostOutstanding(long value) {
      mostOutstanding = value;
      return this;
    }

    /**
     * Where this worker listens: a numeric address of this machine, or a network interface. Unset: TP_SOCKET_IFNAME of the
     * environment, else loopback, which only workers of one host can share.
     */
    public Options address(String value) {
      address = value;
      return this;
    }

    /** Functions that others call run at a time, beside those that wait for calls of their own. */
    public Options numWorkerThreads(int value) {
      numWorkerThreads = value;
      return this;
    }

    /** Those that wait among them; a call that finds no thread is run later, or times out. */
    public Options mostWorkerThreads(int value) {
      mostWorkerThreads = value;
      return this;
    }

    /**
     * Tensors of calls to {@code worker} that are on this machine's GPU {@code from} arrive on its GPU {@code to}, and results
     * come back the same way: one to one, by as many of these as there are pairs. All workers that have part load CUDA first.
     * Source: TensorPipeRpcBackendOptions.set_device_map.
     */
    public Options deviceMap(String worker, Device from, Device to) {
      deviceMaps.add(new DeviceMap(worker, from, to));
      return this;
    }
  }

  private record DeviceMap(String worker, Device from, Device to) {
    void addTo(NativeRpcOptions options) {
      try (NativeDevice source = new NativeDevice(from.type().number(), from.index());
          NativeDevice target = new NativeDevice(to.type().number(), to.index())) {
        options.mapDevice(worker, source, target);
      }
    }
  }

  /** One of the job's workers; the id is its rank. */
  public record Worker(String name, int id) {}

  /** A function that workers call. */
  @FunctionalInterface
  public interface Called {
    Object call(Object[] arguments) throws Exception;
  }

  public static void init() { init(new Options()); }

  /**
   * Joins the job's workers, and blocks until all have joined; from then on others may call this one. A process joins once in its
   * life.
   *
   * @throws TandemInvalidArgumentException a name that is taken or makes no sense, sizes that differ between workers
   * @throws org.tandem.TandemTimeoutException names the ranks that are missing
   * @throws org.tandem.TandemUnsupportedException for a second time
   */
  public static void init(Options options) {
    NativeLibrary.load();
    try (NativeRpcOptions natives = new NativeRpcOptions()) {
      natives.setInitMethod(options.initMethod);
      natives.setRank(options.rank);
      natives.setWorldSize(options.worldSize);
      natives.setTimeoutMs(options.timeout.toMillis());
      natives.setCallTimeoutMs(options.callTimeout.toMillis());
      natives.setMostOutstanding(options.mostOutstanding);
      natives.setAddress(options.address);
      natives.setNumWorkerThreads(options.numWorkerThreads);
      natives.setMostWorkerThreads(options.mostWorkerThreads);
      options.deviceMaps.forEach(map -> map.addTo(natives));
      String name = options.name != null ? options.name : "worker" + (options.rank >= 0 ? options.rank : Launch.rank());
      TandemNative.rpcInit(name, natives, options.store == null ? null : Natives.of(options.store));
    }
  }

  /** {@link #shutdown(boolean)}, gracefully. */
  public static void shutdown() { shutdown(true); }

  /**
   * Leaves. {@code graceful}: waits until all workers have called it and no call is under way anywhere. Otherwise, or after an
   * error, what is under way fails. Functions that others called are waited for. Does nothing outside of a session.
   *
   * @throws org.tandem.TandemTimeoutException names the workers that have not come, or functions still run: then it may be called
   *     again
   */
  public static void shutdown(boolean graceful) {
    NativeLibrary.load();
    TandemNative.rpcShutdown(graceful, 0);
  }

  /** Whether this process is a worker. */
  public static boolean isInitialized() {
    NativeLibrary.load();
    return TandemNative.rpcIsInitialized();
  }

  /** All workers, in order of id. */
  public static List<Worker> workers() {
    NativeLibrary.load();
    List<Worker> workers = new ArrayList<>();
    for (String name : TandemNative.rpcWorkers()) {
      workers.add(new Worker(name, workers.size()));
    }
    return workers;
  }

  /** This worker. */
  public static Worker self() {
    NativeLibrary.load();
    return workers().get(TandemNative.rpcWorkerId());
  }

  /**
   * Has workers call {@code function} by this name, before or after {@link #init}: on threads of RPC, several at a time. Tensors
   * that it is given or makes are closed when it returns, but those that it keeps ({@link org.tandem.Scope}). What it throws its
   * caller gets: a TandemException by its code, all else as an error of a callback.
   *
   * @throws TandemInvalidArgumentException the name is taken, is empty or has "::" in it
   */
  public static void register(String name, Called function) {
    NativeLibrary.load();
    OwnFunctions.registerCall(name, function::call);
  }

  /** The methods of a module, as "NAME.METHOD". */
  public static void register(String name, ScriptModule module) {
    NativeLibrary.load();
    module.registerFor(name);
  }

  /** Of a function or a module; false when there was none. */
  public static boolean unregister(String name) {
    NativeLibrary.load();
    return TandemNative.rpcUnregister(name);
  }

  /**
   * Calls a function on a worker, which may be this one, and waits for what it gives: an operator of LibTorch's ("aten::add"),
   * with arguments in the order of its schema, or what the worker has registered. Takes part in the {@link AutogradContext} that
   * is open on this thread.
   *
   * @throws org.tandem.TandemNotFoundException no such worker or function
   * @throws org.tandem.TandemTimeoutException no answer in time
   * @throws org.tandem.TandemPeerLostException the worker is gone
   * @throws org.tandem.TandemException what the function failed with there, naming it and the worker
   */
  public static Object call(String worker, String function, Object... arguments) {
    try (NativeRpcFuture future = begin(worker, function, arguments)) {
      return await(future);
    }
  }

  /**
   * The same, without waiting unless too many calls are under way. What depends on the future runs on the common pool. It fails
   * with what {@link #call} throws. A function that waits for it, or for what follows from it by thenApply() and the like, does
   * not count among {@link Options#numWorkerThreads} meanwhile; one that waits for CompletableFuture.allOf() does.
   */
  public static CompletableFuture<Object> callAsync(String worker, String function, Object... arguments) {
    NativeRpcFuture future = begin(worker, function, arguments);
    CompletableFuture<Object> result = new CallFuture<>();
    OwnFunctions.onCompletion(future, () -> result.completeAsync(() -> {
      try (future) {
        return await(future);
      } catch (RuntimeException failed) {
        throw new CompletionException(failed);
      }
    }, ForkJoinPool.commonPool()));
    return result;
  }

  private static NativeRpcFuture begin(String worker, String function, Object[] arguments) {
    NativeLibrary.load();
    return given(function, arguments, natives -> TandemNative.rpcAsync(worker, function, natives, 0, 0, context()));
  }

  private static Object await(NativeRpcFuture future) {
    try (NativeResults result = future.await(0)) {
      return Values.takeCall("Rpc.call", result).get(0);
    }
  }

  /** Calls a function, and gives a reference to its result at once: a failure is that of {@link RRef#toHere}. */
  public static RRef remote(String worker, String function, Object... arguments) {
    NativeLibrary.load();
    return given(function, arguments,
        natives -> Natives.rref(TandemNative.rpcRemote(worker, function, natives, 0, context())));
  }

  static <T> T given(String operation, Object[] arguments, Function<NativeArguments, T> body) {
    List<T> made = new ArrayList<>();
    Values.giveCall(operation, arguments, natives -> made.add(body.apply(natives)));
    return made.get(0);
  }

  static long context() {
    AutogradContext open = AutogradContext.open();
    return open == null ? THREADS_CONTEXT : open.id();
  }

  /** Of this worker's calls to another one. */
  public record Statistics(
      long calls, long failed, long outstanding, long bytesSent, long bytesReceived, Duration latency) {}

  /** By worker. */
  public static Map<String, Statistics> statistics() {
    Map<String, Statistics> all = new LinkedHashMap<>();
    for (Worker worker : workers()) {
      try (NativeResults counted = TandemNative.rpcStatistics(worker.name())) {
        all.put(worker.name(), new Statistics(counted.integer(0), counted.integer(1), counted.integer(2), counted.integer(3),
            counted.integer(4), Duration.ofNanos(counted.integer(5))));
      }
    }
    return all;
  }
}
