package dist

import (
	"context"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/c"
)

// AnyRank receives from whichever rank sends.
const AnyRank = -1

// Message is a send or a receive of [ProcessGroup.BatchSendRecv]. Messages between two ranks with the same tag arrive in
// the order in which they were sent.
type Message struct {
	Send   bool // else it is received
	Tensor *gotorch.Tensor
	Peer   int
	Tag    int
}

// Send sends t, which must be contiguous, to a rank, which receives it with the same tag.
func (g *ProcessGroup) Send(ctx context.Context, t *gotorch.Tensor, to, tag int) error {
	return g.wait(ctx, "send", operands{one(t)}, send(to, tag))
}

// SendAsync starts a [ProcessGroup.Send].
func (g *ProcessGroup) SendAsync(t *gotorch.Tensor, to, tag int) (*Work, error) {
	return g.start("send", operands{one(t)}, nil, send(to, tag))
}

func send(to, tag int) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.Send(group, h[0][0], to, tag, async)
	}
}

// Recv overwrites t with what a rank, or [AnyRank], sends, and gives the rank that sent.
func (g *ProcessGroup) Recv(ctx context.Context, t *gotorch.Tensor, from, tag int) (source int, err error) {
	err = g.wait(ctx, "recv", operands{one(t)}, func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		_, sender, failure := c.Recv(group, h[0][0], from, tag, false)
		source = sender
		return nil, failure
	})
	return source, err
}

// RecvAsync starts a [ProcessGroup.Recv]; see [Work.Source].
func (g *ProcessGroup) RecvAsync(t *gotorch.Tensor, from, tag int) (*Work, error) {
	return g.start("recv", operands{one(t)}, one(t), func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		work, _, failure := c.Recv(group, h[0][0], from, tag, true)
		return work, failure
	})
}

// BatchSendRecv sends and receives all messages at once, so that ranks may exchange without waiting in circles.
func (g *ProcessGroup) BatchSendRecv(ctx context.Context, messages []Message) error {
	tensors, _, call := batch(messages)
	return g.wait(ctx, "batch_send_recv", tensors, call)
}

// BatchSendRecvAsync starts a [ProcessGroup.BatchSendRecv].
func (g *ProcessGroup) BatchSendRecvAsync(messages []Message) (*Work, error) {
	tensors, received, call := batch(messages)
	return g.start("batch_send_recv", tensors, received, call)
}

func batch(messages []Message) (tensors operands, received []*gotorch.Tensor, call started) {
	var all []*gotorch.Tensor
	for _, m := range messages {
		all = append(all, m.Tensor)
		if !m.Send {
			received = append(received, m.Tensor)
		}
	}
	return operands{all}, received, func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		list := make([]c.Message, len(messages))
		for i, m := range messages {
			list[i] = c.Message{Tensor: h[0][i], IsSend: m.Send, Peer: m.Peer, Tag: m.Tag}
		}
		return c.BatchSendRecv(group, list, async)
	}
}
