/* SPDX-License-Identifier: MIT */
/* lookup.h - a learned table of biases, and the index by which each is looked up. */
#ifndef PE_VERIFY_MISTAKES_LOOKUP_H
#define PE_VERIFY_MISTAKES_LOOKUP_H

#include "verify/compare/guess.h"

/** bias[head, query, key] = weights[index(query, key), head]. */
typedef struct pe_lookup {
    const char *resource;  /* whose indices they are */
    size_t rows, heads;    /* of the weights */
    double *weights;       /* [rows, heads] owned */
    size_t *sorted;        /* [rows] owned: by the weight of head 0 */
    size_t *first;         /* [rows] owned: of each row the first one that is as it */
    double *got, *claimed; /* [queries, keys] owned: for indices */
    size_t pairs;          /* of a query and a key */
} pe_lookup;

/** Does a resource look its numbers up in a table of the claim? */
bool pe_lookup_is(const pe_resource *resource);

/** Of such a claim, and so many biases. Free it after an error, too.   Errors  OVERLOADED (memory). */
pe_status pe_lookup_make(const pe_guess *claim, size_t elements, pe_lookup *out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_lookup_free(pe_lookup *lookup);

/** [heads, rows] was read as [rows, heads].   Errors  OVERLOADED (memory). */
pe_status pe_lookup_transpose(pe_lookup *lookup, pe_problem *why) PE_MUST_CHECK;

/** The first of the nearest rows for numbers[head * step], which may be rounded so; NAN: there is
 * none. */
double pe_lookup_find(const pe_lookup *lookup, const double *numbers, size_t step, double roundoff);

/** The first of the rows that are as the one an index takes: below 0 it counts from the end, beyond
 * the end it is the last one, as array libraries have it. NULL: the index itself. */
double pe_lookup_row(const pe_lookup *lookup, double index);
/** What a bias is with that index. */
double pe_lookup_at(const pe_lookup *lookup, size_t element, double index);

#endif
