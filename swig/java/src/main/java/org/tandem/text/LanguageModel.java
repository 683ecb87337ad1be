package org.tandem.text;

import java.util.Arrays;
import java.util.List;
import org.tandem.Options;
import org.tandem.Tensor;
import org.tandem.nn.TorchModule;

/** A network that predicts the next token, such as {@link GPT2}: of tokens [batch, length], int64. */
public class LanguageModel extends TorchModule {
  LanguageModel(String type, Options options) {
    super(type, options);
  }

  /** What a forward with a cache gives. */
  public record Output(Tensor logits, List<Tensor> cache) {}

  /**
   * Computes the logits [batch, length, vocabulary] of tokens that follow those of the cache, and gives the cache of all
   * positions: keys and values, two tensors a layer. Close those of the cache before, or have a Scope free them.
   *
   * @param cache what the forward before gave, null at the beginning
   */
  public Output forwardCached(Tensor inputIds, List<Tensor> cache) {
    return forwardCached(inputIds, cache, null, null);
  }

  /**
   * @param attentionMask [batch, positions], 0 where one is padding; those of the cache included; may be null
   * @param positionIds [batch, length]; by default, null, those that follow the cache
   */
  public Output forwardCached(Tensor inputIds, List<Tensor> cache, Tensor attentionMask, Tensor positionIds) {
    Tensor[] results = forwardAll(inputIds, attentionMask, positionIds, cache, true);
    return new Output(results[0], Arrays.asList(results).subList(1, results.length));
  }
}
