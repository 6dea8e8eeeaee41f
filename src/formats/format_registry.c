/* SPDX-License-Identifier: MIT */
/* format_registry.c - the output formats there are, whether one can hold a plan's tensors, and what all
 * of them list their segments by. */
#include <assert.h>
#include <string.h>

#include "formats/segments.h"

#define ROW(name) &pe_format_##name,
const pe_format *const pe_formats[] = {PE_FORMATS(ROW) NULL};

const pe_format *pe_format_by_name(const char *name)
{
    for (const pe_format *const *format = pe_formats; *format != NULL; format++)
        if (strcmp((*format)->name, name) == 0)
            return *format;
    return NULL;
}

const pe_format *pe_format_by_extension(const char *file_name)
{
    const size_t bytes = strlen(file_name);
    for (const pe_format *const *format = pe_formats; *format != NULL; format++) {
        size_t tail = strlen((*format)->extension);
        if (bytes > tail && strcmp(file_name + bytes - tail, (*format)->extension) == 0)
            return *format;
    }
    return NULL;
}

/* Refuse with a sentence that ends in the names of the plan's tensors. */
static pe_status fail_listing(const pe_plan *plan, pe_status status, const char *what,
                              pe_problem *why)
{
    pe_buffer names = {0};
    for (size_t t = 0; t < plan->n_tensors; t++)
        pe_buffer_format(&names, t == 0 ? "%s" : ", %s", pe_segments_tensor_name(plan, t));
    status = pe_fail(why, status, "tensor", "%s: %s", what, pe_buffer_text(&names));
    pe_buffer_free(&names);
    return status;
}

static pe_status find_tensor(const pe_plan *plan, const char *name, size_t *out, pe_problem *why)
{
    for (size_t t = 0; t < plan->n_tensors; t++)
        if (strcmp(pe_segments_tensor_name(plan, t), name) == 0 ||
            (plan->tensors[t].name != NULL && strcmp(plan->tensors[t].name, name) == 0)) {
            *out = t;
            return PE_OK;
        }
    return fail_listing(plan, PE_INVALID_PARAMETER, "tensor must be one of the answer's", why);
}

static bool names_tensor(const pe_rendering *rendering)
{
    return rendering->tensor != NULL && rendering->tensor[0] != '\0';
}

bool pe_format_holds(const pe_rendering *rendering, size_t t, size_t chosen)
{
    const pe_format *format = rendering->format;
    return format->holds_many || (format->holds_any && !names_tensor(rendering)) || t == chosen;
}

pe_status pe_format_check(const pe_plan *plan, const pe_rendering *rendering, size_t *tensor,
                          pe_problem *why)
{
    const pe_format *format = rendering->format;
    const bool named = names_tensor(rendering);
    size_t chosen = 0;

    if (named) {
        PE_TRY(find_tensor(plan, rendering->tensor, &chosen, why));
    }
    if (!format->holds_many) {
        if (plan->n_tensors == 0)
            return pe_fail(why, PE_NOT_ACCEPTABLE, "format",
                           "the answer has no tensor; ask for json or safetensors");
        if (plan->n_tensors > 1 && !named && !format->holds_any)
            return fail_listing(
                plan, PE_NOT_ACCEPTABLE,
                "this format holds one tensor, npz holds all; or add tensor= and one of", why);
    }
    *tensor = chosen;
    return format->check != NULL ? format->check(plan, rendering, chosen, why) : PE_OK;
}

/* ---- the list of segments ---- */

/* The numbers become no bytes, and the length of what follows them is not known. */
const pe_encoder pe_reduced_encode = {0};

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

const char *pe_segments_tensor_name(const pe_plan *plan, size_t tensor)
{
    const char *name = plan->tensors[tensor].name;
    return name != NULL && (plan->n_tensors > 1 || plan->n_scalars > 0) ? name : "data";
}

uint64_t pe_segments_tensor_bytes(const pe_tensor *tensor)
{
    return (uint64_t)tensor->elements * pe_dtype_bytes(tensor->dtype);
}
