package org.tandem;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeMatch;
import org.tandem.internal.Natives;
import org.tandem.internal.TandemNative;

/** Tensors by name, as a module's parameters and buffers are saved. */
public final class StateDict {
  private StateDict() {}

  /**
   * Names without a partner.
   *
   * @param missing of the module, left as they were
   * @param unexpected of the state, not used
   */
  public record Match(List<String> missing, List<String> unexpected) {}

  /**
   * A dict of names and tensors in what {@link PtFile#load} gave: the whole, or its part that is one.
   *
   * @throws TandemInvalidArgumentException it is none; the message says what it is instead
   */
  public static Map<String, Tensor> of(Object value) {
    if (!(value instanceof Map<?, ?> dict)) {
      throw new TandemInvalidArgumentException("StateDict.of",
          "a state dict is a Map, and this is " + (value == null ? "null" : "a " + value.getClass().getName()));
    }
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    dict.forEach((name, one) -> {
      if (!(name instanceof String text) || !(one instanceof Tensor tensor)) {
        throw new TandemInvalidArgumentException("StateDict.of",
            "'" + name + "' is no tensor; of what is there, " + dict.keySet() + ", one may be the state dict");
      }
      tensors.put(text, tensor);
    });
    return tensors;
  }

  /**
   * Other names for tensors, by one rule after the other.
   *
   * @param rules regular expressions of ECMAScript, in the map's order, and what each place that matches becomes, where
   *     $1 is its first group: {@code Map.of("^module\\.", "")} after DistributedDataParallel in Python
   * @throws TandemInvalidArgumentException two names become one
   */
  public static Map<String, Tensor> rename(Map<String, Tensor> tensors, Map<String, String> rules) {
    NativeLibrary.load();
    String[] names = TandemNative.replaceNames(tensors.keySet().toArray(String[] ::new),
        rules.keySet().toArray(String[] ::new), rules.values().toArray(String[] ::new));
    Map<String, Tensor> renamed = new LinkedHashMap<>();
    int next = 0;
    for (Tensor tensor : tensors.values()) {
      renamed.put(names[next++], tensor);
    }
    return renamed;
  }

  /**
   * Copies tensors into those of the same names, in place and outside of autograd, all or none.
   *
   * @param strict whether names without a partner are errors
   * @param convertDtype copies where dtypes differ, which is an error else
   * @throws TandemInvalidArgumentException lists all that does not fit
   */
  public static Match load(Map<String, Tensor> into, Map<String, Tensor> from, boolean strict, boolean convertDtype) {
    NativeLibrary.load();
    try (NativeMatch match = new NativeMatch(into.keySet().toArray(String[] ::new), Natives.of(into.values()),
             from.keySet().toArray(String[] ::new), Natives.of(from.values()), strict, convertDtype)) {
      return new Match(List.of(match.missing()), List.of(match.unexpected()));
    }
  }
}
