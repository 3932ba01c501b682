#include "serving/service/encoding_service.h"

namespace dragoman::serving {
namespace {

// The queue holds the job until the report is ended.
void begin_part(const EncodingJob& job, size_t part, const PartReport& report) {
  std::list<decoding::EncoderTask> task(1);
  task.front().input = job.inputs[part];
  task.front().result = job.result;
  task.front().cancel = job.cancel;
  task.front().deadline = job.deadline;
  task.front().done = [&job, part, report](const decoding::EncodedText& text) {
    PartEnd end{text.reason, job.inputs[part].ids.size(), 0, text.error};
    try {
      if (!text.values.empty()) {
        job.on_encoded(part, text.values);
      }
    } catch (...) {
      end.error = std::current_exception();
    }
    report.end(std::move(end));
  };
  job.model->service->submit(std::move(task));
}

}  // namespace

void EncodingService::submit(EncodingJob job) {
  QueuedJob queued{.costs = {}, .cancel = job.cancel, .deadline = job.deadline, .begin = {}, .done = {}};
  for (const data::EncoderInput& input : job.inputs) {
    queued.costs.push_back(static_cast<int64_t>(input.ids.size()));
  }
  queued.late = "the encoding took too long";
  const auto work = std::make_shared<EncodingJob>(std::move(job));
  queued.begin = [work](size_t part, const PartReport& report) { begin_part(*work, part, report); };
  queued.done = [work](const std::exception_ptr& error) { work->done(error); };
  queue_.submit(std::move(queued));
}

}  // namespace dragoman::serving
