/* SPDX-License-Identifier: MIT */
/* csv_body.h - tensors in a body of text. */
#ifndef PE_API_CSV_BODY_H
#define PE_API_CSV_BODY_H

#include "base/buffer.h"
#include "files/stored.h"

/** May the text be CSV? It begins with a line of fields. */
bool pe_csv_body_is(pe_slice text);

/**
 * The tensors of CSV as format=csv writes it: a header of names and of columns, counted from 0, or
 * none; lines that begin with a tensor's name where there are several, and with the indices of
 * leading axes. So tables of numpy.savetxt and pandas are read, too. Numbers go to `numbers`, which
 * the tensors borrow from: as int32 where all are, else as float64.
 *
 * Source  RFC 4180; fields may also be parted by blanks, tabs or semicolons.
 * Errors  MALFORMED_REQUEST (a field that is no number, lines of several lengths),
 *         TOO_MANY_ELEMENTS, OVERLOADED (memory).
 */
pe_status pe_csv_body_read(pe_slice text, size_t max_elements, pe_buffer *numbers,
                           pe_stored_list *out, pe_problem *why) PE_MUST_CHECK;

#endif
