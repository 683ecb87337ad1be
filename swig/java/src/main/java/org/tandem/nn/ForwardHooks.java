package org.tandem.nn;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;

/** A module's hooks, in the order in which they came. They may come and go while forwards of other threads call them. */
final class ForwardHooks {
  private final List<Added<ForwardPreHook>> before = new CopyOnWriteArrayList<>();
  private final List<Added<ForwardHook>> after = new CopyOnWriteArrayList<>();

  /** An object of its own each time that the same hook is added. */
  private static final class Added<H> {
    final H hook;

    Added(H hook) {
      this.hook = hook;
    }
  }

  RemovableHandle add(ForwardHook hook) {
    return add(hook, after);
  }

  RemovableHandle add(ForwardPreHook hook) {
    return add(hook, before);
  }

  private static <H> RemovableHandle add(H hook, List<Added<H>> list) {
    Added<H> added = new Added<>(hook);
    list.add(added);
    return new RemovableHandle(() -> list.remove(added));
  }

  /** Of a copied module, which has the same ones, to be removed by nobody. */
  ForwardHooks copy() {
    ForwardHooks copied = new ForwardHooks();
    copied.before.addAll(before);
    copied.after.addAll(after);
    return copied;
  }

  Tensor around(Module module, Tensor input, UnaryOperator<Tensor> compute) {
    if (before.isEmpty() && after.isEmpty()) {
      return compute.apply(input);
    }
    return aroundAll(module, new Object[] {input}, inputs -> {
      if (inputs.length != 1 || !(inputs[0] instanceof Tensor given)) {
        throw new TandemInvalidArgumentException(module.getClass().getSimpleName() + ".forward",
            "a hook before it gave " + Arrays.toString(inputs) + "; it takes one tensor");
      }
      return new Tensor[] {compute.apply(given)};
    })[0];
  }

  Tensor[] aroundAll(Module module, Object[] given, Function<Object[], Tensor[]> compute) {
    Object[] inputs = given;
    for (Added<ForwardPreHook> added : before) {
      Object[] other = added.hook.before(module, inputs);
      inputs = other != null ? other : inputs;
    }
    Tensor[] outputs = compute.apply(inputs);
    for (Added<ForwardHook> added : after) {
      Tensor[] other = added.hook.after(module, inputs, outputs);
      outputs = other != null ? other : outputs;
    }
    return outputs;
  }
}
