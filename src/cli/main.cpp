#include "cli/program.h"

int main(int argc, char** argv) {
  return dragoman::cli::run(argc, argv);
}
