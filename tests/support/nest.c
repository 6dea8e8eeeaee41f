/* SPDX-License-Identifier: MIT */
/* nest.c - numbers as nested JSON arrays. */
#include "support/nest.h"

void nest(const double *data, const size_t *shape, size_t ndim, pe_buffer *out)
{
    size_t inner = 1;
    for (size_t d = 1; d < ndim; d++)
        inner *= shape[d];
    pe_buffer_str(out, "[");
    for (size_t i = 0; i < shape[0]; i++) {
        pe_buffer_str(out, i == 0 ? "" : ",");
        if (ndim == 1)
            pe_buffer_format(out, "%.17g", data[i]);
        else
            nest(data + i * inner, shape + 1, ndim - 1, out);
    }
    pe_buffer_str(out, "]");
}
