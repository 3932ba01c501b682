/* Continues a prompt with libdragoman, and shows the text while it grows.
 *   cc -std=c99 generate.c -o generate $(pkg-config --cflags --libs dragoman-c)
 *   ./generate my-gpt "ROMEO:" */
#include <dragoman.h>
#include <stdio.h>
#include <string.h>

static int failed(void) {
  fprintf(stderr, "generate: %s\n", dragoman_last_error());
  return 1;
}

/* Prints what is new. `user` counts the bytes that are printed already. */
static int show(const dragoman_part* part, void* user) {
  size_t* printed = user;
  fwrite(part->text + *printed, 1, part->text_size - *printed, stdout);
  fflush(stdout);
  *printed = part->text_size;
  return 0;
}

int main(int argc, char** argv) {
  dragoman_model* model = NULL;
  dragoman_generate_options options;
  dragoman_continuations* continuations = NULL;
  dragoman_text prompt;
  size_t printed = 0;

  if (argc != 3) {
    fprintf(stderr, "usage: generate MODEL PROMPT\n");
    return 2;
  }
  if (dragoman_model_load(argv[1], NULL, &model) != DRAGOMAN_OK ||
      dragoman_generate_options_init(&options, sizeof options) != DRAGOMAN_OK) {
    return failed();
  }
  options.max_tokens = 40;
  options.on_part = show;
  options.user = &printed;
  prompt.data = argv[2];
  prompt.size = strlen(argv[2]);
  printf("%s", argv[2]);
  if (dragoman_generate(model, &prompt, 1, &options, &continuations) != DRAGOMAN_OK) {
    return failed();
  }
  printf("\n");
  dragoman_continuations_free(continuations);
  dragoman_model_free(model);
  return 0;
}
