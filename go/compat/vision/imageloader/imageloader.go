// Package imageloader reads images from .tar.gz files in minibatches, with the signatures of wangkuiyi/gotorch. The folder
// that an image lies in is its class. Images are JPEG, PNG or GIF.
package imageloader

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/tool/tgz"
	"tandem.example/gotorch/compat/vision/transforms"
)

// ImageLoader gives minibatches, which it prepares in the background. One goroutine at a time may use it.
type ImageLoader struct {
	batches <-chan minibatch
	batch   minibatch
}

type minibatch struct {
	data, label torch.Tensor
	err         error
}

const batchesAhead = 4

// New opens a file for one pass. vocab numbers the classes. trans runs on each image up to ToTensor, and from there on the
// minibatch, [batch, channels, height, width]; without ToTensor it is an error of the first Scan. mbSize images are in a
// minibatch, in the last one perhaps fewer. They are drawn by seed from a buffer of bufSize images that the file fills in
// its order; less than one leaves that order. colorSpace is RGB or GRAY.
//
// It panics on an mbSize below one. The file is closed at its end, or when the collector finds the loader.
func New(fn string, vocab map[string]int, trans *transforms.ComposeTransformer,
	mbSize, bufSize int, seed int64, pinMemory bool, colorSpace string) (*ImageLoader, error) {
	if mbSize <= 0 {
		panic(fmt.Sprintf("imageloader.New: mbSize is %d; it must be one or more", mbSize))
	}
	if colorSpace != RGB && colorSpace != GRAY {
		return nil, fmt.Errorf("imageloader.New: colorSpace is %q; give %q or %q", colorSpace, RGB, GRAY)
	}
	file, err := tgz.OpenFile(fn)
	if err != nil {
		return nil, err
	}
	perImage, perBatch := splitAtToTensor(trans)
	batches := make(chan minibatch, batchesAhead)
	ctx, cancel := context.WithCancel(context.Background())
	r := &reading{ctx: ctx, file: file, name: fn, vocab: vocab, perImage: perImage, perBatch: perBatch, size: mbSize,
		pin: pinMemory, colors: colorSpace, out: batches}
	go r.run(newShuffle(bufSize, seed))
	loader := &ImageLoader{batches: batches}
	runtime.AddCleanup(loader, func(cancel context.CancelFunc) { cancel() }, cancel)
	return loader, nil
}

// splitAtToTensor makes two of a transform: what comes before ToTensor, and the rest.
func splitAtToTensor(all *transforms.ComposeTransformer) (before, after *transforms.ComposeTransformer) {
	at := len(all.Transforms)
	for i, one := range all.Transforms {
		if _, ok := one.(*transforms.ToTensorTransformer); ok {
			at = i
			break
		}
	}
	return transforms.Compose(all.Transforms[:at]...), transforms.Compose(all.Transforms[at:]...)
}

// Scan goes to the next minibatch. False after the last one and after an error, which Err has then.
func (p *ImageLoader) Scan() bool {
	if p.batch.err != nil {
		return false
	}
	batch, ok := <-p.batches
	if !ok {
		batch.err = io.EOF
	}
	p.batch = batch
	return batch.err == nil
}

// Minibatch has the images that Scan went to, and their classes' numbers, [batch] of Long.
func (p *ImageLoader) Minibatch() (torch.Tensor, torch.Tensor) { return p.batch.data, p.batch.label }

// Err is what went wrong; the end of the file did not.
func (p *ImageLoader) Err() error {
	if p.batch.err == io.EOF {
		return nil
	}
	return p.batch.err
}

// BuildLabelVocabularyFromTgz numbers the classes of a file in their order.
func BuildLabelVocabularyFromTgz(fn string) (map[string]int, error) {
	headers, err := tgz.ListFile(fn)
	if err != nil {
		return nil, err
	}
	vocab := map[string]int{}
	for _, header := range headers {
		if class := classOf(header.Name); !has(vocab, class) {
			vocab[class] = len(vocab)
		}
	}
	return vocab, nil
}

func classOf(name string) string { return filepath.Base(filepath.Dir(name)) }

func has(vocab map[string]int, class string) bool {
	_, ok := vocab[class]
	return ok
}
