/* dragoman for C: models that translate, generate and embed. docs/c_api.md explains it with examples.
 *
 * Every call that can fail returns a dragoman_status; dragoman_last_error() says why. No call ends the process, prints,
 * or lets a C++ exception out. Texts are UTF-8; invalid bytes become U+FFFD.
 *
 * Structs begin with their size, so that programs and libraries of different versions fit together. Options are filled
 * with their defaults by the function *_init; a null pointer in place of options stands for the defaults. Fields that
 * are added later stand at the end.
 *
 * Threads: any number of threads may use one dragoman_model and one dragoman_cancellation. A result belongs to one
 * thread at a time. A handle is freed once, when no call uses it; freeing a null pointer does nothing. */
#ifndef DRAGOMAN_H
#define DRAGOMAN_H

#include <stddef.h>
#include <stdint.h>

#define DRAGOMAN_VERSION_MAJOR 0
#define DRAGOMAN_VERSION_MINOR 1
#define DRAGOMAN_VERSION_PATCH 0
#define DRAGOMAN_VERSION "0.1.0"

#if defined(__GNUC__)
#define DRAGOMAN_API __attribute__((visibility("default")))
#else
#define DRAGOMAN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call. The numbers are those of the exit status of the program. */
typedef int32_t dragoman_status;
enum {
  DRAGOMAN_OK = 0,
  DRAGOMAN_RUNTIME_ERROR = 1, /* failed while running */
  DRAGOMAN_USAGE_ERROR = 2,   /* a wrong argument or option */
  DRAGOMAN_NO_MEMORY = 3,
  DRAGOMAN_BAD_DATA = 65, /* a model folder that cannot be used */
  DRAGOMAN_CANNOT_WRITE = 74
};

/* Returns: the message of the last call of this thread that failed; "" after a call that returned DRAGOMAN_OK. It is
 * valid until the next call of this thread that returns a status. */
DRAGOMAN_API const char* dragoman_last_error(void);
/* Returns: the version of the library, "0.1.0". DRAGOMAN_VERSION is that of the header. */
DRAGOMAN_API const char* dragoman_version(void);

/* A text in; it needs no zero at its end. `data` may be null where `size` is 0. */
typedef struct dragoman_text {
  const char* data;
  size_t size;
} dragoman_text;

/* ---- Models ---- */

typedef struct dragoman_model dragoman_model;

enum { DRAGOMAN_TRANSLATES = 1, DRAGOMAN_GENERATES = 2, DRAGOMAN_EMBEDS = 3 };
enum { DRAGOMAN_STORED = 0, DRAGOMAN_FLOAT32 = 1, DRAGOMAN_BFLOAT16 = 2, DRAGOMAN_INT8 = 3 };

typedef struct dragoman_load_options {
  size_t size;
  int32_t precision;  /* of products with weights; DRAGOMAN_STORED: as the folder stores them, on a GPU float32 */
  const char* device; /* where to compute: "cpu", "cuda", "cuda:1", "auto"; null: cpu. One GPU a process */
} dragoman_load_options;

DRAGOMAN_API dragoman_status dragoman_load_options_init(dragoman_load_options* options, size_t size);

/* Loads the model of a folder. It holds no file open afterwards. */
DRAGOMAN_API dragoman_status dragoman_model_load(const char* folder, const dragoman_load_options* options,
                                                 dragoman_model** model);
DRAGOMAN_API void dragoman_model_free(dragoman_model* model);
/* Returns: DRAGOMAN_TRANSLATES, DRAGOMAN_GENERATES or DRAGOMAN_EMBEDS; 0 for a null pointer. */
DRAGOMAN_API int32_t dragoman_model_kind(const dragoman_model* model);

/* ---- Cancelling ---- */

typedef struct dragoman_cancellation dragoman_cancellation;

DRAGOMAN_API dragoman_status dragoman_cancellation_create(dragoman_cancellation** cancellation);
/* Ends the calls that were given the cancellation, and those that will be, with what they have so far. Any thread may
 * request it, a callback too. */
