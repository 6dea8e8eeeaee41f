/* SPDX-License-Identifier: MIT */
/* pattern_places.c - which element, channel, wave or bytes may stand in the place of another. */
#include "verify/pattern_rows.h"

#include <math.h>

/* ---- places ---- */

/* Of 2h columns: one of those that alternate, among halves that follow each other; and back. */
static size_t in_halves(size_t column, size_t h)
{
    return column / 2 + column % 2 * h;
}

static size_t in_pairs(size_t column, size_t h)
{
    return column % h * 2 + column / h;
}

static bool reversed(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column = n - 1 - at->column;
    return true;
}

static bool rolled_on(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column = (at->column + n - 1) % n;
    return true;
}

static bool rolled_back(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column = (at->column + 1) % n;
    return true;
}

static bool halves_exchanged(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column = (at->column + n / 2) % n;
    return n % 2 == 0;
}

static bool neighbours(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column ^= 1;
    return n % 2 == 0;
}

static bool interleaved(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column = in_halves(at->column, n / 2);
    return n % 2 == 0;
}

static bool deinterleaved(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column = in_pairs(at->column, n / 2);
    return n % 2 == 0;
}

static bool lower_copied(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column %= n / 2;
    return n % 2 == 0;
}

static bool upper_copied(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    (void)b;
    at->column = n / 2 + at->column % (n / 2);
    return n % 2 == 0;
}

static bool second_half_rolled(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    const size_t half = n / 2;
    (void)b;
    if (at->column >= half)
        at->column = half + (at->column - half + half - 1) % half;
    return n % 2 == 0;
}

static bool transposed(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    const size_t e = at->row * n + at->column;
    *at = (pe_pattern_place){e % b->rows, e / b->rows};
    return b->rows > 1;
}

/* The same of pairs, whose numbers were written twice afterwards. */
static bool pairs_transposed(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    const size_t pair = b->pair[at->column], e = at->row * b->pairs + pair;
    (void)n;
    at->row = e % b->rows;
    at->column += (e / b->rows - pair) * b->at.stride;
    return b->rows > 1;
}

/* Rows stand in memory as far apart as neighbours tell. */
static bool written_apart(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    const size_t e = at->row * n + at->column;
    *at = (pe_pattern_place){e / b->stride, e % b->stride};
    return at->column < n && at->row < b->rows;
}

/* Rows were read from a flat buffer at other strides; neighbours are as much closer as these are
 * longer. */
static bool read_apart(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    const size_t e = at->row * (2 * n - b->stride) + at->column;
    *at = (pe_pattern_place){e / n, e % n};
    return at->row < b->rows;
}

/* The buffer begins one element later or earlier, and ends with what it began with. */
static bool buffer_late(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    const size_t e = (at->row * n + at->column + 1) % (b->rows * n);
    *at = (pe_pattern_place){e / n, e % n};
    return true;
}

static bool buffer_early(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    const size_t all = b->rows * n, e = (at->row * n + at->column + all - 1) % all;
    *at = (pe_pattern_place){e / n, e % n};
    return true;
}

/* Rows of one head and item. */
static size_t line_of(const pe_beside *b, size_t *first, size_t row)
{
    const pe_upload_view *view = b->view;
    const size_t all = view->batch_tokens * view->inner;
    *first = row / all * all;
    return all;
}

static bool row_before(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    size_t first;
    const size_t all = line_of(b, &first, at->row);
    (void)n;
    at->row = first + (at->row - first + all - b->view->inner) % all;
    return true;
}

static bool row_behind(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    size_t first;
    const size_t all = line_of(b, &first, at->row);
    (void)n;
    at->row = first + (at->row - first + b->view->inner) % all;
    return true;
}

