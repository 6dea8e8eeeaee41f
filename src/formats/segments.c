/* SPDX-License-Identifier: MIT */
/* segments.c - building the list of segments. */
#include "formats/segments.h"

#include <assert.h>

/* The numbers become no bytes, and the length of what follows them is not known. */
const pe_encoder pe_reduced_encode = {0};

void pe_segments_free(pe_segments *segments)
{
    pe_buffer_free(&segments->text);
    if (segments->reducer.release != NULL)
        segments->reducer.release(segments->reducer.state);
    segments->reducer = (pe_reducer){0};
}

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

void pe_segments_late(pe_segments *segments, size_t tensor, size_t bytes,
                      void (*late)(const pe_plan *, size_t, const pe_carry *, pe_buffer *))
{
    assert(segments->n < PE_MAX_SEGMENTS);
    segments->segment[segments->n++] = (pe_segment){.bytes = bytes, .tensor = tensor, .late = late};
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
