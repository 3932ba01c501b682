#include "serving/inspect/inspect_parts.h"

#include <cmath>

#include "base/error.h"
#include "data/vocabulary/shown_pieces.h"
#include "decoding/inspection/inspected_head.h"
#include "decoding/search/candidates.h"
#include "kernels/cpu/output/top_k.h"
#include "tensor/transfer.h"

namespace dragoman::serving {
namespace {

using decoding::Inspection;
using nlohmann::json;
using tensor::Tensor;

json weights_part(const InspectPart& part, const InspectContext& context) {
  json result = json::array();
  for (const std::string& path : context.inspection.attention_paths()) {
    if (part.path.empty() || part.path == path) {
      json entry = context.numbers.tensor(context.inspection.weights(path));
      entry["path"] = path;
      result.push_back(std::move(entry));
    }
  }
  if (result.empty() && !part.path.empty()) {
    context.inspection.weights(part.path);  // throws, with the paths that exist
  }
  return {{"attentions", std::move(result)}};
}

json head_part(const InspectPart& part, const InspectContext& context) {
  const decoding::InspectedHead head = decoding::inspect_head(context.inspection, part.path, part.head);
  NumberWriter& numbers = context.numbers;
  json result = {{"path", part.path},         {"head", part.head},
                 {"key_head", head.key_head}, {"rule", decoding::name_of(head.rule)},
                 {"causal", head.causal},     {"window", head.window}};
  if (head.scaled.defined()) {
    result["scale"] = rounded(head.scale);
  }
  const std::pair<const char*, const Tensor&> values[] = {{"projected_query", head.projected_query},
                                                          {"projected_key", head.projected_key},
                                                          {"rotation", head.rotation},
                                                          {"query", head.query},
                                                          {"key", head.key},
                                                          {"value", head.value},
                                                          {"score_weight", head.score_weight},
                                                          {"scores", head.scores},
                                                          {"scaled", head.scaled},
                                                          {"bias", head.bias},
                                                          {"weights", head.weights},
                                                          {"context", head.context}};
  for (const auto& [name, value] : values) {
    if (value.defined()) {
      result[name] = numbers.tensor(value);
    }
  }
  return result;
}

// Returns the values with these names that the module at part.path shows, and those of `optional` that it shows.
json values_part(const InspectPart& part, const InspectContext& context, std::initializer_list<const char*> names,
                 std::initializer_list<const char*> optional = {}) {
  json result = {{"path", part.path}};
  for (const char* name : names) {
    result[name] = context.numbers.tensor(context.inspection.value(part.path, name));
  }
  for (const char* name : optional) {
    if (context.inspection.shows(part.path, name)) {
      result[name] = context.numbers.tensor(context.inspection.value(part.path, name));
    }
  }
  return result;
}

// The sums of a recurrent layer, of which the request may name columns.
json cell_sums_part(const InspectPart& part, const InspectContext& context) {
  json result = values_part(part, context, {"read"}, {"fed"});
  for (const char* name : {"input_sums", "state_sums", "fed_sums"}) {
    if (name != std::string_view("fed_sums") || context.inspection.shows(part.path, name)) {
      const Tensor sums = context.inspection.value(part.path, name);  // [N, G*H]
      const int64_t begin = part.region.first_column;
      const int64_t end = part.region.end_column == 0 ? sums.dim(1) : part.region.end_column;
      base::check_usage(end <= sums.dim(1), "inspect: columns {} to {}, but the sums of {} have {}; count from 0",
                        begin, end, part.path, sums.dim(1));
      result[name] = context.numbers.tensor(sums.columns(begin, end).clone());
    }
  }
  return result;
}

json parameter_part(const InspectPart& part, const InspectContext& context) {
  json result = {{"path", part.path}};
  decoding::ParameterRegion region = part.region;
  region.path = part.path;
  result["parameter"] = context.numbers.tensor(decoding::inspect_parameter(context.inspection, region));
  return result;
}

// Refuses the parts of what is written, for models that write nothing.
void check_writes(const InspectPart& part, const InspectContext& context) {
  base::check_usage(!context.inspection.predicted().empty(), "inspect: an encoder writes no text, it has no {}",
                    part.name);
}

json candidates_part(const InspectPart& part, const InspectContext& context) {
  check_writes(part, context);
  const Inspection& inspection = context.inspection;
  const auto n_steps = static_cast<int64_t>(inspection.predicted().size());
  const Tensor logits = inspection.logits(0, n_steps);  // [T, V]
  const int64_t vocab_size = logits.dim(1);
  const auto count = static_cast<size_t>(std::min(part.count, vocab_size));
  const data::Vocabulary& vocabulary = inspection.vocabulary();
  json steps = json::array();
  for (int64_t step = 0; step < n_steps; ++step) {
    context.numbers.count(static_cast<int64_t>(3 * count));
    const tensor::HostView<float> row(logits.rows(step, step + 1));
    const double normaliser = decoding::log_normaliser(row);
    std::vector<float> values(count);
    std::vector<int32_t> ids(count);
    kernels::top_k(row.data(), vocab_size, static_cast<int>(count), values.data(), ids.data());
    json shown = json::array(), probabilities = json::array();
    for (const float value : values) {
      shown.push_back(rounded(value));
      probabilities.push_back(rounded(std::exp(value - normaliser)));
    }
    const int32_t chosen = inspection.predicted()[static_cast<size_t>(step)];
    const double chosen_logit = row[static_cast<size_t>(chosen)];
    steps.push_back({{"ids", ids},
                     {"pieces", data::shown_pieces(vocabulary, ids)},
                     {"logits", std::move(shown)},
                     {"probabilities", std::move(probabilities)},
                     {"log_sum_exp", rounded(normaliser)},
                     {"chosen_id", chosen},
                     {"chosen_logit", rounded(chosen_logit)},
                     {"chosen_probability", rounded(std::exp(chosen_logit - normaliser))}});
  }
  return {{"vocab_size", vocab_size}, {"steps", std::move(steps)}};
}

json logits_part(const InspectPart& part, const InspectContext& context) {
  check_writes(part, context);
  const Tensor logits = context.inspection.logits(part.step, part.step + 1);
  return {{"step", part.step},
          {"logits", context.numbers.tensor(logits)},
          {"log_sum_exp", rounded(decoding::log_normaliser(tensor::HostView<float>(logits)))}};
}

json beam_part(const InspectPart& part, const InspectContext& context) {
  check_writes(part, context);
  base::check_usage(context.translator != nullptr, "inspect: a language model draws its text, there is no beam");
  const decoding::BeamTree tree = decoding::trace_search(*context.translator, context.inspection.source(),
                                                         context.request, context.limits.max_target_tokens)
                                      .tree;
  context.numbers.count(static_cast<int64_t>(4 * tree.nodes.size()));
  const data::Vocabulary& vocabulary = context.inspection.vocabulary();
  json nodes = json::array(), finished = json::array();
  for (const decoding::BeamNode& node : tree.nodes) {
    nodes.push_back({{"parent", node.parent},
                     {"step", node.step},
                     {"id", node.token_id},
                     {"piece", vocabulary.piece(node.token_id)},
                     {"log_prob", rounded(node.log_prob)},
                     {"score", rounded(node.score)}});
  }
  for (const decoding::BeamLeaf& leaf : tree.finished) {
    finished.push_back({{"node", leaf.node},
                        {"score", rounded(leaf.score)},
                        {"normalised_score", rounded(leaf.normalised_score)},
                        {"finish_reason", decoding::name_of(leaf.reason)}});
  }
  const decoding::SearchOptions& options = context.request.options;
  return {{"beam_size", options.beam_size},
          {"alpha", options.ranking.alpha},
          {"length_penalty", decoding::name_of(options.ranking.length_penalty)},
          {"nodes", std::move(nodes)},
          {"finished", std::move(finished)}};
}

json content(const InspectPart& part, const InspectContext& context) {
  switch (part.kind) {
    case PartKind::kWeights:
      return weights_part(part, context);
    case PartKind::kHead:
      return head_part(part, context);
    case PartKind::kAttention:
      return values_part(part, context, {"query", "key", "value", "context"});
    case PartKind::kParameter:
      return parameter_part(part, context);
    case PartKind::kResidual:
      return values_part(part, context, {"input", "read", "change", "result"});
    case PartKind::kRunningMean:
      return values_part(part, context, {"state"},
                         {"forget", "mapped_input", "transformed", "input_gate", "forget_gate"});
    case PartKind::kCell:
      return values_part(part, context, {"gates", "before", "state"}, {"cell_before", "cell"});
    case PartKind::kCellSums:
      return cell_sums_part(part, context);
    case PartKind::kFirstState:
      return values_part(part, context, {"summary", "first_state_sums", "first_state"},
                         {"first_cell_sums", "first_cell"});
    case PartKind::kReadout:
      return values_part(part, context, {"top", "from_top", "sum"},
                         {"first", "from_first", "words", "from_words", "context", "from_context"});
    case PartKind::kAttentional:
      return values_part(part, context, {"joined", "sum", "result"});
    case PartKind::kConvolution:
      return values_part(part, context, {"input", "value", "gate", "gated", "result"},
                         {"query_map", "context_map", "attended"});
    case PartKind::kFeedForward:
      return values_part(part, context, {"hidden", "active"}, {"gate"});
    case PartKind::kEmbedding:
      return values_part(part, context, {"words", "sum"}, {"positions", "segments", "result"});
    case PartKind::kOutput:
      return values_part(part, context, {"output"});
    case PartKind::kCandidates:
      return candidates_part(part, context);
    case PartKind::kLogits:
      return logits_part(part, context);
    case PartKind::kBeam:
      return beam_part(part, context);
  }
  return {};
}

}  // namespace

json inspect_part(const InspectPart& part, const InspectContext& context) {
  json result = content(part, context);
  result["part"] = part.name;
  return result;
}

}  // namespace dragoman::serving
