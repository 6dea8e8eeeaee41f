/* SPDX-License-Identifier: MIT */
/* arriving_state.h - what the files of arriving.h share. */
#ifndef PE_VERIFY_ARRIVING_STATE_H
#define PE_VERIFY_ARRIVING_STATE_H

#include "verify/arriving.h"
#include "verify/guess.h"
#include "verify/upload_view.h"

#define PE_ARRIVING_TENSORS_MAX 2

struct pe_arriving {
    pe_claim claim; /* owned; its arrays have shapes alone */
    size_t rows, width, done;
    size_t row_bytes[PE_ARRIVING_TENSORS_MAX]; /* of each tensor */
    size_t last;                               /* the tensor that comes last */
    bool pairs;                                /* the rows hold pairs, not plain numbers */
    unsigned by;                               /* arithmetics that explain all rows so far */
    size_t kept;                               /* rows of the sample; `taken` of them are there */
    size_t taken;
    unsigned char *sample[PE_ARRIVING_TENSORS_MAX]; /* owned */
    bool *columns;                                  /* [width] owned: which hold strays */
    double farthest;                                /* position so far */
    pe_allowed allowed[2];                          /* of each arithmetic */
    pe_report report; /* of the rows so far; until the end rms are sums of squares */
};

/* Where rows of each tensor are. */
typedef struct pe_arriving_data {
    const unsigned char *of[PE_ARRIVING_TENSORS_MAX];
} pe_arriving_data;

/* Some rows of the table, as a claim of their own. */
typedef struct pe_arriving_part {
    pe_claim claim;
    pe_upload_view view;
    pe_guess guess;
    size_t rows, work;
} pe_arriving_part;

static inline size_t pe_arriving_tensors(const pe_claim *claim)
{
    return claim->n_uploads < PE_ARRIVING_TENSORS_MAX ? claim->n_uploads : PE_ARRIVING_TENSORS_MAX;
}

pe_positions *pe_arriving_positions(const pe_claim *claim);

/** Row k of those that come next, or of the sample. */
size_t pe_arriving_row(const pe_arriving *a, bool sampled, size_t k);

/** n rows, as a claim that borrows them.   Errors  OVERLOADED (memory). */
pe_status pe_arriving_claim_rows(const pe_arriving *a, bool sampled, const pe_arriving_data *rows,
                                 size_t n, pe_claim *out, pe_problem *why) PE_MUST_CHECK;

/** The next n rows.   Errors  those of planning the claim; OVERLOADED (memory). */
pe_status pe_arriving_part_make(const pe_arriving *a, const pe_arriving_data *rows, size_t n,
                                const pe_verify_context *context, pe_arriving_part *out,
                                pe_problem *why) PE_MUST_CHECK;
void pe_arriving_part_free(pe_arriving_part *p);

/** Parts end where bands of rows and cells of maps do: the end of the one that `row` is in. */
size_t pe_arriving_end_of_eighth(const pe_arriving *a, size_t row);

/** Compare the next rows, and add what was found to the report.   Errors  OVERLOADED (memory). */
pe_status pe_arriving_add(pe_arriving *a, pe_arriving_part *p, pe_problem *why) PE_MUST_CHECK;

/** Square roots of the sums of squares. */
void pe_arriving_finish_errors(pe_errors *errors);

#endif
