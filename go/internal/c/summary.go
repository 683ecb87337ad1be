package c

// #include "shim.h"
import "C"
import "unsafe"

func summaries(w SummaryWriter) *C.tdm_summary_writer {
	return (*C.tdm_summary_writer)(unsafe.Pointer(w))
}

func CreateSummaryWriter(folder, suffix string) (SummaryWriter, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cFolder, cSuffix := C.CString(folder), C.CString(suffix)
	defer free(cFolder)
	defer free(cSuffix)
	var w *C.tdm_summary_writer
	err := failure(C.tdm_summary_writer_create(cFolder, cSuffix, &w))
	return SummaryWriter(unsafe.Pointer(w)), err
}

func SummaryPath(w SummaryWriter) string { return C.GoString(C.tdm_summary_writer_path(summaries(w))) }

// wallTime in seconds since 1970, here and below; 0: now.
func AddScalar(w SummaryWriter, tag string, value float64, step int, wallTime float64) *Failure {
	cTag := C.CString(tag)
	defer free(cTag)
	return failure(C.tdm_summary_writer_add_scalar(summaries(w), cTag, C.double(value), C.int64_t(step), C.double(wallTime)))
}

func AddHistogram(w SummaryWriter, tag string, values Tensor, step int, wallTime float64) *Failure {
	cTag := C.CString(tag)
	defer free(cTag)
	return failure(C.tdm_summary_writer_add_histogram(summaries(w), cTag, tensor(values), C.int64_t(step), C.double(wallTime)))
}

func AddImage(w SummaryWriter, tag string, image Tensor, layout int32, step int, wallTime float64) *Failure {
	cTag := C.CString(tag)
	defer free(cTag)
	return failure(C.tdm_summary_writer_add_image(summaries(w), cTag, tensor(image), C.tdm_image_layout(layout),
		C.int64_t(step), C.double(wallTime)))
}

func AddText(w SummaryWriter, tag, text string, step int, wallTime float64) *Failure {
	cTag, cText := C.CString(tag), C.CString(text)
	defer free(cTag)
	defer free(cText)
	return failure(C.tdm_summary_writer_add_text(summaries(w), cTag, cText, C.int64_t(step), C.double(wallTime)))
}

func FlushSummaries(w SummaryWriter) *Failure {
	return failure(C.tdm_summary_writer_flush(summaries(w)))
}
func CloseSummaries(w SummaryWriter) *Failure {
	return failure(C.tdm_summary_writer_close(summaries(w)))
}
func FreeSummaryWriter(w SummaryWriter) { C.tdm_summary_writer_free(summaries(w)) }
