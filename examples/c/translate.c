/* Translates the lines of standard input with libdragoman.
 *   cc -std=c99 translate.c -o translate $(pkg-config --cflags --libs dragoman-c)
 *   echo "Good morning." | ./translate my-model */
#include <dragoman.h>
#include <stdio.h>
#include <string.h>

static int failed(void) {
  fprintf(stderr, "translate: %s\n", dragoman_last_error());
  return 1;
}

int main(int argc, char** argv) {
  char line[4096];
  dragoman_model* model = NULL;

  if (argc != 2) {
    fprintf(stderr, "usage: translate MODEL <LINES\n");
    return 2;
  }
  if (dragoman_model_load(argv[1], NULL, &model) != DRAGOMAN_OK) {
    return failed();
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    dragoman_text text = {line, strcspn(line, "\n")};
    dragoman_translations* translations = NULL;
    dragoman_translation best;

    if (dragoman_translate(model, &text, 1, NULL, &translations) != DRAGOMAN_OK) {
      return failed();
    }
    best.size = sizeof best;
    if (dragoman_translations_get(translations, 0, 0, &best) != DRAGOMAN_OK) {
      return failed();
    }
    printf("%s\n", best.text);
    dragoman_translations_free(translations);
  }
  dragoman_model_free(model);
  return 0;
}
