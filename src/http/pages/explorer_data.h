/* SPDX-License-Identifier: MIT */
/* explorer_data.h - the files of src/web/ as src/web/pack leaves them, held by the program
 * itself. */
#ifndef PE_HTTP_PAGES_EXPLORER_DATA_H
#define PE_HTTP_PAGES_EXPLORER_DATA_H

#include <stddef.h>

#include "http/pages/document_pages.h"

/** A file of the page. The path holds a digest of all files, so what it names never changes. */
typedef struct pe_explorer_file {
    const char *path, *media_type;
    pe_document_form forms[PE_CODINGS];
} pe_explorer_file;

/** The first is the page itself, with the path "/". */
extern const pe_explorer_file pe_explorer_files[];
extern const size_t pe_explorer_length;

#endif
