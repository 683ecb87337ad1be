package org.tandem.internal;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.tandem.DType;
import org.tandem.Device;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.TandemUnsupportedException;
import org.tandem.Tensor;
import org.tandem.Tuple;

/** Values of Python, as files of torch.save hold them and {@link org.tandem.PtFile} lists them. */
public final class PythonValues {
  // tdm_value_tag
  private static final int NONE = 0;
  private static final int TENSOR = 2;
  private static final int BOOL = 3;
  private static final int INT = 4;
  private static final int DOUBLE = 5;
  private static final int STRING = 7;
  private static final int DTYPE = 8;
  private static final int DEVICE = 11;
  private static final int TUPLE = 19;
  private static final int DICT = 20;
  private static final int LIST = 21;

  /** As the C ABI has it; a value that contains itself would have no end. */
  private static final int DEEPEST = 64;

  private final String operation;
  private final List<NativeHandle> pinned = new ArrayList<>();

  private PythonValues(String operation) { this.operation = operation; }

  /** Runs {@code body} with the one argument {@code value}, whose tensors stay open until it has returned. */
  public static void give(String operation, Object value, Consumer<NativeArguments> body) {
    PythonValues values = new PythonValues(operation);
    try (NativeArguments arguments = new NativeArguments()) {
      values.add(arguments, value, "the value", 0);
      body.accept(arguments);
    } finally {
      values.pinned.forEach(handle -> NativeHandle.unpin(handle));
    }
  }

  private void add(NativeArguments to, Object value, String place, int depth) {
    if (depth > DEEPEST) {
      throw new TandemInvalidArgumentException(operation, "values nest more than " + DEEPEST + " deep");
    }
    if (value == null) {
      to.addNone();
    } else if (value instanceof Tensor tensor) {
      NativeTensor handle = Natives.of(tensor);
      NativeHandle.pin(handle);
      pinned.add(handle);
      to.add(handle);
    } else if (value instanceof Boolean flag) {
      to.addBool(flag);
    } else if (value instanceof Long || value instanceof Integer) {
      to.addInt(((Number) value).longValue());
    } else if (value instanceof Double || value instanceof Float) {
      to.addDouble(((Number) value).doubleValue());
    } else if (value instanceof String text) {
      to.addString(text);
    } else if (value instanceof DType dtype) {
      to.addDtype(dtype.number());
    } else if (value instanceof Device device) {
      to.addDevice(device.type().number(), device.index());
    } else if (value instanceof Map<?, ?> map) {
      addMap(to, map, place, depth);
    } else if (value instanceof Tuple tuple) {
      addAll(to, TUPLE, tuple.elements(), place, depth);
    } else if (value instanceof Collection<?> list) {
      addAll(to, LIST, list, place, depth);
    } else if (value.getClass().isArray()) {
      List<Object> list = new ArrayList<>();
      for (int i = 0; i < Array.getLength(value); i++) {
        list.add(Array.get(value, i));
      }
      addAll(to, LIST, list, place, depth);
    } else {
      throw new TandemInvalidArgumentException(
          operation, place + " is a " + value.getClass().getName() + ", which files of torch.save have not");
    }
  }

  private void addAll(NativeArguments to, int tag, Collection<?> elements, String place, int depth) {
    try (NativeArguments all = new NativeArguments()) {
      int count = 0;
      for (Object element : elements) {
        add(all, element, place + "[" + count++ + "]", depth + 1);
      }
      to.addNested(tag, all);
    }
  }

  private void addMap(NativeArguments to, Map<?, ?> map, String place, int depth) {
    try (NativeArguments all = new NativeArguments()) {
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        Object key = entry.getKey();
        if (!(key instanceof String || key instanceof Long || key instanceof Integer)) {
          throw new TandemInvalidArgumentException(
              operation, place + " has the key " + key + "; it must be a String, Long or Integer");
        }
        add(all, key, place, depth);
        add(all, entry.getValue(), place + "[" + key + "]", depth + 1);
      }
      to.addNested(DICT, all);
    }
  }

  /** The one result, which is taken out. */
  public static Object take(String operation, NativeResults result) {
    return new PythonValues(operation).takeAll(result).get(0);
  }

  private List<Object> takeAll(NativeResults results) {
    List<Object> taken = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      taken.add(switch (results.tag(i)) {
        case NONE -> null;
        case TENSOR -> Natives.tensor(results.takeTensor(i));
        case BOOL -> results.flag(i);
        case INT -> results.integer(i);
        case DOUBLE -> results.real(i);
        case STRING -> results.string(i);
        case DTYPE -> DType.of(results.enumeration(i));
        case DEVICE -> device(results.device(i));
        case TUPLE -> new Tuple(elements(results, i));
        case LIST -> elements(results, i);
        case DICT -> map(elements(results, i));
        default ->
          throw new TandemUnsupportedException(
              operation, "this front end does not know values with tag " + results.tag(i));
      });
    }
    return taken;
  }

  private List<Object> elements(NativeResults results, int index) {
    try (NativeResults elements = results.takeElements(index)) {
      return takeAll(elements);
    }
  }

  private static Map<Object, Object> map(List<Object> pairs) {
    Map<Object, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.size(); i += 2) {
      map.put(pairs.get(i), pairs.get(i + 1));
    }
    return map;
  }

  private Device device(NativeDevice given) {
    try (given) {
      for (Device.Type type : Device.Type.values()) {
        if (type.number() == given.getType()) {
          return new Device(type, given.getIndex());
        }
      }
    }
    throw new TandemUnsupportedException(operation, "this front end does not know the type of a device");
  }
}
