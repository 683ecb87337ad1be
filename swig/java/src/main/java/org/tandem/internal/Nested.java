package org.tandem.internal;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.nn.Module;

/**
 * The tensors in what modules take and give: tensors, records, lists, sets, values of maps, entries, arrays and
 * optionals, at any depth. A tensor anywhere else is refused. Modules are left alone, but where they are copied.
 */
public final class Nested {
  /** Values nest no deeper: one that contains itself would have no end. */
  private static final int DEEPEST = 64;

  private final String operation;
  private final UnaryOperator<Tensor> replace;
  private final Map<Module, Module> modules; // null: what is elsewhere is refused

  private Nested(String operation, UnaryOperator<Tensor> replace, Map<Module, Module> modules) {
    this.operation = operation;
    this.replace = replace;
    this.modules = modules;
  }

  /** The tensors, in an order that is the same each time; without those that are null. */
  public static List<Tensor> tensorsIn(Object value, String operation) {
    List<Tensor> tensors = new ArrayList<>();
    new Nested(operation, tensor -> {
      tensors.add(tensor);
      return tensor;
    }, null).copy(value, 0);
    return tensors;
  }

  /**
   * {@code value} with {@code tensors} in place of those that tensorsIn() found. What has the same tensors is handed on
   * itself; copies are as {@link SameKind} makes them. Of two handles of one tensor the new one is closed.
   */
  @SuppressWarnings("unchecked") // of the same type as value
  public static <T> T withTensors(T value, Tensor[] tensors, String operation) {
    Iterator<Tensor> next = List.of(tensors).iterator();
    return (T) new Nested(operation, tensor -> other(tensor, next.next()), null).copy(value, 0);
  }

  /** {@code value} with those modules and tensors in the places of others; what is elsewhere is shared. */
  public static Object withCopies(
      Object value, Map<Module, Module> modules, Map<Tensor, Tensor> tensors, String operation) {
    return new Nested(operation, tensor -> tensors.getOrDefault(tensor, tensor), modules).copy(value, 0);
  }

  private static Tensor other(Tensor tensor, Tensor replacement) {
    if (!tensor.isSame(replacement)) {
      return replacement;
    }
    replacement.close();
    return tensor;
  }

  private Object copy(Object value, int depth) {
    if (value instanceof Tensor tensor) {
      return replace.apply(tensor);
    }
    if (value == null) {
      return null;
    }
    if (value instanceof Module module) {
      return modules == null ? module : modules.getOrDefault(module, module);
    }
    if (depth > DEEPEST) {
      throw refused("values nest more than " + DEEPEST + " deep; one must not contain itself");
    }
    if (value instanceof Record fields) {
      return copyRecord(fields, depth);
    }
    if (value instanceof Map<?, ?> map) {
      return copyMap(map, depth);
    }
    if (value instanceof Collection<?> elements) {
      Object[] copied = copyAll(elements.toArray(), depth);
      return copied == null ? value : kept(SameKind.of(elements, copied), value);
    }
    if (value instanceof Map.Entry<?, ?> entry) {
      Object[] copied = copyAll(new Object[] {entry.getKey(), entry.getValue()}, depth);
      return copied == null ? value : kept(SameKind.of(entry, copied[0], copied[1]), value);
    }
    if (value instanceof Optional<?> optional) {
      Object[] copied = copyAll(new Object[] {optional.orElse(null)}, depth);
      return copied == null ? value : Optional.of(copied[0]);
    }
    if (value instanceof Object[] array) {
      Object[] copied = copyAll(array, depth);
      return copied == null ? value : copied;
    }
    if (modules == null) {
      HiddenTensors.refuse(value, "a " + value.getClass().getName(), operation);
    }
    return value;
  }

  /** Null: all are the same as before. The copy has the array's class. */
  private Object[] copyAll(Object[] values, int depth) {
    Object[] copied = null;
    for (int i = 0; i < values.length; i++) {
      Object element = copy(values[i], depth + 1);
      if (element != values[i]) {
        copied = copied == null ? values.clone() : copied;
        copied[i] = element;
      }
    }
    return copied;
  }

  private Object copyMap(Map<?, ?> map, int depth) {
    Object[] keys = new Object[map.size()];
    Object[] values = new Object[keys.length];
    int count = 0;
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      if (modules == null) {
        HiddenTensors.refuse(entry.getKey(), "a key of a map", operation);
      }
      keys[count] = entry.getKey();
      values[count++] = entry.getValue();
    }
    Object[] copied = copyAll(values, depth);
    return copied == null ? map : kept(SameKind.of(map, keys, copied), map);
  }

  private Object kept(Object copy, Object value) {
    if (copy == null) {
      throw refused("what is in a " + value.getClass().getName()
          + " must be replaced, and how to make another of that class is not known; give a list, set or map of java.util,"
          + " or a record");
    }
    return copy;
  }

  private Object copyRecord(Record value, int depth) {
    RecordComponent[] components = value.getClass().getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] fields = new Object[components.length];
    try {
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        fields[i] = open(components[i].getAccessor()).invoke(value);
      }
      Constructor<?> constructor = open(value.getClass().getDeclaredConstructor(types));
      Object[] copied = copyAll(fields, depth);
      return copied == null ? value : constructor.newInstance(copied);
    } catch (InvocationTargetException thrown) {
      throw refused(
          "the constructor or an accessor of " + value.getClass().getName() + " failed: " + thrown.getCause());
    } catch (ReflectiveOperationException | InaccessibleObjectException closed) {
      throw refused(
          "the fields of " + value.getClass().getName() + " cannot be reached; open its package to this module");
    }
  }

  private static <T extends AccessibleObject> T open(T member) {
    member.setAccessible(true);
    return member;
  }

  private TandemInvalidArgumentException refused(String message) {
    return new TandemInvalidArgumentException(operation, message);
  }
}
