/* SPDX-License-Identifier: MIT */
/* sequence.h - the numbers of one stage of a table, and mistakes, as rows, that make others of them. */
#ifndef PE_VERIFY_MISTAKES_SEQUENCE_H
#define PE_VERIFY_MISTAKES_SEQUENCE_H

#include <math.h>
#include <stddef.h>

#include "verify/compare/guess.h"
#include "verify/compare/equation.h"

struct pe_slip;
struct pe_numbers;
struct pe_slip_stage;

/**
 * Item i of a stage is claimed[i], and measured[i] in the upload (NAN: not known). A mistake (row) has
 * the numbers a and b: of its row, or read off the measured ones. Equations call them x, y, i, n, a, b.
 */
typedef struct pe_sequence {
    size_t n;
    const double *claimed, *measured;
    double a, b;
    const pe_values *values; /* of the claim, whose numbers equations name; or NULL */
    const pe_term *terms;    /* other names of the stage; or NULL */

    /* positions and frequencies of pairs */
    double first; /* claimed[0] of the whole upload */
    bool of_positions;
    double *plain;     /* frequencies: of the claimed base without any scaling; owned */
    double *put;       /* behind them: those with a mistake */
    double least;      /* the smallest part that scaling leaves of a frequency, 1 at most */
    double theta;      /* of frequencies, the claimed base; 0: they have no one base */
    double listed;     /* 1: scaling is a list of factors */
    double step, span; /* frequencies: of the positions that tell them; span 0: told as such */
    double slack;      /* radians over the span that measured ones may be off */
    double roundoff;   /* relative, of numbers that are told as such */
    double held;       /* 1: mistakes are held against all elements afterwards */
    bool faint;        /* so are those that the measured numbers do not tell from the claim */
    bool unseen;       /* nearly all pairs of the mistake are too fast to be measured */

    /* plain numbers (plain_slips.h) */
    const struct pe_numbers *of;
    size_t variant;            /* of a stage that has several: the axis, or two of them */
    size_t from, end, columns; /* elements of the tensor that has the mistake, and its last axis */
    double gain;               /* how many times as large errors of the claimed elements become */
    bool fitted;               /* nothing but numbers that were read */
    void *state, *owned;       /* of the stage; and a block of numbers that it holds */
    char more[160];            /* behind the sentence; "": nothing */

    const struct pe_slip *by; /* the mistake that was read last, and what it makes of an item */
    pe_equation made;
} pe_sequence;

/** Item i with a mistake. NAN: the mistake makes no sense of it. */
typedef double pe_op(const pe_sequence *s, size_t i);

/** Reads numbers of a mistake: a and b. False: it makes no sense of the sequence. */
typedef bool pe_solve(pe_sequence *s);

/** One mistake. */
typedef struct pe_slip {
    pe_fault fault; /* first: a fault of a guess is one; its sentence has {a} and {b} */
    const struct pe_slip_stage *stage; /* of plain numbers; NULL: of pairs */
    const char *of;     /* resources with blanks between, "alibi/" all of an encoding; NULL: any */
    const char *tensor; /* of these; NULL: all */
    const char *a, *b;  /* equations, as of item 0. NULL: value and and_value of the fault */
    pe_solve *solve;    /* then this reads a and b */
    const char *where;  /* an equation: only where it is true. NULL: everywhere */
    const char *op;     /* an equation: what item i becomes. NULL, without `make`, too: the item */
    pe_op *make;        /* the same as a function */
    const char *also;   /* an equation of the other numbers, where the stage has two kinds */
    bool fitted;        /* its numbers are only read off, and explain anything of their kind */
    bool subtle;        /* the measured numbers do not tell it, only elements do */
    bool faint;         /* they hardly tell it: elements do, where they are held */
    bool may_be_one;    /* one item tells it */
    bool but_one;       /* items move: the one at the end may be anything */
    bool multiplies;    /* by one number, as several mistakes of other stages do it, too */
    bool is_line;       /* and a number is added */
} pe_slip;

/** A list of rows: the likelier first, named ones before those whose numbers are only fitted. */
typedef struct pe_slips {
    const pe_slip *row;
    size_t n;
} pe_slips;

/** Read the numbers of a mistake; pe_sequence_at tells what it makes. False: it makes no sense here, or
 * an equation of it is none. */
bool pe_sequence_read(pe_sequence *s, const pe_slip *mistake) PE_MUST_CHECK;
double pe_sequence_at(const pe_sequence *s, size_t i);

/** The names that equations may use of any sequence. */
extern const pe_term pe_sequence_terms[];

/** Is measured[i] the number x, as well as it is known? */
bool pe_sequence_is_near(const pe_sequence *s, size_t i, double x);

/** How many items are not what the mistake that was read makes of them. */
size_t pe_sequence_exceptions(const pe_sequence *s);

/** What scaling leaves of the frequency of pair i. */
double pe_sequence_part(const pe_sequence *s, size_t i);
bool pe_sequence_is_scaled(const pe_sequence *s);

/** Of positions, where the first row is that nothing is wrong. Of frequencies: their order, exponents
 * and scaling; then numbers that are read off, and types that they passed through. */
extern const pe_slips pe_mistakes_of_positions, pe_mistakes_of_frequencies;

/** Each row has a position of its own: others than claimed; the claimed ones in another order; those
 * of one sequence, where the claim begins anew. */
extern const pe_slip pe_positions_other, pe_positions_permuted, pe_positions_run_on;

/** Which of the three says most of measured positions. */
const pe_slip *pe_positions_list_of(const pe_sequence *positions);

#endif