DRAGOMAN_API void dragoman_cancellation_request(dragoman_cancellation* cancellation);
DRAGOMAN_API void dragoman_cancellation_free(dragoman_cancellation* cancellation);

/* Why a text ended. */
enum {
  DRAGOMAN_END = 0,             /* the model ended it, or a stop text came */
  DRAGOMAN_LENGTH_LIMIT = 1,    /* it reached the longest length */
  DRAGOMAN_PHRASES_MISSING = 2, /* the same, before it held every phrase that was demanded */
  DRAGOMAN_CANCELLED = 3,
  DRAGOMAN_DEADLINE = 4 /* timeout_seconds were over */
};

/* A text as far as it has grown. Pointers are valid during the callback. */
typedef struct dragoman_part {
  size_t size;
  size_t index;     /* which text of the call: line, or prompt * samples + sample */
  size_t tokens;    /* tokens so far */
  const char* text; /* the text so far, with a zero behind it; what a stream has shown does not change again */
  size_t text_size;
} dragoman_part;

/* Called whenever a text has grown, in threads of the library, once at a time. It must not use the model. Returns: 0 to
 * go on, another number to cancel this text. */
typedef int (*dragoman_on_part)(const dragoman_part* part, void* user);

/* ---- Translating ---- */

typedef struct dragoman_translate_options {
  size_t size;
  int32_t beam_size;             /* 0: as the model's folder says; 1: greedy search */
  int32_t n_best;                /* translations of a line, 1 to beam_size */
  int32_t with_scores;           /* 0: greedy search is faster, and its scores are 0 */
  int32_t with_alignment;        /* 1: cross-attention weights */
  int32_t workers;               /* threads; 0: one a core; never changes a result */
  int32_t batch_tokens;          /* source tokens of a worker at a time; 0: the default; never changes a result */
  double timeout_seconds;        /* of the call; 0: none */
  const char* search;            /* further options by name as a JSON object, {"alpha": 1.0}; null: none */
  const dragoman_text* prefixes; /* what each line's translation must begin with; null: none */
  const dragoman_cancellation* cancellation; /* null: none */
  dragoman_on_part on_part;                  /* null: none */
  void* user;                                /* for on_part */
  const char* source_language; /* of a model for several: "en", or its own code, "eng_Latn"; null: the only one */
  const char* target_language; /* likewise; where prefixes bring the codes of the model, both are null */
} dragoman_translate_options;

DRAGOMAN_API dragoman_status dragoman_translate_options_init(dragoman_translate_options* options, size_t size);

typedef struct dragoman_translations dragoman_translations;

/* One translation. Pointers are valid until its dragoman_translations is freed. Texts end with a zero, which their size
 * does not count. */
typedef struct dragoman_translation {
  size_t size;
  const char* text;
  size_t text_size;
  double score;            /* log-probability in nats */
  double normalised_score; /* what the search ranks by */
  const int32_t* ids;
  size_t id_count;
  const float* token_scores; /* log-probability of each token, and of the end if it was generated */
  size_t token_score_count;
  const float* alignment; /* [id_count, source_count]; null unless requested */
  size_t source_count;
  int32_t finish_reason;
  const char* error;   /* why the line has no translation; null: it has one */
  const char* warning; /* what had to be done, such as cutting a line that is too long; null: nothing */
} dragoman_translation;

/* Translates lines. A line's translation never depends on the others. A line that fails has an `error`, and the others
 * are translated. On success the caller frees `*translations`; otherwise it is null. */
DRAGOMAN_API dragoman_status dragoman_translate(const dragoman_model* model, const dragoman_text* lines, size_t count,
                                                const dragoman_translate_options* options,
                                                dragoman_translations** translations);
