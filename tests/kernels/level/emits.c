/* SPDX-License-Identifier: MIT */
/* emits.c - emits of one level; compiled once per level, like what it includes. */
#include "kernels/level/emits.h"

#include "kernels/level/emit.h"

bool PE_LEVEL_NAME(emit)(pe_dtype dtype, uint32_t window, float small, const double *values,
                         void *out, size_t *n)
{
    const pe_rounding_margin margin = {window, small};
    const size_t bytes = PE_LANES * pe_dtype_bytes(dtype);
    pe_seen seen[2];
    for (int k = 0; k < 2; k++) {
        const pe_vd a = pe_load_d(values + 2 * k * PE_LANES);
        const pe_vd b = pe_load_d(values + (2 * k + 1) * PE_LANES);
        char *to = (char *)out + 2 * (size_t)k * bytes;
        seen[k] = pe_emit((pe_row_kind){dtype, PE_ROW_PLANES, false}, &margin, a, b,
                          (pe_spot){to, to + bytes});
    }
    *n = 4 * PE_LANES;
    return pe_doubt(dtype, &margin, seen[0], seen[1]);
}
