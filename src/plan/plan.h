/* SPDX-License-Identifier: MIT */
/* plan.h - what an answer will hold, decided before a number is computed. */
#ifndef PE_PLAN_PLAN_H
#define PE_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "plan/price.h"

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
    /** What an element costs, in units of work (plan/price.h); 1 unless the plan says more. It is
     * part of the price, and bounds how long one block may take, so that nobody waits for another's
     * sum of a million cosines. */
    size_t work;
} pe_tensor;

/**
 * Elements of a tensor: columns [column, column + columns) of each of the units
 * [first, first + units).
 */
typedef struct pe_region {
    size_t tensor, first, units;
    size_t column, columns; /* of whole units: 0 and the tensor's unit; else units is 1 */
} pe_region;

/** Where a unit may be cut. */
#define PE_PART_ELEMENTS 64

/**
 * Write the elements of a region, packed, in the tensor's dtype, to out (aligned as its dtype). The
 * region is of whole units or, where the plan makes parts, a part of one unit, which begins at a
 * multiple of PE_PART_ELEMENTS and ends at one or with the unit. Non-finite elements mean masked
 * (-inf in binary formats, null in JSON).
 */
typedef pe_status (*pe_plan_fill)(const pe_plan *plan, const pe_region *region, void *out,
                                  pe_problem *why);

#define PE_MAX_SCALARS  8
#define PE_MAX_TENSORS  9
#define PE_MAX_WARNINGS 5
#define PE_MAX_OWNED    12
/** 32 hexadecimal digits. */
#define PE_PLAN_VERSION_BYTES 33

/** What another program is told to compute the same numbers: text to be pasted. */
typedef struct pe_engine_setting {
    const char *of,
        *program;     /* "yarn", "vllm": of the plan's state; settings of one kind are neighbours */
    char *text;       /* owned; NULL: the program cannot, and note says why */
    bool json;        /* text is a JSON value */
    const char *note; /* of the plan's state, or NULL */
    const char *layers; /* the same: names of the layers that it reaches, as JSON */
} pe_engine_setting;

/** Where the settings of a program are documented. */
typedef struct pe_engine_setting_source {
    const char *program, *source;
} pe_engine_setting_source;

/** Something that a plan releases. */
typedef struct pe_owned {
    void *what;
    void (*release)(void *what);
} pe_owned;

/**
 * Made by pe_plan_make; freed by pe_plan_free. After the plan nothing can fail but memory.
 * Immutable once made: fill may run in any thread, in several at once, over any rows in any order.
 */
struct pe_plan {
    struct pe_tables *tables; /* while it is made: what it takes numbers from */
    const pe_limits *limits;  /* the same: what it is checked against */
    size_t n_scalars, n_tensors, n_warnings;
    pe_scalar scalars[PE_MAX_SCALARS];
    pe_tensor tensors[PE_MAX_TENSORS];
    char *warnings[PE_MAX_WARNINGS]; /* owned */
    /** A hash of what the numbers depend on beside the request: part of their tag. "" for nothing:
     * then they never change. */
    char version[PE_PLAN_VERSION_BYTES];
    pe_engine_setting *engine_settings; /* [n_engine_settings], owned */
    size_t n_engine_settings, n_engine_setting_sources;
    const pe_engine_setting_source *engine_setting_sources; /* of its state */

    void *state; /* the encoding's */
    size_t n_owned;
    pe_owned owned[PE_MAX_OWNED]; /* the last is released first */
    pe_plan_fill fill;
    /** fill makes parts. false: units are made whole, and a reader who stalls may hold one. */
    bool makes_parts;
};

/** The plan of values. *out is to be freed, also when this fails.   Errors  those of the resource. */
pe_status pe_plan_make(const pe_resource *resource, pe_values *values, struct pe_tables *tables,
                       const pe_limits *limits, pe_plan *out, pe_problem *why) PE_MUST_CHECK;

/** Have the plan release something when it is freed. */
void pe_plan_owns(pe_plan *plan, void *what, void (*release)(void *what));

/** Give the plan its state, zeroed, and what reads it.   Errors  OVERLOADED (memory). */
pe_status pe_plan_begin(pe_plan *plan, size_t bytes, pe_plan_fill fill,
                        pe_problem *why) PE_MUST_CHECK;
/** The same of a plan whose numbers are there before it is read: its state is an array, whose
 * units fill copies. */
pe_status pe_plan_begin_array(pe_plan *plan, pe_problem *why) PE_MUST_CHECK;

/** The same of an array in the plan's state. */
void pe_plan_owns_array(pe_plan *plan, pe_array *array);
/** Take the tensor of a row out of values into the plan's state, for the plan to own. */
void pe_plan_take(pe_plan *plan, pe_values *values, const char *name, pe_array *out);
/** The positions of a row, shared, in the plan's state.   Errors  OVERLOADED (memory). */
pe_status pe_plan_positions(pe_plan *plan, const pe_values *values, const char *name,
                            pe_positions *out, pe_problem *why) PE_MUST_CHECK;

/** Units [first, first + units) of a tensor, whole. */
pe_region pe_plan_units(const pe_plan *plan, size_t tensor, size_t first, size_t units);
/** Is the region one of whole units? */
bool pe_plan_whole(const pe_plan *plan, const pe_region *region);

/**
 * Have the plan fill a region: its work is spent, and no more is made once that is to end.
 * Errors  those of fill; TOO_MUCH_WORK, OVERLOADED (base/yield.h).
 */
pe_status pe_plan_make_region(const pe_plan *plan, const pe_region *region, void *out,
                              pe_problem *why) PE_MUST_CHECK;

/**
 * Add a tensor; checks its elements, with those of the tensors before it, against the limits.
 * Errors  TOO_MANY_ELEMENTS, TOO_MUCH_WORK.
 */
pe_status pe_plan_add_tensor(pe_plan *plan, const char *name, pe_dtype dtype, const pe_shape *shape,
                             size_t unit, pe_problem *why) PE_MUST_CHECK;
/** What a sum of n products costs: one takes a nanosecond or less. */
#define PE_DOT_WORK(n) ((n) / 8 + 1)

/**
 * Say what an element of the tensor costs; checks the price of all tensors against the limits. The
 * plan says so before it spends anything on it.
 * Errors  TOO_MUCH_WORK.
 */
pe_status pe_plan_set_work(pe_plan *plan, size_t tensor, size_t work,
                           pe_problem *why) PE_MUST_CHECK;
/** What all its elements cost. */
uint64_t pe_plan_tensor_work(const pe_tensor *tensor);
void pe_plan_add_scalar(pe_plan *plan, const char *name, double value);
/** text: a string constant. */
void pe_plan_add_text(pe_plan *plan, const char *name, const char *text);
/** Text is copied. */
void pe_plan_warn(pe_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Takes setting->text, also when it fails.   Errors  OVERLOADED (memory). */
pe_status pe_plan_add_engine_setting(pe_plan *plan, const pe_engine_setting *setting,
                                     pe_problem *why) PE_MUST_CHECK;
/** Releases what the plan owns and zeroes it. */
void pe_plan_free(pe_plan *plan);

#endif
