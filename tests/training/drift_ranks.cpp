// Run by drift_test.cpp under mpirun: trains with one rank's memory damaged. Arguments: folder, rank to damage.
#include <iostream>

#include "base/error.h"
#include "distributed/join_processes.h"
#include "distributed/process_group.h"
#include "training/presets.h"
#include "training/trainer.h"

int main(int argc, char** argv) {
  using namespace dragoman;
  const std::filesystem::path folder(argv[1]);
  const auto ranks = distributed::join_processes({});
  training::TrainOptions options = training::preset_options("tiny");
  options.source = {folder / "train.source"};
  options.target = {folder / "train.target"};
  options.model_folder = folder / "model";
  options.model = options.model.with<models::TransformerConfig>([](auto& shape) {
    shape.d_model = 16;
    shape.d_ff = 32;
    shape.encoder_layers = shape.decoder_layers = 1;
  });
  options.vocabulary.size = 20;
  options.batch.batch_tokens = 300;
  options.run.max_steps = 10;
  options.run.validate_every = 10;
  options.run.check_ranks_every = 3;
  options.run.workers = 1;
  try {
    training::Trainer trainer(options, *ranks, std::cerr);
    if (argc > 2 && ranks->rank() == std::stoi(argv[2])) {
      trainer.model().parameters().mutable_values().data<float>()[100] += 1e-3F;
    }
    trainer.run();
  } catch (const base::Error& error) {
    ranks->end_all(error.exit_status(), error.what());
  }
  return 0;
}
