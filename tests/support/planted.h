/* SPDX-License-Identifier: MIT */
/* planted.h - tables with mistakes in them, made by slow and plain code of the tests' own. */
#ifndef PE_TESTS_SUPPORT_PLANTED_H
#define PE_TESTS_SUPPORT_PLANTED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/buffer.h"

#define PLANTED_MAX_TOKENS 48
#define PLANTED_MAX_WIDTH  96
#define PLANTED_MAX        (PLANTED_MAX_TOKENS * PLANTED_MAX_WIDTH * 2)

typedef enum planted_kind {
    PLANTED_ROPE,       /* cos and sin, [2][tokens][pairs] */
    PLANTED_VECTORS,    /* [tokens][head_dim], rotated inputs */
    PLANTED_SINUSOIDAL, /* [tokens][d_model] */
    PLANTED_BIAS,       /* [heads][queries][keys], ALiBi */
    PLANTED_SLOPES      /* [heads] */
} planted_kind;

typedef enum planted_arithmetic {
    PLANTED_EXACT,
    PLANTED_FLOAT32,            /* the reference path, step by step: rope_type default or linear */
    PLANTED_FLOAT32_FREQUENCIES /* its frequencies, exact angles */
} planted_arithmetic;

/** How the numbers are made: parameters as a client names them, and what they cannot say. */
typedef struct planted {
    planted_kind kind;
    json_t *parameters; /* owned */
    pe_dtype dtype;
    size_t tokens;
    double positions[PLANTED_MAX_TOKENS];
    const double *inputs;   /* PLANTED_VECTORS */
    double attention_power; /* 1; 0, 2 or -1 */
    bool exchanged;         /* cosines for sines */
    bool negated;           /* masks stay masks */
    bool head_exponent;     /* 2i/head_dim */
    planted_arithmetic arithmetic;
} planted;

/** Its numbers, rounded once to dtype, into out[PLANTED_MAX]; their shape. */
void planted_numbers(const planted *how, double *out, pe_shape *shape);

/** How far each of these numbers may be off, beside its rounding to dtype, by the rule that
 * openapi.yaml states: as exact and as float32 arithmetic. Arrays of PLANTED_MAX. */
void planted_allowance(const planted *how, double *exact, double *float32);

/** Of waves: is each pair as near to its circle as float32 arithmetic keeps it, by that rule? */
bool planted_on_circles(const planted *how, const double *numbers);

/** A member of the parameters as a number, or otherwise. */
double planted_number(const planted *how, const char *name, double otherwise);
/** As a text, "" when it is none. */
const char *planted_text(const planted *how, const char *name);

#endif
