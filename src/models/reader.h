/* SPDX-License-Identifier: MIT */
/* reader.h - reading a configuration's keys, and what is reported of each; the rows of model types.
 * Private to models/. */
#ifndef PE_MODELS_READER_H
#define PE_MODELS_READER_H

#include "base/size.h"
#include "models/model.h"

/* ---- what each model type's class does, and what its configuration may leave out ---- */

typedef enum pe_scheme {
    PE_SCHEME_ROPE,
    PE_SCHEME_ALIBI,
    PE_SCHEME_T5,
    PE_SCHEME_DEBERTA, /* T5's resources, with variant deberta */
    PE_SCHEME_SINUSOIDAL,
    PE_SCHEME_SINCOS_GRID, /* sines of the rows and columns of patches */
    PE_SCHEME_LEARNED,
    PE_SCHEME_GRID, /* patches, by row and column */
    PE_SCHEME_NONE,
    PE_SCHEME_RESOURCE, /* the row names a resource, and says what of its parameters */
    PE_SCHEME_UNKNOWN   /* nothing tells, or no resource here does it */
} pe_scheme;

/**
 * The row of a model type in config/model_types.json, which the caller releases; NULL: it is not
 * known. config/models/README.md says what the members of a row mean: keys of a configuration, at
 * the default of the class, and what no key says. A member that is absent: nothing that differs
 * from Llama.
 * Errors  OVERLOADED (memory).
 */
pe_status pe_model_type_find(const char *name, json_t **row, pe_problem *why) PE_MUST_CHECK;
/** The scheme of its encoding; and of an encoding by its name: any that is none is a resource's. */
pe_scheme pe_model_type_scheme_named(const char *encoding);
pe_scheme pe_model_type_scheme(const json_t *row);

/** A member of a row, which may be NULL: false, 0 or NULL where it is absent. */
bool pe_type_is(const json_t *row, const char *member);
double pe_type_number(const json_t *row, const char *member);
const char *pe_type_text(const json_t *row, const char *member);
/** Is the text in the list, which may be NULL, of a row or a configuration? */
bool pe_type_lists(const json_t *list, const char *text);

/* ---- reading ---- */

/** Facts that configurations spell in several ways: the rows of config/facts.json. */
typedef enum pe_fact {
#define FACT(name, ...) PE_FACT_##name,
#include "facts.inc"
#undef FACT
    PE_FACTS
} pe_fact;

/** Configurations lie at most so deep within others, on the way to the language model and as towers
 * within towers; their names have at most so many bytes. */
#define PE_READER_DEPTH 4
#define PE_READER_NAME  63
#define PE_READER_PATH  (PE_READER_DEPTH * (PE_READER_DEPTH + 2) * (PE_READER_NAME + 1))

/** Reading under way. The first failure is kept; what follows it reads nothing. */
typedef struct pe_reader {
    const json_t *whole;       /* the configuration, or that of a tower */
    const char *tower;         /* its key in the whole; NULL: it is no tower */
    const char *outer;         /* a tower: the model type that it belongs to, or NULL */
    size_t depth;              /* of towers within towers */
    const char *wrapper;       /* the member of the whole that holds all of the model, or NULL */
    const json_t *around;      /* the model type of the nearest object around config, or NULL */
    bool plain_images;         /* as the row of a model type around the language model says */
    size_t towers_max;         /* so many towers are resolved, those within towers counted */
    const json_t *config;      /* the object of it that has the text model's keys */
    char path[PE_READER_PATH]; /* of it: "", "text_config/" */
    size_t path_bytes;         /* of these, those of the whole's path */
    const char *type_name;     /* NULL: not known */
    json_t *type;              /* its row; NULL: not known */
    json_t *dictionary;        /* the type's own, once it has been asked for */
    pe_model *model;           /* in the making */
    pe_status status;
    pe_problem *why;
} pe_reader;

