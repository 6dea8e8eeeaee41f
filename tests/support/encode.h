/* SPDX-License-Identifier: MIT */
/* encode.h - a resource's numbers without HTTP: read, planned and filled. */
#ifndef PE_TESTS_SUPPORT_ENCODE_H
#define PE_TESTS_SUPPORT_ENCODE_H

#include "api/query.h"
#include "plan/plan.h"
#include "support/random.h"
#include "tables/tables.h"

typedef struct encoded {
    pe_status status; /* of reading or planning; why tells more */
    pe_problem why;
    pe_query ask;
    pe_tables *tables; /* its own, or NULL */
    pe_plan plan;
} encoded;

/** Learned tables come from here; NULL (as at first): there are none. */
extern const char *encode_folder;
/** All that is planned shares these; NULL (as at first): each has tables of its own. */
extern pe_tables *encode_tables;

/** Plan a GET with this query (printf). Does not fail the test: status may be what is tested. */
encoded encode(const pe_resource *resource, const char *query, ...)
    __attribute__((format(printf, 2, 3)));
/** Plan a POST with this JSON body (printf). */
encoded encode_json(const pe_resource *resource, const char *body, ...)
    __attribute__((format(printf, 2, 3)));
void encoded_free(encoded *e);

/** Units [first, first + units) of tensor t as doubles; the caller frees. Fails the test when the
 * plan or the fill failed. */
double *encoded_units(const encoded *e, size_t t, size_t first, size_t units);
/** All of tensor t. */
double *encoded_all(const encoded *e, size_t t);

/** Random windows of each tensor are those units of the whole. */
void assert_windows(const encoded *e, random_source *random);

/** What `make` makes of the setting has the same numbers on each level of kernels. */
void assert_levels_agree(encoded make(const void *setting), const void *setting);

#endif
