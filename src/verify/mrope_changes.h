/* SPDX-License-Identifier: MIT */
/* mrope_changes.h - what may have become of the positions and sections of several axes. */
#ifndef PE_VERIFY_MROPE_CHANGES_H
#define PE_VERIFY_MROPE_CHANGES_H

#include "verify/guess.h"

enum { PE_TIME, PE_HEIGHT, PE_WIDTH, PE_AXES };

/** Positions and sections, the claimed ones or others. */
typedef struct pe_mrope_axes {
    size_t tokens;
    size_t first, end;       /* tokens of the image: from the first to the last whose axes differ */
    double *at;              /* [PE_AXES][tokens] the caller's */
    double section[PE_AXES]; /* pairs of each */
    bool interleaved;
    double moved;      /* of the last token: how far it is from the claimed position */
    const double *got; /* ids that were uploaded, [PE_AXES][tokens]; NULL: they are not known */
    size_t padding;    /* tokens on the left that are claimed as such */
    double a, b;       /* numbers of the sentence of the row that changed them */
} pe_mrope_axes;

/** Positions of an axis, [tokens]. */
double *pe_mrope_axis(const pe_mrope_axes *x, size_t a);
/** Do the axes of the token differ? Those of text do not. */
bool pe_mrope_differs(const pe_mrope_axes *x, size_t t);
/** Set first and end. The first patch has the same position on all axes. */
void pe_mrope_find_image(pe_mrope_axes *x);

/** One mistake. */
typedef struct pe_mrope_row {
    pe_fault fault;
    /** False: it makes no sense here. */
    bool (*change)(const struct pe_mrope_row *of, pe_mrope_axes *x);
    /** The same of one image, from token x->first to x->end. */
    bool (*image)(const struct pe_mrope_row *of, pe_mrope_axes *x);
    unsigned char from[PE_AXES]; /* axes in the place of each */
    unsigned char axis;          /* which one is shifted */
    double by;                   /* positions, or pairs of the section of time */
    bool bare;                   /* a number that was read: only where nothing else explains */
} pe_mrope_row;

extern const pe_mrope_row pe_mrope_rows[];
extern const size_t pe_mrope_rows_n;

/* Remedies. */
#define PE_MROPE_ORDER                                                                             \
    "give the pairs of each section the positions of time, height and width, in this order"
#define PE_MROPE_SECTION "set mrope_section as claimed"
#define PE_MROPE_IMAGE   "place patches behind the text before them, row by row of the merged grid"
#define PE_MROPE_BEHIND  "let text after an image go on at its largest position plus 1 (rope_deltas)"

#endif
