package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.tandem.optim.Adam;
import org.tandem.optim.ChainedScheduler;
import org.tandem.optim.ConstantLR;
import org.tandem.optim.CosineAnnealingLR;
import org.tandem.optim.CosineAnnealingWarmRestarts;
import org.tandem.optim.CyclicLR;
import org.tandem.optim.ExponentialLR;
import org.tandem.optim.LRScheduler;
import org.tandem.optim.LambdaLR;
import org.tandem.optim.LinearLR;
import org.tandem.optim.MultiStepLR;
import org.tandem.optim.MultiplicativeLR;
import org.tandem.optim.OneCycleLR;
import org.tandem.optim.Optimizer;
import org.tandem.optim.PolynomialLR;
import org.tandem.optim.ReduceLROnPlateau;
import org.tandem.optim.SGD;
import org.tandem.optim.SWALR;
import org.tandem.optim.Scheduler;
import org.tandem.optim.SequentialLR;
import org.tandem.optim.StepLR;

/** Schedulers against Python's rates, as tests/cpp/optim/reference.py stored them: the case with these options. */
class SchedulerTest {
  private static Tensor parameter() { return Tensor.scalar(0).requiresGrad(true); }

  private static Optimizer twoGroups(boolean adam) {
    Optimizer optimizer = adam ? new Adam(List.of(parameter()), 0.1)
                               : new SGD(List.of(parameter()), 0.1, new SGD.Options().momentum(0.9));
    optimizer.addGroup(List.of(parameter()), new Options().set("lr", 0.02));
    return optimizer;
  }

  private static double factor(int group, long epoch) {
    return group == 0 ? Math.pow(0.95, epoch) : 1 / (1 + epoch / 4.0);
  }

  private static LRScheduler[] parts(Optimizer o) {
    return new LRScheduler[] {
        new ConstantLR(o, new ConstantLR.Options().factor(0.1).totalIters(3)), new ExponentialLR(o, 0.9)};
  }

  /** How a line of schedules.json begins behind its type, and what makes the same. */
  private static Map<String, Function<Optimizer, Scheduler>> cases() {
    double[] low = {0.01};
    double[] high = {0.1, 0.3};
    Map<String, Function<Optimizer, Scheduler>> all = new LinkedHashMap<>();
    all.put("LambdaLR\"", o -> new LambdaLR(o, SchedulerTest::factor));
    all.put("MultiplicativeLR\"", o -> new MultiplicativeLR(o, SchedulerTest::factor));
    all.put("StepLR\",\"options\":{\"step_size\":3}", o -> new StepLR(o, 3));
    all.put("MultiStepLR\"", o -> new MultiStepLR(o, new long[] {3, 8, 8, 20}, new MultiStepLR.Options().gamma(0.5)));
    all.put("ConstantLR\",\"options\":{}", ConstantLR::new);
    all.put("LinearLR\",\"options\":{\"start_factor\":1.0",
        o -> new LinearLR(o, new LinearLR.Options().startFactor(1).endFactor(0.1).totalIters(20)));
    all.put("ExponentialLR\"", o -> new ExponentialLR(o, 0.9));
    all.put("PolynomialLR\",\"options\":{\"total_iters\":20",
        o -> new PolynomialLR(o, new PolynomialLR.Options().totalIters(20).power(2.5)));
    all.put("CosineAnnealingLR\",\"options\":{\"T_max\":30",
        o -> new CosineAnnealingLR(o, 30, new CosineAnnealingLR.Options().etaMin(0.001)));
    all.put("CosineAnnealingWarmRestarts\",\"options\":{\"T_0\":3,\"T_mult\":2,\"eta_min\"",
        o -> new CosineAnnealingWarmRestarts(
                o, 3, new CosineAnnealingWarmRestarts.Options().tMult(2).etaMin(0.001)));
    all.put("CyclicLR\",\"options\":{\"base_lr\":0.01,\"max_lr\":[0.1,0.3],\"step_size_up\":4,\"mode\":\"exp_range\"",
        o -> new CyclicLR(o, low, high,
                new CyclicLR.Options().stepSizeUp(4).mode("exp_range").gamma(0.9).cycleMomentum(false)));
    all.put("CyclicLR\",\"options\":{\"base_lr\":0.01,\"max_lr\":[0.1,0.3],\"step_size_up\":4,\"scale_mode\"",
        o -> new CyclicLR(o, low, high,
                new CyclicLR.Options().stepSizeUp(4).scaleMode("iterations").scaleFn(x -> 1 / (1 + x / 8))));
    all.put("OneCycleLR\",\"options\":{\"max_lr\":0.2,\"total_steps\":26",
        o -> new OneCycleLR(o, new double[] {0.2},
                new OneCycleLR.Options().totalSteps(26).threePhase(true).divFactor(10).finalDivFactor(50)
                    .baseMomentum(0.5).maxMomentum(0.9, 0.8)));
    all.put("OneCycleLR\",\"options\":{\"max_lr\":0.2,\"epochs\":5",
        o -> new OneCycleLR(o, new double[] {0.2},
                new OneCycleLR.Options().epochs(5).stepsPerEpoch(6).annealStrategy("linear").pctStart(0.25)));
    all.put("ReduceLROnPlateau\",\"options\":{\"patience\":2",
        o -> new ReduceLROnPlateau(o, new ReduceLROnPlateau.Options().patience(2).factor(0.5).thresholdMode("abs")
                .threshold(0.5).cooldown(2).minLR(0.03, 0.001)));
    all.put("SWALR\",\"options\":{\"swa_lr\":0.05,\"anneal_epochs\":4",
        o -> new SWALR(o, new double[] {0.05}, new SWALR.Options().annealEpochs(4).annealStrategy("linear")));
    all.put("SequentialLR\",\"parts\":[{\"type\":\"ConstantLR\"", o -> new SequentialLR(o, List.of(parts(o)), 6));
    all.put("ChainedScheduler\",\"parts\":[{\"type\":\"ConstantLR\"", o -> new ChainedScheduler(parts(o)));
    return all;
  }

