/* SPDX-License-Identifier: MIT */
/* lookup.h - learned biases, whose rows tell by which index each was looked up. */
#ifndef PE_VERIFY_LOOKUP_H
#define PE_VERIFY_LOOKUP_H

#include "verify/numbers.h"

/** bias[head, query, key] = weights[index(query, key), head]. */
typedef struct pe_lookup {
    const pe_numbers *of;  /* the biases */
    const char *resource;  /* whose indices they are */
    size_t rows, heads;    /* of the weights */
    double *weights;       /* [rows, heads] owned */
    size_t *sorted;        /* [rows] owned: by the weight of head 0 */
    double *got, *claimed; /* [queries, keys] owned: indices */
    size_t pairs;          /* of a query and a key */
} pe_lookup;

/** Of biases do `next` with their indices, which causes of indices read as an upload of their own;
 * of others, and where a bias is no row of the table, nothing. */
pe_status pe_lookup_read(const pe_numbers *plain,
                         pe_status (*next)(const pe_numbers *indices, pe_problem *why),
                         pe_problem *why) PE_MUST_CHECK;

/** Does a resource look its numbers up in a table of the claim? */
bool pe_lookup_is(const pe_resource *resource);
/** The resource that an upload's numbers, or the indices behind them, are of. */
const char *pe_lookup_resource(const pe_numbers *plain);

/** The first of the rows that are as the one an index takes: below 0 it counts from the end, beyond
 * the end it is the last one, as array libraries have it. NULL: the index itself. */
double pe_lookup_row(const pe_lookup *lookup, double index);
/** What a bias is with that index. */
double pe_lookup_at(const pe_lookup *lookup, size_t element, double index);

#endif
