#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include "base/published_folder.h"
#include "bindings.h"
#include "callback.h"
#include "cli/version.h"
#include "errors.h"
#include "models/architectures/architectures.h"
#include "models/model_folder.h"
#include "submitted.h"

namespace dragoman::python {
namespace {

namespace nb = nanobind;

// What a model folder is for, by what its model reads and writes.
std::string kind_of(const std::filesystem::path& folder) {
  models::ModelSizes sizes;
  base::read_published(folder, [&](const base::CheckedFolder& files) {
    sizes = models::config_from_json(files.read(models::kConfigName), files.path_of(models::kConfigName)).sizes();
  });
  return sizes.target_vocab_size == 0 ? "encoder" : sizes.source_vocab_size == 0 ? "generator" : "translator";
}

}  // namespace

NB_MODULE(_dragoman, module) {
  module.doc() = "The compiled part of dragoman. Use the names of the package `dragoman`.";
  nb::set_leak_warnings(false);  // caches of modules outlive the interpreter
  translate_errors();
  module.attr("__version__") = cli::version_number();
  module.def("version_text", &cli::version_text);
  module.def("kind_of", &kind_of, nb::arg("folder"), nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Submitted>(module, "Submitted", "A text under way.").def("cancel", &Submitted::cancel);
  module.def(
      "wait_for_calls",
      [](int milliseconds) { return CallsUnderWay::all().wait(std::chrono::milliseconds(milliseconds)); },
      nb::arg("milliseconds"), nb::call_guard<nb::gil_scoped_release>());
  bind_translator(module);
  bind_generator(module);
  bind_encoder(module);
  bind_tools(module);
  bind_trainer(module);
  bind_tensor(module);
  bind_ops(module);
  bind_layers(module);
}

}  // namespace dragoman::python
