/* SPDX-License-Identifier: MIT */
/* rope_warnings.c - where the published implementations do something else than they say. */
#include "encodings/rope/rope_warnings.h"

#include <math.h>

/* A dynamic rotation past the trained context depends on what came before. */
static void warn_dynamic(const pe_rope_formula *f, pe_plan *plan)
{
    if (f->type == &pe_rope_dynamic && f->key[PE_ROPE_SEQ_LEN] > f->key[PE_ROPE_MAX_POSITIONS])
        pe_plan_warn(plan,
                     "huggingface/transformers keeps the frequencies of the longest sequence seen "
                     "until one is shorter than max_position_embeddings: seq_len is that longest "
                     "length, and keys cached at other lengths were turned by other frequencies");
}

/* One of the two alone has no effect there, unlike in the code that came with the models. */
static void warn_mscale(const pe_rope_formula *f, pe_plan *plan)
{
    const bool mscale = f->key[PE_ROPE_MSCALE] != 0, all = f->key[PE_ROPE_MSCALE_ALL_DIM] != 0;
    if (mscale != all && !pe_rope_has(f, PE_ROPE_ATTENTION_FACTOR))
        pe_plan_warn(plan,
                     "%s has no effect without %s, as in huggingface/transformers: the attention "
                     "factor is 1 + 0.1 ln(factor)",
                     mscale ? "mscale" : "mscale_all_dim", mscale ? "mscale_all_dim" : "mscale");
}

static bool is_float32(double position)
{
    return (double)(float)position == position;
}

/* The first of a range or a list that is no float32, if there is one. Of a range, if two positions
 * beside each other are, so are those nearer to 0; hence the two at each end tell. */
static bool find_lost(const pe_positions *positions, double *lost)
{
    const size_t n = positions->count;
    const size_t ends[] = {0, n > 1 ? 1 : 0, n > 1 ? n - 2 : 0, n - 1};
    const bool range = positions->list == NULL;
    for (size_t r = 0; r < (range ? PE_LEN(ends) : n); r++) {
        *lost = pe_positions_at(positions, range ? ends[r] : r);
        if (!is_float32(*lost) && *lost == floor(*lost))
            return true;
    }
    return false;
}

static void warn_positions(const pe_rope *rope, const pe_positions *positions, pe_plan *plan)
{
    double lost = 0;
    bool found = false;
    const size_t parts = pe_positions_parts(positions);
    for (size_t k = 0; k < parts && !found && rope->float32; k++) {
        const pe_positions part = pe_positions_part(positions, k, parts);
        found = find_lost(&part, &lost);
    }
    if (found)
        pe_plan_warn(plan,
                     "with numerics=float32 positions are rounded to float32, as the reference "
                     "does: %.0f is turned as %.0f",
                     lost, (double)(float)lost);
}

/* seq_len, not the positions, chooses between the two lists. */
static void warn_length(const pe_rope_formula *f, const pe_positions *positions, pe_plan *plan)
{
    const double original = f->key[PE_ROPE_ORIGINAL];
    double least, most;
    if (f->type != &pe_rope_longrope || f->key[PE_ROPE_SEQ_LEN] > original)
        return;
    pe_positions_bounds(positions, &least, &most);
    if (most >= original)
        pe_plan_warn(plan,
                     "position %.0f lies beyond original_max_position_embeddings, but seq_len says "
                     "that the sequence does not: frequencies are those of short_factor",
                     most);
}

void pe_rope_warnings_add(const pe_rope *rope, const pe_positions *positions, pe_plan *plan)
{
    warn_dynamic(rope->formula, plan);
    warn_mscale(rope->formula, plan);
    if (positions == NULL)
        return;
    warn_positions(rope, positions, plan);
    warn_length(rope->formula, positions, plan);
}
