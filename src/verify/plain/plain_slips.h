/* SPDX-License-Identifier: MIT */
/* plain_slips.h - mistakes in plain numbers as rows, and what a row makes of the claimed numbers. */
#ifndef PE_VERIFY_PLAIN_PLAIN_SLIPS_H
#define PE_VERIFY_PLAIN_PLAIN_SLIPS_H

#include <stddef.h>
#include <stdint.h>

#include "verify/mistakes/sequence.h"
#include "verify/search/numbers.h"

/** What goes wrong: numbers of the claim that are measured, and elements that follow from them. */
typedef struct pe_slip_stage {
    const pe_term *terms; /* what equations of its rows name beside those of any; or NULL */
    size_t (*variants)(const pe_numbers *plain); /* NULL: 1 */
    pe_status (*measure)(pe_sequence *p,
                         pe_problem *why); /* n: 0 where the upload has no such stage */
    void (*release)(pe_sequence *p);       /* NULL: nothing is held */
    void (*begin)(pe_sequence *p);         /* before each row; or NULL */
    void (*tell)(const pe_sequence *p);    /* puts what was measured into the report; or NULL */
    /** Element e of the upload with the mistake that was read; *error, 0 before: of float32. */
    double (*at)(const pe_sequence *p, size_t e, double claimed, double *error);
} pe_slip_stage;

/** What equations call a number of a stage's state, a struct OF. */
#define PE_STATE_TERM(NAME, OF, MEMBER)                                                            \
    {                                                                                              \
        .name = NAME, .offset = offsetof(OF, MEMBER), .through = offsetof(pe_sequence, state)      \
    }

/** A row: its stage, of and tensor; what else it says follows. fault.fitted: asked for only where
 * nothing has a name. */
#define PE_SLIP(NAME, ...)                                                                         \
    {                                                                                              \
        .fault.name = PE_NAME(NAME), .stage = __VA_ARGS__                                          \
    }

/** Coordinates of rows and frequencies of pairs, of tables of sines and cosines by place. */
extern const pe_slip_stage pe_slip_waves;
/** Elements themselves; those of padded rows beside their mask. */
extern const pe_slip_stage pe_slip_values, pe_slip_padding;
/** Places along an axis, and along two at once. */
extern const pe_slip_stage pe_slip_places, pe_slip_axes;
/** Slopes of heads; distances of queries and keys, from which biases and indices follow. */
extern const pe_slip_stage pe_slip_slopes, pe_slip_distances;

extern const pe_slips pe_mistakes_of_values, pe_mistakes_of_scales, pe_mistakes_of_padding,
    pe_mistakes_of_places, pe_mistakes_of_slopes, pe_mistakes_of_distances, pe_mistakes_of_waves;

/** Is a resource one of those? */
bool pe_slip_is_of(const char *name, const char *resources);

/** One mistake that explains the upload; several may. */
pe_numbers_use pe_slips_find;
/** One, and another behind it. */
pe_numbers_use pe_slips_find_two;
/** Numbers that only fit. */
pe_numbers_use pe_slips_find_fitted;

/* ---- what rows share ---- */

/** Put more behind the sentence, as far as there is room. */
void pe_slip_say(pe_sequence *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A number of the claim; NAN: it has none of that name. */
double pe_slip_number(const pe_sequence *p, const char *name);
/** Is a choice of the claim this one? */
bool pe_slip_has(const pe_sequence *p, const char *choice, const char *text);

/* ---- what made an upload of plain numbers, which have no pairs ---- */

/** Read an upload of plain numbers; where nothing has been found, try causes that it follows.
 * Several may explain it. */
pe_try pe_explain_try;
/** Causes that the upload follows behind the faults of the guess. */
pe_try pe_explain_behind;
/** Two causes, one behind the other. */
pe_try pe_explain_two;
/** A value that was another one, and a cause behind it. */
pe_try pe_explain_values;
/** A number of the claim that was another one, alone or with a cause behind it. */
pe_try pe_explain_numbers;
/** Numbers that only fit. */
pe_try pe_explain_fitted;

/* ---- learned biases, whose rows tell by which index each was looked up ---- */

/** Of biases do `next` with their indices, which causes of indices read as an upload of their own;
 * of others, and where a bias is no row of the table, nothing. */
void pe_lookup_read(const pe_numbers *plain, pe_numbers_use *next);
/** The same behind a change of the table, where nothing is found without one. */
void pe_lookup_read_changed(const pe_numbers *plain, pe_numbers_use *next);

/* ---- rows of a learned table that are those of other positions ---- */

/** Rules of positions by which the rows of the table are those of the upload. */
pe_numbers_use pe_plain_rows_find;

/* ---- which line of a source each line of an upload is, along an axis ---- */

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
