package org.tandem.nn;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.internal.Nested;
import org.tandem.internal.ScopeFrame;

/** Copies a tree of modules: modules, parameters and buffers are new, what else modules have in fields is shared. */
final class ModuleCopier {
  private static final String OPERATION = "Module.copyOf";

  private final Map<Module, Module> modules = new IdentityHashMap<>();
  private final Map<Tensor, Tensor> tensors = new IdentityHashMap<>();

  @SuppressWarnings("unchecked") // of the same class
  <M extends Module> M copy(M root) {
    List<Module> tied = new ArrayList<>();
    for (Module original : ModuleParts.modules(root).values()) {
      if (original.isTied()) {
        tied.add(original);
      } else {
        copyWithTensors(original);
      }
    }
    tied.forEach(this::copyWithTensors); // once those are copied whose tensors they have
    modules.forEach((original, copy) -> {
      copy.copyParts(this);
      for (Class<?> type = copy.getClass(); type != Module.class && type != TorchModule.class; type = type.getSuperclass()) {
        for (Field field : type.getDeclaredFields()) {
          if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
            copyField(field, copy);
          }
        }
      }
    });
    return (M) of(root);
  }

  private void copyWithTensors(Module original) {
    Module copy = original.shallowCopy();
    modules.put(original, copy);
    copy.copyTensors(this);
  }

  /** The copy; {@code module} itself where it is not of the tree. */
  Module of(Module module) {
    return modules.getOrDefault(module, module);
  }

  /** The copy of a parameter or buffer, which is made if need be. */
  Tensor of(Tensor tensor) {
    return tensors.computeIfAbsent(tensor, original -> ScopeFrame.outside(() -> {
      try (Tandem.NoGrad off = Tandem.noGrad(); Tensor values = original.detach()) {
        return values.copy().requiresGrad(original.requiresGrad());
      }
    }));
  }

  /** What LibTorch made of {@code original} is its copy. */
  void put(Tensor original, Tensor copy) {
    if (copy.requiresGrad() != original.requiresGrad()) {
      copy.requiresGrad(original.requiresGrad());
    }
    tensors.put(original, copy);
  }

  private void copyField(Field field, Module copy) {
    String name = "field '" + field.getName() + "' of " + field.getDeclaringClass().getName();
    if (!field.trySetAccessible()) {
      throw refused(name + " cannot be reached; open its package to the module of this library");
    }
    try {
      Object value = field.get(copy);
      if (value != null && value.getClass().isHidden()) {
        checkFunction(value, name);
        return;
      }
      Object own = Nested.withCopies(value, modules, tensors, OPERATION);
      if (own != value) {
        field.set(copy, own);
      }
    } catch (IllegalAccessException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** A lambda keeps what it captured: the copy would compute with the original's parameters. */
  private void checkFunction(Object function, String name) throws IllegalAccessException {
    for (Field captured : function.getClass().getDeclaredFields()) {
      if (!Modifier.isStatic(captured.getModifiers()) && captured.trySetAccessible()) {
        Object value = captured.get(function);
        if (modules.containsKey(value) || tensors.containsKey(value)) {
          throw refused(name + " is a function that uses a " + value.getClass().getSimpleName()
              + " of the tree, which it would go on to use in the copy; make it a method of the module");
        }
      }
    }
  }

  private static TandemInvalidArgumentException refused(String message) {
    return new TandemInvalidArgumentException(OPERATION, message);
  }
}
