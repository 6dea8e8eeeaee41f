/* SPDX-License-Identifier: MIT */
/* proof_ramp.c - multiples of slopes at spaced integers, each against MPFR.
 *
 * Slopes of ALiBi, exact ones and pairs of doubles, of 2^-40 to 2^8; runs of up to 4096 integers
 * from -2^26 to 2^26; every type; each variant by turns. SAMPLES=n values of each type (1e7),
 * SECONDS=n at most, SHARD=i/n takes a part of the samples. Exit status 1 when any value is wrong.
 */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>

#include "kernels/kernels.h"
#include "proof/proof.h"
#include "support/bits.h"
#include "support/random.h"
#include "support/slow.h"

#define RUN 4096

static random_source source;
static uint64_t compared, listed, wrong;

typedef struct slope {
    double hi, lo;
} slope;

/* 2^(-8 i / n), 53 or more bits of it. */
static slope alibi_slope(void)
{
    const int64_t n = random_int(&source, 1, 64);
    mpfr_t m;
    mpfr_init2(m, 200);
    mpfr_set_d(m, -8.0 * (double)random_int(&source, 1, n) / (double)n, MPFR_RNDN);
    mpfr_exp2(m, m, MPFR_RNDN);
    const double hi = mpfr_get_d(m, MPFR_RNDN);
    mpfr_sub_d(m, m, hi, MPFR_RNDN);
    const double lo = mpfr_get_d(m, MPFR_RNDN);
    mpfr_clear(m);
    return (slope){-hi, -lo};
}

static slope random_slope(void)
{
    const int exponent = (int)random_int(&source, -40, 8);
    const double hi = ldexp(random_real(&source, -1, 1), exponent);
    switch (random_int(&source, 0, 3)) {
    case 0:
        return alibi_slope();
    case 1: /* few bits: products that are exact, and ties */
        return (slope){ldexp((double)random_int(&source, -4096, 4096), exponent - 12), 0};
    case 2:
        return (slope){hi, 0};
    default:
        return (slope){hi, hi * random_real(&source, -0x1p-54, 0x1p-54)};
    }
}

static void judge(const pe_kernels *kernels, pe_dtype dtype, slope m, int64_t k, double got)
{
    mpfr_t product;
    mpfr_init2(product, 256);
    mpfr_set_d(product, m.hi, MPFR_RNDN);
    mpfr_add_d(product, product, m.lo, MPFR_RNDN);
    mpfr_mul_si(product, product, k, MPFR_RNDN);
    const double want = slow_round(dtype, product);
    mpfr_clear(product);
    if (bits_of(got) != bits_of(want) && wrong++ < 20)
        printf("WRONG %s %s: (%a + %a) * %lld gave %a, wanted %a\n", kernels->name,
               pe_dtype_name(dtype), m.hi, m.lo, (long long)k, got, want);
}

static void check(const pe_kernels *kernels, pe_dtype dtype)
{
    static unsigned char out[RUN * sizeof(double)];
    static uint32_t doubtful[RUN];
    const slope m = random_slope();
    const size_t n = (size_t)random_int(&source, 1, RUN);
    const int64_t first = random_int(&source, -1, 1) * random_int(&source, 0, 1 << 26);
    const int64_t step = random_int(&source, 0, 1) ? 1 : random_int(&source, -99, 99);
    const size_t some = kernels->ramp(dtype, m.hi, m.lo, first, step, n, out, doubtful);
    for (size_t j = 0, d = 0; j < n; j++)
        if (d < some && doubtful[d] == j)
            d++;
        else
            judge(kernels, dtype, m, first + (int64_t)j * step,
                  pe_dtype_load(dtype, out + j * pe_dtype_bytes(dtype)));
    listed += some;
    compared += n;
}

static void tell(void)
{
    printf("%llu values compared, %llu left open, %llu wrong; %.0f s\n",
           (unsigned long long)compared, (unsigned long long)listed, (unsigned long long)wrong,
           proof_seconds());
    fflush(stdout);
}

int main(void)
{
    static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};
    uint64_t shard, shards;
    proof_shard(&shard, &shards);
    const double samples = 4 * proof_number("SAMPLES", 1e7) / (double)shards;
    const double limit = proof_number("SECONDS", 1e9);
    (void)proof_seconds();
    source = random_make("proof");
    for (uint64_t k = 0; k < shard; k++)
        source.state = random_bits(&source);
    while ((double)compared < samples && proof_seconds() < limit) {
        for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++)
            for (size_t d = 0; d < PE_LEN(dtypes); d++)
                check(*k, dtypes[d]);
        if (proof_tick())
            tell();
    }
    tell();
    return wrong == 0 ? 0 : 1;
}
