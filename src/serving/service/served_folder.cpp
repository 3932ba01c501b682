#include "serving/service/served_folder.h"

#include <chrono>

#include "base/error.h"
#include "base/published_folder.h"
#include "models/architectures/architectures.h"
#include "models/model_folder.h"

namespace dragoman::serving {
namespace {

int64_t seconds_of(std::filesystem::file_time_type time) {
  const auto since_1970 = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since_1970).count();
}

models::ModelKind kind_of(const base::CheckedFolder& folder) {
  const std::string config = folder.read(models::kConfigName);
  return models::config_from_json(config, folder.path_of(models::kConfigName)).sizes().kind();
}

}  // namespace

std::string model_id(const std::filesystem::path& folder) {
  std::filesystem::path path = std::filesystem::weakly_canonical(folder);
  path = path.has_filename() ? path : path.parent_path();
  return path.filename() == "model" && path.parent_path().has_filename() ? path.parent_path().filename().string()
                                                                         : path.filename().string();
}

FolderFacts folder_facts(const std::filesystem::path& folder) {
  FolderFacts facts;
  base::read_published(folder, [&](const base::CheckedFolder& files) {
    facts.kind = kind_of(files);
    const auto weights = files.manifest().files.find(models::kWeightsName);
    base::check_data(weights != files.manifest().files.end(), "{}: has no {}; is it the folder of a model?",
                     folder.string(), models::kWeightsName);
    facts.sha256 = weights->second.sha256;
    facts.created = seconds_of(std::filesystem::last_write_time(files.path_of(models::kConfigName)));
  });
  return facts;
}

}  // namespace dragoman::serving
