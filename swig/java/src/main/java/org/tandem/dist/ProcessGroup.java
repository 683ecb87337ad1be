package org.tandem.dist;

import java.time.Duration;
import java.util.List;
import org.tandem.Device;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeProcessGroup;
import org.tandem.internal.NativeProcessGroupOptions;
import org.tandem.internal.Natives;

/**
 * Ranks that work together. All call the same collectives in the same order, with tensors of the same shape and dtype;
 * results are written in place. Methods named …Async return at once. Must be closed.
 *
 * <p>Errors: {@link org.tandem.TandemTimeoutException}, {@link org.tandem.TandemPeerLostException}, {@link
 * org.tandem.TandemAbortedException}, {@link org.tandem.TandemInvalidArgumentException}. Source: torch.distributed.
 */
public final class ProcessGroup implements AutoCloseable {
  static {
    Natives.provideGroups(ProcessGroup::new);
  }

  private final NativeProcessGroup handle;

  private ProcessGroup(NativeProcessGroup handle) {
    this.handle = handle;
  }

  /** How a group is made. What is not set comes from the environment (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT). */
  public static final class Options {
    private String backend = "gloo";
    private String initMethod = "env://";
    private int rank = -1;
    private int worldSize = -1;
    private Duration timeout = Duration.ofMinutes(30);
    private Device device = Device.CPU;
    private String interfaceName = "";
    private String name = "";
    private Store store;

    /** "gloo", "nccl", "shm" (shared memory of one host), "auto", or "none", which exchanges nothing; or one for each device, as in "cpu:shm,cuda:nccl". */
    public Options backend(String value) {
      backend = value;
      return this;
    }

    /** "env://", "tcp://host:port" or "file:///path". */
    public Options initMethod(String value) {
      initMethod = value;
      return this;
    }

    public Options rank(int value) {
      rank = value;
      return this;
    }

    public Options worldSize(int value) {
      worldSize = value;
      return this;
    }

    /** Of the meeting and of each collective. */
    public Options timeout(Duration value) {
      timeout = value;
      return this;
    }

    /** Of this rank. */
    public Options device(Device value) {
      device = value;
      return this;
    }

    /** Of the network, for gloo; else GLOO_SOCKET_IFNAME, else the host's address. */
    public Options interfaceName(String value) {
      interfaceName = value;
      return this;
    }

    public Options name(String value) {
      name = value;
      return this;
    }

    /** Meet through this store, instead of the init method. */
    public Options store(Store value) {
      store = value;
      return this;
    }
  }

  /** With everything from the environment, as {@code tandem run} sets it. Blocks. */
  public static ProcessGroup init() {
    return init(new Options());
  }

  /** Meets the other ranks. Blocks. */
  public static ProcessGroup init(Options options) {
    NativeLibrary.load();
    try (NativeProcessGroupOptions natives = new NativeProcessGroupOptions()) {
      natives.setBackend(options.backend);
      natives.setInitMethod(options.initMethod);
      natives.setRank(options.rank);
      natives.setWorldSize(options.worldSize);
      natives.setTimeoutMs(options.timeout.toMillis());
      natives.setDeviceType(options.device.type().number());
      natives.setDeviceIndex(options.device.index());
      natives.setInterfaceName(options.interfaceName);
      natives.setName(options.name);
      return new ProcessGroup(
          new NativeProcessGroup(natives, options.store == null ? null : options.store.nativeHandle()));
    }
  }

  static ProcessGroup around(NativeProcessGroup handle) {
    return new ProcessGroup(handle);
  }

  NativeProcessGroup nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("ProcessGroup", "the group was closed before this call");
    }
    return handle;
  }

  public int rank() {
    return nativeHandle().rank();
  }

  public int size() {
    return nativeHandle().size();
  }

  public String backend() {
    return nativeHandle().backend();
  }

  public void broadcast(Tensor tensor, int root) {
    nativeHandle().broadcast(Natives.of(tensor), root);
  }

  public Work broadcastAsync(Tensor tensor, int root) {
    return new Work(nativeHandle().broadcastAsync(Natives.of(tensor), root));
  }

  public void allReduce(Tensor tensor, ReduceOp op) {
    nativeHandle().allReduce(Natives.of(tensor), op.number());
  }

  /** The sum. */
  public void allReduce(Tensor tensor) {
    allReduce(tensor, ReduceOp.SUM);
  }

  public Work allReduceAsync(Tensor tensor, ReduceOp op) {
    return new Work(nativeHandle().allReduceAsync(Natives.of(tensor), op.number()));
  }

  public void reduce(Tensor tensor, int root, ReduceOp op) {
    nativeHandle().reduce(Natives.of(tensor), root, op.number());
  }

  public Work reduceAsync(Tensor tensor, int root, ReduceOp op) {
    return new Work(nativeHandle().reduceAsync(Natives.of(tensor), root, op.number()));
  }

  /** {@code outputs}: one a rank, in order of rank. */
  public void allGather(List<Tensor> outputs, Tensor input) {
    nativeHandle().allGather(Natives.of(outputs), Natives.of(input));
  }

  public Work allGatherAsync(List<Tensor> outputs, Tensor input) {
    return new Work(nativeHandle().allGatherAsync(Natives.of(outputs), Natives.of(input)));
  }

  /** Returns when all ranks have called it. */
  public void barrier() {
    nativeHandle().barrier();
  }

  public Work barrierAsync() {
    return new Work(nativeHandle().barrierAsync());
  }

  /** Wakes every waiter with {@link org.tandem.TandemAbortedException}, from any thread; then only close() is left. */
  public void abort() {
    nativeHandle().abort();
  }

  /**
   * Leaves the group and aborts what is pending. A second call does nothing. An elastic training's group ends with its
   * membership epoch instead.
   */
  @Override
  public void close() {
    handle.close();
  }
}
