package org.tandem.nn;

import java.util.List;
import java.util.function.UnaryOperator;
import org.tandem.Tensor;

/** Modules one after another, named by their numbers. */
public final class Sequential extends Module {
  private final List<Module> modules;

  public Sequential(Module... modules) {
    this.modules = List.of(modules);
    for (int i = 0; i < modules.length; i++) {
      register(Integer.toString(i), modules[i]);
    }
  }

  @Override
  public Tensor forward(Tensor input) {
    Tensor output = input;
    for (Module module : modules) {
      output = module.forward(output);
    }
    return output;
  }

  /** A function as a module without parameters: {@code Sequential.step(Tensor::relu)}. */
  public static Module step(UnaryOperator<Tensor> function) {
    return new Module() {
      @Override
      public Tensor forward(Tensor input) {
        return function.apply(input);
      }
    };
  }
}
