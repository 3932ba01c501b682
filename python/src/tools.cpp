#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <optional>

#include "bindings.h"
#include "cli/export_model.h"
#include "cli/import_model.h"
#include "convert.h"
#include "data/vocabulary/vocabulary_trainer.h"
#include "evaluation/evaluate.h"

namespace dragoman::python {
namespace {

using nb::arg;
using Texts = std::vector<std::string>;
using References = std::vector<Texts>;
using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;
using evaluation::CorpusScore;

std::vector<evaluation::Lines> lines_of(const References& references) {
  return {references.begin(), references.end()};
}

CorpusScore bleu(const Texts& hypotheses, const References& references, const std::string& tokenize, bool lowercase,
                 const std::string& smooth_method, std::optional<double> smooth_value, bool effective_order) {
  return evaluation::corpus_bleu(hypotheses, lines_of(references),
                                 {.tokenize = evaluation::parse_tokenizer(tokenize),
                                  .lowercase = lowercase,
                                  .smoothing = evaluation::parse_smoothing(smooth_method),
                                  .smooth_value = smooth_value,
                                  .effective_order = effective_order});
}

CorpusScore chrf(const Texts& hypotheses, const References& references, int char_order, int word_order, int beta,
                 bool lowercase) {
  return evaluation::corpus_chrf(
      hypotheses, lines_of(references),
      {.char_order = char_order, .word_order = word_order, .beta = beta, .lowercase = lowercase});
}

CorpusScore ter(const Texts& hypotheses, const References& references, bool case_sensitive, bool normalized,
                bool no_punctuation, bool asian_support) {
  return evaluation::corpus_ter(hypotheses, lines_of(references),
                                {.case_sensitive = case_sensitive,
                                 .normalized = normalized,
                                 .no_punctuation = no_punctuation,
                                 .asian_support = asian_support});
}

void bind_evaluation(nb::module_& module) {
  nb::class_<CorpusScore>(module, "Score", "A score of a whole text.")
      .def_ro("score", &CorpusScore::score, "0 to 100; TER may be higher.")
      .def_ro("details", &CorpusScore::details, "Precisions and lengths of BLEU; empty for chrF and TER.")
      .def_ro("signature", &CorpusScore::signature, "The options of the metric, as sacreBLEU writes them.")
      .def("__float__", [](const CorpusScore& self) { return self.score; })
      .def("__repr__", [](const CorpusScore& self) {
        return fmt::format("Score({:.2f}, signature='{}')", self.score, self.signature);
      });
  module.def("bleu", &bleu, arg("hypotheses"), arg("references"), arg("tokenize"), arg("lowercase"),
             arg("smooth_method"), arg("smooth_value").none(), arg("effective_order"), ReleaseGil());
  module.def("chrf", &chrf, arg("hypotheses"), arg("references"), arg("char_order"), arg("word_order"), arg("beta"),
             arg("lowercase"), ReleaseGil());
  module.def("ter", &ter, arg("hypotheses"), arg("references"), arg("case_sensitive"), arg("normalized"),
             arg("no_punctuation"), arg("asian_support"), ReleaseGil());
}

data::Vocabulary train_vocabulary(const std::vector<std::filesystem::path>& files, const nb::dict& given) {
  data::VocabularyOptions options;
  lay_options_over("Vocabulary.train", given, options);
  const nb::gil_scoped_release released;
  return data::train_vocabulary(files, options).vocabulary;
}

void bind_vocabulary(nb::module_& module) {
  using data::Vocabulary;
  nb::class_<Vocabulary>(module, "VocabularyCore")
      .def_static("from_file", &Vocabulary::from_file, arg("path"), ReleaseGil())
      .def_static(
          "from_bytes",
          [](const nb::bytes& bytes, const std::string& name) {
            return Vocabulary::from_bytes({bytes.c_str(), bytes.size()}, name);
          },
          arg("data"), arg("name"))
      .def_static("train", &train_vocabulary, arg("files"), arg("options"))
      .def("__len__", &Vocabulary::size)
      .def("encode", &Vocabulary::encode, arg("text"), ReleaseGil())
      .def(
          "decode", [](const Vocabulary& self, const std::vector<int32_t>& ids) { return self.decode(ids); },
          arg("ids"), ReleaseGil())
      .def("piece", &Vocabulary::piece, arg("id"))
      .def("id", &Vocabulary::id, arg("piece"))
      .def("normalize", &Vocabulary::normalize, arg("text"), ReleaseGil())
      .def("sha256", &Vocabulary::sha256)
      .def("to_bytes", [](const Vocabulary& self) { return nb::bytes(self.bytes().data(), self.bytes().size()); });
  module.def(
      "vocabulary_option_rows",
      [] {
        nb::list rows;
        append_option_rows(rows, data::VocabularyOptions());
        return rows;
      },
      nb::sig("def vocabulary_option_rows() -> list[tuple[str, str, str, list[str], str]]"));
}

Texts import_model(const std::string& format, const std::filesystem::path& folder, const std::filesystem::path& model) {
  return cli::import_model({base::from_name<cli::ImportFormat>(format), folder, model});
}

Texts export_model(const std::string& format, const std::filesystem::path& model, const std::filesystem::path& folder,
                   const std::string& source_language, const std::string& target_language,
                   const std::string& gguf_type) {
  return cli::export_model({base::from_name<cli::ExportFormat>(format), folder, model, source_language, target_language,
                            base::from_name<interop::GgufType>(gguf_type)});
}

}  // namespace

void bind_tools(nb::module_& module) {
  bind_evaluation(module);
  bind_vocabulary(module);
  module.def("import_formats", [] { return base::choices<cli::ImportFormat>(); });
  module.def("export_formats", [] { return base::choices<cli::ExportFormat>(); });
  module.def("gguf_types", [] { return base::choices<interop::GgufType>(); });
  module.def("import_model", &import_model, arg("format"), arg("folder"), arg("model"), ReleaseGil());
  module.def("export_model", &export_model, arg("format"), arg("model"), arg("folder"), arg("source_language"),
             arg("target_language"), arg("gguf_type"), ReleaseGil());
}

}  // namespace dragoman::python
