package org.tandem.internal;

import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import org.tandem.Options;
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
