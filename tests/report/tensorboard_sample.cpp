// Writes the event files of a small run that stopped after step 10 and went on from step 6, into the folder given, for
// tests/peers/tensorboard_check.py.

#include <cstdio>
#include <exception>

#include "report/tensorboard.h"

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fputs("usage: report_tensorboard_sample FOLDER\n", stderr);
    return 2;
  }
  try {
    dragoman::report::TensorBoardWriter first(arguments[1], 0);
    for (int step = 1; step <= 10; ++step) {
      first.scalar("train/loss", step, 100.0 + step);
      first.text("validation/sample", step, "first run");
    }
    dragoman::report::TensorBoardWriter second(arguments[1], 6);
    for (int step = 7; step <= 12; ++step) {
      second.scalar("train/loss", step, 200.0 + step);
      second.text("validation/sample", step, "second run: die Stra\u00dfe");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
