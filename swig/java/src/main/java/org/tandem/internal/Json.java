package org.tandem.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.TandemDataLossException;
import org.tandem.TandemUnsupportedException;
import org.tandem.Tuple;

/**
 * JSON of what settings of optimizers and schedulers hold: null, Boolean, Long, Double, String, List, Map and Tuple. What JSON
 * lacks, or would round, has a tag, in the form of the C++ core: {"double": "1.5"}, {"tuple": […]}, and {"dict": [[key, value],
 * …]} for keys that are numbers, or in place of any object that would be taken for one of the three.
 */
public final class Json {
  private static final int DEEPEST = 64;
  private static final String DOUBLE = "double";
  private static final String TUPLE = "tuple";
  private static final String DICT = "dict";

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  public static String write(Object value) {
    StringBuilder written = new StringBuilder();
    write(value, written, 0);
    return written.toString();
  }

  private static void write(Object value, StringBuilder to, int depth) {
    if (depth > DEEPEST) {
      throw new TandemUnsupportedException("Job.commit", "settings nest more than " + DEEPEST + " deep");
    }
    if (value == null || value instanceof Boolean || value instanceof Long || value instanceof Integer) {
      to.append(value);
    } else if (value instanceof Double number) {
      to.append("{\"" + DOUBLE + "\":\"").append(number.doubleValue()).append("\"}"); // with all digits that it takes
    } else if (value instanceof String string) {
      quote(string, to);
    } else if (value instanceof List<?> list) {
      writeAll(list, to, depth);
    } else if (value instanceof Tuple tuple) {
      to.append("{\"" + TUPLE + "\":");
      writeAll(tuple.elements(), to, depth);
      to.append('}');
    } else if (value instanceof Map<?, ?> map) {
      to.append("{\"" + DICT + "\":[");
      String between = "[";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        to.append(between);
        write(entry.getKey(), to, depth + 1);
        to.append(',');
        write(entry.getValue(), to, depth + 1);
        to.append(']');
        between = ",[";
      }
      to.append("]}");
    } else {
      throw new TandemUnsupportedException(
          "Job.commit", "a setting of the type " + value.getClass().getName() + " cannot be part of a commit");
    }
  }

  private static void writeAll(List<?> values, StringBuilder to, int depth) {
    to.append('[');
    String between = "";
    for (Object value : values) {
      to.append(between);
      write(value, to, depth + 1);
      between = ",";
    }
    to.append(']');
  }

  private static void quote(String string, StringBuilder to) {
    to.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      if (c == '"' || c == '\\') {
        to.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        to.append(String.format("\\u%04x", (int) c)); // half a surrogate pair has no UTF-8
      } else {
        to.append(c);
      }
    }
    to.append('"');
  }

  /** An object of texts, as a checkpoint's values are. */
  public static String writeTexts(Map<String, String> texts) {
    StringBuilder written = new StringBuilder("{");
    texts.forEach((name, value) -> {
      if (written.length() > 1) {
        written.append(',');
      }
      quote(name, written);
      written.append(':');
      quote(value, written);
    });
    return written.append('}').toString();
  }

  /** @throws TandemDataLossException it is no JSON */
  public static Object read(String text) {
    Json json = new Json(text);
    return json.whole(json.value(0));
  }

  /** The members of an object, which has no tag. */
  public static Map<String, Object> readObject(String text) {
    Json json = new Json(text);
    return json.whole(json.object(0));
  }

  private <T> T whole(T value) {
    blanks();
    if (at != text.length()) {
      throw damaged();
    }
    return value;
  }

  private TandemDataLossException damaged() {
    return new TandemDataLossException("Elastic.run", "the values of a commit are no JSON, at character " + at);
  }

  private void blanks() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private char next() {
    blanks();
    if (at == text.length()) {
      throw damaged();
    }
    return text.charAt(at);
  }

  private boolean skip(String expected) {
    blanks();
    boolean there = text.startsWith(expected, at);
    at += there ? expected.length() : 0;
    return there;
  }

  private void need(String expected) {
    if (!skip(expected)) {
      throw damaged();
    }
  }

  private Object value(int depth) {
    if (depth > DEEPEST * 4) { // a level of what is written is up to three here
      throw damaged();
    }
    return switch (next()) {
      case '{' -> untagged(object(depth));
      case '[' -> array(depth);
      case '"' -> string();
      default -> skip("null") ? null : skip("true") ? (Object) true : skip("false") ? (Object) false : number();
    };
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> object = new LinkedHashMap<>();
    need("{");
    if (skip("}")) {
      return object;
    }
    do {
      next();
      String name = string();
      need(":");
      object.put(name, value(depth + 1));
    } while (skip(","));
    need("}");
    return object;
  }

  private List<Object> array(int depth) {
    List<Object> array = new ArrayList<>();
    need("[");
    if (skip("]")) {
      return array;
    }
    do {
      array.add(value(depth + 1));
    } while (skip(","));
    need("]");
    return array;
  }

  private String string() {
    need("\"");
    StringBuilder string = new StringBuilder();
    while (true) {
      if (at == text.length()) {
        throw damaged();
      }
      char c = text.charAt(at++);
      if (c == '"') {
        return string.toString();
      }
      string.append(c == '\\' ? escaped() : c);
    }
  }

  private char escaped() {
    if (at == text.length()) {
      throw damaged();
    }
    char c = text.charAt(at++);
    int known = "\"\\/bfnrt".indexOf(c);
    if (known >= 0) {
      return "\"\\/\b\f\n\r\t".charAt(known);
    }
    if (c != 'u' || at + 4 > text.length()) {
      throw damaged();
    }
    try {
      char made = (char) Integer.parseInt(text, at, at + 4, 16);
      at += 4;
      return made;
    } catch (NumberFormatException unreadable) {
      throw damaged();
    }
  }

  private Object number() {
    int begin = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String digits = text.substring(begin, at);
    try {
      return digits.matches("-?\\d+") ? (Object) Long.parseLong(digits) : (Object) Double.parseDouble(digits);
    } catch (NumberFormatException unreadable) {
      throw damaged();
    }
  }

  private Object untagged(Map<String, Object> object) {
    if (object.size() != 1) {
      return object;
    }
    Map.Entry<String, Object> only = object.entrySet().iterator().next();
    if (only.getKey().equals(DOUBLE) && only.getValue() instanceof String digits) {
      try {
        return Double.parseDouble(digits);
      } catch (NumberFormatException unreadable) {
        throw damaged();
      }
    }
    if (only.getKey().equals(TUPLE) && only.getValue() instanceof List<?> elements) {
      return new Tuple(new ArrayList<>(elements));
    }
    if (only.getKey().equals(DICT) && only.getValue() instanceof List<?> pairs) {
      Map<Object, Object> dict = new LinkedHashMap<>();
      for (Object pair : pairs) {
        if (!(pair instanceof List<?> two) || two.size() != 2) {
          throw damaged();
        }
        dict.put(two.get(0), two.get(1));
      }
      return dict;
    }
    return object;
  }
}
