#include "training/checkpoint.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/checked_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/folder_lock.h"
#include "base/folder_writer.h"
#include "base/published_folder.h"
#include "models/architectures/architectures.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "tensor/safetensors.h"
#include "tensor/transfer.h"

namespace dragoman::training {
namespace {

using tensor::NamedTensors;
using tensor::Tensor;

constexpr const char* kCheckpointPrefix = "step-";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kStateFile = "state.json";
constexpr const char* kRecipeFile = "recipe.json";
constexpr const char* kFirstModelMark = ".first-model";
constexpr const char* kFirstMomentPrefix = "first_moment.";
constexpr const char* kSecondMomentPrefix = "second_moment.";
const std::string kAveragePrefix = "average.";

// The named views of a flat buffer.
NamedTensors named_views(const nn::ParameterSet& parameters, const Tensor& flat, const std::string& prefix) {
  NamedTensors named;
  for (const auto& parameter : parameters.parameters()) {
    const Tensor part = flat.rows(parameter->offset, parameter->offset + parameter->shape.size());
    named.emplace(prefix + parameter->path, part.reshape(parameter->shape));
  }
  return named;
}

models::ModelFiles model_files(const models::Model& model, const ModelTexts& texts) {
  return {.config = texts.config,
          .tensors = models::named_tensors(model.parameters()),
          .vocabularies = texts.vocabularies,
          .languages = texts.languages,
          .labels = texts.labels};
}

// Copies stored tensors into the views of a flat buffer; the names must be exactly those of the model.
void fill(const nn::ParameterSet& parameters, Tensor& flat, const std::string& prefix, const NamedTensors& stored,
          const std::string& file) {
  for (auto& [name, view] : named_views(parameters, flat, prefix)) {
    const auto found = stored.find(name);
    base::check_data(found != stored.end(), "{}: tensor {} is missing", file, name);
    base::check_data(found->second.shape() == view.shape() && found->second.dtype() == view.dtype(),
                     "{}: tensor {} is {} {}, the configuration asks for {} {}", file, name,
                     tensor::dtype_name(found->second.dtype()), found->second.shape().to_string(),
                     tensor::dtype_name(view.dtype()), view.shape().to_string());
    Tensor target = view;
    target.copy_from(found->second);
  }
}

NamedTensors read_tensors(const base::CheckedFolder& folder, const char* name) {
  return tensor::read_safetensors(folder.read(name), folder.path_of(name));
}

// The weights, or their moving average where the folder has one.
void load_weights(const base::CheckedFolder& folder, const models::ModelFiles& files, bool use_average,
                  nn::ParameterSet& parameters) {
  models::load_tensors(files.tensors, parameters, folder.path_of(models::kWeightsName));
  if (use_average && folder.has(kOptimizerFile)) {
    const NamedTensors state = read_tensors(folder, kOptimizerFile);
    if (state.contains(kAveragePrefix + parameters.parameters().front()->path)) {
      fill(parameters, parameters.mutable_values(), kAveragePrefix, state, folder.path_of(kOptimizerFile));
    }
  }
}

void remove_checkpoint(const std::filesystem::path& folder) try {
  base::remove_folder(folder);
} catch (const base::Error&) {
  // A folder that cannot be removed costs disk, not the run; the next save tries again.
}

}  // namespace

void make_model_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  base::check(!error, base::ErrorKind::kCannotWrite, "{}: cannot create the model folder: {}; choose another name",
              folder.string(), error.message());
}

std::filesystem::path checkpoints_folder(const std::filesystem::path& model_folder) {
  return model_folder / "checkpoints";
}

std::filesystem::path checkpoint_folder(const std::filesystem::path& model_folder, int64_t step) {
  return checkpoints_folder(model_folder) / (kCheckpointPrefix + std::to_string(step));
}

std::vector<std::filesystem::path> last_checkpoints(const std::filesystem::path& model_folder, int64_t count) {
  return best_checkpoints(model_folder, count, {});
}

