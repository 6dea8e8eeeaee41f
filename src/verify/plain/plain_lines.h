/* SPDX-License-Identifier: MIT */
/* plain_lines.h - which line of a source each line of an upload is, along an axis. */
#ifndef PE_VERIFY_PLAIN_PLAIN_LINES_H
#define PE_VERIFY_PLAIN_PLAIN_LINES_H

#include <stdint.h>

#include "verify/search/numbers.h"

#define PE_NO_LINE SIZE_MAX

/** Lines along an axis: of each o the elements (o n + i) inner + k are those of line i. */
typedef struct pe_lines {
    const pe_numbers *of;
    size_t outer, n, inner;
    const double *source; /* [outer][n_source][inner] borrowed */
    size_t n_source;
    double *size;       /* [n_source] owned: their lengths, where rows are multiples; or NULL */
    double *first;      /* [n_source] owned: their first elements, which tell most of them apart */
    size_t *own, *from; /* [n] owned: the line of the claim, and the one found, or PE_NO_LINE */
} pe_lines;

/** The source is the claim. Free it after an error, too. */
pe_status pe_lines_make(const pe_numbers *plain, size_t outer, size_t n, pe_lines *out,
                        pe_problem *why) PE_MUST_CHECK;
void pe_lines_free(pe_lines *lines);

/** Is every line found, but `most` of them, and some elsewhere? scaled: multiples of lines are. */
pe_status pe_lines_find(pe_lines *lines, bool scaled, size_t most, bool *found,
                        pe_problem *why) PE_MUST_CHECK;

#endif
