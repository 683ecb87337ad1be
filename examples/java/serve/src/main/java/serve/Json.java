package serve;

import java.util.Arrays;
import org.tandem.DType;
import org.tandem.Tensor;

/** Nested arrays of numbers, read and written. */
final class Json {
  private final String text;
  private final int[] shape; // of a row
  private final String wanted;
  private double[] numbers = new double[16];
  private int count;
  private int at;

  private Json(String text, int[] shape, String wanted) {
    this.text = text;
    this.shape = shape;
    this.wanted = wanted;
  }

  /**
   * Rows of that shape.
   *
   * @param wanted what messages call a row
   * @throws IllegalArgumentException it is something else
   */
  static Rows read(String text, int[] shape, String wanted) {
    Json json = new Json(text, shape, wanted);
    int rows = json.array(0);
    if (json.next() != '\0') {
      throw json.wrong("something follows the array of rows");
    }
    if (rows == 0) {
      throw new IllegalArgumentException("the request has no rows: send an array of them; each must be " + wanted);
    }
    return new Rows(rows, Arrays.copyOf(json.numbers, json.count));
  }

  /** How many elements the array has that begins here. Recursion is as deep as rows are. */
  private int array(int depth) {
    if (next() != '[') {
      throw wrong("an array must stand here");
    }
    at++;
    int elements = 0;
    while (next() != ']') {
      if (elements++ > 0) {
        if (next() != ',') {
          throw wrong("a comma or the array's end must stand here");
        }
        at++;
      }
      if (depth < shape.length) {
        array(depth + 1);
      } else {
        number();
      }
    }
    at++;
    if (depth > 0 && elements != shape[depth - 1]) {
      throw wrong("an array has " + elements + " elements, and not " + shape[depth - 1]);
    }
    return elements;
  }

  private void number() {
    next();
    int begin = at;
    while (at < text.length() && "+-.0123456789Ee".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    if (count == numbers.length) {
      numbers = Arrays.copyOf(numbers, 2 * count);
    }
    try {
      numbers[count++] = Double.parseDouble(text.substring(begin, at));
    } catch (NumberFormatException unreadable) {
      throw wrong("a number must stand here");
    }
  }

  private char next() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : '\0';
  }

  private IllegalArgumentException wrong(String why) {
    return new IllegalArgumentException("at character " + at + ": " + why + "; each row must be " + wanted);
  }

  /** Each number as the shortest decimal that is read back as the same; those that JSON has not are strings. */
  static String write(Tensor tensor) {
    StringBuilder out = new StringBuilder();
    if (tensor.dtype() == DType.FLOAT64) {
      double[] all = tensor.toDoubleArray();
      write(out, tensor.sizes(), 0, 0, i -> Double.isFinite(all[i]) ? Double.toString(all[i]) : "\"" + all[i] + "\"");
    } else if (tensor.dtype() == DType.INT64) {
      long[] all = tensor.toLongArray();
      write(out, tensor.sizes(), 0, 0, i -> Long.toString(all[i]));
    } else {
      float[] all = tensor.to(DType.FLOAT32).toFloatArray();
      write(out, tensor.sizes(), 0, 0, i -> Float.isFinite(all[i]) ? Float.toString(all[i]) : "\"" + all[i] + "\"");
    }
    return out.toString();
  }

  /** Writes the part whose first element is {@code from}, and gives where the next begins. */
  private static int write(StringBuilder out, long[] sizes, int depth, int from, java.util.function.IntFunction<String> element) {
    if (depth == sizes.length) {
      out.append(element.apply(from));
      return from + 1;
    }
    out.append('[');
    for (int i = 0; i < sizes[depth]; i++) {
      if (i > 0) {
        out.append(',');
      }
      from = write(out, sizes, depth + 1, from, element);
    }
    out.append(']');
    return from;
  }
}
