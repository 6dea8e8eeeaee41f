/* SPDX-License-Identifier: MIT */
/* real.c - real numbers of parameters and positions as text. */
#include "plan/real.h"

#include "base/yield.h"
#include "text/number.h"

/* Units of work that write one. */
#define REAL_WORK 8

void pe_real_print(double real, pe_buffer *out)
{
    char *at = pe_buffer_reserve(out, PE_NUMBER_TEXT_MAX);
    if (at != NULL)
        out->bytes += pe_number_print(PE_FLOAT64, real + 0.0, at);
}

void pe_real_print_list(const double *list, size_t n, pe_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i != 0)
            pe_buffer_str(out, ",");
        pe_real_print(list[i], out);
        pe_yield_spend(REAL_WORK);
    }
}
