/* SPDX-License-Identifier: MIT */
/* streamed_upload.h - a table that is held against its claim while its rows arrive. */
#ifndef PE_VERIFY_STREAMED_UPLOAD_H
#define PE_VERIFY_STREAMED_UPLOAD_H

#include "verify/verify.h"

/**
 * A table [positions, width] in one tensor or two, as cosines and sines, of which some rows are in
 * memory at a time: of two tensors the one that came first is held, and the rows of the other are
 * compared. Every element is compared, as pe_verify does; faults are looked for in a sample of the
 * rows, which is kept.
 *
 * What the report has in common with that of pe_verify  all but the sums behind rms, whose last
 * digits depend on the order, and what the sample cannot show.
 */
typedef struct pe_streamed pe_streamed;

/**
 * Begin. The claim's arrays have the shapes of the whole table; `there` is what can be read, with
 * rows of the tensor that comes last, and *skip are its bytes before the numbers.
 * *out is NULL, and the claim stays the caller's, where such a table is not compared row by row:
 * it has other axes, or another width than the claim. Else the claim is taken.
 * Errors  those of planning the claim; OVERLOADED (memory).
 */
pe_status pe_streamed_begin(pe_claim *claim, pe_slice there, size_t *skip,
                            const pe_verify_context *context, pe_streamed **out,
                            pe_problem *why) PE_MUST_CHECK;

/** Accepts NULL. */
void pe_streamed_free(pe_streamed *streamed);

/** The claim, whose arrays have no numbers. */
const pe_claim *pe_streamed_claim(const pe_streamed *streamed);

/** Bytes of a row that arrives, and of the tensor that is held before these rows; 0: there is none. */
size_t pe_streamed_row_bytes(const pe_streamed *streamed);
size_t pe_streamed_held_bytes(const pe_streamed *streamed);

/** Compare the next n rows, whose numbers are aligned, as are those that are held. Rows beyond the
 * last one are left out.   Errors  OVERLOADED (memory). */
pe_status pe_streamed_rows(pe_streamed *streamed, const void *held, const void *rows, size_t n,
                           const pe_verify_context *context, pe_problem *why) PE_MUST_CHECK;

/** All rows have been compared: look for faults in the sample. To be called once.
 * Errors  those of pe_verify. */
pe_status pe_streamed_end(pe_streamed *streamed, const pe_verify_context *context, pe_report *out,
                          pe_problem *why) PE_MUST_CHECK;

#endif
