/* SPDX-License-Identifier: MIT */
/* numbers.h - an upload of plain numbers beside the claimed ones, for what reads them. */
#ifndef PE_VERIFY_SEARCH_NUMBERS_H
#define PE_VERIFY_SEARCH_NUMBERS_H

#include "verify/search/attempts.h"

struct pe_numbers_cause;
struct pe_lookup;

/** An upload of plain numbers beside the claimed ones, element by element. */
typedef struct pe_numbers {
    const pe_upload_view *view;
    const pe_guess *claim;
    const double *got, *claimed;
    size_t elements;
    double roundoff; /* of the upload's type; 0: integers */
    double step;     /* the least one of that type, by which numbers near 0 are rounded */
    pe_search
        *search; /* to whose report facts are added, and which holds guesses against the upload */
    bool asked;  /* whether causes are looked for */
    /** Of pairs of several axes, whose elements are angles: as claimed. NULL: elements are the upload's. */
    const double *frequency;
    /** The cause that made `claimed` of the claim's numbers. NULL: they are the claim's. */
    const struct pe_numbers_cause *before;
    const pe_sequence *first; /* the same, where it is a row of plain_slips.h; or NULL */
    /** Elements are the indices by which the upload was looked up (lookup.h). NULL: the upload's. */
    const struct pe_lookup *lookup;
} pe_numbers;

/** One cause and the numbers of its sentence, in which they are {a} and {b}. */
typedef struct pe_numbers_cause {
    const pe_fault *fault;
    double a, b;
    bool fitted;      /* nothing but numbers that were read off the upload */
    const char *more; /* behind the sentence; or NULL */
} pe_numbers_cause;

/** Elements as a law has them: of the claimed ones, or of their place alone. */
typedef struct pe_numbers_law {
    /** *error, 0 before: of float32 arithmetic beside roundings of the element itself. */
    double (*at)(const void *context, size_t element, double claimed, double *error);
    const void *context;
    double gain; /* how many times as large the errors of claimed elements become; 0: not at all */
    /** Instead, of pairs: put what it makes into a guess. False: that cannot be. */
    bool (*apply)(const void *context, pe_guess *guess);
} pe_numbers_law;

/** What can be done with such an upload; a failure is its search's. */
typedef void pe_numbers_use(const pe_numbers *plain);

/** Ask whether a cause, by a law, explains the upload. */
void pe_numbers_try(const pe_numbers *plain, const pe_numbers_cause *cause,
                    const pe_numbers_law *law);
/** The resource whose numbers they are: the claim's, or that of the indices. */
const char *pe_numbers_resource(const pe_numbers *plain);
/** Count work, an element that is computed or compared. */
void pe_numbers_spend(const pe_numbers *plain, size_t work);

/** Are causes looked for, and is work left? */
bool pe_numbers_goes_on(const pe_numbers *plain);

/** Is a number that was read this one, but for the upload's roundings? */
bool pe_numbers_is_near(const pe_numbers *plain, double got, double x);

/** Do they change so often from one element to the next? Two causes at once need four changes. */
bool pe_numbers_change(const pe_numbers *plain, const double *numbers, size_t times);

/** "NAME":[...] of the facts, once. Numbers that are not finite are null. */
void pe_numbers_list(const pe_numbers *plain, const char *name, const double *list, size_t n);

#endif
