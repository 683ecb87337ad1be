package org.tandem.internal;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.tandem.Options;
import org.tandem.TandemException;
import org.tandem.Tensor;
import org.tandem.optim.Closure;

/** The program's own functions of optimizers and schedulers. Native code holds them for as long as it may call them. */
public final class OwnFunctions {
  /** A group's factor at a number of steps, or a cycle's scale. */
  @FunctionalInterface
  public interface Rate {
    double at(long group, double at) throws Exception;
  }

  private OwnFunctions() {}

  public static NativeLrScheduler scheduler(String type, NativeOptimizer optimizer, Options options, Rate rate) {
    NativeRateSource source = new NativeRateSource() {
      @Override
      public double factor(long group, double at) {
        return Upcall.run(() -> rate.at(group, at));
      }
    };
    try (NativeOptions natives = Natives.of(options)) {
      return TandemNative.lrSchedulerOfFunction(type, optimizer, natives, source);
    } catch (RuntimeException failed) {
      source.delete(); // unless native code had it already
      throw failed;
    }
  }

  /** What a traced function computes of its inputs. */
  @FunctionalInterface
  public interface Traced {
    Tensor[] of(Tensor[] inputs) throws Exception;
  }

  /** A module that computes what {@code function} does; tensors with names are its own. */
  public static NativeModule trace(Traced function, Tensor[] inputs, Map<String, Tensor> parameters, Map<String, Tensor> buffers) {
    NativeTracedSource source = new NativeTracedSource() {
      @Override
      public long[] compute(long[] given) {
        return Upcall.sample(() -> {
          Tensor[] made = function.of(Upcall.received(given));
          return made == null ? new Tensor[0] : made;
        });
      }
    };
    try {
      return TandemNative.tracedModule(source, handles(Arrays.asList(inputs)), names(parameters), handles(parameters.values()),
          names(buffers), handles(buffers.values()));
    } catch (RuntimeException failed) {
      source.delete();
      throw failed;
    } finally {
      Reference.reachabilityFence(inputs);
      Reference.reachabilityFence(parameters);
      Reference.reachabilityFence(buffers);
    }
  }

  /** What the stages of a pipeline compute. */
  public interface MicroBatches {
    Tensor[] compute(int stage, Tensor[] inputs) throws Exception;

    Tensor loss(Tensor[] outputs, Tensor[] targets) throws Exception;
  }

  /** What the stages of a rank have: of each tensor its stage, and whether others have it and its gradients are sparse. */
  public static final class StageTensors {
    final List<Tensor> parameters = new ArrayList<>();
    final List<Tensor> buffers = new ArrayList<>();
    private final List<String> parameterNames = new ArrayList<>();
    private final List<String> bufferNames = new ArrayList<>();
    private final List<List<Long>> numbers = Stream.generate(() -> (List<Long>) new ArrayList<Long>()).limit(5).toList();

    public void addParameter(int stage, String name, Tensor tensor, boolean tied, boolean sparse) {
      parameters.add(tensor);
      parameterNames.add(name);
      numbers.get(0).add((long) stage);
      numbers.get(1).add(tied ? 1L : 0L);
      numbers.get(2).add(sparse ? 1L : 0L);
    }

    public void addBuffer(int stage, String name, Tensor tensor, boolean tied) {
      buffers.add(tensor);
      bufferNames.add(name);
      numbers.get(3).add((long) stage);
      numbers.get(4).add(tied ? 1L : 0L);
    }
  }

  /** Replicas and everyone may be null. */
  public static NativePipeline pipeline(NativeProcessGroup group, StageTensors tensors, NativePipelineOptions options,
      NativeProcessGroup replicas, NativeProcessGroup everyone, boolean hasLoss, MicroBatches functions) {
    NativeMicroBatchSource source = source(functions);
    try (NativeArguments numbers = new NativeArguments()) {
      for (List<Long> list : tensors.numbers) {
        numbers.addInts(list.stream().mapToLong(Long::longValue).toArray());
      }
      return TandemNative.pipelineOfFunctions(group, handles(tensors.parameters), tensors.parameterNames.toArray(String[]::new),
          handles(tensors.buffers), tensors.bufferNames.toArray(String[]::new), numbers, options, replicas, everyone, hasLoss,
          source);
    } catch (RuntimeException failed) {
      source.delete();
      throw failed;
    } finally {
      Reference.reachabilityFence(tensors);
    }
  }

