/* SPDX-License-Identifier: MIT */
/* attempts.h - guesses are held against an upload; those that explain it become findings. */
#ifndef PE_VERIFY_SEARCH_ATTEMPTS_H
#define PE_VERIFY_SEARCH_ATTEMPTS_H

#include "verify/compare/measure.h"
#include "verify/mistakes/faults.h"
#include "verify/reading/causes.h"

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
    pe_problem *why;     /* of what is done */
    pe_problem *failure; /* the first one, which ends the search */
    pe_status failed;    /* its status; PE_OK: there was none */
} pe_search;

/** Was it done? Otherwise it failed, and so has the search. */
bool pe_attempts_did(pe_search *s, pe_status status);

bool pe_attempts_found(const pe_search *s);
/** Does nobody wait for the report? */
bool pe_attempts_given_up(const pe_search *s);
/** Is there no more work left, or nobody who waits, or has something failed? */
bool pe_attempts_spent(const pe_search *s);
/** Is there no finding, and time for more? */
bool pe_attempts_go_on(const pe_search *s);

/** Does the claim scale its frequencies? */
bool pe_attempts_is_scaled(const pe_search *s);

/** Do most pairs of what was measured turn evenly, so that numbers can be fitted? */
bool pe_attempts_turns(const pe_search *s);

/** What can be done with a guess, which it may change. */
typedef void pe_try(pe_search *s, pe_guess *guess);

/** The guess itself. What explains a sample is held against the whole, too. */
pe_try pe_attempts_try;
/** Numbers that can be read off the upload, with the faults of the guess (fit.c). */
pe_try pe_attempts_fits;
/** Each fault behind those of the guess, and that each of its values was ignored. */
pe_try pe_attempts_singles;
/** Where nothing is measured: each value of the resource. */
pe_try pe_attempts_values;
/** Two faults at once; of pairs of channels a fault and a fitted number, too. */
pe_try pe_attempts_pairs;

/** Do `next` with the claim, `whole` being what guesses are held against. Of a large upload of pairs
 * faults are looked for in a sample. */
void pe_attempts_of_whole(pe_search *s, const pe_upload_view *whole, pe_try *next);

/** Do `next` with a copy that has the positions of the view that is searched. */
void pe_attempts_copy(pe_search *s, const pe_guess *from, pe_try *next);
/** Do `next` with a copy that has this fault, where it applies. */
void pe_attempts_with_fault(pe_search *s, const pe_guess *from, const pe_fault *fault,
                            pe_try *next);
/** The same of each row of faults.h from `first` on. */
void pe_attempts_with_each_fault(pe_search *s, const pe_guess *from, size_t first, pe_try *next);

/** Give a guess the positions of a view: the whole, or the one that is searched. False: it failed. */
bool pe_attempts_set_positions(pe_search *s, const pe_upload_view *view,
                               pe_guess *guess) PE_MUST_CHECK;

/** The same of each change of one value (faults.h). */
void pe_attempts_each_value(pe_search *s, const pe_guess *from, pe_try *next);

/** A row of what is tried. */
typedef struct pe_attempt {
    pe_try *try;
    bool (*applies)(const pe_search *s); /* NULL: always */
    bool (*unless)(const pe_search *s);  /* NULL: never */
    bool of_claim;                       /* not with the guess that the others begin with */
    bool unplaced;                       /* of a measured one before its cause was taken */
    bool even_found, even_spent;
} pe_attempt;

/** Try rows, up to one without `try`, with a copy of a guess each: as long as nothing is found, and
 * work is left. */
void pe_attempts_in_order(pe_search *s, const pe_guess *from, const pe_attempt *rows);

/* ---- what is tried of an upload of pairs, whose positions and frequencies are measured ---- */

/** Measure the upload; try what the reading suggests, where nothing has been found. */
pe_try pe_by_reading_try;

/* ---- guesses whose frequencies follow a law ---- */

/** Each law that the upload follows, alone and with each single fault. It is frequencies itself. */
pe_try pe_by_laws_uploaded;
/** The same of frequencies that were measured in it. */
pe_try pe_by_laws_measured;
/** Laws with a name, alone, and all of them: elements tell what turns do not. */
pe_try pe_by_laws_named;
/** Laws that the measured numbers follow, where no fault explains the elements. */
pe_try pe_by_laws_alone;

