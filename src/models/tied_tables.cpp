#include "models/tied_tables.h"

#include "base/error.h"

namespace dragoman::models {

void check_tying(Tying tying, int64_t source_vocab_size, int64_t target_vocab_size) {
  base::check_usage(!shares_embeddings(tying) || source_vocab_size == target_vocab_size,
                    "tying \"{}\" needs one joint vocabulary, but the source has {} pieces and the target {}; use "
                    "tying \"target\" or a joint vocabulary",
                    base::name_of(tying), source_vocab_size, target_vocab_size);
}

TiedTables declare_tied_tables(nn::ParameterSet& parameters, Tying tying, int64_t source_vocab_size,
                               int64_t target_vocab_size, int64_t d_model, float deviation) {
  const auto declare = [&](const char* path, int64_t vocab_size) {
    nn::ParameterHandle table = parameters.declare_weight(
        path, {vocab_size, d_model}, deviation > 0.0F ? nn::Initializer::kNormal : nn::Initializer::kNormalEmbedding,
        kernels::Transpose::kYes);
    table->deviation = deviation;
    return table;
  };
  TiedTables tables;
  tables.source = declare(shares_embeddings(tying) ? "embedding.weight" : "source_embedding.weight", source_vocab_size);
  tables.target = shares_embeddings(tying) ? tables.source : declare("target_embedding.weight", target_vocab_size);
  tables.output = has_output_weight(tying) ? declare("output.weight", target_vocab_size) : tables.target;
  return tables;
}

}  // namespace dragoman::models