/* Returns: the number of lines; of a line's translations. 0 for a null pointer or a line beyond the end. */
DRAGOMAN_API size_t dragoman_translations_count(const dragoman_translations* translations);
DRAGOMAN_API size_t dragoman_translations_ranks(const dragoman_translations* translations, size_t line);
/* Fills `translation`, whose size the caller has set. rank 0 is the best. */
DRAGOMAN_API dragoman_status dragoman_translations_get(const dragoman_translations* translations, size_t line,
                                                       size_t rank, dragoman_translation* translation);
DRAGOMAN_API void dragoman_translations_free(dragoman_translations* translations);

/* ---- Generating ---- */

typedef struct dragoman_generate_options {
  size_t size;
  int64_t max_tokens; /* new tokens at most */
  int32_t samples;    /* continuations of a prompt; above 1 only where something is drawn */
  int32_t beam_size;  /* above 1: searches, and draws nothing */
  double temperature; /* 0: the likeliest token at each step */
  int32_t top_k;      /* 0: all */
  int32_t with_scores;
  double top_p; /* 1: all */
  double min_p; /* 0: all */
  uint64_t seed;
  const dragoman_text* stops; /* a text ends before the first of them */
  size_t stop_count;
  int32_t context_shift; /* 1: where the context is full, its older half leaves */
  int32_t workers;
  double timeout_seconds;
  const char* search; /* further options by name as a JSON object, {"repetition_penalty": 1.1}; null: none */
  const dragoman_cancellation* cancellation;
  dragoman_on_part on_part;
  void* user;
} dragoman_generate_options;

DRAGOMAN_API dragoman_status dragoman_generate_options_init(dragoman_generate_options* options, size_t size);

typedef struct dragoman_continuations dragoman_continuations;

typedef struct dragoman_continuation {
  size_t size;
  const char* text; /* without the prompt */
  size_t text_size;
  double score;
  const int32_t* ids;
  size_t id_count;
  const float* token_scores;
  size_t token_score_count;
  size_t prompt_tokens;
  int32_t finish_reason;
  const char* error; /* why there is no text; null: there is one */
} dragoman_continuation;

/* Continues prompts. The continuation of a prompt depends on the prompt, the options and the number of the sample
 * alone. */
DRAGOMAN_API dragoman_status dragoman_generate(const dragoman_model* model, const dragoman_text* prompts, size_t count,
                                               const dragoman_generate_options* options,
                                               dragoman_continuations** continuations);
/* Returns: prompts * samples. */
DRAGOMAN_API size_t dragoman_continuations_count(const dragoman_continuations* continuations);
/* Fills `continuation`, whose size the caller has set. index: prompt * samples + sample. */
DRAGOMAN_API dragoman_status dragoman_continuations_get(const dragoman_continuations* continuations, size_t index,
                                                        dragoman_continuation* continuation);
DRAGOMAN_API void dragoman_continuations_free(dragoman_continuations* continuations);

/* ---- Embedding ---- */

typedef struct dragoman_embed_options {
  size_t size;
  int32_t workers;      /* threads; 0: one a core; never changes a result */
  int32_t batch_tokens; /* encoded together; 0: the default; never changes a result */
} dragoman_embed_options;

DRAGOMAN_API dragoman_status dragoman_embed_options_init(dragoman_embed_options* options, size_t size);

typedef struct dragoman_embeddings dragoman_embeddings;

/* Computes a vector for each text. */
DRAGOMAN_API dragoman_status dragoman_embed(const dragoman_model* model, const dragoman_text* texts, size_t count,
                                            const dragoman_embed_options* options, dragoman_embeddings** embeddings);
/* Returns: the vectors [count, width], valid until `embeddings` is freed. count, width, cut (the number of texts that
 * lost their end, since they were longer than the model takes) may be null. */
DRAGOMAN_API const float* dragoman_embeddings_values(const dragoman_embeddings* embeddings, size_t* count,
                                                     size_t* width, size_t* cut);
DRAGOMAN_API void dragoman_embeddings_free(dragoman_embeddings* embeddings);

#ifdef __cplusplus
}
#endif

#endif
