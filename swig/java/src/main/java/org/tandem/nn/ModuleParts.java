package org.tandem.nn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.internal.Natives;
import org.tandem.internal.ScopeFrame;

/** What a module has itself, by name, in order of registration; and the walks over a tree of modules. */
final class ModuleParts {
  final Map<String, Module> children = new LinkedHashMap<>();
  final Map<String, Tensor> parameters = new LinkedHashMap<>();
  final Map<String, Tensor> buffers = new LinkedHashMap<>();

  static void checkName(String name) {
    if (name.isEmpty() || name.contains(".")) {
      throw new TandemInvalidArgumentException(
          "Module.register", "'" + name + "' is no name: it is empty or has a dot");
    }
  }

  void checkNew(String name) {
    checkName(name);
    if (children.containsKey(name) || parameters.containsKey(name) || buffers.containsKey(name)) {
      throw new TandemInvalidArgumentException("Module.register", "the name '" + name + "' is taken");
    }
  }

  static Tensor outliving(Tensor tensor) {
    ScopeFrame.release(Natives.of(tensor));
    return tensor;
  }

  /** What a native module has; names may have dots. Tensors that were there stay the objects that they are. */
  void own(Map<String, Tensor> parametersNow, Map<String, Tensor> buffersNow) {
    replace(parameters, parametersNow);
    replace(buffers, buffersNow);
  }

  private static void replace(Map<String, Tensor> own, Map<String, Tensor> now) {
    Map<String, Tensor> before = new LinkedHashMap<>(own);
    own.clear();
    now.forEach((name, tensor) -> {
      Tensor known = before.get(name);
      if (known != null) {
        tensor.close();
      }
      own.put(name, known != null ? known : outliving(tensor));
    });
  }

  Stream<Tensor> tensors() {
    return Stream.concat(parameters.values().stream(), buffers.values().stream());
  }

  /** The same children, and copies of the tensors. */
  ModuleParts withTensors(ModuleCopier copier) {
    ModuleParts copy = new ModuleParts();
    copy.children.putAll(children);
    parameters.forEach((name, tensor) -> copy.parameters.put(name, copier.of(tensor)));
    buffers.forEach((name, tensor) -> copy.buffers.put(name, copier.of(tensor)));
    return copy;
  }

  // -------------------------------------------------------------------------------------------------------- trees

  private static <T> Set<T> identities() {
    return Collections.newSetFromMap(new IdentityHashMap<>());
  }

  private static String joined(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /** The root as "", then all parts by their paths, each once, before its own parts. */
  static Map<String, Module> modules(Module root) {
    Map<String, Module> all = new LinkedHashMap<>();
    collect("", root, all, identities());
    return all;
  }

  private static void collect(String path, Module module, Map<String, Module> all, Set<Module> seen) {
    if (seen.add(module)) {
      all.put(path, module);
      module.parts().children.forEach((name, child) -> collect(joined(path, name), child, all, seen));
    }
  }

  /** Each once, parts before what they are parts of. */
  static List<Module> partsFirst(Module root) {
    List<Module> all = new ArrayList<>();
    collectPartsFirst(root, all, identities());
    return all;
  }

  private static void collectPartsFirst(Module module, List<Module> all, Set<Module> seen) {
    if (seen.add(module)) {
      module.parts().children.values().forEach(child -> collectPartsFirst(child, all, seen));
      all.add(module);
    }
  }

  /** The tensors of all modules, each once, by their first names. */
  static Map<String, Tensor> once(Module root, Function<Module, Map<String, Tensor>> of) {
    Map<String, Tensor> all = new LinkedHashMap<>();
    Set<Tensor> seen = identities();
    modules(root).forEach((path, module) -> of.apply(module).forEach((name, tensor) -> {
      if (seen.add(tensor)) {
        all.put(joined(path, name), tensor);
      }
    }));
    return all;
  }

  /** Parameters and buffers by all their names. */
  static Map<String, Tensor> state(Module root) {
    Map<String, Tensor> all = new LinkedHashMap<>();
    collect("", root, List.of(parts -> parts.parameters, parts -> parts.buffers), all);
    return all;
  }

  /** Parameters by all their names. */
  static Map<String, Tensor> allParameters(Module root) {
    Map<String, Tensor> all = new LinkedHashMap<>();
    collect("", root, List.of(parts -> parts.parameters), all);
    return all;
  }

  private static void collect(String path, Module module, List<Function<ModuleParts, Map<String, Tensor>>> kinds,
      Map<String, Tensor> all) {
    ModuleParts parts = module.parts();
    kinds.forEach(of -> of.apply(parts).forEach((name, tensor) -> all.put(joined(path, name), tensor)));
    parts.children.forEach((name, child) -> collect(joined(path, name), child, kinds, all));
  }
}
