/* SPDX-License-Identifier: MIT */
/* json_write.h - JSON members into a buffer, with their commas. */
#ifndef PE_FORMATS_JSON_WRITE_H
#define PE_FORMATS_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/** "name": with a comma before it unless it is the first of its object. */
void pe_json_write_name(pe_buffer *out, const char *name);
/** A comma unless this is the first item of its array. */
void pe_json_write_item(pe_buffer *out);
/** Begin an array or an object, of that name or (NULL) as an item. */
void pe_json_write_open(pe_buffer *out, const char *name, const char *bracket);
void pe_json_write_truth(pe_buffer *out, const char *name, bool truth);
/** "name":"text"; nothing when text is NULL. */
void pe_json_write_text(pe_buffer *out, const char *name, const char *text);
/** "name":number, shortest. */
void pe_json_write_number(pe_buffer *out, const char *name, double number);
/** "name":count */
void pe_json_write_count(pe_buffer *out, const char *name, uint64_t count);
/** "name":[counts], and "name":["texts"] of n texts, or up to a NULL. */
void pe_json_write_counts(pe_buffer *out, const char *name, const size_t *counts, size_t n);
void pe_json_write_texts(pe_buffer *out, const char *name, const char *const *texts, size_t n);

#endif
