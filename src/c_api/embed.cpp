#include "c_api/call.h"
#include "c_api/handles.h"
#include "c_api/structs.h"

namespace dragoman::c_api {
namespace {

constexpr const char* kFunction = "dragoman_embed";
constexpr size_t kLeastOptions = DRAGOMAN_SIZE_THROUGH(dragoman_embed_options, batch_tokens);

dragoman_embed_options embed_defaults() {
  return {.size = sizeof(dragoman_embed_options), .workers = 0, .batch_tokens = 0};
}

void put_if(size_t* place, size_t value) {
  if (place != nullptr) {
    *place = value;
  }
}

}  // namespace
}  // namespace dragoman::c_api

using namespace dragoman;
using namespace dragoman::c_api;

dragoman_status dragoman_embed_options_init(dragoman_embed_options* options, size_t size) {
  return call([&] { put_defaults(options, size, kLeastOptions, embed_defaults(), "dragoman_embed_options_init"); });
}

dragoman_status dragoman_embed(const dragoman_model* model, const dragoman_text* texts, size_t count,
                               const dragoman_embed_options* options, dragoman_embeddings** embeddings) {
  return call([&] {
    check_given(embeddings, kFunction, "embeddings");
    *embeddings = nullptr;
    check_given(model, kFunction, "model");
    base::check_usage(model->encoder != nullptr, "{}: the model makes no vectors; use dragoman_{}", kFunction,
                      model->translator != nullptr ? "translate" : "generate");
    const dragoman_embed_options read = read_options(options, kLeastOptions, embed_defaults(), kFunction);
    decoding::EncodeOptions encode;
    encode.workers = read.workers;
    encode.batch_tokens = read.batch_tokens == 0 ? encode.batch_tokens : int64_t{read.batch_tokens};
    auto result = std::make_unique<dragoman_embeddings>();
    result->vectors = model->encoder->embed(texts_of(texts, count, kFunction, "texts"), encode);
    result->count = count;
    *embeddings = result.release();
  });
}

const float* dragoman_embeddings_values(const dragoman_embeddings* embeddings, size_t* count, size_t* width,
                                        size_t* cut) {
  const bool is_there = embeddings != nullptr;
  put_if(count, is_there ? embeddings->count : 0);
  put_if(width, is_there ? static_cast<size_t>(embeddings->vectors.width) : 0);
  put_if(cut, is_there ? static_cast<size_t>(embeddings->vectors.cut) : 0);
  return is_there ? embeddings->vectors.values.data() : nullptr;
}

void dragoman_embeddings_free(dragoman_embeddings* embeddings) {
  delete embeddings;
}
