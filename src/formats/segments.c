/* SPDX-License-Identifier: MIT */
/* segments.c - building the list of segments. */
#include "formats/segments.h"

#include <assert.h>

void pe_segments_text(pe_segments *segments)
{
    size_t bytes = segments->text.bytes - segments->text_taken;
    if (bytes == 0)
        return;
    assert(segments->n < PE_MAX_SEGMENTS);
    segments->segment[segments->n++] = (pe_segment){.text = segments->text_taken, .bytes = bytes};
    segments->text_taken = segments->text.bytes;
}

void pe_segments_numbers(pe_segments *segments, size_t tensor, const pe_encoder *encoder)
{
    assert(segments->n < PE_MAX_SEGMENTS);
    segments->segment[segments->n++] = (pe_segment){.encoder = encoder, .tensor = tensor};
}

const pe_tensor *pe_segments_tensor(const pe_segments *segments, const pe_plan *plan, size_t i)
{
    size_t tensor = segments->segment[i].tensor;
    return tensor == PE_COLUMNS ? &segments->columns : &plan->tensors[tensor];
}

const char *pe_segments_tensor_name(const pe_plan *plan, size_t tensor)
{
    const char *name = plan->tensors[tensor].name;
    return name != NULL && (plan->n_tensors > 1 || plan->n_scalars > 0) ? name : "data";
}

uint64_t pe_segments_tensor_bytes(const pe_tensor *tensor)
{
    return (uint64_t)tensor->elements * pe_dtype_bytes(tensor->dtype);
}
