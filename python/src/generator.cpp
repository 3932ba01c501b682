#include "decoding/generator.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "arrays.h"
#include "base/cpu.h"
#include "base/published_folder.h"
#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "decoding/drawn_or_searched.h"
#include "decoding/inspection/attention_capture.h"
#include "decoding/load_chat.h"
#include "decoding/load_model.h"
#include "decoding/text_scorer.h"
#include "interrupt.h"
#include "kernels/cuda/device_name.h"
#include "models/model_device.h"
#include "report/attention_page.h"
#include "serving/story_page.h"
#include "submitted.h"
#include "tensor/device_scope.h"

namespace dragoman::python {
namespace {

using decoding::Continuation;
using decoding::GenerationOptions;
using decoding::GenerationRequest;
using Texts = std::vector<std::string>;

// How a call continues its prompts, beside the options of the search.
struct Limits {
  int64_t max_tokens;
  Texts stop = {};
  bool context_shift = false;
  int64_t context_keep = 0;
};

GenerationOptions options_of(Limits limits, const nb::dict& given) {
  GenerationOptions options;
  options.max_tokens = limits.max_tokens;
  options.stop = std::move(limits.stop);
  options.context_shift = limits.context_shift;
  options.context_keep = limits.context_keep;
  lay_options_over("generate", given, options.search, options.search.execution);
  decoding::settle_drawn_or_searched(options.search, given.contains("sampling_temperature"));
  options.check();
  return options;
}

class GeneratorCore {
 public:
  GeneratorCore(std::unique_ptr<decoding::Generator> generator, std::shared_ptr<const data::ChatTemplate> chat)
      : generator_(std::move(generator)), chat_(std::move(chat)) {}

  std::vector<Continuation> generate(const Texts& prompts, int samples, Limits limits, const nb::dict& given) const {
    const GenerationOptions options = options_of(std::move(limits), given);
    base::check_usage(samples >= 1 && (samples == 1 || options.search.samples()),
                      "samples is {}, must be 1 or more, and 1 where nothing is drawn", samples);
    return run_interruptibly([&](const std::stop_token& cancel) {
      std::vector<GenerationRequest> requests;
      for (const std::string& prompt : prompts) {
        for (int sample = 0; sample < samples; ++sample) {
          requests.push_back({.prompt = prompt, .sample = static_cast<uint64_t>(sample), .cancel = cancel});
        }
      }
      return generator_->generate(requests, options);
    });
  }

  Submitted submit(const std::string& prompt, Limits limits, const nb::dict& given, nb::object on_part,
                   nb::object on_done) const {
    const GenerationOptions options = options_of(std::move(limits), given);
    Submitted submitted;
    GenerationRequest request{.prompt = prompt, .cancel = submitted.token()};
    const auto calls = std::make_shared<Calls>(std::move(on_part), std::move(on_done));
    request.on_part = [calls](const decoding::GeneratedPart& part) { return calls->part(part.text, part.ids); };
    const nb::gil_scoped_release released;
    generator_->submit(request, options, [calls](Continuation continuation, const std::exception_ptr& error) {
      calls->finish(continuation, error);
    });
    return submitted;
  }

  // Log-probabilities of the tokens of a text but the first, and the window and stride they were computed with.
  nb::tuple score(const std::string& text, const nb::dict& given) const {
    decoding::TextScoreOptions options;
    decoding::ScoreOptions execution;
    lay_options_over("score", given, options, execution);
    decoding::TextScore score;
    {
      const nb::gil_scoped_release released;
      const data::TokenText tokens =
          data::encode_documents({text}, generator_->vocabulary(), base::thread_count(execution.workers));
      score = decoding::score_text(generator_->model(), tokens, options, execution);
    }
    const size_t tokens = score.log_probs.size();
    return nb::make_tuple(array_of(std::move(score.log_probs), {tokens}), score.log_prob, score.bytes);
  }

  std::string chat_prompt(const std::vector<std::pair<std::string, std::string>>& messages) const {
    base::check_usage(chat_ != nullptr, "chat: the model has no chat template; use generate");
    std::vector<data::ChatMessage> list;
    for (const auto& [role, content] : messages) {
      list.push_back({role, content});
    }
    return chat_->text_of(list);
  }

  // An HTML page with all attention weights of a prompt and its continuation.
  std::string attention_page(const std::string& prompt, int64_t max_tokens, const nb::dict& given) const {
    const GenerationOptions options = options_of({.max_tokens = max_tokens}, given);
    return run_interruptibly([&](const std::stop_token& cancel) {
      const GenerationRequest request{.prompt = prompt, .cancel = cancel};
      const Continuation continuation = generator_->generate({&request, 1}, options).front();
      return report::attention_page(decoding::capture_attention(*generator_, prompt, continuation));
    });
  }

  // An HTML page with the story of a prompt and its continuation.
  std::string story_page(const std::string& prompt, int64_t max_tokens, const nb::dict& given) const {
    const GenerationOptions options = options_of({.max_tokens = max_tokens}, given);
    return run_interruptibly([&](const std::stop_token& cancel) {
      return serving::story_page(
          *generator_, {.text = prompt, .options = options.search, .max_tokens = max_tokens, .cancel = cancel});
    });
  }

  int64_t context() const { return generator_->context(); }
  std::string device() const { return models::device_of(generator_->model()).name(); }
  std::string config() const { return generator_->model().config().to_json(); }

