/* SPDX-License-Identifier: MIT */
/* params.h - parameters as rows, and sets of rows. */
#ifndef PE_PLAN_PARAMS_H
#define PE_PLAN_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

typedef enum pe_param_kind {
    PE_KIND_INT,        /* value.integer; 512.0 is accepted for 512 */
    PE_KIND_REAL,       /* value.real */
    PE_KIND_BOOL,       /* value.truth */
    PE_KIND_CHOICE,     /* value.choice, an index into choices */
    PE_KIND_REAL_LIST,  /* value.list */
    PE_KIND_POSITIONS,  /* value.positions */
    PE_KIND_TEXT,       /* value.text; no part of the canonical form, unless its row says so */
    PE_KIND_TENSOR,     /* value.tensor: numbers in a body (transforms only) */
    PE_KIND_TOKEN_RUNS, /* value.runs, of choices */
    PE_KIND_CHOICES,    /* value.picks, indices into choices: each once, in the client's order */
    PE_KIND_NAME,       /* value.text: what the path has at {name}, not the query */
} pe_param_kind;

/** One parameter: what parsing, defaults, range errors, the canonical form, GET /v1 and
 * openapi.yaml share. */
typedef struct pe_param {
    const char *name;
    const char *const *aliases; /* what other resources call the same, NULL-terminated; or NULL */
    pe_param_kind kind;
    bool required;
    bool by_model;   /* not required where a model is given, which sets it */
    bool canonical;  /* TEXT: plain letters, part of the canonical form */
    bool optional;   /* may stay absent: no default, or one that the plan derives */
    double min, max; /* INT, REAL and each item of REAL_LIST; inclusive */
    bool above_min;  /* min itself is excluded */
    double fallback; /* INT, REAL, BOOL (0, 1), CHOICE (index) */
    /** POSITIONS: "0:128"; also shown for derived defaults ("head_dim"). */
    const char *fallback_text;
    const char *const *choices; /* CHOICE, TOKEN_RUNS, CHOICES, NULL-terminated */
    const char *hint;   /* what to do where a value is refused, after a semicolon; or NULL */
    bool integers_only; /* POSITIONS, TENSOR, REAL_LIST */
    bool two_axes;      /* POSITIONS may be [batch, n] or [axes, n] */
    bool three_axes;    /* POSITIONS may be [axes, batch, n] in a body, too */
    bool axis;          /* INT: an axis of the answer is so long, as of each with plan_work */
    size_t list_max;    /* REAL_LIST: most items; TOKEN_RUNS: most runs */
    size_t list_row;    /* REAL_LIST: rows of so many items, with semicolons between them or
                                 * as nested arrays; 0: no rows */
    size_t min_dims, max_dims;    /* TENSOR */
    bool as_float64;              /* TENSOR: read as float64 whatever dtype says */
    size_t plan_work;             /* INT: what each one of it (a channel, a head) may cost the plan,
                                 * in elements of a plain table: PE_PLAN_WORK_...; 0: nothing */
    const uint16_t *channel_work; /* what each of those costs more: of CHOICE by choice, of others
                                   * the first where the row is present; NULL: nothing */
    bool fractions_cost;          /* REAL: that, where the number is not whole */
    const char *unit;             /* "tokens", "channels", ... or NULL */
    const char *help;             /* one sentence */
    const char *example;          /* text of a typical value */
} pe_param;

/** A row: its name, its kind (INT for PE_KIND_INT), and what else it has.
 *
 *     PE_PARAM("d_model", INT, .min = 1, .max = 65536, .help = "Width of a row.", .example = "64"),
 */
#define PE_PARAM(label, of, ...)                                                                   \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_##of, __VA_ARGS__                                         \
    }

/** Rows that belong together, in the order in which they are listed. */
typedef struct pe_param_set {
    const pe_param *rows;
    size_t n;
} pe_param_set;

/** The set of all rows of an array. */
#define PE_PARAMS(array) (&(const pe_param_set){(array), PE_LEN(array)})

/** Most sets of a resource, and the NULL that ends them. */
#define PE_PARAM_SETS_MAX 18

/** The hint of POSITIONS. */
#define PE_POSITIONS_HINT "0:128 is the first 128, 5 is one, 1,5,9 are three"

/** Names as a column of a row has them. */
#define PE_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/** Row i of the sets, counted through all of them; NULL past the last. */
const pe_param *pe_params_at(const pe_param_set *const *sets, size_t i);
size_t pe_params_count(const pe_param_set *const *sets);
const pe_param *pe_params_find(const pe_param_set *const *sets, const char *name);
/** The row's alias of this name; NULL when it has none. */
const char *pe_param_alias(const pe_param *param, const char *name);

/** A frequency of a geometric sequence is a product; others are powers and logarithms in MPFR, for
 * each of a number of types where these are compared. As measured. */
#define PE_PLAN_WORK_PRODUCT 16
#define PE_PLAN_WORK_POWER   256
#define PE_PLAN_WORK_POWERS  3072

#endif
