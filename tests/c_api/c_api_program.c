/* A program in C99 that calls every function of dragoman.h, with two threads on one model, and frees all it gets.
 *   c_api_program TRANSLATOR GENERATOR ENCODER     model folders; the lines to translate come from standard input
 * Prints "translation I TEXT" for each line, "continuation TEXT", "stream TEXT" and "vector NUMBERS". */
#define _POSIX_C_SOURCE 200809L
#include <dragoman.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES 16
#define LINE_BYTES 256

static void need(dragoman_status status, const char* what) {
  if (status != DRAGOMAN_OK) {
    fprintf(stderr, "%s: status %d: %s\n", what, (int)status, dragoman_last_error());
    exit(1);
  }
}

static void must_fail(dragoman_status status, dragoman_status expected, const char* part) {
  if (status != expected || strstr(dragoman_last_error(), part) == NULL) {
    fprintf(stderr, "expected status %d with '%s', seen %d: %s\n", (int)expected, part, (int)status,
            dragoman_last_error());
    exit(1);
  }
}

static size_t read_lines(char lines[MOST_LINES][LINE_BYTES], dragoman_text texts[MOST_LINES]) {
  size_t count = 0;
  while (count < MOST_LINES && fgets(lines[count], LINE_BYTES, stdin) != NULL) {
    lines[count][strcspn(lines[count], "\n")] = '\0';
    texts[count].data = lines[count];
    texts[count].size = strlen(lines[count]);
    ++count;
  }
  return count;
}

struct job {
  const dragoman_model* model;
  const dragoman_text* lines;
  size_t count;
  dragoman_translations* translations;
};

static void* translate(void* argument) {
  struct job* job = argument;
  need(dragoman_translate(job->model, job->lines, job->count, NULL, &job->translations), "translate");
  return NULL;
}

static void translate_in_two_threads(const dragoman_model* model, const dragoman_text* lines, size_t count) {
  struct job jobs[2];
  pthread_t threads[2];
  dragoman_translation seen[2];
  for (int i = 0; i < 2; ++i) {
    jobs[i].model = model;
    jobs[i].lines = lines;
    jobs[i].count = count;
    jobs[i].translations = NULL;
    if (pthread_create(&threads[i], NULL, translate, &jobs[i]) != 0) {
      exit(1);
    }
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(threads[i], NULL);
  }
  for (size_t line = 0; line < dragoman_translations_count(jobs[0].translations); ++line) {
    for (int i = 0; i < 2; ++i) {
      seen[i].size = sizeof seen[i];
      need(dragoman_translations_get(jobs[i].translations, line, 0, &seen[i]), "get");
    }
    if (strcmp(seen[0].text, seen[1].text) != 0) {
      fprintf(stderr, "two threads translate line %lu to '%s' and '%s'\n", (unsigned long)line, seen[0].text,
              seen[1].text);
      exit(1);
    }
    printf("translation %lu %s\n", (unsigned long)line, seen[0].text);
  }
  dragoman_translations_free(jobs[0].translations);
  dragoman_translations_free(jobs[1].translations);
}

static int keep_text(const dragoman_part* part, void* user) {
  char* text = user;
  if (part->text_size < LINE_BYTES) {
    memcpy(text, part->text, part->text_size + 1);
  }
  return 0;
}

static void generate(const char* folder) {
  dragoman_model* model = NULL;
  dragoman_generate_options options;
  dragoman_continuations* continuations = NULL;
  dragoman_continuation continuation;
  char streamed[LINE_BYTES] = "";
  const dragoman_text prompt = {"the cat", 7};

  need(dragoman_model_load(folder, NULL, &model), "load");
  need(dragoman_generate_options_init(&options, sizeof options), "init");
  options.max_tokens = 12;
  options.temperature = 0;
  options.on_part = keep_text;
  options.user = streamed;
  need(dragoman_generate(model, &prompt, 1, &options, &continuations), "generate");
  continuation.size = sizeof continuation;
  need(dragoman_continuations_get(continuations, 0, &continuation), "get");
  printf("continuation %s\nstream %s\n", continuation.text, streamed);
  must_fail(dragoman_continuations_get(continuations, 1, &continuation), DRAGOMAN_USAGE_ERROR, "index is 1");
  dragoman_continuations_free(continuations);
  must_fail(dragoman_translate(model, &prompt, 1, NULL, NULL), DRAGOMAN_USAGE_ERROR, "translations is null");
  dragoman_model_free(model);
}

static void embed(const char* folder) {
  dragoman_model* model = NULL;
  dragoman_embed_options options;
  dragoman_embeddings* embeddings = NULL;
  size_t count, width, cut;
  const float* values;
  const dragoman_text text = {"the dog", 7};

  need(dragoman_model_load(folder, NULL, &model), "load");
  need(dragoman_embed_options_init(&options, sizeof options), "init");
  need(dragoman_embed(model, &text, 1, &options, &embeddings), "embed");
  values = dragoman_embeddings_values(embeddings, &count, &width, &cut);
  printf("vector");
  for (size_t i = 0; i < count * width; ++i) {
    printf(" %.9g", (double)values[i]);
  }
  printf("\n");
  dragoman_embeddings_free(embeddings);
  dragoman_model_free(model);
}

int main(int argc, char** argv) {
  static char lines[MOST_LINES][LINE_BYTES];
  dragoman_text texts[MOST_LINES];
  dragoman_load_options options;
  dragoman_translate_options translate_options;
  dragoman_model* model = NULL;
  dragoman_cancellation* cancellation = NULL;
  dragoman_translations* translations = NULL;
  size_t count;

  if (argc != 4) {
    fprintf(stderr, "usage: c_api_program TRANSLATOR GENERATOR ENCODER\n");
    return 2;
  }
  if (strcmp(dragoman_version(), DRAGOMAN_VERSION) != 0) {
    return 1;
  }
  count = read_lines(lines, texts);
  need(dragoman_load_options_init(&options, sizeof options), "init");
  options.precision = DRAGOMAN_FLOAT32;
  must_fail(dragoman_model_load("/no/such/folder", &options, &model), DRAGOMAN_BAD_DATA, "/no/such/folder");
  need(dragoman_model_load(argv[1], &options, &model), "load");
  if (dragoman_model_kind(model) != DRAGOMAN_TRANSLATES || strcmp(dragoman_last_error(), "") != 0) {
    return 1;
  }
  translate_in_two_threads(model, texts, count);

  need(dragoman_cancellation_create(&cancellation), "cancellation");
  dragoman_cancellation_request(cancellation);
  need(dragoman_translate_options_init(&translate_options, sizeof translate_options), "init");
  translate_options.cancellation = cancellation;
  need(dragoman_translate(model, texts, count, &translate_options, &translations), "cancelled");
  for (size_t line = 0; line < count; ++line) {
    dragoman_translation translation;
    translation.size = sizeof translation;
    need(dragoman_translations_get(translations, line, 0, &translation), "get");
    if (texts[line].size > 0 && translation.finish_reason != DRAGOMAN_CANCELLED) {
      fprintf(stderr, "line %lu is not cancelled\n", (unsigned long)line);
      return 1;
    }
  }
  dragoman_translations_free(translations);
  dragoman_cancellation_free(cancellation);
  dragoman_model_free(model);

  generate(argv[2]);
  embed(argv[3]);
  return 0;
}
