package reinforce;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.tandem.Scope;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.nn.Linear;
import org.tandem.nn.Sequential;
import org.tandem.nn.Tanh;
import org.tandem.optim.Adam;
import org.tandem.rpc.Rpc;

/** Has the policy: the probabilities of pushing the cart to either side. */
final class Agent implements AutoCloseable {
  /** What one observer has told in a round. */
  private static final class Episode {
    private final Random random;
    private final List<float[]> states = new ArrayList<>();
    private final List<Integer> actions = new ArrayList<>();

    private Episode(long seed) {
      random = new Random(seed);
    }
  }

  private final Sequential policy;
  private final Adam optimizer;
  private final double discount;
  private final long seed;
  private final Map<Long, Episode> episodes = new ConcurrentHashMap<>();

  Agent(double learningRate, double discount, long seed) {
    Tandem.manualSeed(seed);
    policy = new Sequential(new Linear(Observer.STATE, 32), new Tanh(), new Linear(32, 2));
    optimizer = new Adam(policy.parameters(), learningRate);
    this.discount = discount;
    this.seed = seed;
  }

  /** Called by observers: with their number and a state, it gives an action, drawn by the policy. */
  Object act(Object[] given) {
    Episode told = episodes.get((Long) given[0]);
    Tensor state = (Tensor) given[1];
    double right;
    try (Tandem.NoGrad off = Tandem.noGrad()) {
      right = policy.forward(state).softmax(0).select(0, 1).item();
    }
    int action = told.random.nextDouble() < right ? 1 : 0;
    told.states.add(state.toFloatArray()); // an observer asks once at a time
    told.actions.add(action);
    return action;
  }

  /** Has all observers run an episode at the same time, round by round, and follows the gradient of what they earned. */
  void learn(int rounds, int longest, int every) {
    List<Rpc.Worker> workers = Rpc.workers();
    List<Rpc.Worker> observers = workers.subList(1, workers.size());
    if (observers.isEmpty()) {
      throw new TandemInvalidArgumentException(
          "reinforce-java", "there is no observer; start more than one worker: tandem run -n 3");
    }
    observers.forEach(observer -> episodes.put((long) observer.id(), new Episode(seed + 1000 * observer.id())));
    double total = 0;
    for (int round = 1; round <= rounds; round++) {
      List<CompletableFuture<Object>> running = new ArrayList<>();
      for (Rpc.Worker observer : observers) {
        running.add(Rpc.callAsync(observer.name(), "episode", workers.get(0).name(), longest));
      }
      List<List<?>> rewards = new ArrayList<>();
      for (CompletableFuture<Object> episode : running) {
        rewards.add((List<?>) episode.join());
        total += (double) rewards.get(rewards.size() - 1).size() / observers.size();
      }
      try (Scope scope = Scope.open()) {
        update(observers, rewards);
      }
      if (round % every == 0) {
        System.out.printf("round %d/%d: %.1f steps%n", round, rounds, total / every);
        total = 0;
      }
    }
  }

  /** Makes actions likelier that earned more than others did. */
  private void update(List<Rpc.Worker> observers, List<List<?>> rewards) {
    List<float[]> states = new ArrayList<>();
    List<Integer> actions = new ArrayList<>();
    List<Double> returns = new ArrayList<>();
    for (int i = 0; i < observers.size(); i++) {
      Episode told = episodes.get((long) observers.get(i).id());
      states.addAll(told.states);
      actions.addAll(told.actions);
      returns.addAll(discounted(rewards.get(i)));
      told.states.clear();
      told.actions.clear();
    }
    int count = actions.size();
    double mean = returns.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    double spread = Math.sqrt(returns.stream().mapToDouble(earned -> (earned - mean) * (earned - mean)).average().orElse(0)) + 1e-6;
    float[] rows = new float[count * Observer.STATE];
    float[] weights = new float[count * 2]; // of either action: the advantage of the one that was taken
    for (int i = 0; i < count; i++) {
      System.arraycopy(states.get(i), 0, rows, i * Observer.STATE, Observer.STATE);
      weights[2 * i + actions.get(i)] = (float) ((returns.get(i) - mean) / spread);
    }
    Tensor likely = policy.forward(Tensor.of(rows, count, Observer.STATE)).logSoftmax(1);
    optimizer.zeroGrad();
    likely.mul(Tensor.of(weights, count, 2)).sum().div(-count).backward();
    optimizer.step();
  }

  /** For each step, what came from there on. */
  private List<Double> discounted(List<?> rewards) {
    Double[] sums = new Double[rewards.size()];
    double sum = 0;
    for (int i = sums.length - 1; i >= 0; i--) {
      sum = ((Number) rewards.get(i)).doubleValue() + discount * sum;
      sums[i] = sum;
    }
    return Arrays.asList(sums);
  }

  @Override
  public void close() {
    optimizer.close();
    policy.close();
  }
}
