/* SPDX-License-Identifier: MIT */
/* ladder.h - claimed and measured frequencies of the pairs of an upload. */
#ifndef PE_VERIFY_LADDER_H
#define PE_VERIFY_LADDER_H

#include "verify/faults.h"

/** Frequencies of pairs, fastest first. */
typedef struct pe_ladder {
    size_t n;
    const double *claimed;
    const double *measured; /* NAN: not known */
    double *plain;          /* owned: of the claimed base without any scaling */
    double *put;            /* owned: those of the law that pe_laws_next found */
    double theta, factor;   /* of the claim; 1: it has none */
    double dynamic_length;  /* max_position_embeddings of dynamic scaling; 0: it is another one */
    double original;        /* original_max_position_embeddings; 0: it has none */
    double bands[2];        /* low_freq_factor and high_freq_factor of llama3; 0: it is another */
    double ramp[2];         /* where the ramp of yarn begins and ends, times ln(theta); 0: none */
    bool truncate;          /* both are cut to whole numbers */
    double head_pairs;      /* half of head_dim; 0: there is none */
    bool listed;            /* scaling is a list of factors */
    bool held;              /* laws are held against all elements afterwards */
    bool faint;             /* so are those that turns do not tell from the claim */
    double step, span;      /* of the positions that tell the measured ones; 0: told as such */
    double slack;           /* radians over the span that measured ones may be off */
    double roundoff;        /* of frequencies that are told as such */
    bool untold;            /* nearly all pairs of the law are too fast to be measured */
    double a, b;            /* numbers of the law that it is held against */
} pe_ladder;

/** The frequencies that were measured, beside those of the reading's guess, without arrays. */
pe_ladder pe_ladder_of_reading(const pe_reading *reading);
/** Make the owned arrays for a guess. */
pe_status pe_ladder_make(const pe_guess *guess, pe_ladder *ladder, pe_problem *why) PE_MUST_CHECK;
void pe_ladder_free(pe_ladder *ladder);

/** Is the measured frequency of pair i this one, as well as it is known? */
bool pe_ladder_is_near(const pe_ladder *ladder, size_t i, double w);

/** Of how many pairs is it the claimed one? */
size_t pe_ladder_count_near(const pe_ladder *ladder);

/** What scaling leaves of the frequency of pair i, and the smallest of these parts. */
double pe_ladder_part_of(const pe_ladder *ladder, size_t i);
double pe_ladder_least_part(const pe_ladder *ladder);
bool pe_ladder_is_scaled(const pe_ladder *ladder);

#endif
