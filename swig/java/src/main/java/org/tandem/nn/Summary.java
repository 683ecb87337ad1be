package org.tandem.nn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.tandem.Scope;
import org.tandem.Tandem;
import org.tandem.Tensor;

/**
 * A table of a tree's modules, as torchinfo prints it.
 *
 * @param rows the whole, then its parts, each before its own parts
 * @param parameters elements, each counted once
 * @param trainable of those that are not frozen
 * @param bytes of parameters and buffers
 */
public record Summary(List<Row> rows, long parameters, long trainable, long bytes) {
  /**
   * One module.
   *
   * @param name its path, "" for the whole
   * @param type such as "Conv2d"
   * @param outputs shapes of what its last forward gave, null for what is not there; empty where no hook saw one
   * @param parameters elements of its own parameters, without its parts' and those of rows before
   */
  public record Row(String name, String type, List<long[]> outputs, long parameters) {
    int depth() {
      return name.isEmpty() ? 0 : name.split("\\.").length;
    }

    List<String> cells() {
      String last = name.isEmpty() ? "" : " (" + name.substring(name.lastIndexOf('.') + 1) + ")";
      String shapes = outputs.isEmpty() ? "--" : outputs.stream().map(Arrays::toString).collect(Collectors.joining(", "));
      return List.of("  ".repeat(depth()) + type + last, shapes, parameters == 0 ? "--" : grouped(parameters));
    }
  }

  /** Without shapes. */
  public static Summary of(Module module) {
    return of(module, null);
  }

  /**
   * With shapes: {@code forward} is called once, in evaluation mode and without gradients, to run the module on an input of
   * the program's choice. Shapes are of modules that call hooks; see {@link Module#registerForwardHook}.
   *
   * <pre>{@code
   * System.out.print(Summary.of(net, () -> net.call(Tensor.zeros(DType.FLOAT32, 1, 3, 224, 224))));
   * }</pre>
   */
  public static Summary of(Module module, Runnable forward) {
    Map<String, Module> modules = module.namedModules();
    Map<Module, List<long[]>> shapes = forward == null ? Map.of() : shapes(modules.values(), forward);
    Set<Tensor> counted = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Row> rows = new ArrayList<>();
    modules.forEach((name, one) -> {
      long own = one.parts().parameters.values().stream().filter(counted::add).mapToLong(Tensor::numel).sum();
      rows.add(new Row(name, type(one), shapes.getOrDefault(one, List.of()), own));
    });
    long bytes = Stream.concat(module.namedParameters().values().stream(), module.namedBuffers().values().stream())
                     .mapToLong(Tensor::nbytes).sum();
    return new Summary(List.copyOf(rows), module.parameterCount(), module.trainableParameterCount(), bytes);
  }

  private static Map<Module, List<long[]>> shapes(Iterable<Module> modules, Runnable forward) {
    Map<Module, List<long[]>> shapes = new IdentityHashMap<>();
    Map<Module, Boolean> training = new LinkedHashMap<>();
    List<RemovableHandle> hooks = new ArrayList<>();
    try (Tandem.NoGrad off = Tandem.noGrad(); Scope scope = Scope.open()) {
      for (Module module : modules) {
        hooks.add(module.registerForwardHook((one, inputs, outputs) -> {
          shapes.put(one, Arrays.stream(outputs).map(output -> output == null ? null : output.sizes()).toList());
          return null;
        }));
        training.put(module, module.isTraining());
        module.setTraining(false);
      }
      forward.run();
    } finally {
      hooks.forEach(RemovableHandle::close);
      training.forEach(Module::setTraining);
    }
    return shapes;
  }

  private static String type(Module module) {
    if (module instanceof TorchModule torch) {
      return torch.type();
    }
    Class<?> type = module.getClass();
    while (type.isAnonymousClass()) {
      type = type.getSuperclass();
    }
    return type.getSimpleName();
  }

  private static String grouped(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** The table. */
  @Override
  public String toString() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("Module", "Output shape", "Parameters"));
    rows.forEach(row -> lines.add(row.cells()));
    int[] widths = new int[3];
    lines.forEach(line -> Arrays.setAll(widths, i -> Math.max(widths[i], line.get(i).length())));
    String format = "%-" + widths[0] + "s  %-" + widths[1] + "s  %" + widths[2] + "s";
    String rule = "=".repeat(widths[0] + widths[1] + widths[2] + 4) + "\n";
    StringBuilder text = new StringBuilder();
    for (List<String> line : lines) {
      text.append(String.format(format, line.toArray()).stripTrailing()).append('\n');
      text.append(line == lines.get(0) ? rule : "");
    }
    return text.append(rule).append(String.format(Locale.ROOT,
        "Parameters: %s, of which %s are trained. Parameters and buffers: %.2f MB%n", grouped(parameters),
        grouped(trainable), bytes / 1e6)).toString();
  }
}
