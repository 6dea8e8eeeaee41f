/* SPDX-License-Identifier: MIT */
/* plain_slips.h - mistakes in plain numbers as rows, and what a row makes of the claimed numbers. */
#ifndef PE_VERIFY_PLAIN_PLAIN_SLIPS_H
#define PE_VERIFY_PLAIN_PLAIN_SLIPS_H

#include <stddef.h>

#include "verify/mistakes/sequence.h"
#include "verify/search/attempts.h"

struct pe_lookup;

/** An upload of plain numbers beside the claimed ones, element by element. */
typedef struct pe_numbers {
    const pe_upload_view *view;
    const pe_guess *claim;
    const char *resource; /* whose numbers they are: the claim's, or that of the indices */
    const double *got, *claimed;
    size_t elements;
    double roundoff; /* of the upload's type; 0: integers */
    double step;     /* the least one of that type, by which numbers near 0 are rounded */
    pe_search
        *search; /* to whose report facts are added, and which holds guesses against the upload */
    bool asked;  /* whether mistakes are looked for */
    /** Of pairs of several axes, whose elements are angles: as claimed. NULL: elements are the upload's. */
    const double *frequency;
    /** The mistake that made `claimed` of the claim's numbers. NULL: they are the claim's. */
    const pe_sequence *first;
    /** Elements are the indices by which the upload was looked up (lookup.c). NULL: the upload's. */
    const struct pe_lookup *lookup;
} pe_numbers;

/** Count work, an element that is computed or compared. */
void pe_numbers_spend(const pe_numbers *plain, size_t work);
/** Are mistakes looked for, and is work left? */
bool pe_numbers_goes_on(const pe_numbers *plain);
/** Is a number that was read this one, but for the upload's roundings? */
bool pe_numbers_is_near(const pe_numbers *plain, double got, double x);
/** Do they change so often from one element to the next? Two mistakes at once need four changes. */
bool pe_numbers_change(const pe_numbers *plain, const double *numbers, size_t times);
/** "NAME":[...] of the facts, once. Numbers that are not finite are null. */
void pe_numbers_list(const pe_numbers *plain, const char *name, const double *list, size_t n);

/** What goes wrong: numbers of the claim that are measured, and elements that follow from them. */
typedef struct pe_slip_stage {
    const char *of;       /* resources that have it, with blanks between; NULL: all */
    size_t state;         /* bytes of its state, zeroed before */
    const pe_term *terms; /* what equations of its rows name beside those of any; or NULL */
    size_t (*variants)(const pe_numbers *plain); /* NULL: 1 */
    pe_status (*measure)(pe_sequence *p,
                         pe_problem *why); /* n: 0 where the upload has no such stage */
    void (*release)(pe_sequence *p);    /* of what is held beside p->state and p->owned; or NULL */
    void (*begin)(pe_sequence *p);      /* before each row; or NULL */
    void (*tell)(const pe_sequence *p); /* puts what was measured into the report; or NULL */
    /** Element e of the upload with the mistake that was read; *error, 0 before: of float32. */
    double (*at)(const pe_sequence *p, size_t e, double claimed, double *error);
    /** Of pairs: put it into a guess. False: that cannot be. NULL: there are none. */
    bool (*apply)(const void *sequence, pe_guess *guess);
} pe_slip_stage;

/** What equations call a number of a stage's state, a struct OF; or several, one behind the other. */
#define PE_STATE_TERM(NAME, OF, MEMBER)                                                            \
    {                                                                                              \
        .name = NAME, .offset = offsetof(OF, MEMBER), .through = offsetof(pe_sequence, state)      \
    }
/** The same of a pointer to numbers of all items. */
#define PE_STATE_LIST(NAME, OF, MEMBER)                                                            \
    {                                                                                              \
        .name = NAME, .offset = offsetof(OF, MEMBER), .listed = true,                              \
        .through = offsetof(pe_sequence, state)                                                    \
    }

/** A row: its stage, of and tensor; what else it says follows. fault.fitted: asked for only where
 * nothing has a name. */
#define PE_SLIP(NAME, ...)                                                                         \
    {                                                                                              \
        .fault.name = PE_NAME(NAME), .stage = __VA_ARGS__                                          \
    }

/** Coordinates of rows and frequencies of pairs, of tables of sines and cosines by place, and of tokens with
 * positions on several axes. */
extern const pe_slip_stage pe_slip_waves;
/** Elements themselves; those of padded rows beside their mask. */
extern const pe_slip_stage pe_slip_values, pe_slip_padding;
/** Places along an axis, and along two at once. */
extern const pe_slip_stage pe_slip_places, pe_slip_axes;
/** Slopes of heads; distances of queries and keys, from which biases and indices follow. */
extern const pe_slip_stage pe_slip_slopes, pe_slip_distances;

extern const pe_slips pe_mistakes_of_values, pe_mistakes_of_padding, pe_mistakes_of_places,
    pe_mistakes_of_slopes, pe_mistakes_of_distances, pe_mistakes_of_waves, pe_mistakes_of_tokens;

/** One mistake that explains the upload, of which there may be several; one, and another behind it; or
 * numbers that only fit. */
typedef enum pe_slips_how { PE_SLIPS_ONE, PE_SLIPS_TWO, PE_SLIPS_FITTED } pe_slips_how;

void pe_slips_find(const pe_numbers *plain, pe_slips_how how);
/** Hold what the mistake that was read makes against the upload. */
void pe_slips_try(const pe_sequence *p);

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
/** The same, whatever was found, and without roundings. */
pe_try pe_explain_one;
/** Two causes, one behind the other. */
pe_try pe_explain_two;
/** A value that was another one, and a cause behind it. */
pe_try pe_explain_values;
/** A number of the claim that was another one, alone or with a cause behind it. */
pe_try pe_explain_numbers;
/** Numbers that only fit. */
pe_try pe_explain_fitted;
/** Pairs of several axes: all this, alone and behind another mistake. */
pe_try pe_axes_try;

/** Of pairs of several axes find what explains their angles. */
void pe_angles_read(const pe_numbers *plain, pe_slips_how how);

/* ---- rows of a learned table (lookup.c) ---- */

/** The index of a row as it is compared: the first of the rows that are as the one that it takes. Below 0
 * it counts from the end, beyond the end it is the last one, as array libraries have it. NULL: itself. */
double pe_lookup_row(const struct pe_lookup *lookup, double index);
/** What an element is with that index. NULL: the index. */
double pe_lookup_at(const struct pe_lookup *lookup, size_t element, double index);

/** Does a resource look its numbers up in a table of biases? Mistakes of its indices are looked for as in
 * an upload of these; transposed: weights [heads, rows] were read as [rows, heads]. */
bool pe_lookup_is(const pe_resource *resource);
void pe_lookup_read(const pe_numbers *plain, bool transposed, pe_slips_how how);

/** Rules of positions by which the rows of a learned table are those of the upload. */
void pe_lookup_find_rows(const pe_numbers *plain);

#endif
