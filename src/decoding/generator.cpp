#include "decoding/generator.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "decoding/failure_text.h"
#include "decoding/generation_job.h"

namespace dragoman::decoding {

Generator::Generator(std::shared_ptr<const models::Model> model, data::Vocabulary vocabulary, ServiceThreads threads)
    : vocabulary_(std::move(vocabulary)), search_(model), threads_(threads) {
  const models::ModelSizes sizes = model->config().sizes();
  base::check_usage(sizes.source_vocab_size == 0,
                    "generate: the model is a {}, which reads a source text; use dragoman translate",
                    model->config().architecture());
  base::check_data(vocabulary_.size() <= sizes.target_vocab_size,
                   "generate: the vocabulary has {} pieces, the model was made for {}; use the vocabulary that was "
                   "trained with the model",
                   vocabulary_.size(), sizes.target_vocab_size);
}

std::vector<int32_t> Generator::prompt_ids(const std::string& prompt) const {
  std::vector<int32_t> ids = vocabulary_.encode_checked(prompt, "prompt");
  const data::SpecialIds& special = vocabulary_.special();
  if (vocabulary_.adds_bos() && special.bos >= 0) {
    ids.insert(ids.begin(), special.bos);
  }
  if (ids.empty()) {
    ids = special.bos >= 0       ? std::vector{special.bos}
          : !special.eos.empty() ? std::vector{special.eos.front()}
                                 : vocabulary_.encode("\n");
  }
  base::check_usage(!ids.empty(),
                    "prompt: it is empty, and the vocabulary has no token that begins a text; give at "
                    "least one character");
  return ids;
}

// More texts at once read the weights less often, and need more memory for keys and values.
SearchOptions Generator::search_of(const GenerationOptions& options) const {
  constexpr int64_t kCacheBytes = int64_t{1} << 30, kFewest = 4096, kMost = 65'536;
  const int64_t row = std::max<int64_t>(model().config().sizes().state_floats, 1) * static_cast<int64_t>(sizeof(float));
  SearchOptions search = options.search;
  search.execution.batch_tokens = std::clamp(kCacheBytes / row, kFewest, kMost);
  return search;
}

std::unique_ptr<GenerationJob> Generator::make_job(const GenerationRequest& request,
                                                   const GenerationOptions& options) const {
  return std::make_unique<GenerationJob>(vocabulary_, context(), request, options,
                                         request.prompt_ids.empty() ? prompt_ids(request.prompt) : request.prompt_ids);
}

std::vector<Continuation> Generator::generate(std::span<const GenerationRequest> requests,
                                              const GenerationOptions& options, OnError on_error) const {
  options.check();
  options.check_fits(context());
  std::vector<Continuation> continuations(requests.size());
  std::vector<std::unique_ptr<GenerationJob>> jobs(requests.size());
  const auto guard = [&](size_t place, const auto& action) {
    try {
      action();
    } catch (...) {
      if (on_error == OnError::kThrow) {
        throw;
      }
      continuations[place].error = failure_text(std::current_exception());
    }
  };
  std::vector<size_t> places;  // of the jobs whose text goes on
  for (size_t place = 0; place < requests.size(); ++place) {
    guard(place, [&] {
      jobs[place] = make_job(requests[place], options);
      places.push_back(place);
    });
  }
  while (!places.empty()) {
    std::vector<SentenceRequest> searches;
    for (const size_t place : places) {
      searches.push_back(jobs[place]->next_search());
    }
    const std::vector<SearchResult> results = search_.run(searches, search_of(options), on_error);
    const std::vector<size_t> searched = std::exchange(places, {});
    for (size_t i = 0; i < searched.size(); ++i) {
      const size_t place = searched[i];
      guard(place, [&] {
        if (jobs[place]->take_result(results[i])) {
          places.push_back(place);
        } else {
          continuations[place] = jobs[place]->finish();
        }
      });
    }
  }
  return continuations;
}

// A prompt of the service: each search submits the one that follows it.
class Generator::Submitted : public std::enable_shared_from_this<Submitted> {
 public:
  Submitted(std::unique_ptr<GenerationJob> job, SearchService& service, std::shared_ptr<const SearchOptions> options,
            Done done)
      : job_(std::move(job)), service_(service), options_(std::move(options)), done_(std::move(done)) {}

  void submit() {
    std::list<SearchTask> tasks;
    tasks.push_back({0, job_->next_search(), options_,
                     [self = shared_from_this()](const SearchResult& result) { self->take_result(result); }});
    service_.submit(std::move(tasks));
  }

 private:
  void take_result(const SearchResult& result) {
    Continuation continuation;
    std::exception_ptr error;
    try {
      if (job_->take_result(result)) {
        return submit();
      }
      continuation = job_->finish();
    } catch (...) {
      error = std::current_exception();
    }
    done_(std::move(continuation), error);
  }

  std::unique_ptr<GenerationJob> job_;
  SearchService& service_;
  std::shared_ptr<const SearchOptions> options_;
  Done done_;
};

void Generator::submit(const GenerationRequest& request, const GenerationOptions& options, Done done) const {
  options.check();
  options.check_fits(context());
  auto job = make_job(request, options);
  std::call_once(service_started_, [&] { service_ = std::make_unique<SearchService>(search_.models(), threads_); });
  std::make_shared<Submitted>(std::move(job), *service_, std::make_shared<const SearchOptions>(search_of(options)),
                              std::move(done))
      ->submit();
}

}  // namespace dragoman::decoding
