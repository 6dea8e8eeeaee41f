/* SPDX-License-Identifier: MIT */
/* guess.h - a claim with faults applied to it. */
#ifndef PE_VERIFY_COMPARE_GUESS_H
#define PE_VERIFY_COMPARE_GUESS_H

#include "verify/compare/equation.h"
#include "verify/compare/report.h"
#include "verify/upload/upload.h"
#include "verify/upload/upload_view.h"

/* ---- names of faults: those of config/faults.json, and no others ---- */

typedef struct pe_fault_name {
    const char *text;
    const char *rule, *remedy; /* of rows that say nothing else; or NULL */
} pe_fault_name;

#define FAULT(NAME, TEXT, RULE, REMEDY) extern const pe_fault_name pe_fault_##NAME;
#include "faults.inc"
#undef FAULT

#define PE_NAME(NAME) &pe_fault_##NAME

/* ---- guesses ---- */

/** Positions p of a claim became q = p * times + plus, or what an equation of x = q * unit says, over
 * unit. The identity is {1, 0}. */
typedef struct pe_position_map {
    double times, plus;
    const char *round; /* the equation; NULL: q */
    double unit;
    /** Instead of all that: where the position of a token went. cause is borrowed. */
    double (*move)(const void *cause, size_t token, double position);
    const void *cause;
} pe_position_map;

/** What a fault may change beside the values. */
typedef struct pe_distortion {
    pe_position_map positions;
    bool exchanged;        /* cosines stand where sines belong */
    bool head_in_exponent; /* the exponents are 2i/head_dim; the first rotary_dim/2 of them count */
    bool negated;          /* every element but masks */
    bool cosine_negated;   /* those of pairs */
    /* Types that elements, frequencies, angles, and the waves that turn vectors were rounded to
     * before they went on in a wider one. NULL: none. */
    const pe_narrow_type *stored, *frequencies, *angles, *waves;
    bool truncated;         /* elements were cut, not rounded */
    const double *inv_freq; /* borrowed: frequencies in the place of those of the values; or NULL */
    size_t inv_freq_pairs;  /* how many; a guess of another number of pairs fits no upload */
    double gain;            /* what all waves are multiplied by; 0: nothing */
    double gain_error;      /* relative, of their products */
    bool values_inexact;    /* they give frequencies or the amplitude to a few ulps of float64 */
    /** What stands in the place of a claimed element of plain numbers; or NULL. *error, 0 before:
     * of float32 arithmetic beside roundings of the element itself. */
    double (*law)(const void *context, size_t element, double claimed, double *error);
    const void *law_context; /* borrowed */
    double law_gain;         /* how many times as large the errors of claimed elements become */
} pe_distortion;

/** Owns its values and its rule. */
typedef struct pe_guess {
    const pe_claim *claim;
    const pe_verify_context *context;
    pe_values values;
    pe_distortion distortion;
    size_t n_faults;
    const struct pe_fault *faults[PE_FAULTS_ROOM];
    pe_buffer rule;   /* sentences */
    pe_buffer remedy; /* the same: what to change */
    bool fitted;      /* a number was read off the upload, and no rule names it */
} pe_guess;

/** A guess held against an upload or a sample of it. */
typedef struct pe_comparison {
    const pe_upload_view *view;
    pe_guess *guess;
    size_t *work; /* raised by the elements computed */
} pe_comparison;

/** What a fault does to a guess. False: it makes no sense there. */
typedef bool pe_change(pe_guess *guess, const struct pe_fault *fault);

/** One mistake. */
typedef struct pe_fault {
    const pe_fault_name *name; /* NULL: that of the row of parameters, param */
    const char *rule;          /* NULL: that of its name, or else "param was X, not Y" */
    pe_change *change;
    const char *param;       /* the row it changes */
    const char *text;        /* see `change` */
    double value, and_value; /* to this number; and_value: see `change` */
    const char *op;      /* or to that of an equation, in which x is what it was; see `change` */
    const char *more;    /* "name = equation; ...": what else changes */
    const char *remedy;  /* NULL: that of its name, or else "set param to Y" */
    bool vectors_only;   /* only rotated vectors can have it */
    bool tables_only;    /* vectors cannot */
    bool sets_rope_type; /* to linear, too, which has param; the claim's is default */
    bool fitted;         /* its number explains, but nobody is known to take it */
    bool if_alone;       /* not told beside what explains the upload as well */
    bool mostly;         /* a number near a boundary of rounding may fall to either side */
} pe_fault;

/** A row with a mistake; what else it says follows. */
#define PE_ROW(NAME, ...)                                                                          \
    {                                                                                              \
        .fault.name = PE_NAME(NAME), __VA_ARGS__                                                   \
    }

/** So many elements were computed of it. */
static inline void pe_guess_count(const pe_guess *guess, size_t elements)
{
    if (guess->context->computed != NULL)
        *guess->context->computed += elements;
}

/** The claim without any fault. */
pe_status pe_guess_make(const pe_claim *claim, const pe_verify_context *context, pe_guess *out,
                        pe_problem *why) PE_MUST_CHECK;
/** Unit roundoff of the type that its elements were rounded to; 0 of integers. */
double pe_guess_roundoff(const pe_guess *guess);
/** What the waves of a pair are multiplied by: 1 or -1. */
double pe_guess_cosine_sign(const pe_guess *guess);
double pe_guess_sine_sign(const pe_guess *guess);
pe_status pe_guess_copy(const pe_guess *from, pe_guess *out, pe_problem *why) PE_MUST_CHECK;
void pe_guess_free(pe_guess *guess);

/** Plan the claim's resource with these values: the guess's own, or a changed copy. *out is zeroed
 * by the caller. */
pe_status pe_guess_plan(const pe_guess *guess, pe_values *values, pe_plan *out,
                        pe_problem *why) PE_MUST_CHECK;

/** Units, of a position that is moved, checked and planned. */
#define PE_MOVE_WORK 8
/** Move positions. False: they would leave the bounds, or the work is to end. */
bool pe_guess_map_positions(pe_positions *positions, const pe_position_map *map);
bool pe_guess_map_is_identity(const pe_position_map *map);
/** Read an equation of one number x, and of the values. False: it is none. */
bool pe_guess_equation(const char *text, const pe_values *values, pe_equation *out) PE_MUST_CHECK;

/** The values that give the upload, with positions moved, as JSON. NULL: no memory. */
char *pe_guess_parameters(const pe_guess *guess);

/** What a fault is called. */
const char *pe_guess_fault_name(const pe_fault *fault);
/** Its sentence, and what to change: its own, or those of its name. Empty, or for a remedy NULL: there
 * is none. */
const char *pe_fault_rule(const pe_fault *fault);
const char *pe_fault_remedy(const pe_fault *fault);

/** Add a fault, its remedy, and its sentence with two numbers. */
void pe_guess_tell(pe_guess *guess, const pe_fault *fault, double a, double b);
/** Add a fault, and a remedy; its sentence is the caller's to add to the rule. */
void pe_guess_say(pe_guess *guess, const pe_fault *fault, const char *remedy);

/** Add a sentence, in which {a} and {b} are numbers, to the rule. " to {b}" is left out where both
 * are one. */
void pe_guess_format(pe_guess *guess, const char *sentence, double a, double b);

/** Do both stand for the same numbers? */
bool pe_guess_is_same(const pe_guess *a, const pe_guess *b);

#endif
