/* SPDX-License-Identifier: MIT */
/* upload.c - the life of claims. */
#include "verify/upload/upload.h"

#include <stdlib.h>

void pe_verify_claim_free(pe_claim *claim)
{
    pe_values_free(&claim->values);
    for (size_t t = 0; t < PE_LEN(claim->tensors); t++)
        pe_array_free(&claim->tensors[t]);
    for (size_t u = 0; u < claim->n_uploads; u++)
        pe_array_free(&claim->uploads[u].array);
    pe_array_free(&claim->inputs);
    pe_buffer_free(&claim->said);
    pe_buffer_free(&claim->doubts);
    pe_buffer_free(&claim->unpacked);
    if (claim->next != NULL)
        pe_verify_claim_free(claim->next); /* as many as groups of tensors: few */
    free(claim->next);
    *claim = (pe_claim){0};
}
