#include <optional>

#include "c_api/call.h"
#include "c_api/handles.h"
#include "c_api/structs.h"
#include "decoding/load_model.h"
#include "kernels/cuda/device_name.h"
#include "tensor/device_scope.h"

namespace dragoman::c_api {
namespace {

constexpr size_t kLeastLoadOptions = DRAGOMAN_SIZE_THROUGH(dragoman_load_options, precision);

dragoman_load_options load_defaults() {
  return {.size = sizeof(dragoman_load_options), .precision = DRAGOMAN_STORED, .device = nullptr};
}

std::optional<kernels::Precision> precision_of(int32_t number) {
  switch (number) {
    case DRAGOMAN_STORED:
      return std::nullopt;
    case DRAGOMAN_FLOAT32:
      return kernels::Precision::kFloat32;
    case DRAGOMAN_BFLOAT16:
      return kernels::Precision::kBFloat16;
    case DRAGOMAN_INT8:
      return kernels::Precision::kInt8;
    default:
      base::fail(base::ErrorKind::kUsage,
                 "dragoman_model_load: precision is {}, must be DRAGOMAN_STORED (0), DRAGOMAN_FLOAT32 (1), "
                 "DRAGOMAN_BFLOAT16 (2) or DRAGOMAN_INT8 (3)",
                 number);
  }
}

std::unique_ptr<dragoman_model> load(const char* folder, const dragoman_load_options& options) {
  const std::optional<kernels::Precision> precision = precision_of(options.precision);
  const tensor::DeviceScope device(kernels::cuda::open_named_device(options.device == nullptr ? "cpu" : options.device,
                                                                    "dragoman_model_load: device"));
  auto model = std::make_unique<dragoman_model>();
  decoding::LoadedModel loaded = decoding::load_model(folder, precision);
  const models::ModelKind kind = loaded.model->config().sizes().kind();
  if (kind == models::ModelKind::kEncoder) {
    auto encoder = std::dynamic_pointer_cast<const models::EncoderOnly>(loaded.model);
    base::check_usage(encoder != nullptr, "{}: holds a {} model, which is no encoder", folder,
                      loaded.model->config().architecture());
    model->encoder = std::make_unique<decoding::TextEncoder>(std::move(encoder), loaded.vocabularies.source);
  } else if (kind == models::ModelKind::kDecoder) {
    model->generator = std::make_unique<decoding::Generator>(std::move(loaded.model), loaded.vocabularies.target);
  } else {
    decoding::TranslatorSetup setup;
    setup.defaults = loaded.defaults;
    setup.shortlist = std::move(loaded.shortlist);
    setup.languages = std::move(loaded.languages);
    model->translator = std::make_unique<decoding::Translator>(std::move(loaded.model), loaded.vocabularies.source,
                                                               loaded.vocabularies.target, std::move(setup));
  }
  return model;
}

}  // namespace
}  // namespace dragoman::c_api

using namespace dragoman::c_api;

dragoman_status dragoman_load_options_init(dragoman_load_options* options, size_t size) {
  return call([&] { put_defaults(options, size, kLeastLoadOptions, load_defaults(), "dragoman_load_options_init"); });
}

dragoman_status dragoman_model_load(const char* folder, const dragoman_load_options* options, dragoman_model** model) {
  return call([&] {
    check_given(model, "dragoman_model_load", "model");
    *model = nullptr;
    check_given(folder, "dragoman_model_load", "folder");
    const dragoman_load_options read = read_options(options, kLeastLoadOptions, load_defaults(), "dragoman_model_load");
    *model = load(folder, read).release();
  });
}

void dragoman_model_free(dragoman_model* model) {
  delete model;
}

int32_t dragoman_model_kind(const dragoman_model* model) {
  if (model == nullptr) {
    return 0;
  }
  return model->translator != nullptr  ? DRAGOMAN_TRANSLATES
         : model->generator != nullptr ? DRAGOMAN_GENERATES
                                       : DRAGOMAN_EMBEDS;
}

dragoman_status dragoman_cancellation_create(dragoman_cancellation** cancellation) {
  return call([&] {
    check_given(cancellation, "dragoman_cancellation_create", "cancellation");
    *cancellation = nullptr;
    *cancellation = new dragoman_cancellation;
  });
}

void dragoman_cancellation_request(dragoman_cancellation* cancellation) {
  if (cancellation != nullptr) {
    cancellation->source.request_stop();
  }
}

void dragoman_cancellation_free(dragoman_cancellation* cancellation) {
  delete cancellation;
}
