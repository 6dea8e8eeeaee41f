/* SPDX-License-Identifier: MIT */
/* format.h - the output formats, and whether one can hold what a plan makes. */
#ifndef PE_FORMATS_FORMAT_H
#define PE_FORMATS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "plan/values.h"

/** Which picture a tensor gets; ANY: curves of one axis, else a heatmap. OWN_SCALES: the same, and
 * each panel has a scale of its own. */
typedef enum pe_figure_view {
    PE_VIEW_ANY,
    PE_VIEW_HEATMAP,
    PE_VIEW_CURVES,
    PE_VIEW_OWN_SCALES
} pe_figure_view;

/** What figures depend on besides their numbers: view=, theme=, width=, height=. */
typedef struct pe_figure_options {
    pe_figure_view view;
    bool dark;
    size_t width, height; /* pixels */
} pe_figure_options;

/** The header row of CSV: column indices; the same behind a column of positions, or the name of a
 * vector; none. */
typedef enum pe_csv_header { PE_CSV_INDICES, PE_CSV_NAMES, PE_CSV_NONE } pe_csv_header;

/** The size of a figure where none is asked for, and what may be asked for. */
#define PE_FIGURE_WIDTH      800
#define PE_FIGURE_HEIGHT     500
#define PE_FIGURE_WIDTH_MIN  120
#define PE_FIGURE_HEIGHT_MIN 90
#define PE_FIGURE_SIDE_MAX   8192

struct pe_segments;
typedef struct pe_rendering pe_rendering;

/** A row of the format registry. */
typedef struct pe_format {
    const char *name;              /* "npy": format=npy */
    const char *extension;         /* ".npy" */
    const char *media_type;        /* "application/x-npy" */
    const char *help;              /* one sentence: how it holds the numbers */
    bool holds_many;               /* all tensors, whatever tensor= says; else one, chosen by it */
    bool holds_any;                /* one where tensor= chooses it, else all of them */
    bool tells_parameters;         /* and scalars and warnings */
    bool known_length;             /* the length is known before a number is computed */
    bool is_figure;                /* its rendering has figure options */
    bool is_bare;                  /* numbers alone: fields of the answer tell shape and type */
    bool is_text;                  /* a content coding is worth its time */
    void (*maker)(pe_buffer *out); /* what else the bytes depend on: libraries' versions; or NULL */
    /** Can it hold the tensors that it would? `tensor` is the one chosen, where it holds one. NULL:
     * it can hold any. */
    pe_status (*check)(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                       pe_problem *why);
    /** Of formats of figures: the picture of a sentence. Where memory is short, out->failed. */
    void (*sentence)(const pe_figure_options *options, const char *title, const char *text,
                     pe_buffer *out);
    /** Describe the whole (segments.h). Running out of memory shows in out->text.failed. */
    void (*describe)(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                     struct pe_segments *out);
} pe_format;

/** In order of preference; NULL-terminated. json first. */
extern const pe_format *const pe_formats[];
const pe_format *pe_format_by_name(const char *name);
const pe_format *pe_format_by_extension(const char *file_name);

/** What the bytes depend on besides the plan. */
struct pe_rendering {
    const pe_format *format;
    bool base64;            /* encoding_format=base64 (JSON) */
    const char *tensor;     /* tensor=NAME, or NULL */
    const char *encoding;   /* "sinusoidal" */
    const char *parameters; /* canonical parameters as a JSON object's text; borrowed */
    pe_csv_header csv_header;
    /* Figures and CSV: whose names and labels they show, and with which values. Borrowed. */
    const pe_resource *resource;
    const pe_values *values;
    pe_figure_options figure;
};

/**
 * Can this plan be rendered so? Sets *tensor to the tensor chosen where the format holds one.
 * Errors  NOT_ACCEPTABLE: several tensors and none chosen (lists their names), bfloat16 as npy
 * (says what does); INVALID_PARAMETER: tensor names none (lists them).
 */
pe_status pe_format_check(const pe_plan *plan, const pe_rendering *rendering, size_t *tensor,
                          pe_problem *why) PE_MUST_CHECK;

/** Does the rendering hold tensor t, where `chosen` is what pe_format_check sets? */
bool pe_format_holds(const pe_rendering *rendering, size_t t, size_t chosen);

/* ---- which format a request gets: format=, else Accept (negotiate.c) ---- */

/**
 * The format of format=NAME.
 * Errors  INVALID_PARAMETER: there is none of that name; lists what there is.
 */
pe_status pe_format_parse(const char *name, const pe_format **out, pe_problem *why) PE_MUST_CHECK;

/**
 * The best format for an Accept header (NULL, empty or all malformed: json). Each format takes the
 * weight of the most specific range that matches it; of equal weights, the more specific match,
 * then the one named earlier, then the registry's order wins. Media type parameters are ignored.
 *
 * With a plan, formats that cannot hold it are passed over (several tensors and none chosen, a
 * bfloat16 as npy), so that a client that accepts more gets the next best.
 *
 * Source  RFC 9110 sections 12.4.2, 12.5.1.
 * Errors  NOT_ACCEPTABLE: lists what is; or the reason why the one that was asked for cannot be.
 */
pe_status pe_format_negotiate(const char *accept, const pe_plan *plan, const char *tensor,
                              const pe_format **out, pe_problem *why) PE_MUST_CHECK;

/** The next member of a list as Accept and Accept-Encoding are: its name, and its weight in
 * thousandths, -1 where that cannot be read. False: there is none.   Source  RFC 9110, 12.4.2. */
bool pe_accept_next(pe_slice *list, pe_slice *name, int *weight);

/** Does Accept (may be NULL) name the media type itself, and like it no less than the other? */
bool pe_format_prefers(const char *accept, const char *media_type, const char *other);

#endif