/* Heads and tokens of an item as if their axes were in the other order. */
static bool heads_mixed(const pe_beside *b, size_t n, pe_pattern_place *at)
{
    const size_t tokens = b->view->batch_tokens, heads = b->heads, all = tokens * heads;
    const size_t inner = b->view->inner > 1 ? heads : tokens; /* the axis that steps by one */
    const size_t first = at->row / all * all, e = at->row - first;
    (void)n;
    at->row = first + e % (all / inner) * inner + e / (all / inner);
    return heads > 1;
}

/* ---- the wrong waves, the wrong channels ---- */

static size_t other_layout(const pe_beside *b, size_t pair, bool second)
{
    if (b->at.stride == 2)
        return (2 * pair + second) % b->pairs;
    return (pair + (second ? b->pairs : 0)) / 2;
}

static size_t permuted_channel(const pe_beside *b, size_t channel)
{
    return channel >= 2 * b->pairs ? channel
           : b->at.stride == 2     ? in_halves(channel, b->pairs)
                                   : in_pairs(channel, b->pairs);
}

static size_t permuted_back(const pe_beside *b, size_t channel)
{
    return channel >= 2 * b->pairs ? channel
           : b->at.stride == 2     ? in_pairs(channel, b->pairs)
                                   : in_halves(channel, b->pairs);
}

/* Channels i and i + head_dim/2 are a pair, though fewer are turned. */
static bool apart(const pe_beside *b, size_t column, size_t *pair, size_t *partner)
{
    const size_t half = b->width / 2;
    *pair = column % half;
    *partner = column < half ? column + half : column - half;
    return b->width % 2 == 0 && b->pairs < half && *pair < b->pairs;
}

/* ---- bytes ---- */

static double misread(pe_dtype dtype, double got)
{
    unsigned char bytes[8];
    pe_dtype_store(dtype, got, bytes);
    return dtype == PE_FLOAT16    ? pe_dtype_load(PE_BFLOAT16, bytes)
           : dtype == PE_BFLOAT16 ? pe_dtype_load(PE_FLOAT16, bytes)
                                  : nan("");
}

/* Cut towards zero, so that up to a whole unit of the last place is missing. */
static bool is_cut(const pe_beside *b, pe_pattern_place at)
{
    const size_t e = at.row * b->width + at.column;
    const pe_dtype dtype = b->view->claim->uploads[0].array.dtype;
    const double x = b->want[e], got = pe_beside_got(b, at.row, at.column);
    const double missing = x < 0 ? got - x : x - got;
    return missing >= -b->slack[e] &&
           missing <= b->slack[e] + pe_grain_ulp(pe_grain_of_dtype(dtype), x) &&
           (dtype == PE_BFLOAT16 || dtype == PE_FLOAT16);
}

/* ---- the rows ---- */

#define COPY   "keep the order of the columns when tables are concatenated or repeated"
#define MEMORY "check shape, strides and contiguity of what was written"

