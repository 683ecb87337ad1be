package org.tandem.optim;

import java.util.LinkedHashMap;
import java.util.Map;
import org.tandem.Options;

/** Base of the typed options of optimizers and schedulers. */
abstract class Settings<S extends Settings<S>> {
  private final Map<String, Object> given = new LinkedHashMap<>();

  @SuppressWarnings("unchecked") // what extends this names itself
  S set(String name, Object value) {
    given.put(name, value);
    return (S) this;
  }

  /** By Python's names. */
  Options all() {
    Options all = new Options();
    given.forEach(all::set);
    return all;
  }

  /** With one more. */
  Options with(String name, Object value) { return all().set(name, value); }
}
