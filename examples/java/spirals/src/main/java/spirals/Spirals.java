package spirals;

import org.tandem.Tensor;

/** Points on arms of a spiral, and which arm each is on; the same in every language. */
record Spirals(Tensor points, Tensor arms) {
  static final int ARMS = 3;
  private static final int POINTS = 100; // of an arm

  static Spirals make() {
    float[] points = new float[ARMS * POINTS * 2];
    long[] arms = new long[ARMS * POINTS];
    for (int i = 0; i < arms.length; i++) {
      int arm = i % ARMS;
      double along = (i / ARMS + 1) / (double) POINTS;
      double angle = 2 * Math.PI * arm / ARMS + 4 * along;
      points[2 * i] = (float) (along * Math.cos(angle));
      points[2 * i + 1] = (float) (along * Math.sin(angle));
      arms[i] = arm;
    }
    return new Spirals(Tensor.of(points, arms.length, 2), Tensor.of(arms));
  }
}
