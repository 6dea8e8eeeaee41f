/* SPDX-License-Identifier: MIT */
/* array.c - shapes, and arrays of numbers. */
#include "base/array.h"

#include <stdlib.h>

#include "base/memory.h"

bool pe_array_elements(const pe_shape *shape, size_t *out)
{
    size_t elements = 1;
    for (size_t i = 0; i < shape->ndim; i++)
        if (!pe_size_mul(elements, shape->dim[i], &elements))
            return false;
    *out = elements;
    return true;
}

pe_status pe_array_make(pe_dtype dtype, const pe_shape *shape, pe_array *out, pe_problem *why)
{
    size_t elements, bytes;
    if (!pe_array_elements(shape, &elements) ||
        !pe_size_mul(elements, pe_dtype_bytes(dtype), &bytes) || !pe_size_add(bytes, 63, &bytes))
        return pe_fail_memory(why);
    void *data = aligned_alloc(64, bytes < 64 ? 64 : bytes / 64 * 64);
    if (data == NULL)
        return pe_fail_memory(why);
    pe_memory_use_huge_pages(data, bytes);
    *out = (pe_array){.dtype = dtype, .shape = *shape, .elements = elements, .data = data};
    return PE_OK;
}

void pe_array_free(pe_array *array)
{
    if (array == NULL)
        return;
    if (!array->borrowed)
        free(array->data);
    *array = (pe_array){0};
}
