package org.tandem.internal;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.nn.Module;

/**
 * The tensors in what modules take and give: tensors, records, lists, sets, maps, arrays and optionals, at any depth.
 */
public final class Nested {
  /** Values nest no deeper: one that contains itself would have no end. */
  private static final int DEEPEST = 64;

  private final String operation;
  private final UnaryOperator<Tensor> replace;

  private Nested(String operation, UnaryOperator<Tensor> replace) {
    this.operation = operation;
    this.replace = replace;
  }

  /** The tensors, in an order that is the same each time; without those that are null. */
  public static List<Tensor> tensorsIn(Object value, String operation) {
    List<Tensor> tensors = new ArrayList<>();
    new Nested(operation, tensor -> {
      tensors.add(tensor);
      return tensor;
    }).copy(value, 0);
    return tensors;
  }

  /** A copy with {@code tensors} in place of those that tensorsIn() found. */
  @SuppressWarnings("unchecked") // of the same type as value
  public static <T> T withTensors(T value, Tensor[] tensors, String operation) {
    Iterator<Tensor> next = List.of(tensors).iterator();
    return (T) new Nested(operation, tensor -> next.next()).copy(value, 0);
  }

  private Object copy(Object value, int depth) {
    if (value instanceof Tensor tensor) {
      return replace.apply(tensor);
    }
    if (value == null || value instanceof Module) {
      return value;
    }
    if (depth > DEEPEST) {
      throw refused("values nest more than " + DEEPEST + " deep; one must not contain itself");
    }
    if (value instanceof Record fields) {
      return copyRecord(fields, depth);
    }
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> copied = map instanceof SortedMap<?, ?> sorted ? sameOrder(sorted) : new LinkedHashMap<>();
      map.forEach((key, element) -> copied.put(key, copy(element, depth + 1)));
      return copied;
    }
    if (value instanceof Collection<?> elements) {
      Collection<Object> copied = value instanceof Set<?> ? new LinkedHashSet<>() : new ArrayList<>();
      elements.forEach(element -> copied.add(copy(element, depth + 1)));
      return copied;
    }
    if (value instanceof Optional<?> optional) {
      return optional.map(element -> copy(element, depth + 1));
    }
    if (value instanceof Object[] array) {
      Object[] copied = (Object[]) Array.newInstance(array.getClass().getComponentType(), array.length);
      for (int i = 0; i < array.length; i++) {
        copied[i] = copy(array[i], depth + 1);
      }
      return copied;
    }
    checkHasNone(value.getClass());
    return value;
  }

  @SuppressWarnings("unchecked") // its keys are the map's own
  private static Map<Object, Object> sameOrder(SortedMap<?, ?> map) {
    return new TreeMap<>(((SortedMap<Object, Object>) map).comparator());
  }

  private Object copyRecord(Record value, int depth) {
    RecordComponent[] components = value.getClass().getRecordComponents();
    Class<?>[] types = new Class<?>[ components.length ];
    Object[] fields = new Object[components.length];
    try {
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        fields[i] = copy(open(components[i].getAccessor()).invoke(value), depth + 1);
      }
      return open(value.getClass().getDeclaredConstructor(types)).newInstance(fields);
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

  /** A tensor that is not found would be left out of the exchange. */
  private void checkHasNone(Class<?> type) {
    if (type.getName().startsWith("java.")) {
      return;
    }
    for (Field field : type.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers()) && Tensor.class.isAssignableFrom(field.getType())) {
        throw refused("field '" + field.getName() + "' of " + type.getName()
            + " is a tensor, which is found in records, lists, maps, arrays and optionals alone; make the class a record");
      }
    }
  }

  private TandemInvalidArgumentException refused(String message) {
    return new TandemInvalidArgumentException(operation, message);
  }
}
