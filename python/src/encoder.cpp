#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "arrays.h"
#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "data/masked_examples.h"
#include "decoding/text_labeler.h"
#include "kernels/cuda/device_name.h"
#include "models/model_device.h"
#include "tensor/device_scope.h"

namespace dragoman::python {
namespace {

using models::EncoderHead;
using Pair = std::pair<std::string, std::optional<std::string>>;
using Tags = std::pair<std::vector<int32_t>, std::vector<float>>;         // numbers of the tags, probabilities
using Candidates = std::vector<std::tuple<int32_t, std::string, float>>;  // id, piece, probability

class EncoderCore {
 public:
  EncoderCore(std::string folder, decoding::TextLabeler labeler)
      : folder_(std::move(folder)),
        labeler_(std::move(labeler)),
        encoder_(labeler_.shared_model(), labeler_.vocabulary()) {}

  // Vectors [B, D], and how many texts were cut.
  nb::tuple embed(const std::vector<std::string>& texts, const nb::dict& options) const {
    const decoding::EncodeOptions encode = options_of("embed", options);
    decoding::Embeddings embeddings;
    {
      const nb::gil_scoped_release released;
      embeddings = encoder_.embed(texts, encode);
    }
    const auto width = static_cast<size_t>(labeler_.model().config().sizes().d_model);
    return nb::make_tuple(array_of(std::move(embeddings.values), {texts.size(), width}), embeddings.cut);
  }

  // Probabilities [B, C], and how many texts were cut.
  nb::tuple classify(const std::vector<Pair>& texts, const nb::dict& options) const {
    const decoding::EncodeOptions encode = options_for(EncoderHead::kClasses, "classify", options);
    decoding::TextClasses classes;
    {
      const nb::gil_scoped_release released;
      std::vector<data::TextOrPair> pairs;
      for (const auto& [first, second] : texts) {
        pairs.push_back({first, second});
      }
      classes = labeler_.classify(pairs, encode);
    }
    const auto labels = static_cast<size_t>(labeler_.labels().size());
    return nb::make_tuple(array_of(std::move(classes.probabilities), {texts.size(), labels}), classes.cut);
  }

  // The number and the probability of the tag of each word.
  std::vector<Tags> tag(const std::vector<std::vector<std::string>>& sentences, const nb::dict& options) const {
    const decoding::EncodeOptions encode = options_for(EncoderHead::kTags, "tag", options);
    const nb::gil_scoped_release released;
    std::vector<Tags> tagged;
    for (decoding::WordTags& tags : labeler_.tag(sentences, encode)) {
      tagged.emplace_back(std::move(tags.tags), std::move(tags.probabilities));
    }
    return tagged;
  }

  // The candidates of each mask of each text, and how many texts were cut.
  std::pair<std::vector<std::vector<Candidates>>, int64_t> fill_mask(const std::vector<std::string>& texts,
                                                                     int candidates, const nb::dict& options) const {
    const decoding::EncodeOptions encode = options_for(EncoderHead::kWords, "fill_mask", options);
    base::check_range("candidates", candidates, 1, 1000);
    const nb::gil_scoped_release released;
    data::check_has_mask(data::mask_id(labeler_.vocabulary()));
    std::vector<data::EncoderInput> inputs;
    int64_t cut = 0;
    for (const std::string& text : texts) {
      const data::EncoderInput& input = inputs.emplace_back(labeler_.masked_input(text));
      base::check_data(!input.word_rows.empty(), "fill_mask: text {} {}", inputs.size(), labeler_.lack_of_mask(input));
      cut += input.is_cut ? 1 : 0;
    }
    std::vector<std::vector<Candidates>> filled;
    for (decoding::FilledMasks& masks : labeler_.fill(inputs, candidates, encode)) {
      std::vector<Candidates>& of_text = filled.emplace_back();
      for (std::vector<decoding::MaskCandidate>& of_mask : masks) {
        Candidates& all = of_text.emplace_back();
        for (decoding::MaskCandidate& candidate : of_mask) {
          all.emplace_back(candidate.id, std::move(candidate.piece), candidate.probability);
        }
      }
    }
    return {std::move(filled), cut};
  }

  std::string head() const { return std::string(base::name_of(labeler_.model().encoder_config().head)); }
  std::vector<std::string> labels() const { return labeler_.labels().names(); }
  std::string mask() const { return labeler_.mask_piece(); }
  std::string device() const { return models::device_of(labeler_.model()).name(); }
  std::string config() const { return labeler_.model().config().to_json(); }

 private:
  static decoding::EncodeOptions options_of(const char* call, const nb::dict& options) {
    decoding::EncodeOptions encode;
    lay_options_over(call, options, encode);
    return encode;
  }
  // Checks the head as well.
  decoding::EncodeOptions options_for(EncoderHead head, const char* call, const nb::dict& options) const {
    decoding::check_head(labeler_, head, folder_, call);
    return options_of(call, options);
  }

  std::string folder_;
  decoding::TextLabeler labeler_;
  decoding::TextEncoder encoder_;
};

std::unique_ptr<EncoderCore> load(const std::filesystem::path& folder, const std::string& precision,
                                  const std::string& device) {
  const auto chosen = base::from_name<std::optional<kernels::Precision>>(precision);
  const nb::gil_scoped_release released;
  const tensor::DeviceScope scope(kernels::cuda::open_named_device(device, "device"));
  return std::make_unique<EncoderCore>(folder.string(), decoding::load_labeler(folder, chosen));
}

}  // namespace

void bind_encoder(nb::module_& module) {
  nb::class_<EncoderCore>(module, "EncoderCore")
      .def_static("load", &load, nb::arg("folder"), nb::arg("precision"), nb::arg("device"))
      .def("embed", &EncoderCore::embed, nb::arg("texts"), nb::arg("options"),
           nb::sig("def embed(self, texts: collections.abc.Sequence[str], options: dict) -> "
                   "tuple[numpy.typing.NDArray[numpy.float32], int]"))
      .def("classify", &EncoderCore::classify, nb::arg("texts"), nb::arg("options"),
           nb::sig("def classify(self, texts: collections.abc.Sequence[tuple[str, str | None]], options: dict) -> "
                   "tuple[numpy.typing.NDArray[numpy.float32], int]"))
      .def("tag", &EncoderCore::tag, nb::arg("sentences"), nb::arg("options"))
      .def("fill_mask", &EncoderCore::fill_mask, nb::arg("texts"), nb::arg("candidates"), nb::arg("options"))
      .def_prop_ro("head", &EncoderCore::head)
      .def_prop_ro("labels", &EncoderCore::labels)
      .def_prop_ro("mask", &EncoderCore::mask)
      .def_prop_ro("device", &EncoderCore::device)
      .def_prop_ro("config", &EncoderCore::config);
  module.def("words_of_line", &data::words_of_line, nb::arg("line"));
  module.def(
      "encode_option_rows",
      [] {
        nb::list rows;
        append_option_rows(rows, decoding::EncodeOptions());
        return rows;
      },
      nb::sig("def encode_option_rows() -> list[tuple[str, str, str, list[str], str]]"));
}

}  // namespace dragoman::python
