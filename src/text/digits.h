/* SPDX-License-Identifier: MIT */
/* digits.h - eight decimal digits at a time, in one 64-bit word. */
#ifndef PE_TEXT_DIGITS_H
#define PE_TEXT_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PE_EIGHT_ZEROS 0x3030303030303030ULL

/**
 * The eight digits of n < 10^8 as bytes 0..9, the first digit in the lowest byte. Lanes of 32, then
 * 16, then 8 bits are split by 10^4, 100 and 10; x * 10486 >> 20 is x / 100 for x < 10^4, and
 * x * 103 >> 10 is x / 10 for x < 100.
 */
static inline uint64_t pe_digits_split(uint64_t n)
{
    uint64_t fours = n / 10000 | (n % 10000) << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & 0x0000007f0000007fULL;
    uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000fULL;
    return tens | (twos - 10 * tens) << 8;
}

/**
 * Write all digits of 0 < n < 10^16; returns how many. Stores reach 16 bytes far. Whatever is left
 * out in front is shifted out of a register: digits stored and loaded again in other pieces would
 * stall.
 */
static inline size_t pe_digits_write(uint64_t n, char *out)
{
    const uint64_t high = n / 100000000, low = n - high * 100000000;
    uint64_t head = pe_digits_split(high), tail = pe_digits_split(low);
    const unsigned wide = high != 0; /* more than eight */
    const unsigned zeros = (unsigned)__builtin_ctzll(wide ? head : tail) / 8;
    const unsigned bits = 8 * zeros;
    head |= PE_EIGHT_ZEROS, tail |= PE_EIGHT_ZEROS;
    const uint64_t first = wide ? head >> bits | tail << 1 << (63 - bits) : tail >> bits;
    const uint64_t second = tail >> bits;
    memcpy(out, &first, 8);
    memcpy(out + 8, &second, 8);
    return 8 + 8 * wide - zeros;
}

/** The number that eight bytes 0..9 spell: the inverse of pe_digits_split. */
static inline uint64_t pe_digits_join(uint64_t digits)
{
    digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffULL;
    digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffULL;
    return (digits * 10000 + (digits >> 32)) & 0xffffffffULL;
}

/** Whether all eight bytes are '0'..'9': neither x - '0' nor x + 0x46 may reach into bit 7. */
static inline int pe_digits_are(uint64_t text)
{
    return (((text - PE_EIGHT_ZEROS) | (text + 0x4646464646464646ULL)) & 0x8080808080808080ULL) ==
           0;
}

/**
 * Bit 7 of bytes that are not '0'..'9', true up to the first of them: what that one carries over to
 * the next does not matter.
 */
static inline uint64_t pe_digits_others(uint64_t text)
{
    const uint64_t digits = text ^ PE_EIGHT_ZEROS;
    return (digits | (digits + 0x7676767676767676ULL)) & 0x8080808080808080ULL;
}

#endif
