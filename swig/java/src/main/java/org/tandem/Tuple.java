package org.tandem;

import java.util.List;

/** Python's tuple, in values of {@link PtFile}; its list is a {@code List}. */
public record Tuple(List<Object> elements) {
  public static Tuple of(Object... elements) {
    return new Tuple(List.of(elements));
  }
}
