/* SPDX-License-Identifier: MIT */
/* rendered.h - decided answers as bytes in memory, kept and coded. */
#ifndef PE_HTTP_RENDERED_H
#define PE_HTTP_RENDERED_H

#include "http/coding.h"
#include "http/numeric.h"

/** How long the answer will be, and whether parts of it may be asked for. */
pe_status pe_numeric_measure(pe_numeric *numeric, pe_problem *why) PE_MUST_CHECK;

/** Work that may be done in one go, in elements of a plain table: some tenths of a second. What
 * costs more is made in blocks while it is sent, so that it ends when its reader leaves or the
 * server stops. */
#define PE_WHOLE_WORK ((uint64_t)1 << 24)

/** Worth keeping: a table whose answer is surely no larger than the cache takes. Measured. */
bool pe_numeric_cacheable(const pe_numeric *numeric);

/** The answer that is kept in this coding, or the plain one where *coding was not worth it and
 * becomes IDENTITY; with a reference. NULL when there is none. */
pe_entry *pe_numeric_kept(const pe_numeric *numeric, pe_coding *coding);

/** The answer through the cache: rendered by one thread when absent. */
pe_status pe_numeric_entry(pe_numeric *numeric, pe_entry **out, int *hit,
                           pe_problem *why) PE_MUST_CHECK;

/** The same, coded; its data is NULL when coding was not worth it. */
pe_status pe_numeric_coded_entry(pe_numeric *numeric, pe_coding coding, pe_entry **out, int *hit,
                                 pe_problem *why) PE_MUST_CHECK;

/** The tag of the answer coded as a whole, or in the blocks of a stream, which makes other bytes;
 * false when there is none (transforms). */
bool pe_numeric_coded_tag(const pe_numeric *numeric, pe_coding coding, bool in_blocks,
                          char out[PE_ETAG_BYTES]);

/**
 * Does coding save enough? Known for sure only of the whole; this looks at samples from its
 * beginning and, where parts can be asked for, its middle and its end.
 */
pe_status pe_numeric_try_coding(const pe_numeric *numeric, pe_coding coding, bool *saves,
                                pe_problem *why) PE_MUST_CHECK;

/** The facts are from now on those of the coded answer. */
pe_status pe_numeric_set_coding(pe_numeric *numeric, pe_coding coding, bool in_blocks,
                                pe_problem *why) PE_MUST_CHECK;

/** Remember that a raw request means this canonical one, in this coding. */
void pe_numeric_learn(const pe_numeric *numeric, const pe_front *front, pe_coding coding);

/** Render it, or the part, into memory. *data is the caller's, to free. */
pe_status pe_numeric_render(pe_numeric *numeric, const pe_range *range, char **data, size_t *bytes,
                            pe_problem *why) PE_MUST_CHECK;

/** Could a target of the settings' warm list be computed? */
pe_status pe_numeric_warm_check(pe_service *service, const char *target,
                                pe_problem *why) PE_MUST_CHECK;

/** Compute a target of the settings' warm list into the cache. */
pe_status pe_numeric_warm(pe_service *service, const char *target, pe_problem *why) PE_MUST_CHECK;

#endif
