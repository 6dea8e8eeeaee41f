/* SPDX-License-Identifier: MIT */
/* outline.h - JSON for people. */
#ifndef PE_CLI_OUTLINE_H
#define PE_CLI_OUTLINE_H

#include <jansson.h>

#include "base/buffer.h"

/** A line for each member, indented by what it is part of; numbers of a list side by side, of long
 * ones the first. */
void pe_outline(const json_t *value, pe_buffer *out);

/** A line for each object of a list, with these n members in columns. */
void pe_outline_table(const json_t *list, const char *const *members, size_t n, pe_buffer *out);

#endif
