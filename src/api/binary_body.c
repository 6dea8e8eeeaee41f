/* SPDX-License-Identifier: MIT */
/* binary_body.c - tensors in a binary body: NumPy's format, safetensors, or plain numbers. */
#include "api/binary_body.h"

#include <string.h>
#include <strings.h>

/* ---- plain numbers, described by X-Tensor-Shape and X-Tensor-Dtype ---- */

/* "512, 64": digits and commas, spaces around the numbers. */
static bool parse_shape(const char *text, pe_shape *out)
{
    pe_shape shape = {0};
    do {
        size_t dim = 0;
        text += strspn(text, " \t");
        if (*text < '0' || *text > '9' || shape.ndim == PE_MAX_DIMS)
            return false;
        for (; *text >= '0' && *text <= '9'; text++)
            if (!pe_size_mul(dim, 10, &dim) || !pe_size_add(dim, (size_t)(*text - '0'), &dim))
                return false;
        shape.dim[shape.ndim++] = dim;
        text += strspn(text, " \t");
    } while (*text++ == ',');
    *out = shape;
    return text[-1] == '\0';
}

static pe_status read_raw(const pe_binary_body *body, size_t max_elements, pe_stored_list *out,
                          pe_problem *why)
{
    pe_stored tensor = {.data = body->data};
    if (body->shape == NULL || body->dtype == NULL)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "a body of plain numbers needs the headers X-Tensor-Shape (512,64) and "
                       "X-Tensor-Dtype (float32); %s is missing",
                       body->shape == NULL ? "X-Tensor-Shape" : "X-Tensor-Dtype");
    if (!parse_shape(body->shape, &tensor.shape))
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "X-Tensor-Shape must be 1 to %d sizes like 512,64, got \"%.40s\"",
                       PE_MAX_DIMS, body->shape);
    if (!pe_dtype_find(pe_slice_of(body->dtype), &tensor.dtype))
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "X-Tensor-Dtype must be one of float32, float64, float16, bfloat16, int32; "
                       "got \"%.40s\"",
                       body->dtype);
    out->tensor[0] = tensor;
    out->n = 1;
    return pe_stored_check_size(&out->tensor[0], "X-Tensor-Shape", body->bytes + body->awaited,
                                max_elements, why);
}

/* ---- files ---- */

static pe_status read_file(const pe_binary_body *body, size_t max_elements, pe_stored_list *out,
                           pe_problem *why)
{
    const char *type = body->media_type;
    const pe_slice file = {body->data, body->bytes};
    const size_t bytes = body->bytes + body->awaited;
    const bool waits = body->awaited > 0, packed = pe_npz_file_is(file);
    out->n = 0;
    if (strcasecmp(type, "application/octet-stream") == 0)
        return read_raw(body, max_elements, out, why);
    if (strcasecmp(type, "application/vnd.safetensors") == 0)
        return pe_safetensors_file_begin(file, bytes, max_elements, out, why);
    if (strcasecmp(type, "text/csv") == 0)
        return waits || body->unpacked == NULL
                   ? pe_fail(why, PE_INVALID_PARAMETER, "", "CSV is read when all of it is there")
                   : pe_csv_body_read(file, body->csv_bare, max_elements, body->unpacked, out, why);
    if (strcasecmp(type, "application/x-npy") != 0)
        return pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "",
                       "a body must be application/json, application/x-npy, "
                       "application/vnd.safetensors or application/octet-stream, got %.60s",
                       type);
    if (packed && waits)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "a zip file is read when all of it is there");
    if (packed)
        return pe_npz_file_read(file, max_elements, body->unpacked, out, why);
    out->n = 1;
    return pe_npy_file_begin(file, bytes, max_elements, out->tensor, why);
}

pe_status pe_binary_body_read(const pe_binary_body *body, size_t max_elements, pe_stored_list *out,
                              pe_problem *why)
{
    PE_TRY(read_file(body, max_elements, out, why));
    for (size_t t = 0; t < out->n; t++) {
        pe_stored *tensor = &out->tensor[t];
        if (body->awaited > 0) {
            const size_t first = (size_t)(tensor->data - (const unsigned char *)body->data);
            const size_t there = first < body->bytes ? body->bytes - first : 0;
            tensor->there = there < tensor->bytes ? there : tensor->bytes;
        }
        if (!body->takes_complex && tensor->dtype == PE_DTYPES)
            return pe_fail(why, PE_INVALID_PARAMETER, "",
                           "the element type of tensor %s must be one of F32, F64, F16, BF16, I32, "
                           "I64",
                           tensor->name);
        if (!body->takes_complex)
            PE_TRY(pe_stored_check_real(tensor, why));
    }
    return PE_OK;
}

/* ---- what a body is ---- */

const char *pe_binary_body_type(pe_slice body)
{
    static const struct {
        size_t at;
        const char *word, *type;
    } signs[] = {{0, "\x93NUMPY", "application/x-npy"},
                 {0, "PK\x03\x04", "application/x-npy"}, /* .npz */
                 {0, "GGUF", "application/octet-stream"},
                 {8, "{\"", "application/vnd.safetensors"}};
    for (size_t k = 0; k < PE_LEN(signs); k++) {
        const size_t at = signs[k].at, bytes = strlen(signs[k].word);
        if (body.bytes >= at + bytes && memcmp(body.text + at, signs[k].word, bytes) == 0 &&
            (at == 0 || body.text[0] != '{' || body.text[7] == '\0'))
            return signs[k].type;
    }
    while (body.bytes > 0 && memchr(" \t\r\n", body.text[0], 4) != NULL)
        body = (pe_slice){body.text + 1, body.bytes - 1};
    if (body.bytes > 0 && body.text[0] == '{')
        return "application/json";
    return pe_csv_body_is(body) ? "text/csv" : NULL;
}

bool pe_pickle_is(pe_slice body)
{
    static const char word[] = "data.pkl";
    const size_t near = body.bytes < 256 ? body.bytes : 256;
    if (body.bytes < 3 || (body.bytes >= 10 && memcmp(body.text + 8, "{\"", 2) == 0))
        return false; /* safetensors, whose length may begin so */
    return ((memcmp(body.text, "\x80\x02", 2) == 0 || memcmp(body.text, "\x80\x04", 2) == 0) &&
            memchr("}](cX\x8c\x95", body.text[2], 7) != NULL) ||
           (pe_npz_file_is(body) && memmem(body.text, near, word, strlen(word)) != NULL);
}

pe_status pe_pickle_fail(pe_problem *why)
{
    return pe_fail(
        why, PE_UNSUPPORTED_MEDIA_TYPE, "",
        "the body is a pickle of Python, which is not read: it may hold code; convert it with "
        "python -c \"import torch; from safetensors.torch import save_file; "
        "save_file(torch.load('in.pt', weights_only=True), 'out.safetensors')\"");
}
