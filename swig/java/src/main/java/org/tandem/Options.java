package org.tandem;

import java.util.LinkedHashMap;
import java.util.Map;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.Natives;

/** Options by LibTorch's names, for modules and optimizers. What is not set has PyTorch's default. */
public final class Options {
  static {
    Natives.provideOptions(Options::toNative, Options::values);
  }

  private final Map<String, Object> values = new LinkedHashMap<>();

  /** {@code value}: Boolean, Integer, Long, Float, Double, String, long[], double[], Tensor, or null for none. */
  public Options set(String name, Object value) {
    values.put(name, value);
    return this;
  }

  /** A copy. */
  Map<String, Object> values() {
    return new LinkedHashMap<>(values);
  }

  /** The caller closes it. */
  private NativeOptions toNative() {
    NativeOptions options = new NativeOptions();
    values.forEach((name, value) -> {
      if (value == null) {
        options.setNone(name);
      } else if (value instanceof Tensor tensor) {
        options.setTensor(name, Natives.of(tensor));
      } else if (value instanceof Boolean flag) {
        options.setBool(name, flag);
      } else if (value instanceof Integer || value instanceof Long) {
        options.setInt(name, ((Number) value).longValue());
      } else if (value instanceof Float || value instanceof Double) {
        options.setDouble(name, ((Number) value).doubleValue());
      } else if (value instanceof String text) {
        options.setString(name, text);
      } else if (value instanceof long[] numbers) {
        options.setInts(name, numbers);
      } else if (value instanceof double[] numbers) {
        options.setDoubles(name, numbers);
      } else {
        throw new TandemInvalidArgumentException("Options.set",
            "option '" + name + "' has a value of type " + value.getClass().getName() + ", which no option takes");
      }
    });
    return options;
  }
}
