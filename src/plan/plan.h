/* SPDX-License-Identifier: MIT */
/* plan.h - what an answer will hold, decided before a number is computed. */
#ifndef PE_PLAN_PLAN_H
#define PE_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "plan/values.h"

struct pe_tables; /* tables/tables.h */
typedef struct pe_plan pe_plan;

/** A scalar of the answer: a JSON number (float64, shortest), null or text. */
typedef struct pe_scalar {
    const char *name;
    bool null;
    double value;
    const char *text; /* a string constant; NULL for a number */
} pe_scalar;

/**
 * One tensor of the answer, filled in units of `unit` consecutive elements (row-major): a table's
 * unit is its row; a tensor whose rows may be huge, or that has one axis, takes unit 1. elements ==
 * units * unit.
 */
typedef struct pe_tensor {
    const char *name; /* shown where the answer has several tensors: "cos" */
    pe_dtype dtype;
    pe_shape shape;
    size_t elements, units, unit;
    /** What an element costs, in elements of a plain table; 1 unless the plan says more. Bounds how
     * long one block may take, so that nobody waits for another's sum of a million cosines. */
    size_t work;
} pe_tensor;

#define PE_MAX_SCALARS  8
#define PE_MAX_TENSORS  9
#define PE_MAX_WARNINGS 4
/** 32 hexadecimal digits. */
#define PE_PLAN_VERSION_BYTES 33

/** What another program is told to compute the same numbers: text to be pasted. */
typedef struct pe_engine_setting {
    const char *of, *program; /* "yarn", "vllm": constants; settings of one kind are neighbours */
    char *text;               /* owned; NULL: the program cannot, and note says why */
    bool json;                /* text is a JSON value */
    const char *note;         /* a constant, or NULL */
} pe_engine_setting;

/** Where the settings of a program are documented. */
typedef struct pe_engine_setting_source {
    const char *program, *source;
} pe_engine_setting_source;

/** Bounds a plan is checked against. */
typedef struct pe_limits {
    size_t max_elements;
} pe_limits;

/**
 * Made by a resource's `plan`; freed by pe_plan_free. After the plan nothing can fail but memory.
 * Immutable once made: fill may run in any thread, in several at once, over any rows in any order.
 */
struct pe_plan {
    size_t n_scalars, n_tensors, n_warnings;
    pe_scalar scalars[PE_MAX_SCALARS];
    pe_tensor tensors[PE_MAX_TENSORS];
    char *warnings[PE_MAX_WARNINGS]; /* owned */
    /** A hash of what the numbers depend on beside the request: part of their tag. "" for nothing:
     * then they never change. */
    char version[PE_PLAN_VERSION_BYTES];
    pe_engine_setting *engine_settings; /* [n_engine_settings], owned */
    size_t n_engine_settings, n_engine_setting_sources;
    const pe_engine_setting_source *engine_setting_sources; /* constant */

    void *state;                     /* the encoding's */
    void (*free_state)(void *state); /* may be NULL */
    /**
     * Write units [first, first + units) of tensor t, packed, in the tensor's dtype, to out
     * (aligned as its dtype). Non-finite elements mean masked (-inf in binary formats, null in
     * JSON).
     */
    pe_status (*fill)(const pe_plan *plan, size_t t, size_t first, size_t units, void *out,
                      pe_problem *why);
    /**
     * Write elements [first, first + n) of one unit as fill would; first is a multiple of
     * PE_PART_ELEMENTS, and so is n unless the unit ends there. NULL: units are made whole only,
     * and a reader who stalls may hold one.
     */
    pe_status (*fill_part)(const pe_plan *plan, size_t t, size_t unit, size_t first, size_t n,
                           void *out, pe_problem *why);
};

/** Where a unit may be cut. */
#define PE_PART_ELEMENTS 64

/**
 * Add a tensor; checks its elements, with those of the tensors before it, against the limits.
 * Errors  TOO_MANY_ELEMENTS.
 */
pe_status pe_plan_add_tensor(pe_plan *plan, const pe_limits *limits, const char *name,
                             pe_dtype dtype, const pe_shape *shape, size_t unit,
                             pe_problem *why) PE_MUST_CHECK;
void pe_plan_add_scalar(pe_plan *plan, const char *name, double value);
/** text: a string constant. */
void pe_plan_add_text(pe_plan *plan, const char *name, const char *text);
/** Text is copied. */
void pe_plan_warn(pe_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Takes setting->text, also when it fails.   Errors  INTERNAL (memory). */
pe_status pe_plan_add_engine_setting(pe_plan *plan, const pe_engine_setting *setting,
                                     pe_problem *why) PE_MUST_CHECK;
/** Releases what the plan owns and zeroes it. */
void pe_plan_free(pe_plan *plan);

typedef enum pe_resource_kind { PE_TABLE, PE_TRANSFORM } pe_resource_kind;

/**
 * One numeric resource: a row of encodings/registry.c. Knows no JSON and no HTTP.
 */
typedef struct pe_resource {
    const char *path;     /* "/v1/rope/table"; "/v1/learned/{name}" with a row of that name */
    const char *encoding; /* the answer's "encoding" member: "rope" */
    const char *name;     /* for the command line: "rope/table" */
    pe_resource_kind kind;
    const char *summary, *formula,
        *source; /* one sentence; ASCII formula; paper or repository@commit */
    /** Its parameters: own rows and shared ones, in the order of GET /v1; NULL-terminated. */
    const pe_param_set *param_sets[PE_PARAM_SETS_MAX];
    /** JSON members that hold parameters of their own: "rope_parameters", else NULL. */
    const char *nested;
    /**
     * Check what single rows cannot say, derive defaults (pe_values_set_*: they become part of the
     * canonical form), and plan the answer. May move tensors out of values. *out is zeroed by the
     * caller.
     */
    pe_status (*plan)(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                      pe_plan *out, pe_problem *why);
} pe_resource;

extern const char *const pe_plan_dtypes[]; /* float32 float64 float16 bfloat16: index == pe_dtype */
extern const char *const pe_plan_numerics[]; /* exact float32 */
enum { PE_NUMERICS_EXACT, PE_NUMERICS_FLOAT32 };

#endif
