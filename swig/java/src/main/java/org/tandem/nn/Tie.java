package org.tandem.nn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.tandem.Operator;
import org.tandem.Options;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.TandemNotFoundException;
import org.tandem.TandemUnsupportedException;
import org.tandem.Tensor;

/** Parameters of LibTorch's modules that are another module's: {@link Module#tie}. */
final class Tie {
  private static final String OPERATION = "Module.tie";
  private static final Operator SET_DATA = Operator.find("aten::set_data", "");

  private Tie() {}

  static void parameters(Module root, String name, String as) {
    Map<String, Tensor> all = ModuleParts.allParameters(root);
    Tensor replaced = found(all, name);
    Tensor kept = found(all, as);
    if (replaced == kept) {
      return;
    }
    if (!isLike(replaced, kept)) {
      throw new TandemInvalidArgumentException(OPERATION, "'" + name + "' is " + shown(replaced) + ", but '" + as + "' "
          + shown(kept) + "; parameters that are tied are alike");
    }
    List<TorchModule> users = new ArrayList<>();
    for (Module module : ModuleParts.modules(root).values()) {
      boolean uses = module.parts().parameters.containsValue(replaced);
      if ((uses || module.parts().parameters.containsValue(kept)) && module instanceof TorchModule torch && torch.isSparse()) {
        throw new TandemInvalidArgumentException(OPERATION, "gradients of a " + torch.type()
            + " are sparse, to which those of another use cannot be added; make it without sparse");
      }
      if (!uses) {
        continue;
      }
      if (!(module instanceof TorchModule torch) || !torch.canTie()) {
        throw new TandemUnsupportedException(OPERATION, "'" + name + "' belongs to a " + module.getClass().getSimpleName()
            + ", which computes with tensors of its own alone; register the same part or tensor in both places instead");
      }
      users.add(torch);
    }
    users.forEach(module -> module.tie(replaced, kept));
    try (Tandem.NoGrad off = Tandem.noGrad();
        Tensor none = Tensor.empty(kept.dtype(), 0);
        Tensor nothing = none.to(kept.device())) {
      SET_DATA.callAll(replaced, nothing);
    }
  }

  private static Tensor found(Map<String, Tensor> all, String name) {
    Tensor one = all.get(name);
    if (one == null) {
      throw new TandemNotFoundException(OPERATION, "there is no parameter '" + name + "'; there are " + all.keySet());
    }
    return one;
  }

  private static boolean isLike(Tensor a, Tensor b) {
    return Arrays.equals(a.sizes(), b.sizes()) && a.dtype() == b.dtype() && a.device().equals(b.device());
  }

  private static String shown(Tensor tensor) {
    return tensor.dtype() + " " + Arrays.toString(tensor.sizes()) + " on " + tensor.device();
  }

  /** Whether {@link #compute} knows what a module of that type does with these options. */
  static boolean computes(String type, Map<String, Object> options) {
    return switch (type) {
      case "Linear" -> true;
      case "Embedding" -> options.get("max_norm") == null;
      case "Conv1d", "Conv2d", "Conv3d" -> !(options.get("padding") instanceof String)
          && options.getOrDefault("padding_mode", "zeros").equals("zeros");
      default -> false;
    };
  }

  /** What the module computes, with these parameters. */
  static Tensor compute(String type, Map<String, Object> options, Map<String, Tensor> parameters, Tensor input) {
    Tensor weight = parameters.get("weight");
    Tensor bias = parameters.get("bias");
    if (type.equals("Linear")) {
      return Functional.linear(input, weight, bias);
    }
    Options given = new Options();
    if (type.equals("Embedding")) {
      if (options.get("padding_idx") instanceof Number padding) {
        long index = padding.longValue();
        given.set("padding_idx", index < 0 ? index + weight.size(0) : index);
      }
      return Operators.EMBEDDING.callNamed(copied(options, given, "scale_grad_by_freq"), weight, input);
    }
    for (String name : List.of("stride", "padding", "dilation")) { // one number for all dimensions, or one each
      if (options.get(name) instanceof Number all) {
        given.set(name, new long[] {all.longValue()});
      } else {
        copied(options, given, name);
      }
    }
    copied(options, given, "groups");
    Operator convolution = switch (type) {
      case "Conv1d" -> Operators.CONV1D;
      case "Conv2d" -> Operators.CONV2D;
      default -> Operators.CONV3D;
    };
    return convolution.callNamed(given, input, weight, bias);
  }

  private static Options copied(Map<String, Object> from, Options to, String... names) {
    for (String name : names) {
      if (from.containsKey(name)) {
        to.set(name, from.get(name));
      }
    }
    return to;
  }

  /** Are found where the first of them is used. */
  private static final class Operators {
    static final Operator EMBEDDING = Operator.find("aten::embedding", "");
    static final Operator CONV1D = Operator.find("aten::conv1d", "");
    static final Operator CONV2D = Operator.find("aten::conv2d", "");
    static final Operator CONV3D = Operator.find("aten::conv3d", "");
  }
}
