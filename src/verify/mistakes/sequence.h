/* SPDX-License-Identifier: MIT */
/* sequence.h - the numbers of one stage of a table: as claimed, and as the upload has them. */
#ifndef PE_VERIFY_MISTAKES_SEQUENCE_H
#define PE_VERIFY_MISTAKES_SEQUENCE_H

#include "verify/compare/guess.h"

/** What the numbers are. A table is computed in these stages, one after the other. */
typedef enum pe_stage {
    PE_AT_POSITION = 1,  /* of a row */
    PE_AT_FREQUENCY = 2, /* of a pair */
    PE_AT_SLOPE = 4,     /* of a head */
    PE_AT_DISTANCE = 8,  /* from a query to a key */
    PE_AT_INDEX = 16,    /* of a row, a column or a head of the table */
    PE_AT_GAIN = 32      /* what all elements are multiplied by */
} pe_stage;

/** What a claim says of its frequencies. */
typedef struct pe_scaling {
    double theta, factor;  /* 0: it has none */
    double dynamic_length; /* max_position_embeddings of dynamic scaling; 0: it is another one */
    double original;       /* original_max_position_embeddings; 0: it has none */
    double bands[2];       /* low_freq_factor and high_freq_factor of llama3; 0: it is another */
    double ramp[2];        /* where the ramp of yarn begins and ends, times ln(theta); 0: none */
    bool truncate;         /* both are cut to whole numbers */
    double head_pairs;     /* half of head_dim; 0: there is none */
    bool listed;           /* scaling is a list of factors */
} pe_scaling;

/**
 * Item i of a stage is claimed[i], and measured[i] in the upload (NAN: not known). A mistake (row)
 * has the operands a and b: constants of its row, or read off the measured numbers.
 */
typedef struct pe_sequence {
    pe_stage stage;
    size_t n;
    const double *claimed, *measured;
    double first;       /* claimed[0] of the whole upload */
    double *plain;      /* frequencies: of the claimed base without any scaling; owned */
    double *put;        /* behind them: those with a mistake */
    pe_scaling scaling; /* of frequencies */
    double step, span;  /* frequencies: of the positions that tell them; span 0: told as such */
    double slack;       /* radians over the span that measured ones may be off */
    double roundoff;    /* relative, of numbers that are told as such */
    bool held;          /* mistakes are held against all elements afterwards */
    bool faint;         /* so are those that the measured numbers do not tell from the claim */
    bool unseen;        /* nearly all pairs of the mistake are too fast to be measured */
    double a, b;
} pe_sequence;

/** Item i with a mistake. NAN: the mistake makes no sense of it. */
typedef double pe_op(const pe_sequence *s, size_t i);

/** Set s->a and s->b. False: the mistake makes no sense of the sequence. */
typedef bool pe_operand(pe_sequence *s);

/** One mistake of a stage. */
typedef struct pe_patch {
    pe_fault fault; /* first: a fault of a guess is one; its sentence has {a} and {b} */
    unsigned stages;
    pe_op *op;
    pe_operand *operand; /* NULL: a and b are constants */
    double a, b;
    bool fitted;       /* its numbers are only read off, and explain anything of their kind */
    bool subtle;       /* the measured numbers do not tell it, only elements do */
    bool faint;        /* they hardly tell it: elements do, where they are held */
    bool may_be_one;   /* one item tells it */
    bool but_one;      /* items move: the one at the end may be anything */
    bool multiplies;   /* by one number, as several mistakes of other stages do it, too */
    bool is_line;      /* and a number is added */
    bool vectors_only; /* only rotated vectors can have it */
} pe_patch;

/** Is measured[i] the number x, as well as it is known? */
bool pe_sequence_is_near(const pe_sequence *s, size_t i, double x);

/** How many items are as claimed. */
size_t pe_sequence_count_near(const pe_sequence *s);

/** How many items are not what a mistake with its operands makes of them. */
size_t pe_sequence_exceptions(const pe_sequence *s, const pe_patch *patch);

/** Set the operands. False: the mistake makes no sense here. */
bool pe_sequence_set_operands(pe_sequence *s, const pe_patch *patch);

/** The median of what `of` says of each item that is known. */
double pe_sequence_median(const pe_sequence *s, pe_op *of);

/** What scaling leaves of the frequency of pair i; the smallest of these parts. */
double pe_sequence_part(const pe_sequence *s, size_t i);
double pe_sequence_least_part(const pe_sequence *s);
bool pe_sequence_is_scaled(const pe_sequence *s);

/** The slowest pair that is known to turn, by so many radians over the span; 0: there is none. It
 * tells exponents best. */
size_t pe_sequence_slowest(const pe_sequence *s, double turn);

/** A number as a person would have chosen it: whole, the reciprocal of a whole one, or itself. */
double pe_sequence_tidy(double x);

#endif
