package c

// #include "shim.h"
import "C"

// Metrics are tdm_metrics_options.
type Metrics struct {
	Step, Epoch, Samples int64
	HasLoss              bool
	Loss, WaitSeconds    float64
}

func ReportMetrics(m Metrics) *Failure {
	if err := Load(); err != nil {
		return err
	}
	options := C.tdm_metrics_options{
		struct_size:  C.sizeof_tdm_metrics_options,
		step:         C.int64_t(m.Step),
		epoch:        C.int64_t(m.Epoch),
		samples:      C.int64_t(m.Samples),
		loss:         C.double(m.Loss),
		wait_seconds: C.double(m.WaitSeconds),
	}
	if m.HasLoss {
		options.has_loss = 1
	}
	return failure(C.tdm_metrics_report(&options))
}
