/* SPDX-License-Identifier: MIT */
/* attempts.h - guesses are held against an upload; those that explain it become findings. */
#ifndef PE_VERIFY_SEARCH_ATTEMPTS_H
#define PE_VERIFY_SEARCH_ATTEMPTS_H

#include "verify/reading/causes.h"
#include "verify/mistakes/faults.h"

/** What is read off the whole upload with the layout and the frequencies of a guess. */
typedef struct pe_measured {
    pe_guess guess;
    const pe_guess *unplaced; /* the same before the cause of its positions was taken */
    pe_reading reading;
    pe_cause cause;
    bool made;
    bool multiplied; /* positions are, and nothing else */
    bool laid_out;   /* rows are at claimed positions: waves are not exchanged or negated */
} pe_measured;

/** A search for what explains an upload. */
typedef struct pe_search {
    const pe_upload_view *whole;
    const pe_upload_view *view; /* what is searched: the whole, or a sample of it */
    pe_guess claim;             /* of the same positions */
    const pe_verify_limits *bounds;
    pe_measured *measured; /* NULL: nothing was */
    size_t work;           /* elements computed */
    pe_report *report;
} pe_search;

bool pe_attempts_found(const pe_search *s);
/** Does nobody wait for the report? */
bool pe_attempts_given_up(const pe_search *s);
/** Is there no more work left, or nobody who waits? */
bool pe_attempts_spent(const pe_search *s);
/** Is there no finding, and time for more? */
bool pe_attempts_go_on(const pe_search *s);

/** Does the claim scale its frequencies? */
bool pe_attempts_is_scaled(const pe_search *s);

/** Do most pairs of what was measured turn evenly, so that numbers can be fitted? */
bool pe_attempts_turns(const pe_search *s);

/** What can be done with a guess, which it may change. */
typedef pe_status pe_try(pe_search *s, pe_guess *guess, pe_problem *why) PE_MUST_CHECK;

/** The guess itself. What explains a sample is held against the whole, too. */
pe_try pe_attempts_try;
/** Each number of a row of fit.h that can be read off the upload, with the faults of the guess. */
pe_try pe_attempts_fits;
/** Each fault behind those of the guess, and that each of its values was ignored. */
pe_try pe_attempts_singles;
/** Where nothing is measured: each value of the resource. */
pe_try pe_attempts_values;
/** Two faults at once; of pairs of channels a fault and a fitted number, too. */
pe_try pe_attempts_pairs;

/** Do `next` with the claim, `whole` being what guesses are held against. Of a large upload of pairs
 * faults are looked for in a sample. */
pe_status pe_attempts_of_whole(pe_search *s, const pe_upload_view *whole, pe_try *next,
                               pe_problem *why) PE_MUST_CHECK;

/** Do `next` with a copy that has the positions of the view that is searched. */
pe_status pe_attempts_copy(pe_search *s, const pe_guess *from, pe_try *next,
                           pe_problem *why) PE_MUST_CHECK;
/** Do `next` with a copy that has this fault, where it applies. */
pe_status pe_attempts_with_fault(pe_search *s, const pe_guess *from, const pe_fault *fault,
                                 pe_try *next, pe_problem *why) PE_MUST_CHECK;
/** The same of each row of faults.h from `first` on. */
pe_status pe_attempts_with_each_fault(pe_search *s, const pe_guess *from, size_t first,
                                      pe_try *next, pe_problem *why) PE_MUST_CHECK;

/** Give a guess the positions of a view: the whole, or the one that is searched. */
pe_status pe_attempts_set_positions(const pe_search *s, const pe_upload_view *view, pe_guess *guess,
                                    pe_problem *why) PE_MUST_CHECK;

/** The same of each change of one value (faults.h). */
pe_status pe_attempts_each_value(pe_search *s, const pe_guess *from, pe_try *next,
                                 pe_problem *why) PE_MUST_CHECK;

/** A row of what is tried. */
typedef struct pe_attempt {
    pe_try *try;
    bool (*applies)(const pe_search *s); /* NULL: always */
    bool of_claim;                       /* not with the guess that the others begin with */
    bool unplaced;                       /* of a measured one before its cause was taken */
    bool even_found, even_spent;
} pe_attempt;

/** Try rows, up to one without `try`, with a copy of a guess each: as long as nothing is found, and
 * work is left. */
pe_status pe_attempts_in_order(pe_search *s, const pe_guess *from, const pe_attempt *rows,
                               pe_problem *why) PE_MUST_CHECK;

#endif
