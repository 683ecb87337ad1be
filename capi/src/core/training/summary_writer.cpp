#include "tandem/summary_writer.h"

#include "core/call/guard.h"
#include "core/call/strings.h"
#include "core/handles/handle.h"
#include "core/handles/handles.h"

struct tdm_summary_writer : tandem::capi::Handle<tandem::Kind::kSummaryWriter> {
  tdm_summary_writer(const char* folder, const char* suffix) : writer(folder, suffix) {}
  tandem::SummaryWriter writer;
};

using namespace tandem::capi;

namespace {

std::optional<double> time_of(double wall_time) {
  if (!(wall_time >= 0)) invalid("wall_time " + std::to_string(wall_time) + " is before 1970; give 0 for now");
  return wall_time == 0 ? std::nullopt : std::optional(wall_time);
}

const char* text_of(const char* text, const char* argument) {
  check_utf8(not_null(text, argument), argument);
  return text;
}

tandem::ImageDataFormat layout_of(tdm_image_layout layout) {
  if (layout < TDM_IMAGE_CHW || layout > TDM_IMAGE_NHWC) {
    invalid("layout " + std::to_string(layout) + " is none of TDM_IMAGE_CHW to TDM_IMAGE_NHWC");
  }
  return static_cast<tandem::ImageDataFormat>(layout);
}

}  // namespace

tdm_error* tdm_summary_writer_create(const char* folder, const char* suffix, tdm_summary_writer** out) {
  return guard("tdm_summary_writer_create", [&] {
    not_null(folder, "folder");
    not_null(out, "out");
    *out = new tdm_summary_writer(folder, suffix ? suffix : "");
  });
}

const char* tdm_summary_writer_path(const tdm_summary_writer* writer) {
  return if_live(writer) ? writer->writer.path().c_str() : "";
}

tdm_error* tdm_summary_writer_add_scalar(tdm_summary_writer* writer, const char* tag, double value, int64_t step,
                                         double wall_time) {
  return guard("tdm_summary_writer_add_scalar", [&] {
    not_null(writer, "writer")->writer.add_scalar(text_of(tag, "tag"), value, step, time_of(wall_time));
  });
}

tdm_error* tdm_summary_writer_add_histogram(tdm_summary_writer* writer, const char* tag, const tdm_tensor* values,
                                            int64_t step, double wall_time) {
  return guard("tdm_summary_writer_add_histogram", [&] {
    not_null(writer, "writer");
    writer->writer.add_histogram(text_of(tag, "tag"), unwrap(values, "values"), step, time_of(wall_time));
  });
}

tdm_error* tdm_summary_writer_add_image(tdm_summary_writer* writer, const char* tag, const tdm_tensor* image,
                                        tdm_image_layout layout, int64_t step, double wall_time) {
  return guard("tdm_summary_writer_add_image", [&] {
    not_null(writer, "writer");
    writer->writer.add_image(text_of(tag, "tag"), unwrap(image, "image"), step, layout_of(layout), time_of(wall_time));
  });
}

tdm_error* tdm_summary_writer_add_text(tdm_summary_writer* writer, const char* tag, const char* text, int64_t step,
                                       double wall_time) {
  return guard("tdm_summary_writer_add_text", [&] {
    not_null(writer, "writer");
    writer->writer.add_text(text_of(tag, "tag"), text_of(text, "text"), step, time_of(wall_time));
  });
}

tdm_error* tdm_summary_writer_flush(tdm_summary_writer* writer) {
  return guard("tdm_summary_writer_flush", [&] { not_null(writer, "writer")->writer.flush(); });
}

tdm_error* tdm_summary_writer_close(tdm_summary_writer* writer) {
  return guard("tdm_summary_writer_close", [&] { not_null(writer, "writer")->writer.close(); });
}

void tdm_summary_writer_free(tdm_summary_writer* writer) {
  tandem::capi::free_handle(writer);
}
