package org.tandem.internal;

import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.Enumeration;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.BaseStream;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.nn.Module;
import org.tandem.optim.Optimizer;

/**
 * Refuses tensors where {@link Nested} replaces none, since they would be left out of the exchange: in fields of classes
 * other than records, those of superclasses too, and in the JDK's other holders, at any depth. Modules and optimizers have
 * tensors of their own, which are not looked for, and so have the objects that lambdas and inner classes belong to.
 */
final class HiddenTensors {
  /** {@code withinLambda}: it may capture all of the program, so objects in it are not looked into. */
  private record Found(Object value, String where, boolean withinLambda) {}

  /** Fields of a class and its superclasses that may hold tensors. */
  private static final ClassValue<List<Field>> FIELDS = new ClassValue<>() {
    @Override
    protected List<Field> computeValue(Class<?> type) {
      if (SameKind.isOfJdk(type)) {
        return List.of();
      }
      List<Field> fields = new ArrayList<>(get(type.getSuperclass()));
      for (Field field : type.getDeclaredFields()) {
        boolean outer = field.isSynthetic() && field.getName().startsWith("this$");
        if (!Modifier.isStatic(field.getModifiers()) && !outer && mayHold(field.getGenericType())) {
          fields.add(field);
        }
      }
      return List.copyOf(fields);
    }
  };

  private final String operation;
  private final Deque<Found> next = new ArrayDeque<>();
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());

  private HiddenTensors(String operation) {
    this.operation = operation;
  }

  /** Throws where {@code value} has some; {@code where} it is, for the error. */
  static void refuse(Object value, String where, String operation) {
    if (isLeaf(value)) {
      return;
    }
    HiddenTensors search = new HiddenTensors(operation);
    if (isUnreadable(value)) {
      throw search.refused(where + " may hold tensors that cannot be seen without taking them from it");
    }
    search.add(value, where, false);
    while (!search.next.isEmpty()) {
      search.visit(search.next.poll());
    }
  }

  private static boolean isLeaf(Object value) {
    if (value == null || value instanceof Enum<?> || value instanceof Module || value instanceof Optimizer) {
      return true;
    }
    return value instanceof Tensor || isHolder(value) || isUnreadable(value) ? false
                                                                             : FIELDS.get(value.getClass()).isEmpty();
  }

  private static boolean isHolder(Object value) {
    return value instanceof Collection<?> || value instanceof Map<?, ?> || value instanceof Map.Entry<?, ?>
        || value instanceof Optional<?> || value instanceof Object[] || value instanceof Reference<?>
        || value instanceof AtomicReference<?> || value instanceof AtomicReferenceArray<?>;
  }

  /** The program's own are looked at by their fields. */
  private static boolean isUnreadable(Object value) {
    return SameKind.isOfJdk(value.getClass())
        && (value instanceof Iterator<?> || value instanceof Enumeration<?> || value instanceof Spliterator<?>
            || value instanceof BaseStream<?, ?> || value instanceof Future<?> || value instanceof ThreadLocal<?>);
  }

  private void add(Object value, String where, boolean withinLambda) {
    if (value instanceof Tensor) {
      throw refused(where + " holds a tensor");
    }
    if (!isLeaf(value) && seen.add(value)) {
      next.add(new Found(value, where, withinLambda));
    }
  }

  private void visit(Found found) {
    Object value = found.value;
    if (value instanceof Collection<?> elements) {
      elements.forEach(element -> add(element, found.where, found.withinLambda));
    } else if (value instanceof Map<?, ?> map) {
      map.forEach((key, element) -> addAll(found, key, element));
    } else if (value instanceof Map.Entry<?, ?> entry) {
      addAll(found, entry.getKey(), entry.getValue());
    } else if (value instanceof Optional<?> optional) {
      addAll(found, optional.orElse(null));
    } else if (value instanceof Object[] array) {
      addAll(found, array);
    } else if (value instanceof Reference<?> reference) {
      addAll(found, reference.get());
    } else if (value instanceof AtomicReference<?> reference) {
      addAll(found, reference.get());
    } else if (value instanceof AtomicReferenceArray<?> references) {
      for (int i = 0; i < references.length(); i++) {
        addAll(found, references.get(i));
      }
    } else if (!found.withinLambda) {
      visitFields(value);
    }
  }

  private void addAll(Found in, Object... values) {
    for (Object value : values) {
      add(value, in.where, in.withinLambda);
    }
  }

  private void visitFields(Object object) {
    boolean lambda = object.getClass().isHidden();
    for (Field field : FIELDS.get(object.getClass())) {
      String where = "field '" + field.getName() + "' of " + field.getDeclaringClass().getName();
      boolean mentioned = mentionsTensors(field.getGenericType());
      Object value = null;
      try {
        if (field.trySetAccessible()) {
          value = field.get(object);
        } else if (mentioned) { // of others in closed modules nothing can be known
          throw refused(where + " may hold a tensor");
        }
      } catch (IllegalAccessException impossible) {
        throw new IllegalStateException(impossible);
      }
      if (value != null && mentioned && isUnreadable(value)) {
        throw refused(where + " may hold tensors that cannot be seen without taking them from it");
      }
      add(value, where, lambda);
    }
  }

  /** By its declaration. */
  private static boolean mayHold(Type type) {
    if (type instanceof ParameterizedType generic) {
      Class<?> raw = (Class<?>) generic.getRawType();
      return SameKind.isOfJdk(raw) ? Arrays.stream(generic.getActualTypeArguments()).anyMatch(HiddenTensors::mayHold)
                                   : mayHold(raw);
    }
    if (type instanceof GenericArrayType array) {
      return mayHold(array.getGenericComponentType());
    }
    if (!(type instanceof Class<?> plain)) {
      return true; // variables and wildcards
    }
    if (plain.isArray()) {
      return mayHold(plain.getComponentType());
    }
    if (plain.isPrimitive() || plain.isEnum()) {
      return false;
    }
    return !SameKind.isOfJdk(plain) || plain == Object.class || plain.isInterface()
        || plain.getTypeParameters().length != 0;
  }

  private static boolean mentionsTensors(Type type) {
    if (type instanceof ParameterizedType generic) {
      return Arrays.stream(generic.getActualTypeArguments()).anyMatch(HiddenTensors::mentionsTensors);
    }
    if (type instanceof GenericArrayType array) {
      return mentionsTensors(array.getGenericComponentType());
    }
    if (type instanceof WildcardType wildcard) {
      return Arrays.stream(wildcard.getUpperBounds()).anyMatch(HiddenTensors::mentionsTensors);
    }
    return type instanceof Class<?> plain
        && (plain.isArray() ? mentionsTensors(plain.getComponentType()) : Tensor.class.isAssignableFrom(plain));
  }

  private TandemInvalidArgumentException refused(String what) {
    return new TandemInvalidArgumentException(operation, what
        + "; tensors are found in records, lists, sets, values of maps, entries, arrays and optionals alone: give one of"
        + " these");
  }
}
