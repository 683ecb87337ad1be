package org.tandem.internal;

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
