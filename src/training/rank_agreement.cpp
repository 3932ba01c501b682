#include "training/rank_agreement.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/error.h"
#include "base/field_json.h"
#include "base/json.h"
#include "base/sha256.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

constexpr size_t kShownDigits = 16;  // of a hash

// What decides when all ranks validate, stop and average, beside the recipe. One option a line, as in recipe_json.
std::string steering_json(const TrainOptions& options) {
  nlohmann::json tree = base::json_of_fields(options, [](const auto& field) {
    return field.decides == base::Decides::kCourse && field.across == base::AcrossProcesses::kSame;
  });
  tree["plans_memory"] =
      options.batch.fit || options.run.memory > 0;  // --memory, --batch-tokens auto: ranks then agree
  return base::dump_json(tree, 2) + "\n";
}

// For texts of many lines: the line that differs.
std::string shown(const SharedFact& fact, const std::string& other) {
  if (fact.value.find('\n') == std::string::npos) {
    return fact.value;
  }
  const std::string difference = first_difference(fact.value, other);
  return difference.substr(0, difference.find(" is now "));
}

std::string to_text(const std::vector<SharedFact>& facts) {
  nlohmann::json tree = nlohmann::json::object();
  for (const SharedFact& fact : facts) {
    tree[fact.name] = fact.value;
  }
  return base::dump_json(tree);
}

// How many ranks have each hash; the most frequent one, in doubt that of rank 0.
const std::string& majority_of(const std::vector<std::string>& hashes) {
  const auto count = [&](const std::string& hash) { return std::ranges::count(hashes, hash); };
  const std::string* best = &hashes.front();
  for (const std::string& hash : hashes) {
    best = count(hash) > count(*best) ? &hash : best;
  }
  return *best;
}

}  // namespace

std::vector<SharedFact> facts_to_share(const TrainOptions& options, const std::string& fingerprint,
                                       const std::string& validation_fingerprint) {
  std::vector<SharedFact> facts = {
      {"program", std::string("dragoman ") + DRAGOMAN_VERSION},
      {"recipe", recipe_json(options)},
      {"number of workers", fmt::format("--workers {}", options.run.workers)},
      {"options", steering_json(options)},
      {"instruction set", fmt::format("{} (DRAGOMAN_ISA can cap the better one)", base::isa_name(base::active_isa()))},
      {"training text", "SHA-256 " + fingerprint, base::ErrorKind::kBadData}};
  const std::string validation = validation_fingerprint.empty() ? "none" : "SHA-256 " + validation_fingerprint;
  facts.push_back({"validation text", validation, base::ErrorKind::kBadData});
  return facts;
}

void check_same_facts(distributed::ProcessGroup& processes, const std::vector<SharedFact>& facts) {
  const std::vector<std::string> all = processes.all_gather(to_text(facts));
  const nlohmann::json leader = base::parse_json(all.front(), "facts of rank 0");
  for (int rank = 1; rank < processes.size(); ++rank) {
    const nlohmann::json other = base::parse_json(all[static_cast<size_t>(rank)], "facts of a rank");
    for (const SharedFact& fact : facts) {
      const SharedFact first{fact.name, leader.value(fact.name, "nothing")};
      const SharedFact second{fact.name, other.value(fact.name, "nothing")};
      base::check(first.value == second.value, fact.kind,
                  "ranks disagree about the {}: {} has {}, {} has {}; start all with the same command, program and "
                  "files",
                  fact.name, processes.name_of(0), shown(first, second.value), processes.name_of(rank),
                  shown(second, first.value));
    }
  }
}

void check_same_weights(distributed::ProcessGroup& processes, std::span<const float> weights, int64_t step) {
  if (processes.size() == 1) {
    return;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(weights.data()), weights.size_bytes());
  const std::vector<std::string> hashes = processes.all_gather(base::sha256_hex(bytes));
  const std::string& right = majority_of(hashes);
  std::string names, wrong;
  for (int rank = 0; rank < processes.size(); ++rank) {
    const std::string& hash = hashes[static_cast<size_t>(rank)];
    if (hash != right) {
      names += (names.empty() ? "" : ", ") + processes.name_of(rank);
      wrong = hash;
    }
  }
  base::check(names.empty(), base::ErrorKind::kRuntime,
              "train: the weights of {} differ from those of the other ranks at step {} (hash {}, theirs {}): memory, "
              "processor or network is faulty; nothing is saved, the same command goes on from the last checkpoint",
              names, step, wrong.substr(0, kShownDigits), right.substr(0, kShownDigits));
}

}  // namespace dragoman::training
