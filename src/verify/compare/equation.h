/* SPDX-License-Identifier: MIT */
/* equation.h - what a mistake makes of a number, written as in a paper: "x[n - 1 - i]", "x < a ? x : x + b". */
#ifndef PE_VERIFY_COMPARE_EQUATION_H
#define PE_VERIFY_COMPARE_EQUATION_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/values.h"

/**
 * Of item i: numbers, names, + - * / ^ and comparisons, && and ||, c ? x : y, functions of one or two
 * numbers, and name[e], that number of item e. x % y is what floor(x / y) leaves, of the sign of y.
 * Squares and square roots by ^ are rounded correctly. True is 1. pi, inf and none (NAN) are numbers.
 *
 *     abs sqrt exp exp2 ln log2 log10 log1p sin cos floor ceil trunc
 *     round (halves away from 0)  rint (halves to even)  finite (not NAN, nor infinite)
 *     float32 bfloat16 float16 tf32 (rounded to the type)  cut (to bfloat16, toward 0)
 * *     tidy neat (the whole number near it, or the reciprocal of one: within 1 %, within 0.2 %)
 *     min max hypot signed(x, y) (of the sign of y)  digits(x, n) (rounded to n digits)
 *
 * Of all items are sum(e), least(e), most(e), median(e), which leave NAN out, and first(e), the first
 * item of which e is true, or n.
 *
 * Another name is a number of the claim, NAN where it has none; "variant.llama4": is the choice that?
 */

/** What a name stands for, of an item of the struct that equations are of. */
typedef struct pe_term {
    const char *name; /* NULL ends a list; several, with blanks between, of numbers in a row */
    double (*at)(const void *of, double i); /* or, where NULL: */
    size_t offset;                          /* of a double in that struct; */
    bool listed;                            /* or of a pointer to those of all items */
    size_t through; /* not 0: both are in another struct, to which the pointer there points */
} pe_term;

#define PE_EQUATION_STEPS 128

typedef struct pe_step {
    char is;           /* which of these, or an operator */
    unsigned char nth; /* of the names of the term */
    union {
        double number;
        const pe_term *term;
        double (*one)(double x);
        double (*two)(double x, double y);
        const struct pe_narrow_type *type;
    };
} pe_step;

/** An equation as steps on a stack. */
typedef struct pe_equation {
    size_t n;
    pe_step step[PE_EQUATION_STEPS];
} pe_equation;

/** Read one; names are those of two lists (NULL: none), then of the values. What it says of all items is
 * found now, of those of `of`, and NAN where that is NULL. False: it is no equation. */
bool pe_equation_read(const char *text, const pe_term *terms, const pe_term *more,
                      const pe_values *values, const void *of, pe_equation *out) PE_MUST_CHECK;

/** Its number, as of item 0; NAN: it is no equation. */
double pe_equation_number(const char *text, const pe_term *terms, const pe_term *more,
                          const pe_values *values, const void *of);

/** The number of that name in a struct, whose terms they are; NULL: none has it. */
double *pe_term_number(const pe_term *terms, const char *name, void *in);

/** Its function "tidy". */
double pe_equation_tidy(double x);

/** The number that has n/2 before it in order; NAN: there is none. The list, of no NaN, is
 * reordered. */
double pe_median(double *list, size_t n);

double pe_equation_at(const pe_equation *equation, const void *of, double i);
/** Units of work of one number. */
uint64_t pe_equation_work(const pe_equation *equation);

#endif
