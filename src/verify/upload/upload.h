/* SPDX-License-Identifier: MIT */
/* upload.h - what a client sent, and what it says that it is. */
#ifndef PE_VERIFY_UPLOAD_UPLOAD_H
#define PE_VERIFY_UPLOAD_UPLOAD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/dtype.h"
#include "plan/price.h"

/* ---- numbers of narrow types: their neighbours, and rounding to them ---- */

/** A binary type. Numbers times scale (0: 1) are multiples of 2^least with at most so many
 * significant bits. */
typedef struct pe_narrow_type {
    const char *name;
    int bits, least;
    double scale;
} pe_narrow_type;

/** Types that numbers pass through on the way to a wider one. TF32 and two of 8 bits are no types
 * of uploads. */
typedef enum pe_narrow_type_of {
    PE_NARROW_BFLOAT16,
    PE_NARROW_FLOAT16,
    PE_NARROW_TF32,
    PE_NARROW_E4M3,
    PE_NARROW_E5M2,
    PE_NARROW_INT8,
    PE_NARROW_INT4,
    PE_NARROW_SCALED_E4M3, /* 448 is 1 */
    PE_NARROW_FNUZ_E4M3,   /* 240 is */
    PE_GRAINS
} pe_narrow_type_of;

extern const pe_narrow_type pe_narrow_types[PE_GRAINS];

/** Of types of uploads. */
extern const pe_narrow_type pe_narrow_types_of_dtypes[PE_DTYPES];

static inline const pe_narrow_type *pe_narrow_type_of_dtype(pe_dtype dtype)
{
    return &pe_narrow_types_of_dtypes[dtype];
}

/** 2^k */
static inline double pe_power_of_two(int k)
{
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double x;
    if (k < -1022)
        return ldexp(1, k);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/** The distance of neighbours at x. Asked of each element several times: the exponent is taken from
 * its bits. A subnormal double is below the least step of any type but float64, whose least step it
 * has. */
static inline double pe_narrow_type_ulp(const pe_narrow_type *narrow, double x)
{
    uint64_t bits;
    const double scale = narrow->scale != 0 ? narrow->scale : 1, scaled = x * scale;
    memcpy(&bits, &scaled, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff); /* |x| in [2^(field - 1023), 2^(field - 1022)) */
    const int at = field - 1022 - narrow->bits;
    const bool least = field == 0 || field == 0x7ff || at < narrow->least;
    return pe_power_of_two(least ? narrow->least : at) / scale;
}

/** The nearest number, the even one of two. */
double pe_narrow_type_round(const pe_narrow_type *narrow, double x);

/* ---- uploads ---- */

/** Element e as a double, and a double as element e, rounded to the type. */
static inline double pe_upload_number(const pe_array *array, size_t e)
{
    return pe_dtype_load(array->dtype,
                         (const char *)array->data + e * pe_dtype_bytes(array->dtype));
}
static inline void pe_upload_set_number(const pe_array *array, size_t e, double x)
{
    pe_dtype_store(array->dtype, x, (char *)array->data + e * pe_dtype_bytes(array->dtype));
}

/** One tensor of the upload, under the name of the resource's tensor. */
typedef struct pe_upload {
    char name[64];
    pe_array array;
    pe_shape sent; /* the shape of the array before axes of one element were left out; or ndim 0 */
} pe_upload;

/** As many as an answer has at most (PE_MAX_TENSORS). */
#define PE_UPLOADS_MAX 9

/** What the configuration of a claim says of layers of another type. */
typedef struct pe_claim_layers {
    char name[64];    /* "sliding_attention" */
    pe_values values; /* owned; what the same claim would be of these layers */
} pe_claim_layers;

/** What a client says its numbers are. */
typedef struct pe_claim {
    const pe_resource *resource; /* a table of the registry */
    pe_values values;            /* of the resource's rows; dtype: of the upload */
    pe_array tensors[2];         /* owned; values borrow them */
    bool any_numerics; /* no arithmetic was named: correctly rounded and float32 are both right */
    double tolerance;  /* absolute, in the place of the rule; negative: the rule */
    size_t n_uploads;
    pe_upload uploads[PE_UPLOADS_MAX]; /* owned */
    pe_array inputs;    /* owned; vectors that uploads[0] holds rotated; 0 elements: a table */
    int64_t seq_axis;   /* the token axis of inputs, negative from the end */
    bool of_keys;       /* inputs are keys, which xPos divides by its scale */
    pe_array derived;   /* owned; what numbers that followed from vectors may be off: waves, then
                           scales as those of queries; 0 elements: none followed */
    double part_off;    /* and scales this part of them at least */
    size_t items;       /* rows of positions [batch, n], which one list holds; 0: as they came */
    bool guessed;       /* the lone upload may be cosines or sines: its name was guessed */
    pe_buffer reported; /* owned: what was read off the tensors, a line each */
    pe_buffer doubts;   /* owned: which were left out and should be looked at, a line each */
    pe_buffer unpacked; /* owned: what tensors borrow from that are not in the body as they are */
    size_t n_others;
    pe_claim_layers *others; /* owned: the other layers of the model whose values these are */
    char sent[64];           /* names of the tensors as they were sent, "" where it is all */
    struct pe_claim *next;   /* owned: what else the same body holds; or NULL */
} pe_claim;

void pe_verify_claim_free(pe_claim *claim);

/** Bounds of one verification. */
typedef struct pe_verify_limits {
    size_t max_elements; /* of an upload */
    size_t max_work;     /* elements computed while looking for faults */
    /** Asked between guesses: true, from then on, ends the search. NULL: nobody gives up. */
    bool (*given_up)(void *context);
    void *context;
} pe_verify_limits;

/** What a verification plans tables with, and how far it may go. */
typedef struct pe_verify_context {
    struct pe_tables *tables;
    const pe_limits *limits; /* of each plan */
    const pe_verify_limits *bounds;
    size_t *computed; /* raised by each element that is computed, of a guess or of a row */
    bool draws;       /* the report shall have its difference */
    bool glances;     /* what is mostly something else is not compared to its end */
    bool sampled;     /* the claim is of some rows of a larger table: findings tell no positions */
    const char *part; /* of a larger upload, with which sentences begin; or NULL */
} pe_verify_context;

/** The first element, row by row, that is not what was claimed. */
typedef struct pe_bad {
    bool any;
    const char *tensor; /* of the claim's uploads */
    size_t ndim, index[PE_MAX_DIMS];
    bool has_pair;
    double position;
    size_t pair;
    double expected, got;
} pe_bad;

#endif
