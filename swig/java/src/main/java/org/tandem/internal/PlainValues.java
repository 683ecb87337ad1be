package org.tandem.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.TandemInvalidArgumentException;

/** Numbers, flags, texts, null, and lists and maps of such, to and from native values. */
public final class PlainValues {
  // TDM_VALUE_…
  private static final int NONE = 0;
  private static final int BOOL = 3;
  private static final int INT = 4;
  private static final int DOUBLE = 5;
  private static final int STRING = 7;
  private static final int INT_LIST = 14;
  private static final int DOUBLE_LIST = 15;
  private static final int TUPLE = 19;
  private static final int DICT = 20;
  /** Values nest no deeper: one that contains itself would have no end. */
  private static final int DEEPEST = 64;

  private PlainValues() {}

  /** The dict at that place, which is taken out. */
  public static Map<String, Object> map(NativeResults results, long index) {
    Map<String, Object> map = new LinkedHashMap<>();
    try (NativeResults items = results.takeElements(index)) {
      for (long i = 0; i + 1 < items.size(); i += 2) {
        map.put(items.string(i), value(items, i + 1));
      }
    }
    return map;
  }

  private static Object value(NativeResults results, long index) {
    switch (results.tag(index)) {
      case NONE:
        return null;
      case BOOL:
        return results.flag(index);
      case INT:
        return results.integer(index);
      case DOUBLE:
        return results.real(index);
      case STRING:
        return results.string(index);
      case INT_LIST: {
        List<Object> list = new ArrayList<>();
        for (long number : results.integers(index)) {
          list.add(number);
        }
        return list;
      }
      case DOUBLE_LIST: {
        List<Object> list = new ArrayList<>();
        for (double number : results.reals(index)) {
          list.add(number);
        }
        return list;
      }
      case TUPLE:
        try (NativeResults elements = results.takeElements(index)) {
          List<Object> list = new ArrayList<>();
          for (long i = 0; i < elements.size(); i++) {
            list.add(value(elements, i));
          }
          return list;
        }
      case DICT:
        return map(results, index);
      default:
        throw new IllegalStateException("a value of tag " + results.tag(index) + " is no plain one");
    }
  }

  /** One argument, a dict; the caller closes it. */
  public static NativeArguments arguments(Map<String, ?> map) {
    NativeArguments arguments = new NativeArguments();
    try {
      add(arguments, map, "state", 0);
    } catch (RuntimeException refused) {
      arguments.close();
      throw refused;
    }
    return arguments;
  }

  private static void add(NativeArguments arguments, Object value, String name, int depth) {
    if (depth > DEEPEST) {
      throw new TandemInvalidArgumentException(name, "values nest more than " + DEEPEST + " deep");
    }
    if (value == null) {
      arguments.addNone();
    } else if (value instanceof Boolean flag) {
      arguments.addBool(flag);
    } else if (value instanceof Long || value instanceof Integer) {
      arguments.addInt(((Number) value).longValue());
    } else if (value instanceof Number number) {
      arguments.addDouble(number.doubleValue());
    } else if (value instanceof String text) {
      arguments.addString(text);
    } else if (value instanceof List<?> list) {
      try (NativeArguments elements = new NativeArguments()) {
        for (Object element : list) {
          add(elements, element, name, depth + 1);
        }
        arguments.addNested(TUPLE, elements);
      }
    } else if (value instanceof Map<?, ?> map) {
      try (NativeArguments items = new NativeArguments()) {
        map.forEach((key, item) -> {
          items.addString(String.valueOf(key));
          add(items, item, String.valueOf(key), depth + 1);
        });
        arguments.addNested(DICT, items);
      }
    } else {
      throw new TandemInvalidArgumentException(
          name, "a " + value.getClass().getName() + " is no number, flag, text, list or map");
    }
  }
}
