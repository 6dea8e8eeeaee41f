/* SPDX-License-Identifier: MIT */
/* powers.c - the table of powers of ten, computed exactly when the program starts. */
#include "text/powers.h"

#include <assert.h>

/* 2^960 / 5^342 keeps 166 bits and 5^324 has 753: 16 words hold either. */
#define WORDS 16

pe_power pe_powers[PE_POWER_MAX - PE_POWER_MIN + 1];
uint64_t pe_scales[PE_SCALE_MAX - PE_SCALE_MIN + 1];

/* The leading 128 bits of a number, rounded up when bits below them or `dropped` ones are lost. */
static pe_power leading_bits(const uint64_t *words, int dropped)
{
    int top = WORDS - 1;
    while (words[top] == 0)
        top--;
    uint64_t part[3] = {words[top], top > 0 ? words[top - 1] : 0, top > 1 ? words[top - 2] : 0};
    int shift = __builtin_clzll(part[0]);
    pe_power power = {part[0], part[1]};
    uint64_t rest = part[2];
    if (shift > 0) {
        power.hi = part[0] << shift | part[1] >> (64 - shift);
        power.lo = part[1] << shift | part[2] >> (64 - shift);
        rest = part[2] << shift;
    }
    for (int i = 0; i < top - 2; i++)
        rest |= words[i];
    if (rest != 0 || dropped) {
        power.lo++;
        power.hi += power.lo == 0;
    }
    return power;
}

static void times_five(uint64_t *words)
{
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        pe_uint128 product = (pe_uint128)words[i] * 5 + carry;
        words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    assert(carry == 0);
}

static void over_five(uint64_t *words)
{
    uint64_t rest = 0;
    for (int i = WORDS - 1; i >= 0; i--) {
        pe_uint128 part = (pe_uint128)rest << 64 | words[i];
        words[i] = (uint64_t)(part / 5);
        rest = (uint64_t)(part % 5);
    }
}

static uint64_t scale_of(int q)
{
    const int power = -pe_log10_pow2(q) - 1;
    return pe_powers[power - PE_POWER_MIN].hi >> -(q + pe_log2_pow10(power) + 1);
}

/*
 * The bits of 10^k are those of 5^k. Flooring each division by five is flooring their product's,
 * so 2^960 divided n times holds the true leading bits of 5^-n; none of them is a whole number.
 */
__attribute__((constructor)) static void fill_powers(void)
{
    uint64_t up[WORDS] = {1}, down[WORDS] = {0};
    down[WORDS - 1] = 1;
    for (int k = 0; k <= PE_POWER_MAX; k++) {
        pe_powers[k - PE_POWER_MIN] = leading_bits(up, 0);
        times_five(up);
    }
    for (int k = -1; k >= PE_POWER_MIN; k--) {
        over_five(down);
        pe_powers[k - PE_POWER_MIN] = leading_bits(down, 1);
    }
    for (int q = PE_SCALE_MIN; q <= PE_SCALE_MAX; q++)
        pe_scales[q - PE_SCALE_MIN] = scale_of(q);
}
