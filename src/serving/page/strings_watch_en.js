export const watchEnglish = {
  "tab.watch": "Training", "watch.waiting": "The run has not made its first updates yet. This page shows them when they come.",
  "watch.running": "{name} is training: step {step}, {time}, loss {loss}.", "watch.quiet": "{name}: step {step}, {time}, loss {loss}. No news for {idle}: the run was stopped, or it waits.",
  "watch.finished": "{name} has finished after {step} steps and {time}: {text}.", "watch.away": "The run cannot be asked ({error}). When it has ended, “dragoman watch” shows it again.",
  "watch.place": "Validation that is shown", "watch.replay": "Replay the training", "watch.pause": "Pause", "watch.at": "step {step} · {time} · validation loss {loss} · BLEU {bleu}", "watch.none": "no validation yet",
  "watch.curves": "Curves", "watch.loss": "Loss in nats per token: training (with label smoothing) in blue, validation in orange", "watch.bleu": "BLEU of the validation text",
  "watch.samples": "Sample translations at step {step}", "watch.samplesNote": "Words that the reference below has too are bold.",
  "watch.attention": "Attention at step {step}", "watch.entropy": "Mean entropy of a row: {first} nats at step {first_step}, {now} now. A sharp row has little.",
};
