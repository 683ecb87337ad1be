// Package text has networks for text, by the names of Hugging Face's transformers: their safetensors load.
//
//	net := text.NewLlama(128256, 2048, 8192, 16, 32, text.LlamaOptions{NumKeyValueHeads: 8, RopeTheta: gotorch.Some(500000.0)})
//	err := nn.Load("Llama-3.2-1B", net) // a folder of safetensors
//	ids := text.Generate(net, prompt, text.GenerateOptions{MaxNewTokens: 50, DoSample: true, TopP: 0.9})
//
// Tokens are int64 of [batch, length]; what makes them of letters is the program's. Forward gives the logits of every
// position, [batch, length, vocabulary], and is an [nn.Layer]; ForwardCached computes new positions alone.
package text
