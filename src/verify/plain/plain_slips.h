/* SPDX-License-Identifier: MIT */
/* plain_slips.h - mistakes in plain numbers as rows, and what a row makes of the claimed numbers. */
#ifndef PE_VERIFY_PLAIN_PLAIN_SLIPS_H
#define PE_VERIFY_PLAIN_PLAIN_SLIPS_H

#include "verify/search/numbers.h"

struct pe_plain_mistake;

/** A mistake beside an upload: what its stage has measured, and the numbers that it reads. */
typedef struct pe_slip {
    const pe_numbers *of;
    const struct pe_plain_mistake *by;
    size_t variant;             /* of a stage that has several: the axis, or two of them */
    size_t first, end, columns; /* elements of the tensor that has it, and its last axis */
    size_t n;                   /* numbers of the stage; 0: the upload has no such stage */
    const double *claimed;      /* [n] */
    const double *measured;     /* [n] those of the upload, NAN: it does not tell; or NULL */
    double *made;   /* [n] those of the mistake, unless the stage takes them one by one */
    double a, b;    /* {a} and {b} of the sentence */
    double gain;    /* how many times as large errors of the claimed elements become */
    bool fitted;    /* nothing but numbers that were read */
    void *state;    /* of the stage */
    char more[160]; /* behind the sentence; "": nothing */
} pe_slip;

/** What goes wrong: numbers of the claim that are measured, and elements that follow from them. */
typedef struct pe_slip_stage {
    size_t (*variants)(const pe_numbers *plain); /* NULL: 1 */
    pe_status (*measure)(pe_slip *p, pe_problem *why);
    void (*release)(pe_slip *p);    /* NULL: nothing is held */
    void (*begin)(pe_slip *p);      /* before each row; or NULL */
    void (*tell)(const pe_slip *p); /* puts what was measured into the report; or NULL */
    /** Element e of the upload; *error, 0 before: of float32 arithmetic. */
    double (*at)(const pe_slip *p, size_t e, double claimed, double *error);
} pe_slip_stage;

/** One mistake. {a} is the fault's value unless it is read. */
typedef struct pe_plain_mistake {
    pe_fault fault; /* fitted: asked for only where nothing has a name */
    const pe_slip_stage *stage;
    const char *of;     /* resources with blanks between, "alibi/" all of an encoding; NULL: any */
    const char *tensor; /* of these; NULL: all */
    bool (*solve)(pe_slip *p); /* reads a and b; false: it is none such. NULL: it needs neither */
    double (*op)(const pe_slip *p, size_t i); /* number i of the stage. NAN: it is none such */
} pe_plain_mistake;

/** A row: its stage, of, tensor, solve and op; what else it says follows. */
#define PE_SLIP(NAME, ...)                                                                         \
    {                                                                                              \
        .fault.name = PE_NAME(NAME), .stage = __VA_ARGS__                                          \
    }

/** Elements themselves: op is asked for each. */
extern const pe_slip_stage pe_slip_values;
/** Places along an axis, and along two at once. */
extern const pe_slip_stage pe_slip_places, pe_slip_axes;
/** Slopes of heads; distances of queries and keys, from which biases and indices follow. */
extern const pe_slip_stage pe_slip_slopes, pe_slip_distances;

/** Rows of one kind. */
typedef struct pe_plain_mistakes {
    const pe_plain_mistake *row;
    size_t n;
} pe_plain_mistakes;
extern const pe_plain_mistakes pe_mistakes_of_values, pe_mistakes_of_scales, pe_mistakes_of_ladders,
    pe_mistakes_of_windows, pe_mistakes_of_padding, pe_mistakes_of_places, pe_mistakes_of_slopes,
    pe_mistakes_of_distances, pe_mistakes_of_buckets;

/** Is a resource one of those? */
bool pe_slip_is_of(const char *name, const char *resources);

/** One mistake that explains the upload; several may. */
pe_status pe_slips_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;
/** One, and another behind it. */
pe_status pe_slips_find_two(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;
/** Numbers that only fit. */
pe_status pe_slips_find_fitted(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

/* ---- what rows share ---- */

/** Put more behind the sentence, as far as there is room. */
void pe_slip_say(pe_slip *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A number of the claim; NAN: it has none of that name. */
double pe_slip_number(const pe_slip *p, const char *name);
/** Is a choice of the claim this one? */
bool pe_slip_has(const pe_slip *p, const char *choice, const char *text);
/** The position of the row that an element is in. */
double pe_slip_position(const pe_slip *p, size_t e);

typedef double pe_slip_op(const pe_slip *p, size_t i);
/** x + a, a x, x^a, |x|, the same for all. */
pe_slip_op pe_slip_plus, pe_slip_times, pe_slip_power, pe_slip_absolute, pe_slip_constant,
    pe_slip_log2;
/** Those of other places: the last first, rolled by a, a and b exchanged, the first a again. */
pe_slip_op pe_slip_reversed, pe_slip_rolled, pe_slip_halves, pe_slip_repeated;

#endif