  /** The first layers of stages. Everyone may be null. */
  public static long[] splitByTime(NativeProcessGroup group, long layers, List<Tensor> tensors, Tensor[] inputs, Tensor[] targets,
      NativePipelineSplitOptions options, NativeProcessGroup everyone, boolean hasLoss, MicroBatches functions) {
    NativeMicroBatchSource source = source(functions);
    try {
      return TandemNative.splitPipelineByFunctions(group, layers, handles(tensors), handles(Arrays.asList(inputs)),
          handles(Arrays.asList(targets)), options, everyone, hasLoss, source);
    } catch (RuntimeException failed) {
      source.delete(); // unless native code had it already
      throw failed;
    } finally {
      Reference.reachabilityFence(tensors);
      Reference.reachabilityFence(inputs);
      Reference.reachabilityFence(targets);
    }
  }

  private static NativeMicroBatchSource source(MicroBatches functions) {
    return new NativeMicroBatchSource() {
      @Override
      public long[] compute(long stage, long[] inputs) {
        return Upcall.sample(() -> functions.compute((int) stage, Upcall.received(inputs)));
      }

      @Override
      public long[] loss(long[] outputs, long[] targets) {
        return Upcall.sample(() -> {
          Tensor loss = functions.loss(Upcall.received(outputs), Upcall.received(targets));
          return loss == null ? new Tensor[0] : new Tensor[] {loss};
        });
      }
    };
  }

  /** A function that workers call. */
  @FunctionalInterface
  public interface Called {
    Object of(Object[] arguments) throws Exception;
  }

  public static void registerCall(String name, Called function) {
    NativeRpcSource source = new NativeRpcSource() {
      @Override
      public void run(long call) {
        Upcall.run(() -> {
          try (NativeResults given = TandemNative.rpcCallArguments(call)) {
            Object result = function.of(Values.takeCall(name, given).toArray());
            Values.giveCall(name, new Object[] {result}, value -> TandemNative.rpcCallReturn(call, value));
          } catch (TandemException failed) { // its code crosses
            TandemNative.rpcCallFail(call, failed.code().number(), String.valueOf(failed.getMessage()).replace('\0', ' '));
          }
          return null;
        });
      }
    };
    try {
      TandemNative.rpcRegisterSource(name, source);
    } catch (RuntimeException failed) {
      source.delete();
      throw failed;
    }
  }

  /** Runs {@code done} once, on a thread of RPC or at once. */
  public static void onCompletion(NativeRpcFuture future, Runnable done) {
    NativeCompletionSource source = new NativeCompletionSource() {
      @Override
      public void done() {
        Upcall.run(() -> {
          done.run();
          return null;
        });
      }
    };
    try {
      TandemNative.rpcOnCompletion(future, source);
    } catch (RuntimeException failed) {
      source.delete();
      throw failed;
    }
  }

  private static String[] names(Map<String, Tensor> tensors) { return tensors.keySet().toArray(String[]::new); }

  private static NativeTensor[] handles(Collection<Tensor> tensors) {
    return tensors.stream().map(Natives::of).toArray(NativeTensor[]::new);
  }

  /** The loss of the first call. */
  public static Tensor step(NativeOptimizer optimizer, Closure closure) {
    NativeLossSource source = new NativeLossSource() {
      @Override
      public long[] evaluate() {
        return Upcall.sample(() -> {
          Tensor loss = closure.loss();
          return loss == null ? new Tensor[0] : new Tensor[] {loss};
        });
      }
    };
    try {
      return Natives.tensor(TandemNative.stepWithClosure(optimizer, source));
    } catch (RuntimeException failed) {
      source.delete();
      throw failed;
    }
  }
}
