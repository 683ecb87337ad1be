package org.tandem.elastic;

/** What comes after a step, with the C ABI's numbers. */
enum Next {
  GO_ON(0),
  COMMIT(1),
  STOP(2),
  LEAVE(3);

  private final int number;

  Next(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  static Next of(int number) {
    for (Next next : values()) {
      if (next.number == number) {
        return next;
      }
    }
    throw new IllegalStateException("this front end does not know what " + number + " means after a step");
  }
}