std::vector<std::filesystem::path> best_checkpoints(const std::filesystem::path& model_folder, int64_t count,
                                                    const std::map<int64_t, double>& scores) {
  std::vector<int64_t> steps = list_checkpoints(model_folder);
  std::ranges::stable_sort(steps, {}, [&](int64_t step) {
    const auto found = scores.find(step);
    return found == scores.end() ? std::numeric_limits<double>::lowest() : found->second;
  });
  const auto taken = std::min(steps.size(), static_cast<size_t>(std::max<int64_t>(count, 0)));
  std::vector<std::filesystem::path> folders;
  for (auto step = steps.end() - static_cast<std::ptrdiff_t>(taken); step != steps.end(); ++step) {
    folders.push_back(checkpoint_folder(model_folder, *step));
  }
  return folders;
}

std::map<int64_t, double> checkpoint_scores(const std::filesystem::path& model_folder) {
  const std::vector<int64_t> steps = list_checkpoints(model_folder);
  if (steps.empty()) {
    return {};
  }
  const base::CheckedFolder newest(checkpoint_folder(model_folder, steps.back()));
  return run_state_from_json(newest.read(kStateFile), newest.path_of(kStateFile)).scores;
}

std::vector<int64_t> list_checkpoints(const std::filesystem::path& model_folder) {
  std::vector<int64_t> steps;
  for (const auto& folder : base::numbered_folders(checkpoints_folder(model_folder), kCheckpointPrefix)) {
    steps.push_back(folder.number);
  }
  std::ranges::sort(steps);
  return steps;
}

void save_checkpoint(const std::filesystem::path& model_folder, const models::Model& model,
                     const OptimizerTensors& optimizer, const Checkpoint& contents) {
  const nn::ParameterSet& parameters = model.parameters();
  NamedTensors state = named_views(parameters, optimizer.first_moment, kFirstMomentPrefix);
  state.merge(named_views(parameters, optimizer.second_moment, kSecondMomentPrefix));
  if (optimizer.average.defined()) {
    state.merge(named_views(parameters, optimizer.average, kAveragePrefix));
  }
  base::FolderWriter writer(checkpoint_folder(model_folder, contents.state.step));
  models::add_model_files(writer, model_files(model, contents.texts));
  writer.add(kOptimizerFile, tensor::make_safetensors(state).parts());
  writer.add(kRecipeFile, contents.recipe);
  writer.add(kStateFile, to_json(contents.state));
  writer.commit();
}

std::optional<Checkpoint> find_newest_checkpoint(const std::filesystem::path& model_folder,
                                                 std::vector<std::string>& notes) {
  base::recover_folders(checkpoints_folder(model_folder));
  base::finish_publication(model_folder);
  const auto newest = base::newest_valid_folder(checkpoints_folder(model_folder), kCheckpointPrefix, &notes);
  if (!newest) {
    return std::nullopt;
  }
  const base::CheckedFolder folder(newest->path);
  models::ModelFiles files = models::read_model_files(folder);
  return Checkpoint{
      newest->path,
      run_state_from_json(folder.read(kStateFile), folder.path_of(kStateFile)),
      folder.read(kRecipeFile),
      {std::move(files.config), std::move(files.vocabularies), std::move(files.languages), std::move(files.labels)}};
}

void load_checkpoint(const Checkpoint& checkpoint, models::Model& model, OptimizerTensors& optimizer) {
  const base::CheckedFolder folder(checkpoint.folder);
  nn::ParameterSet& parameters = model.parameters();
  models::load_tensors(read_tensors(folder, models::kWeightsName), parameters, folder.path_of(models::kWeightsName));
  const NamedTensors state = read_tensors(folder, kOptimizerFile);
  const std::string file = folder.path_of(kOptimizerFile);
  fill(parameters, optimizer.first_moment, kFirstMomentPrefix, state, file);
  fill(parameters, optimizer.second_moment, kSecondMomentPrefix, state, file);
  if (optimizer.average.defined()) {
    fill(parameters, optimizer.average, kAveragePrefix, state, file);
  }
}

