// Package text has networks for text, by the names of Hugging Face's transformers: their safetensors load.
//
//	net := text.NewLlama(49152, 576, 1536, 30, 9, text.LlamaOptions{NumKeyValueHeads: 3, MaxPositionEmbeddings: 8192,
//		RMSNormEps: gotorch.Some(1e-5), RopeTheta: gotorch.Some(100000.0), TieWordEmbeddings: true})
//	err := nn.Load("SmolLM2-135M", net) // a folder of safetensors, and the numbers of its config.json
//	ids := text.Generate(net, prompt, text.GenerateOptions{MaxNewTokens: 50, DoSample: true, TopP: 0.9})
//
// Tokens are int64 of [batch, length]; what makes them of letters is the program's. Forward gives the logits of every
// position, [batch, length, vocabulary], and is an [nn.Layer]; ForwardCached computes new positions alone.
package text