const pe_pattern pe_pattern_places[] = {
    PE_ROW("columns_reversed", "columns (channels) are in reverse order", COPY, .of = PE_EITHER,
           .from = reversed),
    PE_ROW("columns_rolled", "columns (channels) are rolled: each holds the one before it", COPY,
           .of = PE_EITHER, .from = rolled_on),
    PE_ROW("columns_rolled", "columns (channels) are rolled: each holds the one behind it", COPY,
           .of = PE_EITHER, .from = rolled_back),
    PE_ROW("column_halves_exchanged", "the halves of the columns (channels) are exchanged", COPY,
           .of = PE_EITHER, .from = halves_exchanged),
    PE_ROW("column_neighbours", "neighbouring columns (channels) are exchanged", COPY,
           .of = PE_EITHER, .from = neighbours),
    PE_ROW("columns_interleaved",
           "the layout is interleaved: columns (channels) of the two halves alternate", COPY,
           .of = PE_EITHER, .from = interleaved),
    PE_ROW("columns_concatenated",
           "the layout is concatenated: even columns (channels) stand before odd ones", COPY,
           .of = PE_EITHER, .from = deinterleaved),
    PE_ROW("columns_copied", "the upper half of the columns is a copy of the lower one, repeated",
           COPY, .of = PE_EITHER, .from = lower_copied),
    PE_ROW("columns_copied", "the lower half of the columns is a copy of the upper one, repeated",
           COPY, .of = PE_EITHER, .from = upper_copied),
    PE_ROW("second_half_rolled",
           "the second half of the columns (channels) is rolled by one: its layout is another one",
           COPY, .of = PE_EITHER, .from = second_half_rolled),
    PE_ROW("transposed", "the tensor is transposed: bytes are in the order of its columns", MEMORY,
           .of = PE_EITHER, .from = transposed),
    PE_ROW("transposed",
           "the table of the pairs was transposed, or reshaped, before their numbers were repeated",
           MEMORY, .of = PE_TABLES, .from = pairs_transposed, .of_copies = true),
    PE_ROW("row_stride",
           "rows were written with a stride of {a} elements: padding, or a pitch, stands between "
           "them, or they overlap",
           MEMORY, .of = PE_TABLES, .from = written_apart, .of_stride = true),
    PE_ROW("row_stride", "rows were read with a stride of {b} elements, which they have not",
           MEMORY, .of = PE_TABLES, .from = read_apart, .of_stride = true),
    PE_ROW("buffer_shifted", "the buffer is off by one: each element is the one behind it", MEMORY,
           .of = PE_EITHER, .from = buffer_late),
    PE_ROW("buffer_shifted", "the buffer is off by one: each element is the one before it", MEMORY,
           .of = PE_EITHER, .from = buffer_early),
    PE_ROW("rows_rolled", "rows (tokens) are rolled: each holds the one before it, shifted by one",
           "check the slice of positions or tokens", .of = PE_EITHER, .from = row_before,
           .of_rows = true),
    PE_ROW("rows_rolled", "rows (tokens) are rolled: each holds the one behind it, shifted by one",
           "check the slice of positions or tokens", .of = PE_EITHER, .from = row_behind,
           .of_rows = true),
    PE_ROW("axes_mixed",
           "heads and tokens are mixed: the axes (seq_axis) were reshaped, not transposed",
           "transpose axes of heads and tokens; do not reshape them", .of = PE_VECTORS,
           .from = heads_mixed, .of_rows = true),
    PE_ROW("axes_mixed",
           "vectors of other heads and tokens were rotated: axes (seq_axis) were reshaped, "
           "not transposed",
           "transpose axes of heads and tokens; do not reshape them", .of = PE_VECTORS,
           .from = heads_mixed, .of_inputs = true),
    PE_ROW("pairs_apart",
           "channels i and i + head_dim/2 were turned as a pair, not i and i + rotary_dim/2: "
           "the layout of a whole head",
           "slice the first rotary_dim channels before rotate_half", .of = PE_VECTORS,
           .pair_of = apart),
    PE_ROW("waves_repeated",
           "channels were turned by waves of another layout: repeated where they should be "
           "concatenated, or the reverse",
           "lay out cosines and sines as the channels are paired", .of = PE_VECTORS,
           .wave_of = other_layout),
    PE_ROW("channels_permuted",
           "channels were permuted between the layouts half and interleaved before they were "
           "turned",
           "permute the weights of queries and keys only for the other pairing", .of = PE_VECTORS,
           .channel_of = permuted_channel),
    PE_ROW("channels_permuted",
           "channels were permuted from one layout to the other (half, interleaved) before "
           "they were turned",
           "permute the weights of queries and keys only for the other pairing", .of = PE_VECTORS,
           .channel_of = permuted_back),
    PE_ROW("elements_cut", "elements were cut to the bits of bfloat16 or float16, not rounded",
           "round to nearest: do not drop the low half of a float32", .of = PE_TABLES,
           .is_so = is_cut),
    PE_ROW("misread_type",
           "bytes were read as another type: bfloat16 and float16 were taken for each other",
           "name the dtype that the bytes have", .of = PE_EITHER, .reread = misread),
};
const size_t pe_pattern_places_n = PE_LEN(pe_pattern_places);
