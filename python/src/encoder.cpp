#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/unique_ptr.h>

#include "arrays.h"
#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "decoding/text_encoder.h"
#include "kernels/cuda/device_name.h"
#include "models/model_device.h"
#include "tensor/device_scope.h"

namespace dragoman::python {
namespace {

class EncoderCore {
 public:
  explicit EncoderCore(decoding::TextEncoder encoder) : encoder_(std::move(encoder)) {}

  nb::tuple embed(const std::vector<std::string>& texts, const nb::dict& options) const {
    decoding::EncodeOptions encode;
    lay_options_over("embed", options, encode);
    decoding::Embeddings embeddings;
    {
      const nb::gil_scoped_release released;
      embeddings = encoder_.embed(texts, encode);
    }
    const auto width = static_cast<size_t>(encoder_.model().config().sizes().d_model);
    return nb::make_tuple(array_of(std::move(embeddings.values), {texts.size(), width}), embeddings.cut);
  }

  std::string device() const { return models::device_of(encoder_.model()).name(); }
  std::string config() const { return encoder_.model().config().to_json(); }

 private:
  decoding::TextEncoder encoder_;
};

std::unique_ptr<EncoderCore> load(const std::filesystem::path& folder, const std::string& precision,
                                  const std::string& device) {
  const auto chosen = base::from_name<std::optional<kernels::Precision>>(precision);
  const nb::gil_scoped_release released;
  const tensor::DeviceScope scope(kernels::cuda::open_named_device(device, "device"));
  return std::make_unique<EncoderCore>(decoding::load_encoder(folder, chosen));
}

}  // namespace

void bind_encoder(nb::module_& module) {
  nb::class_<EncoderCore>(module, "EncoderCore")
      .def_static("load", &load, nb::arg("folder"), nb::arg("precision"), nb::arg("device"))
      .def("embed", &EncoderCore::embed, nb::arg("texts"), nb::arg("options"),
           nb::sig("def embed(self, texts: collections.abc.Sequence[str], options: dict) -> "
                   "tuple[numpy.typing.NDArray[numpy.float32], int]"))
      .def_prop_ro("device", &EncoderCore::device)
      .def_prop_ro("config", &EncoderCore::config);
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