 private:
  WithoutGil<decoding::Generator> generator_;
  std::shared_ptr<const data::ChatTemplate> chat_;
};

std::unique_ptr<GeneratorCore> load(const std::filesystem::path& folder, const std::string& precision, int workers,
                                    int threads_per_worker, const std::string& device) {
  const auto chosen = base::from_name<std::optional<kernels::Precision>>(precision);
  const nb::gil_scoped_release released;
  const tensor::DeviceScope scope(kernels::cuda::open_named_device(device, "device"));
  auto generator = decoding::load_generator(folder, chosen, {workers, threads_per_worker});
  std::shared_ptr<const data::ChatTemplate> chat;
  base::read_published(folder, [&](const base::CheckedFolder& files) { chat = decoding::load_chat(files); });
  return std::make_unique<GeneratorCore>(std::move(generator), std::move(chat));
}

std::string repr_of(const Continuation& continuation) {
  return fmt::format("Continuation(text={}, score={:.4f}, tokens={})", nb::repr(nb::cast(continuation.text)).c_str(),
                     continuation.score, continuation.ids.size());
}

// What a pickled continuation is made of.
using ContinuationState =
    std::tuple<std::string, std::vector<int32_t>, std::vector<int32_t>, std::vector<float>, double, int>;

ContinuationState state_of(const Continuation& c) {
  return {c.text, c.prompt_ids, c.ids, c.token_scores, c.score, static_cast<int>(c.finish_reason)};
}

void set_state(Continuation& self, const ContinuationState& state) {
  Continuation c;
  int reason = 0;
  std::tie(c.text, c.prompt_ids, c.ids, c.token_scores, c.score, reason) = state;
  c.finish_reason = static_cast<decoding::FinishReason>(reason);
  new (&self) Continuation(std::move(c));
}

}  // namespace

void bind_generator(nb::module_& module) {
  nb::class_<Continuation>(module, "Continuation", "What a language model wrote after a prompt.")
      .def_ro("text", &Continuation::text, "The new text, without the prompt.")
      .def_ro("ids", &Continuation::ids, "The ids of the new tokens, without the end.")
      .def_ro("prompt_ids", &Continuation::prompt_ids, "The ids that the model read.")
      .def_ro("token_scores", &Continuation::token_scores,
              "Log-probability in nats of each new token, and of the end if the model wrote it.")
      .def_ro("score", &Continuation::score, "The sum of the token scores.")
      .def_prop_ro(
          "finish_reason", [](const Continuation& self) { return std::string(decoding::name_of(self.finish_reason)); },
          "Why it ends: end_of_sentence (also for a stop string), length_limit, cancelled or deadline.")
      .def("__getstate__", &state_of)
      .def("__setstate__", &set_state)
      .def("__repr__", &repr_of)
      .def("__str__", [](const Continuation& self) { return self.text; });

  nb::class_<GeneratorCore>(module, "GeneratorCore")
      .def_static("load", &load, nb::arg("folder"), nb::arg("precision"), nb::arg("workers"),
                  nb::arg("threads_per_worker"), nb::arg("device"))
      .def(
          "generate",
          [](const GeneratorCore& self, const Texts& prompts, int samples, int64_t max_tokens, Texts stop,
             bool context_shift, int64_t context_keep, const nb::dict& options) {
            return self.generate(prompts, samples, {max_tokens, std::move(stop), context_shift, context_keep}, options);
          },
          nb::arg("prompts"), nb::arg("samples"), nb::arg("max_tokens"), nb::arg("stop"), nb::arg("context_shift"),
          nb::arg("context_keep"), nb::arg("options"))
      .def(
          "submit",
          [](const GeneratorCore& self, const std::string& prompt, int64_t max_tokens, Texts stop, bool context_shift,
             int64_t context_keep, const nb::dict& options, nb::object on_part, nb::object on_done) {
            return self.submit(prompt, {max_tokens, std::move(stop), context_shift, context_keep}, options,
                               std::move(on_part), std::move(on_done));
          },
          nb::arg("prompt"), nb::arg("max_tokens"), nb::arg("stop"), nb::arg("context_shift"), nb::arg("context_keep"),
          nb::arg("options"), nb::arg("on_part"), nb::arg("on_done"))
      .def("score", &GeneratorCore::score, nb::arg("text"), nb::arg("options"),
           nb::sig("def score(self, text: str, options: dict) -> "
                   "tuple[numpy.typing.NDArray[numpy.float32], float, int]"))
      .def("chat_prompt", &GeneratorCore::chat_prompt, nb::arg("messages"))
      .def("attention_page", &GeneratorCore::attention_page, nb::arg("prompt"), nb::arg("max_tokens"),
           nb::arg("options"))
      .def("story_page", &GeneratorCore::story_page, nb::arg("prompt"), nb::arg("max_tokens"), nb::arg("options"))
      .def_prop_ro("context", &GeneratorCore::context)
      .def_prop_ro("device", &GeneratorCore::device)
      .def_prop_ro("config", &GeneratorCore::config);
  module.def(
      "score_option_rows",
      [] {
        nb::list rows;
        append_option_rows(rows, decoding::TextScoreOptions());
        append_option_rows(rows, decoding::ScoreOptions());
        return rows;
      },
      nb::sig("def score_option_rows() -> list[tuple[str, str, str, list[str], str]]"));
}

}  // namespace dragoman::python