/** Keep a failure: where is below the configuration ("rope_scaling/factor"). */
void pe_reader_fail(pe_reader *reader, pe_status status, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** "WHERE must be an object, got a string". */
void pe_reader_fail_type(pe_reader *reader, const char *where, const char *wanted,
                         const json_t *value);
void pe_reader_fail_memory(pe_reader *reader);

/** Report a key: once for each place, the first time counts. value NULL: the key is not there, and
 * nothing is reported. parameter: the row it became; NULL: none. note: NULL: none. */
void pe_reader_report(pe_reader *reader, const char *where, const json_t *value,
                      pe_model_key_status status, const char *parameter, const char *note);
void pe_reader_used(pe_reader *reader, const char *where, const json_t *value,
                    const char *parameter, const char *note);
void pe_reader_ignored(pe_reader *reader, const char *where, const json_t *value, const char *note);
/** Report and warn of a key that is not known; near: the key it may mean, or NULL. */
void pe_reader_unknown(pe_reader *reader, const char *where, const json_t *value, const char *near);
/** Report a number that stands for an absent key; of the model type's class: without a note of its
 * own. */
void pe_reader_default(pe_reader *reader, const char *where, double value, const char *parameter,
                       const char *note);
void pe_reader_class_default(pe_reader *reader, const char *where, double value,
                             const char *parameter);
void pe_reader_warn(pe_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define PE_READER_KEY 96
/** An unknown key as it stands in a pointer: ~ and / have a meaning there. One that is longer than
 * a pointer here may be is false, with a warning. */
bool pe_reader_escape(pe_reader *reader, const char *key, char out[PE_READER_KEY]);

/** A key that was reported of a tower is reported of the whole, which takes it. */
void pe_reader_take_key(pe_reader *reader, pe_model_key *key);

/** A key that has been reported became another parameter. */
void pe_reader_retarget(pe_reader *reader, const char *where, const char *parameter);

/** Keys that were to become this parameter become none: ignored, with the note. */
void pe_reader_drop_parameter(pe_reader *reader, const char *parameter, const char *note);

/** The member at a path below the configuration ("attn_config/alibi"); NULL when absent or null. */
const json_t *pe_reader_member(const pe_reader *reader, const char *where);

/**
 * The fact in the first of its spellings that is there; false when none is. Others are reported as
 * ignored. where (may be NULL) gets the key's place. A bool is 0 or 1.
 */
bool pe_reader_finds_fact(pe_reader *reader, pe_fact fact, double *out, const char **where);
/** The fact under this one key, which is all that the model type reads; "": it reads none.
 * Spellings of the fact that it does not read are reported as ignored, with a warning. */
bool pe_reader_finds_key(pe_reader *reader, pe_fact fact, const char *key, double *out,
                         const char **where);
/** The same, else the class's own, which is reported under the first spelling. */
bool pe_reader_finds_default(pe_reader *reader, pe_fact fact, double *out, const char **where);
bool pe_reader_fact(pe_reader *reader, pe_fact fact, double *out, const char **where);
/** Is it there? Reports nothing. */
bool pe_reader_has_fact(const pe_reader *reader, pe_fact fact);
/** Report a key as ignored, if it is there. */
void pe_reader_ignore(pe_reader *reader, const char *key, const char *note);
/** Does the model type's class not read this key? */
bool pe_reader_is_unread(const pe_reader *reader, const char *key);
/** Where it would stand, in its first spelling. */
const char *pe_reader_fact_name(pe_fact fact);
/** Is this a spelling of some fact, or another key that is read? If not, *near (near may be NULL) is
 * the nearest of them, or NULL. */
bool pe_reader_knows_key(const char *name, const char **near);

/** A value as JSON. Arrays and objects within others are shown empty: `[...]` would not be JSON. */
void pe_reader_print(const json_t *value, pe_buffer *out);

/** The type of a JSON value in words: "a string". NaN and infinities have their names. */
const char *pe_reader_type_text(const json_t *value);

/** A list of numbers as JSON, the caller's. */
json_t *pe_reader_reals(pe_reader *reader, const double *numbers, size_t n);
/** Set the row `name` of values from JSON of its type, within its bounds, present and given. Is
 * there such a row? */
bool pe_reader_set(pe_reader *reader, pe_values *values, const char *name, const char *where,
                   const json_t *value);
/** Set an INT, REAL or BOOL row that is there, within its bounds. */
void pe_reader_set_number(pe_reader *reader, pe_values *values, const char *name, const char *where,
                          double number);
/** Set a CHOICE row that is there to one of its choices. */
void pe_reader_set_choice(pe_values *values, const char *name, const char *choice);
/** Set a row from a key's value, or from the class's default; 0: there is none. Reports it. */
void pe_reader_take(pe_reader *reader, pe_values *values, const char *parameter, const char *where,
                    const json_t *value, double otherwise);
/** Make a row that is there absent again. */
void pe_reader_unset(pe_values *values, const char *name);

/* ---- what other programs write of a model, in the keys of a config.json (input.c) ---- */

/** A configuration that has been put into other keys. */
typedef struct pe_input {
    const json_t *whole; /* what came */
    char prefix[80];     /* of the names that a program has in it: "llama.", "model/" */
    json_t *config;      /* NULL: that is a config.json */
    json_t *places;      /* of its keys: where each stands in what came */
    json_t *warnings;    /* texts */
    bool failed;         /* memory ran out */
} pe_input;

/**
 * Find out which program wrote the object, and put what it says into the keys of a config.json. Its
 * model type is a row of config/model_types.json: "gguf/llama", "diffusers/FluxTransformer2DModel".
 * Errors  INVALID_PARAMETER, OVERLOADED (memory).
 */
pe_status pe_input_read(const json_t *whole, pe_input *out, pe_problem *why) PE_MUST_CHECK;
void pe_input_free(pe_input *input);

/** Tell the keys of a model, or (there is none) the place of a problem, where they stand in what came.
 * What came there is the value of each key that was read off it. Pointers have `within` bytes of a
 * path before the keys: those of a tower. */
pe_status pe_input_restore(const pe_input *input, size_t within, pe_model *model,
                           pe_problem *why) PE_MUST_CHECK;

/* For the readers: */

/** What came under a name, behind the prefix ("yarn/beta": in an object), or as on a command line
 * (--rotary-base); NULL where it is absent or null. */
const json_t *pe_input_member(const pe_input *input, const char *name);
double pe_input_number(const pe_input *input, const char *name, double otherwise);
/** Set a key, or one of an object ("rope_scaling/factor"); the value is the input's from now on.
 * NULL: only its place is told, unless another has been. */
void pe_input_put(pe_input *input, const char *key, const char *name, json_t *value);
/** Take a member under a key. */
void pe_input_take(pe_input *input, const char *name, const char *key);
/** Take what a table of config/renamings.json names: each row has a name and the key that it is; a
 * third item is the value, unless it is a number and another came. */
void pe_input_rename(pe_input *input, const char *table);
/** A table there, which stays. An input has been read before. */
const json_t *pe_input_table(const char *table);
/** The row of a table that begins with this name; NULL: there is none. */
const json_t *pe_input_row(const char *table, const char *name);
void pe_input_warn(pe_input *input, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** model_type is PROGRAM/TEXT; a text that no row can have is PROGRAM alone. */
void pe_input_type(pe_input *input, const char *program, const char *name, const char *text);

/** The readers: each fills *out where the object is one of its program's. */
#define PE_INPUT_READERS 5
extern bool (*const pe_input_readers[PE_INPUT_READERS])(pe_input *out);
bool pe_input_gguf(pe_input *out);

#endif
