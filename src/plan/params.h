/* SPDX-License-Identifier: MIT */
/* params.h - parameters as rows, and the values a request gives them. */
#ifndef PE_PLAN_PARAMS_H
#define PE_PLAN_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/buffer.h"
#include "plan/positions.h"
#include "plan/token_runs.h"

typedef enum pe_param_kind {
    PE_KIND_INT,        /* value.integer; 512.0 is accepted for 512 */
    PE_KIND_REAL,       /* value.real */
    PE_KIND_BOOL,       /* value.truth */
    PE_KIND_CHOICE,     /* value.choice, an index into choices */
    PE_KIND_REAL_LIST,  /* value.list */
    PE_KIND_POSITIONS,  /* value.positions */
    PE_KIND_TEXT,       /* value.text; no part of the canonical form */
    PE_KIND_TENSOR,     /* value.tensor: numbers in a body (transforms only) */
    PE_KIND_TOKEN_RUNS, /* value.spans, of choices */
    PE_KIND_CHOICES,    /* value.picks, indices into choices: each once, in the client's order */
    PE_KIND_NAME,       /* value.text: what the path has at {name}, not the query */
} pe_param_kind;

/** One parameter: what parsing, defaults, range errors, the canonical form, GET /v1 and
 * openapi.yaml share. */
typedef struct pe_param {
    const char *name;
    pe_param_kind kind;
    bool required;
    bool by_model;   /* not required where a model is given, which sets it */
    bool optional;   /* may stay absent: no default, or one that the plan derives */
    double min, max; /* INT, REAL and each item of REAL_LIST; inclusive */
    bool above_min;  /* min itself is excluded */
    double fallback; /* INT, REAL, BOOL (0, 1), CHOICE (index) */
    const char
        *fallback_text; /* POSITIONS: "0:128"; also shown for derived defaults ("head_dim") */
    const char *const *choices; /* CHOICE, SPANS, CHOICES, NULL-terminated */
    bool integers_only;         /* POSITIONS, TENSOR, REAL_LIST */
    bool two_axes;              /* POSITIONS may be [batch, n] or [axes, n] */
    bool three_axes;            /* POSITIONS may be [axes, batch, n] in a body, too */
    size_t list_max;            /* REAL_LIST: most items; SPANS: most spans */
    size_t list_row;            /* REAL_LIST: rows of so many items, with semicolons between them or
                                 * as nested arrays; 0: no rows */
    size_t min_dims, max_dims;  /* TENSOR */
    bool as_float64;            /* TENSOR: read as float64 whatever dtype says */
    size_t plan_work;           /* INT: what each one of it (a channel, a head) may cost the plan,
                                 * in elements of a plain table: PE_PLAN_WORK_...; 0: nothing */
    const char *unit;           /* "tokens", "channels", ... or NULL */
    const char *help;           /* one sentence */
    const char *example;        /* text of a typical value */
} pe_param;

/** Rows that belong together, in the order in which they are listed. */
typedef struct pe_param_set {
    const pe_param *rows;
    size_t n;
} pe_param_set;

/** The set of all rows of an array. */
#define PE_PARAMS(array) (&(const pe_param_set){(array), PE_LEN(array)})

/** Most sets of a resource. */
#define PE_PARAM_SETS_MAX 12

/** Row i of the sets (NULL-terminated, at most PE_PARAM_SETS_MAX), counted through all of them;
 * NULL past the last. */
const pe_param *pe_params_at(const pe_param_set *const *sets, size_t i);
size_t pe_params_count(const pe_param_set *const *sets);
const pe_param *pe_params_find(const pe_param_set *const *sets, const char *name);

/** Most choices of a CHOICES row. */
#define PE_PICKS_MAX 32

/** A frequency of a geometric sequence is a product; others are powers and logarithms in MPFR, for
 * each of a number of types where these are compared. Measured: up to 0.5, 20 and 50 us. */
#define PE_PLAN_WORK_PRODUCT 16
#define PE_PLAN_WORK_POWER   256
#define PE_PLAN_WORK_POWERS  1024

/** The value of one parameter. `present` after parsing: given by the client or filled from the
 * row. */
typedef struct pe_value {
    const pe_param *param;
    bool present, given;
    int64_t integer;
    double real;
    bool truth;
    size_t choice;
    double *list;
    size_t list_length;
    char *text; /* owned */
    pe_positions positions;
    pe_array tensor;
    pe_token_runs runs;
    unsigned char picks[PE_PICKS_MAX];
    size_t n_picks;
    /** Where the client put it when not at the top level ("rope_parameters"), else NULL. For
     * pointers. */
    const char *parent;
} pe_value;

/** A value for each row of a resource, in the order of rows. */
typedef struct pe_values {
    size_t n;
    pe_value *value; /* n, owned */
} pe_values;

pe_status pe_values_make(const pe_param_set *const *sets, pe_values *out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_values_free(pe_values *values);

/** A copy without tensors, none of whose values counts as given by a client. */
pe_status pe_values_copy(const pe_values *from, pe_values *out, pe_problem *why) PE_MUST_CHECK;

/** The value named so; NULL when there is no such row. */
pe_value *pe_values_find(const pe_values *values, const char *name);

/** Shorthands for rows that exist and are present (asserted). */
int64_t pe_values_int(const pe_values *values, const char *name);
double pe_values_real(const pe_values *values, const char *name);
bool pe_values_bool(const pe_values *values, const char *name);
size_t pe_values_choice(const pe_values *values, const char *name);
bool pe_values_present(const pe_values *values, const char *name);
bool pe_values_given(const pe_values *values, const char *name);

/** What planning may cost, in elements of a plain table, by the rows' plan_work. Where such a row
 * is absent, a tensor will tell: at most its longest axis. */
uint64_t pe_values_plan_work(const pe_values *values);

/** Set and mark present (not given): derived defaults, as rotary_dim from head_dim. */
void pe_values_set_int(pe_values *values, const char *name, int64_t integer);
void pe_values_set_real(pe_values *values, const char *name, double real);

/** Take the tensor of a row that has one out of values, to be kept or written to. Borrowed numbers
 * stay where they are, in a body that is there for this request alone. */
pe_array pe_values_take(pe_values *values, const char *name);

/** INVALID_PARAMETER at the value named so: "rope_parameters/factor" where the client put it. */
pe_status pe_values_invalid(const pe_values *values, const char *name, pe_problem *why,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Fill every absent row that has a default. MISSING_PARAMETER for a required one that is absent,
 * names excepted: paths bring them. */
pe_status pe_values_defaults(pe_values *values, pe_problem *why) PE_MUST_CHECK;

/**
 * The canonical form: present values, sorted by name, defaults included, numbers in their shortest
 * text. Query text "base=10000&d_model=64&positions=0:128" / JSON object
 * {"base":10000,...,"positions":"0:128"}. Tensors are left out, and names of the query.
 */
void pe_values_query(const pe_values *values, pe_buffer *out);
void pe_values_json(const pe_values *values, pe_buffer *out);

/** One value as it stands in a query; tensors and texts are left out. */
void pe_value_print(const pe_value *value, pe_buffer *out);

/** Shortest text of a real as the canonical form writes it: integers below 2^53 without
 * exponent. */
void pe_real_print(double real, pe_buffer *out);

#endif