void load_model(const std::filesystem::path& checkpoint, bool use_average, models::Model& model) {
  const base::CheckedFolder folder(checkpoint);
  load_weights(folder, models::read_model_files(folder), use_average, model.parameters());
}

void publish_model(const std::filesystem::path& model_folder, const models::Model& model, const ModelTexts& texts) {
  models::publish_model_folder(model_folder, model_files(model, texts));
}

bool awaits_first_checkpoint(const std::filesystem::path& model_folder) {
  return std::filesystem::exists(checkpoints_folder(model_folder) / kFirstModelMark);
}

void mark_first_model(const std::filesystem::path& model_folder) {
  make_model_folder(checkpoints_folder(model_folder));
  base::write_file_atomic(checkpoints_folder(model_folder) / kFirstModelMark, "");
}

void unmark_first_model(const std::filesystem::path& model_folder) {
  base::remove_quietly(checkpoints_folder(model_folder) / kFirstModelMark);
}

void prune_checkpoints(const std::filesystem::path& model_folder, const std::map<int64_t, double>& scores,
                       const KeptCheckpoints& kept) {
  std::vector<int64_t> steps = list_checkpoints(model_folder);
  const int64_t newest = steps.empty() ? 0 : steps.back();
  std::erase_if(steps, [&](int64_t step) { return step != newest && step % kept.every != 0; });
  const auto last = std::min<size_t>(static_cast<size_t>(kept.last), steps.size());
  std::set<int64_t> stay(steps.end() - static_cast<std::ptrdiff_t>(last), steps.end());
  std::erase_if(steps, [&](int64_t step) { return !scores.contains(step); });
  std::ranges::stable_sort(steps, std::greater<>(), [&](int64_t step) { return scores.at(step); });
  const auto best = std::min<size_t>(static_cast<size_t>(kept.best), steps.size());
  stay.insert(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(best));
  for (const int64_t step : list_checkpoints(model_folder)) {
    if (!stay.contains(step)) {
      remove_checkpoint(checkpoint_folder(model_folder, step));
    }
  }
}

ModelTexts average_into(const std::vector<std::filesystem::path>& folders, bool use_average, models::Model& model) {
  base::check_usage(!folders.empty(), "average: no folders are given");
  nn::ParameterSet& parameters = model.parameters();
  Tensor& values = parameters.mutable_values();
  std::vector<double> sums(static_cast<size_t>(values.size()));
  ModelTexts texts;
  for (const auto& path : folders) {
    const base::CheckedFolder folder(path);
    models::ModelFiles files = models::read_model_files(folder);
    const ModelTexts its_texts{std::move(files.config), std::move(files.vocabularies), std::move(files.languages),
                               std::move(files.labels)};
    base::check_data(path == folders.front() || its_texts == texts,
                     "{}: configuration or vocabulary differs from {}; only checkpoints of one run can be averaged",
                     path.string(), folders.front().string());
    texts = its_texts;
    load_weights(folder, files, use_average, parameters);
    std::ranges::transform(sums, tensor::HostView<float>(values).span(), sums.begin(), std::plus<>());
  }
  tensor::HostEdit<float> average(parameters.mutable_values());
  std::ranges::transform(sums, average.span().begin(),
                         [&](double sum) { return static_cast<float>(sum / static_cast<double>(folders.size())); });
  return texts;
}

void write_average(const std::vector<std::filesystem::path>& folders, bool use_average,
                   const std::filesystem::path& output) {
  base::check_usage(!folders.empty(), "average: no folders are given");
  const base::CheckedFolder first(folders.front());
  make_model_folder(output);
  const base::FolderLock lock(output);
  const std::unique_ptr<models::Model> model =
      models::make_model(models::config_from_json(first.read(models::kConfigName), first.path_of(models::kConfigName)));
  model->parameters().allocate();
  const ModelTexts texts = average_into(folders, use_average, *model);
  publish_model(output, *model, texts);
}

}  // namespace dragoman::training
