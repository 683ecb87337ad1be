package org.tandem.nn;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.tandem.Tensor;

/** Modules one after another, named by their numbers, or as a map names them. Source: torch.nn.Sequential. */
public final class Sequential extends Module implements Iterable<Module> {
  public Sequential(Module... modules) {
    for (Module module : modules) {
      append(module);
    }
  }

  /** In the map's order. */
  public Sequential(Map<String, ? extends Module> modules) {
    modules.forEach(this::register);
  }

  /** Adds a module at the end and returns this. */
  public Sequential append(Module module) {
    register(Integer.toString(size()), module);
    return this;
  }

  /** The module of a place. @throws IndexOutOfBoundsException there is none */
  public Module get(int index) {
    return all().get(index);
  }

  public int size() {
    return parts().children.size();
  }

  private List<Module> all() {
    return new ArrayList<>(parts().children.values());
  }

  /** The modules as they are now. */
  @Override
  public Iterator<Module> iterator() {
    return all().iterator();
  }

  @Override
  public Tensor forward(Tensor input) {
    return hooked(input, given -> {
      Tensor output = given;
      for (Module module : parts().children.values()) {
        output = module.call(output);
      }
      return output;
    });
  }

  @Override
  boolean callsHooks() {
    return true;
  }

  /** A function as a module without parameters: {@code Sequential.step(Tensor::relu)}. */
  public static Module step(UnaryOperator<Tensor> function) {
    return new Step(function);
  }

  private static final class Step extends Module {
    private final UnaryOperator<Tensor> function;

    Step(UnaryOperator<Tensor> function) {
      this.function = function;
    }

    @Override
    public Tensor forward(Tensor input) {
      return function.apply(input);
    }
  }
}
