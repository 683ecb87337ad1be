package org.tandem;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.ProcessGroup;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.TorchModule;
import org.tandem.optim.SGD;

/** A module of several inputs and outputs; what it gives does not lead to all of its parameters alike. */
final class Translator extends Module {
  record Words(List<Tensor> tokens, Tensor mask, double scale) {}

  record Translation(
      Tensor logits, Map<String, Tensor> losses, Tensor[] state, Optional<Tensor> attention, long length) {}

  private final TorchModule encoder = register("encoder",
      new TorchModule(
          "LSTM", new Options().set("input_size", 3L).set("hidden_size", 4L).set("batch_first", true)));
  private final Linear head = register("head", new Linear(4, 2));
  private final Linear masked = register("masked", new Linear(4, 4));
  private final Linear auxiliary = register("auxiliary", new Linear(4, 2));
  private final Linear attended = register("attended", new Linear(4, 3));

  Translation translate(Words words) {
    Tensor[] recurrent = encoder.forwardAll(words.tokens().get(0));
    Tensor y = recurrent[0];
    if (words.mask() != null) {
      y = y.mul(masked.forward(words.mask()));
    }
    Map<String, Tensor> losses = new LinkedHashMap<>();
    Tensor more = auxiliary.forward(y);
    losses.put("auxiliary", more.mul(more).mean());
    losses.put("none", null);
    return new Translation(head.forward(y).mul(words.scale()), losses, new Tensor[] {recurrent[1], recurrent[2]},
        Optional.of(attended.forward(y)), words.tokens().size());
  }

  /** Of one rank; of both together for -1. */
  private static Words batch(int rank, int step, boolean masked, int[] rows) {
    if (rank < 0) {
      Words one = batch(0, step, masked, rows);
      Words other = batch(1, step, masked, rows);
      return new Words(List.of(Tensor.cat(List.of(one.tokens().get(0), other.tokens().get(0)), 0)),
          masked ? Tensor.cat(List.of(one.mask(), other.mask()), 0) : null, 2);
    }
    return new Words(
        List.of(numbers(rank, step, rows[rank], 3)), masked ? numbers(rank + 7, step, rows[rank], 4) : null, 2);
  }

  private static Tensor numbers(int rank, int step, int rows, int width) {
    float[] values = new float[rows * 5 * width];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i * 7 + rank * 5 + step * 3) % 13 / 13f - 0.5f;
    }
    return Tensor.of(values).reshape(rows, 5, width);
  }

  private static Tensor loss(Translation out, int uses) {
    Tensor loss = out.logits().mul(out.logits()).mean();
    if (uses == 1) {
      loss = loss.add(out.losses().get("auxiliary"));
    } else if (uses == 2) {
      Tensor attention = out.attention().orElseThrow();
      loss = loss.add(attention.mul(attention).mean());
    }
    return loss;
  }

  /** Trains as one of two ranks, and alone on both ranks' batches; gives how far apart that ends. */
  static double trainsAsOne(ProcessGroup group, String how) {
    boolean fixed = how.contains("static");
    int[] rows = how.contains("samples") ? new int[] {1, 3} : new int[] {2, 2};
    Tandem.manualSeed(11);
    try (Translator alone = new Translator()) {
      alone.train(-1, how, rows, alone::translate, null);
      Tandem.manualSeed(11);
      try (Translator net = new Translator();
          DistributedDataParallel ddp = new DistributedDataParallel(net, group,
              new DistributedDataParallel.Options().bucketCapMb(0).staticGraph(fixed).findUnusedParameters(!fixed)
                  .averageBySamples(how.contains("samples")))) {
        net.train(group.rank(), how, rows, words -> ddp.forward(words, net::translate), ddp);
        double most = 0;
        List<Tensor> expected = alone.parameters();
        List<Tensor> parameters = net.parameters();
        try (Scope scope = Scope.open()) {
          for (int i = 0; i < parameters.size(); i++) {
            float[] is = parameters.get(i).detach().flatten(0).toFloatArray();
            float[] should = expected.get(i).detach().flatten(0).toFloatArray();
            for (int j = 0; j < is.length; j++) {
              most = Math.max(most, Math.abs(is[j] - should[j]));
            }
          }
        }
        return most;
      }
    }
  }

  private void train(int rank, String how, int[] rows, Function<Words, Translation> forward, DistributedDataParallel ddp) {
    boolean fixed = how.contains("static");
    int parts = how.contains("noSync") ? 2 : 1;
    try (SGD optimizer = new SGD(parameters(), 0.2)) {
      for (int step = 0; step < 6; step++) {
        for (int part = 0; part < parts; part++) {
          try (DistributedDataParallel.NoSync local = ddp != null && part < parts - 1 ? ddp.noSync() : null;
              Scope scope = Scope.open()) {
            Translation out = forward.apply(batch(rank, step + 10 * part, fixed || step % 2 == 0, rows));
            if (out.length() != 1 || out.losses().get("none") != null || out.state()[1].dim() != 3) {
              throw new IllegalStateException("what forward gave has changed: " + out);
            }
            loss(out, fixed ? 1 : step % 3).backward();
          }
        }
        optimizer.step();
        optimizer.zeroGrad();
      }
    }
  }
}
