package reinforce;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.tandem.Tensor;
import org.tandem.rpc.Rpc;

/**
 * Has a cart with a pole on it, which falls unless it is pushed the right way. Source: Barto, Sutton, Anderson, "Neuronlike
 * adaptive elements that can solve difficult learning control problems", 1983; metres, seconds, kilograms, radians.
 */
final class Observer {
  static final int STATE = 4;

  private static final double GRAVITY = 9.8;
  private static final double MASS = 1.1; // of cart and pole
  private static final double POLE = 0.1;
  private static final double HALF = 0.5; // of the pole's length
  private static final double FORCE = 10;
  private static final double TICK = 0.02;

  private final long seed;
  private Random random;
  private double place;
  private double speed;
  private double angle;
  private double turning;

  Observer(long seed) {
    this.seed = seed;
  }

  /**
   * Called by the agent: with its own name, which is asked at each step what to do, and how many steps there are. Gives the reward
   * of each.
   */
  synchronized Object episode(Object[] given) {
    String agent = (String) given[0];
    long longest = (Long) given[1];
    int id = Rpc.self().id();
    if (random == null) {
      random = new Random(seed + id);
    }
    place = draw();
    speed = draw();
    angle = draw();
    turning = draw();
    List<Double> rewards = new ArrayList<>();
    for (boolean stands = true; stands && rewards.size() < longest;) {
      try (Tensor state = Tensor.of(new float[] {(float) place, (float) speed, (float) angle, (float) turning}, STATE)) {
        stands = push(Rpc.call(agent, "act", id, state).equals(1L));
      }
      rewards.add(1.0);
    }
    return rewards;
  }

  private double draw() { return 0.1 * random.nextDouble() - 0.05; }

  /** Whether the pole still stands, and the cart is on its track. */
  private boolean push(boolean right) {
    double sin = Math.sin(angle);
    double cos = Math.cos(angle);
    double swing = ((right ? FORCE : -FORCE) + POLE * HALF * turning * turning * sin) / MASS;
    double turn = (GRAVITY * sin - cos * swing) / (HALF * (4.0 / 3 - POLE * cos * cos / MASS));
    place += TICK * speed;
    speed += TICK * (swing - POLE * HALF * turn * cos / MASS);
    angle += TICK * turning;
    turning += TICK * turn;
    return Math.abs(place) <= 2.4 && Math.abs(angle) <= Math.toRadians(12);
  }
}