/** Do `how` with each law that the measured frequencies follow. */
void pe_by_laws_each(pe_search *s, pe_guess *guess, pe_try *how);

/* ---- uploads of pairs of which all elements, or those of some rows or heads, have a mistake ---- */

/** A mistake that all elements follow that are not as the guess says becomes a finding. */
pe_try pe_by_elements_try;

/* ---- waves that are all larger or smaller than claimed, by one number ---- */

/** Does the reading show another amplitude than the claimed one? */
bool pe_amplitude_differs(const pe_search *s);
/** That is added to a guess, which no element is held against. */
void pe_amplitude_tell(const pe_search *s, pe_guess *guess);

/** The guess with the measured amplitude, some rows or columns left out; the square root of a width
 * and its like by their names. */
pe_try pe_amplitude_alone;

/* ---- cosines, or sines, that were uploaded alone ---- */

/** Does the upload hold one of the two tensors of a table of pairs? */
bool pe_lone_waves_are(const pe_search *s);

/** It is measured as pairs, of whose waves one is not known (reading_pairs.c), and of which only what was
 * sent is held against guesses. */
pe_try pe_lone_waves_try;

/* ---- a number of the claim that was another one, read off the upload ---- */

/**
 * Each number of the guess: the value of fewest digits with which its frequencies are those that were
 * measured, or, of plain numbers, its elements are those of the upload. Then the
 * guess with that value is tried, alone or with `behind` (NULL: nothing). Of pairs bases, factors and
 * scales are looked for, and a factor of linear scaling that the claim does not tell.
 */
void pe_fit_each(pe_search *s, const pe_guess *guess, pe_try *behind);

/* ---- guesses that explain all of an upload but a part ---- */

/** A guess that explains all but few rows, few columns or few elements becomes a finding. */
pe_try pe_mismatches_try;

/** Are more elements off than those of a few cells? Otherwise layouts and tensors are as claimed. */
bool pe_mismatches_are_many(const pe_search *s);

/** The same of mismatches that were counted: the report gets a finding where they are few. */
pe_status pe_mismatches_tell(pe_report *report, const pe_guess *guess,
                             const pe_mismatches *mismatches, bool of_pairs,
                             pe_problem *why) PE_MUST_CHECK;

/** Is it a name of such a finding? */
bool pe_mismatches_is_fault(const char *name);

/* ---- other parameters that an upload which matches cannot exclude ---- */

/**
 * Of an upload of pairs on one axis, which matches: other types of scaling, lists of factors,
 * lengths and bases in use that explain it as well, and from which position on they would not. They
 * go to report->indistinguishable. A claim without scaling is held against types with a factor of 8 and an
 * original length of 4096.
 *
 * Rule  Two tables differ at a position where some pair's cosines or sines do by more than twice
 *       what the rule of verify.h allows there.
 */
void pe_indistinguishable_find(pe_search *s);

/** Of an upload with several tensors, or of vectors with several heads: those that do not match are
 * verified as a claim of their own, and what is found is told of them. Where each holds what belongs
 * to another one, their order is told. */
pe_try pe_parts_try;

/* ---- findings: what explains an upload, the best first ---- */

/** A guess that explains the whole upload, by these arithmetics (bits), becomes a finding. */
pe_status pe_findings_explain(pe_report *report, const pe_comparison *whole, unsigned by,
                              pe_problem *why) PE_MUST_CHECK;

/** Put a finding of which only numbers are set into its place, with the sentences and values of its
 * guess. The evidence is used up. */
pe_status pe_findings_add(pe_report *report, pe_finding *finding, pe_guess *guess,
                          pe_buffer *evidence, pe_problem *why) PE_MUST_CHECK;

/** Put a finding into its place; what it owns is the report's. */
void pe_findings_put(pe_report *report, pe_finding *finding);

/** One fault more than a guess has, and its sentence. */
typedef struct pe_told {
    const pe_fault *fault;
    const char *rule; /* in which {a} and {b} are numbers */
    double a, b;
    bool fitted, exact;
} pe_told;

/** It becomes a finding where the guess has room for it; evidence: what was looked at. */
pe_status pe_findings_tell(pe_report *report, const pe_guess *guess, const pe_told *told,
                           pe_problem *why, const char *evidence, ...)
    __attribute__((format(printf, 5, 6))) PE_MUST_CHECK;

/** Set the ranks, when all findings are there. */
void pe_findings_rank(pe_report *report);

#endif
