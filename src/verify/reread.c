/* SPDX-License-Identifier: MIT */
/* reread.c - tables whose bytes were read as another type, or in the other order. */
#include "verify/reread.h"

#include <math.h>
#include <string.h>

#include "base/turns.h"
#include "verify/part.h"

#define LOOKED_AT    1024
#define LARGEST      64.0 /* of a table, with its amplitude */
#define LEAST        0x1p-60
#define ELEMENT_WORK 4 /* units */

/* A way to read the bytes. */
typedef struct way {
    pe_fault fault;
    pe_dtype sent, really;
    bool swapped;
} way;

#define SWAPPED(DTYPE)                                                                             \
    PE_ROW("byte_order", "the bytes of each element are swapped: big-endian for little-endian",    \
           "write little-endian bytes", (DTYPE), (DTYPE), true)
#define READ_AS(SENT, DTYPE, NAME)                                                                 \
    PE_ROW("misread_type", "bytes of " NAME " were read as another type (dtype)",                  \
           "name the dtype that the bytes have: " NAME, (SENT), (DTYPE), false)

static const way ways[] = {
    SWAPPED(PE_FLOAT32),
    SWAPPED(PE_FLOAT64),
    SWAPPED(PE_FLOAT16),
    SWAPPED(PE_BFLOAT16),
    READ_AS(PE_FLOAT32, PE_FLOAT64, "float64"),
    READ_AS(PE_FLOAT16, PE_FLOAT32, "float32"),
    READ_AS(PE_BFLOAT16, PE_FLOAT32, "float32"),
    READ_AS(PE_FLOAT16, PE_FLOAT64, "float64"),
    READ_AS(PE_FLOAT64, PE_FLOAT32, "float32"),
    READ_AS(PE_FLOAT32, PE_BFLOAT16, "bfloat16"),
    READ_AS(PE_FLOAT32, PE_FLOAT16, "float16"),
};

/* ---- do numbers make sense? ---- */

static double element(const pe_array *array, const way *by, size_t e)
{
    unsigned char bytes[8];
    const size_t n = pe_dtype_bytes(by->really);
    const unsigned char *at = (const unsigned char *)array->data + e * n;
    for (size_t k = 0; k < n; k++)
        bytes[k] = at[by->swapped ? n - 1 - k : k];
    return pe_dtype_load(by->really, bytes);
}

static size_t elements_of(const pe_array *array, const way *by)
{
    return array->elements * pe_dtype_bytes(array->dtype) / pe_dtype_bytes(by->really);
}

/* The part of the numbers that a table may hold: neither huge nor next to nothing, but for 0. */
static double sense(const pe_array *array, const way *by)
{
    const size_t all = elements_of(array, by), looked_at = all < LOOKED_AT ? all : LOOKED_AT;
    size_t good = 0;
    for (size_t k = 0; k < looked_at; k++) {
        const double x = fabs(element(array, by, k * (all / looked_at) + k % (all / looked_at)));
        good += x == 0 || (x > LEAST && x < LARGEST);
    }
    pe_turn_spend(ELEMENT_WORK * looked_at);
    return looked_at > 0 ? (double)good / (double)looked_at : 0;
}

/* NULL: the numbers make sense as they were read, or in no other way. */
static const way *find_way(const pe_array *array)
{
    const way as_sent = {.sent = array->dtype, .really = array->dtype};
    const double least = 1 - (1 - sense(array, &as_sent)) / 16; /* of many that made none */
    for (size_t w = 0; w < PE_LEN(ways) && least < 1 - 1.0 / 256; w++)
        if (ways[w].sent == array->dtype && sense(array, &ways[w]) >= least)
            return &ways[w];
    return NULL;
}

/* ---- the table that the bytes are ---- */

/* So many rows of a tensor that has them along one axis, or flat along the last one. False: it has
 * them otherwise. */
static bool cut_rows(const pe_array *from, size_t all, size_t rows, pe_shape *out)
{
    size_t a = 0;
    *out = from->shape;
    while (a < out->ndim && out->dim[a] != all && out->dim[a] != from->elements)
        a++;
    if (a == out->ndim)
        return false;
    out->dim[a] = out->dim[a] == all ? rows : from->elements / all * rows;
    return true;
}

/* Rows of fewer bytes than claimed are the first ones. */
static pe_status reread_tensor(const pe_array *from, const way *by, size_t all, size_t rows,
                               pe_array *to, pe_problem *why)
{
    pe_shape shape;
    const size_t row = from->elements / all, bytes = pe_dtype_bytes(by->really);
    (void)cut_rows(from, all, rows, &shape); /* it has been asked whether they can be */
    const pe_status status = pe_array_make(by->really, &shape, to, why);
    for (size_t e = 0; e < rows * row && status == PE_OK; e++)
        pe_dtype_store(by->really, element(from, by, e), (char *)to->data + e * bytes);
    return status;
}

static pe_status keep_first(pe_value *positions, size_t rows, pe_problem *why)
{
    pe_array list;
    pe_positions made;
    pe_status status = pe_array_make(PE_FLOAT64, &(pe_shape){1, {rows}}, &list, why);
    if (status != PE_OK)
        return status;
    for (size_t t = 0; t < rows; t++)
        ((double *)list.data)[t] = pe_positions_at(&positions->positions, t);
    status = pe_positions_from_list(&list, "positions", &made, why);
    pe_array_free(&list);
    if (status != PE_OK)
        return status;
    pe_positions_free(&positions->positions);
    positions->positions = made;
    return PE_OK;
}

static pe_status verify_so(pe_search *s, pe_guess *guess, const way *by, pe_problem *why)
{
    pe_claim part;
    const pe_claim *all = s->whole->claim;
    const size_t tokens = s->whole->tokens, is = pe_dtype_bytes(by->sent),
                 really = pe_dtype_bytes(by->really);
    const size_t rows = is < really ? tokens * is / really : tokens;
    pe_part_begin(s, &part);
    pe_guess_say(guess, &by->fault, by->fault.remedy);
    pe_buffer_str(&guess->rule, by->fault.rule);
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = keep_first(pe_values_find(&guess->values, "positions"), rows, why);
    for (size_t u = 0; u < all->n_uploads && status == PE_OK; u++) {
        memcpy(part.uploads[u].name, all->uploads[u].name, sizeof part.uploads[u].name);
        status =
            reread_tensor(&all->uploads[u].array, by, tokens, rows, &part.uploads[u].array, why);
        part.n_uploads = u + 1;
    }
    if (status == PE_OK)
        status = pe_part_explain(s, guess, &part, why);
    for (size_t u = 0; u < part.n_uploads; u++)
        pe_array_free(&part.uploads[u].array);
    return status;
}

pe_status pe_reread_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_upload_view *view = s->whole;
    if (view->rotated || view->axes > 1 || view->got == NULL || view->tokens < 4 ||
        view->permuted || view->width_differs || s->part || guess->n_faults > 0)
        return PE_OK;
    const way *by = find_way(&view->claim->uploads[0].array);
    for (size_t u = 0; u < view->claim->n_uploads && by != NULL; u++) {
        const pe_array *array = &view->claim->uploads[u].array;
        pe_shape shape;
        by = array->dtype == by->sent && cut_rows(array, view->tokens, view->tokens, &shape) ? by
                                                                                             : NULL;
    }
    return by != NULL ? verify_so(s, guess, by, why) : PE_OK;
}
