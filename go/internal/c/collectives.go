package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import (
	"runtime"
	"unsafe"
)

// start runs a collective; async: it gives the work to wait for.
func start(async bool, call func(**C.tdm_work) *C.tdm_error) (Work, *Failure) {
	if !async {
		return nil, failure(call(nil))
	}
	var w *C.tdm_work
	err := failure(call(&w))
	return Work(unsafe.Pointer(w)), err
}

func Broadcast(g ProcessGroup, t Tensor, root int, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_broadcast(group(g), tensor(t), C.int32_t(root), w)
	})
}

func AllReduce(g ProcessGroup, t Tensor, op int32, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_reduce(group(g), tensor(t), C.tdm_reduce_op(op), w)
	})
}

func AllReducePremulSum(g ProcessGroup, t Tensor, factor float64, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_reduce_premul_sum(group(g), tensor(t), C.double(factor), w)
	})
}

func AllReduceCoalesced(g ProcessGroup, tensors []Tensor, op int32, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_reduce_coalesced(group(g), handles(tensors), C.size_t(len(tensors)), C.tdm_reduce_op(op), w)
	})
}

func Reduce(g ProcessGroup, t Tensor, root int, op int32, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_reduce(group(g), tensor(t), C.int32_t(root), C.tdm_reduce_op(op), w)
	})
}

func AllGather(g ProcessGroup, outputs []Tensor, input Tensor, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_gather(group(g), handles(outputs), C.size_t(len(outputs)), tensor(input), w)
	})
}

func AllGatherIntoTensor(g ProcessGroup, output, input Tensor, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_gather_into_tensor(group(g), tensor(output), tensor(input), w)
	})
}

func Gather(g ProcessGroup, outputs []Tensor, input Tensor, root int, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_gather(group(g), handles(outputs), C.size_t(len(outputs)), tensor(input), C.int32_t(root), w)
	})
}

func Scatter(g ProcessGroup, output Tensor, inputs []Tensor, root int, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_scatter(group(g), tensor(output), handles(inputs), C.size_t(len(inputs)), C.int32_t(root), w)
	})
}

func ReduceScatter(g ProcessGroup, output Tensor, inputs []Tensor, op int32, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_reduce_scatter(group(g), tensor(output), handles(inputs), C.size_t(len(inputs)),
			C.tdm_reduce_op(op), w)
	})
}

func ReduceScatterTensor(g ProcessGroup, output, input Tensor, op int32, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_reduce_scatter_tensor(group(g), tensor(output), tensor(input), C.tdm_reduce_op(op), w)
	})
}

func AllToAll(g ProcessGroup, outputs, inputs []Tensor, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_to_all(group(g), handles(outputs), C.size_t(len(outputs)), handles(inputs),
			C.size_t(len(inputs)), w)
	})
}

func AllToAllSingle(g ProcessGroup, output, input Tensor, outputSplits, inputSplits []int, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_to_all_single(group(g), tensor(output), tensor(input), sizes(outputSplits),
			C.size_t(len(outputSplits)), sizes(inputSplits), C.size_t(len(inputSplits)), w)
	})
}

func Barrier(g ProcessGroup, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error { return C.tdm_barrier(group(g), w) })
}

func MonitoredBarrier(g ProcessGroup, timeoutMS int64) *Failure {
	return failure(C.tdm_monitored_barrier(group(g), C.int64_t(timeoutMS)))
}

func Send(g ProcessGroup, t Tensor, to, tag int, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_send(group(g), tensor(t), C.int32_t(to), C.int32_t(tag), w)
	})
}

// Recv gives the rank that sent, when it is not async.
func Recv(g ProcessGroup, t Tensor, from, tag int, async bool) (Work, int, *Failure) {
	source := C.int32_t(-1)
	w, err := start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_recv(group(g), tensor(t), C.int32_t(from), C.int32_t(tag), &source, w)
	})
	return w, int(source), err
}

// Message is a tdm_message.
type Message struct {
	Tensor    Tensor
	IsSend    bool
	Peer, Tag int
}

func BatchSendRecv(g ProcessGroup, messages []Message, async bool) (Work, *Failure) {
	list := make([]C.tdm_message, len(messages))
	for i, one := range messages {
		list[i] = C.tdm_message{tensor: tensor(one.Tensor), is_send: boolean(one.IsSend), peer: C.int32_t(one.Peer),
			tag: C.int32_t(one.Tag)}
	}
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_batch_send_recv(group(g), unsafe.SliceData(list), C.size_t(len(list)), w)
	})
}

// byteStrings gives what C wrote into an array of owned strings.
func byteStrings(list []*C.tdm_string) [][]byte {
	all := make([][]byte, len(list))
	for i, one := range list {
		all[i] = bytes(one)
	}
	return all
}

func BroadcastBytes(g ProcessGroup, data []byte, root int) ([]byte, *Failure) {
	var s *C.tdm_string
	err := failure(C.tdm_broadcast_bytes(group(g), unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)),
		C.int32_t(root), &s))
	if err != nil {
		return nil, err
	}
	return bytes(s), nil
}

func AllGatherBytes(g ProcessGroup, data []byte, size int) ([][]byte, *Failure) {
	list := make([]*C.tdm_string, size)
	err := failure(C.tdm_all_gather_bytes(group(g), unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)),
		unsafe.SliceData(list), C.size_t(size)))
	if err != nil {
		return nil, err
	}
	return byteStrings(list), nil
}

// GatherBytes takes size 0 where this rank is not root.
func GatherBytes(g ProcessGroup, data []byte, root, size int) ([][]byte, *Failure) {
	list := make([]*C.tdm_string, size)
	err := failure(C.tdm_gather_bytes(group(g), unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)),
		C.int32_t(root), unsafe.SliceData(list), C.size_t(size)))
	if err != nil {
		return nil, err
	}
	return byteStrings(list), nil
}

func ScatterBytes(g ProcessGroup, data [][]byte, root int) ([]byte, *Failure) {
	var pin runtime.Pinner
	defer pin.Unpin()
	starts, lengths := make([]unsafe.Pointer, len(data)), make([]C.size_t, len(data))
	for i, one := range data {
		if len(one) != 0 {
			pin.Pin(unsafe.SliceData(one))
			starts[i], lengths[i] = unsafe.Pointer(unsafe.SliceData(one)), C.size_t(len(one))
		}
	}
	var s *C.tdm_string
	err := failure(C.tdm_scatter_bytes(group(g), unsafe.SliceData(starts), unsafe.SliceData(lengths),
		C.size_t(len(data)), C.int32_t(root), &s))
	if err != nil {
		return nil, err
	}
	return bytes(s), nil
}

func WaitWork(w Work, timeoutMS int64) *Failure {
	return failure(C.tdm_work_wait(work(w), C.int64_t(timeoutMS)))
}
func WorkIsCompleted(w Work) bool { return C.tdm_work_is_completed(work(w)) != 0 }
func WorkSourceRank(w Work) int   { return int(C.tdm_work_source_rank(work(w))) }
func FreeWork(w Work)             { C.tdm_work_free(work(w)) }

// WorkError is why the work failed.
func WorkError(w Work) *Failure {
	var reason *C.tdm_error
	if err := failure(C.tdm_work_error(work(w), &reason)); err != nil {
		return err
	}
	return failure(reason)
}

func FlightRecord() ([]byte, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	var s *C.tdm_string
	if err := failure(C.tdm_flight_record(&s)); err != nil {
		return nil, err
	}
	return bytes(s), nil
}
