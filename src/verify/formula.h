/* SPDX-License-Identifier: MIT */
/* formula.h - one tensor of plain numbers beside a formula with a mistake in it. */
#ifndef PE_VERIFY_FORMULA_H
#define PE_VERIFY_FORMULA_H

#include "verify/numbers.h"

struct pe_formula;

/** One mistake: {a} is what it reads off the upload, {b} what the claim has in its place. */
typedef struct pe_formula_row {
    const char *resource;
    const char *tensor; /* that has it; elements of others are as claimed. NULL: all */
    pe_fault fault;
    /** NAN: it is none such. NULL: it reads nothing. */
    double (*read)(const struct pe_formula *f, double *b);
    double (*at)(const struct pe_formula *f, size_t element, double claimed);
} pe_formula_row;

/** The tensor that has the mistake. */
typedef struct pe_formula {
    const pe_numbers *of;
    const pe_formula_row *by;
    size_t first, end; /* its elements, of all */
    size_t columns;    /* along its last axis */
    double a;
    bool *fitted; /* what `read` sets where its number is only a fitted one */
} pe_formula;

/** Rows of xPos and attention scales; of decays, scaled bases and offsets; of position ids and padded
 * biases; of Swin. */
extern const pe_formula_row pe_formula_scales[], pe_formula_waves[], pe_formula_padding[],
    pe_formula_windows[];
extern const size_t pe_formula_scales_n, pe_formula_waves_n, pe_formula_padding_n,
    pe_formula_windows_n;

/** The values of the claim. */
const pe_values *pe_formula_values(const pe_formula *f);
/** A number of these; NAN: the claim has no such number, and no row that needs it holds. */
double pe_formula_number(const pe_formula *f, const char *name);
/** An entry of a list of these; NAN: it has none. */
double pe_formula_entry(const pe_formula *f, const char *name, size_t i);
/** The position of the row that an element is in. */
double pe_formula_position(const pe_formula *f, size_t e);

/** An element of the tensor, as claimed and as it is. */
double pe_formula_claimed(const pe_formula *f, size_t e);
double pe_formula_got(const pe_formula *f, size_t e);

/** The element whose claim is farthest from x, where the number that is looked for tells most. */
size_t pe_formula_farthest(const pe_formula *f, double x);

#endif
