package org.tandem;

/**
 * Where a tensor lives.
 *
 * @param index number among the devices of that type; -1: the current one
 */
public record Device(Type type, int index) {
  /** Types of devices; the numbers are those of the C ABI. */
  public enum Type {
    CPU(0),
    CUDA(1),
    META(14),
    /** An accelerator that is not LibTorch's own, but of a library that the process has loaded. */
    PRIVATE_USE_1(20);

    private final int number;

    Type(int number) {
      this.number = number;
    }

    public int number() {
      return number;
    }

    /** As PyTorch writes it. */
    String text() {
      return this == PRIVATE_USE_1 ? "privateuseone" : name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  public static final Device CPU = new Device(Type.CPU, -1);

  public static Device cuda(int index) {
    return new Device(Type.CUDA, index);
  }

  /** "cpu", "cuda", "cuda:1", "meta", "privateuseone:0". */
  public static Device parse(String text) {
    int colon = text.indexOf(':');
    String name = colon < 0 ? text : text.substring(0, colon);
    for (Type type : Type.values()) {
      if (type.text().equalsIgnoreCase(name)) {
        try {
          return new Device(type, colon < 0 ? -1 : Integer.parseUnsignedInt(text.substring(colon + 1)));
        } catch (NumberFormatException unreadable) {
          break;
        }
      }
    }
    throw new TandemInvalidArgumentException(
        "Device.parse", "'" + text + "' is no device; write \"cpu\", \"cuda\" or \"cuda:0\"");
  }

  /** By the type's number. */
  public static Device of(int type, int index) {
    for (Type known : Type.values()) {
      if (known.number == type) {
        return new Device(known, index);
      }
    }
    throw new TandemUnsupportedException("Device.of", "this front end does not know device type " + type);
  }

  @Override
  public String toString() {
    return type.text() + (index < 0 ? "" : ":" + index);
  }
}
