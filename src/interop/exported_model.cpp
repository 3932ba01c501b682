#include "interop/exported_model.h"

#include "base/error.h"
#include "base/folder_writer.h"
#include "interop/model_source.h"

namespace dragoman::interop {

void add_search_note(const ExportedSearch& search, ExportedModel& model) {
  if (!search.length_penalty) {
    model.notes.emplace_back(
        "the length penalty gnmt does not exist in transformers; generation_config.json asks for length_penalty 1");
  }
}

void write_exported_model(const ExportedModel& model, const std::filesystem::path& folder) {
  base::check_usage(!is_there(folder), "{}: is there already; name a folder that is not", folder.string());
  base::FolderWriter writer(folder);
  for (const auto& [name, text] : model.texts) {
    writer.add(name, text);
  }
  const tensor::SafetensorsImage image = tensor::make_safetensors(model.tensors, {{"format", "pt"}});
  writer.add(kHfWeightsName, image.parts());
  for (const auto& [name, texts] : model.folders) {
    base::FolderWriter inside(writer.aside() / name);
    for (const auto& [file, text] : texts) {
      inside.add(file, text);
    }
    inside.commit();
  }
  writer.commit();
}

}  // namespace dragoman::interop