  private static void step(Scheduler scheduler, int number) {
    if (scheduler instanceof ReduceLROnPlateau plateau) {
      plateau.step(((number * 5) % 7 + 10 - number) / 8.0);
    } else {
      ((LRScheduler) scheduler).step();
    }
  }

  private static double[][] rates(String line) {
    String text = line.substring(line.indexOf("\"rates\":[[") + 10, line.indexOf("]],\"state\""));
    return Arrays.stream(text.split("\\],\\["))
        .map(row -> Arrays.stream(row.split(",")).mapToDouble(Double::parseDouble).toArray())
        .toArray(double[][]::new);
  }

  @Test
  void schedulesAreThoseOfPython() throws IOException {
    List<String> lines = Files.readAllLines(Path.of(System.getProperty("tandem.source"), "tests/cpp/optim/schedules.json"));
    cases().forEach((beginning, make) -> {
      String line = lines.stream()
                        .filter(one -> one.startsWith("{\"type\":\"" + beginning) && one.contains("\"outside\":false"))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("no case " + beginning));
      follow(beginning, line, make);
    });
  }

  private static void follow(String name, String line, Function<Optimizer, Scheduler> make) {
    boolean adam = line.contains("\"optimizer\":\"Adam\"");
    double[][] expected = rates(line);
    try (Scope scope = Scope.open()) {
      Optimizer optimizer = twoGroups(adam);
      Scheduler scheduler = make.apply(optimizer);
      for (int number = 0; number < expected.length; number++) {
        if (number == 13) { // goes on from what was saved
          Map<String, Object> state = scheduler.stateDict();
          optimizer = twoGroups(adam);
          scheduler = make.apply(optimizer);
          scheduler.loadStateDict(state);
          assertEquals(state, scheduler.stateDict(), name);
        }
        if (number > 0) {
          step(scheduler, number - 1);
        }
        for (int group = 0; group < 2; group++) {
          double rate = optimizer.getDouble(group, "lr");
          assertEquals(expected[number][group], rate, 1e-10 * expected[number][group] + 1e-15, name + ", " + number);
          assertEquals(expected[number][2 + group], optimizer.getDouble(group, adam ? "beta1" : "momentum"), 1e-10, name);
          assertEquals(rate, scheduler.lastLR()[group]);
        }
      }
    }
  }

  @Test
  void aFunctionThatFailsIsTheCauseAndNoStep() {
    try (Scope scope = Scope.open()) {
      IOException own = new IOException("my own");
      boolean[] fails = {false};
      LambdaLR lambda = new LambdaLR(twoGroups(false), (group, epoch) -> {
        if (fails[0]) {
          throw own;
        }
        return epoch + 1;
      });
      fails[0] = true;
      assertSame(own, assertThrows(TandemException.class, lambda::step).getCause());
      fails[0] = false;
      lambda.step();
      assertArrayEquals(new double[] {0.2, 0.04}, lambda.lastLR(), 1e-12);
      assertSame(own, assertThrows(TandemException.class, () -> new LambdaLR(twoGroups(false), (group, epoch) -> {
        throw own;
      })).getCause());
    }
  }

  /** Python looks for a number among them, not for text. */
  @Test
  void milestonesAreNumbers() {
    try (Scope scope = Scope.open()) {
      MultiStepLR steps = new MultiStepLR(twoGroups(false), new long[] {3, 8, 8});
      assertEquals(Map.of(3L, 1L, 8L, 2L), steps.stateDict().get("milestones"));
      new MultiStepLR(twoGroups(false), new long[] {3, 8, 8}).loadStateDict(steps.stateDict());
    }
  }

  @Test
  void whatIsWrongIsNamed() {
    try (Scope scope = Scope.open()) {
      Optimizer optimizer = twoGroups(false);
      assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> new StepLR(optimizer, 0))
                     .getMessage()
                     .contains("step_size"));
      assertThrows(TandemNotFoundException.class, () -> new LRScheduler("Step", optimizer, new Options()));
      CosineAnnealingWarmRestarts restarts = new CosineAnnealingWarmRestarts(optimizer, 4);
      restarts.step(2.5);
      Map<String, Object> state = new HashMap<>(restarts.stateDict());
      assertEquals(2.5, state.get("T_cur"));
      state.put("T_0", "four");
      assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> restarts.loadStateDict(state))
                     .getMessage()
                     .contains("'T_0' is no whole number"));
      state.put("T_0", new Object());
      assertThrows(TandemInvalidArgumentException.class, () -> restarts.loadStateDict(state));
      restarts.close();
      assertThrows(TandemClosedException.class, restarts::step);
    }
  }
}
