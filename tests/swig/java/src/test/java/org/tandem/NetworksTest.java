package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.nn.CrossEntropyLoss;
import org.tandem.nn.Linear;
import org.tandem.nn.TorchModule;
import org.tandem.optim.SGD;
import org.tandem.text.GPT2;
import org.tandem.text.LanguageModel;
import org.tandem.text.Llama;
import org.tandem.vision.ConvNeXtTiny;
import org.tandem.vision.MobileNetV3Small;
import org.tandem.vision.ResNet18;
import org.tandem.vision.ResNet50;
import org.tandem.vision.VGG11BN;
import org.tandem.vision.ViTB16;

/** Networks of org.tandem.vision and org.tandem.text. */
class NetworksTest {
  private static GPT2 gpt2() {
    return new GPT2(new GPT2.Options().vocabSize(11).nPositions(16).nEmbd(8).nLayer(2).nHead(2));
  }

  private static Llama llama() {
    return new Llama(11, 8, 12, 2, 4, new Llama.Options().numKeyValueHeads(2).maxPositionEmbeddings(16));
  }

  @Test
  void imagesHaveClasses() {
    ViTB16.Options small = new ViTB16.Options().imageSize(32).hiddenDim(4).numHeads(2).numLayers(1).mlpDim(4).numClasses(3);
    Map<String, TorchModule> networks = Map.of(
        "layer4.1.bn2.weight", new ResNet18(new ResNet18.Options().width(4).numClasses(3)),
        "layer1.0.downsample.1.weight", new ResNet50(new ResNet50.Options().width(4).numClasses(3)),
        "features.26.weight", new VGG11BN(new VGG11BN.Options().width(2).hidden(4).numClasses(3)),
        "features.12.1.weight", new MobileNetV3Small(new MobileNetV3Small.Options().widthMult(0.1).numClasses(3)),
        "features.5.8.layer_scale", new ConvNeXtTiny(new ConvNeXtTiny.Options().width(2).numClasses(3)),
        "encoder.layers.encoder_layer_0.mlp.3.weight", new ViTB16(small));
    networks.forEach((name, network) -> {
      try (Scope scope = Scope.open(); network) {
        network.eval();
        assertTrue(network.namedParameters().containsKey(name), name);
        assertArrayEquals(new long[] {1, 3}, network.forward(Tensor.ones(DType.FLOAT32, 1, 3, 32, 32)).sizes(), name);
      }
    });
    assertThrows(TandemInvalidArgumentException.class, () -> new ResNet18(new ResNet18.Options().groups(2)));
  }

  @Test
  void aStepOfTrainingAndAFile(@TempDir Path folder) {
    Tandem.manualSeed(1);
    Path path = folder.resolve("resnet18.safetensors");
    ResNet18.Options options = new ResNet18.Options().width(4).numClasses(2);
    try (Scope scope = Scope.open();
        ResNet18 network = new ResNet18(options);
        ResNet18 other = new ResNet18(options);
        CrossEntropyLoss loss = new CrossEntropyLoss();
        SGD sgd = new SGD(network.parameters(), 0.05)) {
      Tensor x = Tensor.rand(4, 3, 32, 32);
      Tensor y = Tensor.of(new long[] {0, 1, 1, 0}, 4);
      float first = 0;
      float last = 0;
      for (int step = 0; step < 6; step++) {
        sgd.zeroGrad();
        Tensor value = loss.forward(network.forward(x), y);
        last = value.toFloatArray()[0];
        first = step == 0 ? last : first;
        value.backward();
        sgd.step();
      }
      assertTrue(last < first, first + " → " + last);
      network.save(path);
      other.load(path);
      network.eval();
      other.eval();
      assertArrayEquals(network.forward(x).toFloatArray(), other.forward(x).toFloatArray());
    }
  }

  @Test
  void tokensFollow() {
    Tandem.manualSeed(2);
    for (LanguageModel network : List.of(gpt2(), llama())) {
      try (Scope scope = Scope.open(); network; Linear linear = new Linear(1, 1)) {
        network.eval();
        Tensor prompt = Tensor.of(new long[] {1, 5, 2}, 1, 3);
        Tensor tokens = network.generate(prompt, new Options().set("max_new_tokens", 4));
        assertArrayEquals(new long[] {1, 7}, tokens.sizes());
        assertArrayEquals(tokens.toLongArray(),
            network.generate(prompt, new Options().set("max_new_tokens", 4).set("use_cache", false)).toLongArray());
        // By hand, with the cache.
        LanguageModel.Output output = network.forwardCached(prompt, null);
        long[] wanted = tokens.toLongArray();
        for (int i = 3; i < 7; i++) {
          assertEquals(4, output.cache().size());
          float[] logits = output.logits().toFloatArray();
          int best = logits.length - 11;
          for (int j = best; j < logits.length; j++) {
            best = logits[j] > logits[best] ? j : best;
          }
          assertEquals(wanted[i], best - (logits.length - 11));
          output = network.forwardCached(Tensor.of(new long[] {wanted[i]}, 1, 1), output.cache());
        }
        assertThrows(TandemInvalidArgumentException.class, () -> network.generate(prompt, new Options()));
        assertThrows(TandemUnsupportedException.class, () -> linear.generate(prompt, new Options()));
      }
    }
  }

  @Test
  void aTiedWeightIsThereOnce() {
    try (GPT2 tied = gpt2(); Llama own = llama()) {
      assertFalse(tied.stateDict().containsKey("lm_head.weight"));
      assertTrue(own.stateDict().containsKey("lm_head.weight"));
    }
  }
}
