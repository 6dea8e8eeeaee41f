/* SPDX-License-Identifier: MIT */
/* test_number_blocks.c - blocks of numbers: every variant writes what single numbers print as. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/variant_cases.h"
#include "base/size.h"
#include "text/blocks.h"
#include "text/layout.h"
#include "text/number.h"

#define MOST 4096

static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT16, PE_BFLOAT16, PE_FLOAT64, PE_INT32};

static size_t print_singly(pe_dtype dtype, const char *data, size_t n, char separator, char *out)
{
    char *const start = out;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            *out++ = separator;
        out += pe_number_print(dtype, pe_dtype_load(dtype, data + i * pe_dtype_bytes(dtype)), out);
    }
    return (size_t)(out - start);
}

static void show_difference(const char *variant, pe_dtype dtype, const char *data, size_t n)
{
    char got[PE_NUMBER_TEXT_MAX * 8 + 1], wanted[PE_NUMBER_TEXT_MAX * 8 + 1];
    for (size_t i = 0; i + 8 <= n; i++) {
        const char *at = data + i * pe_dtype_bytes(dtype);
        size_t a = pe_blocks_print(dtype, at, 8, ' ', got);
        size_t b = print_singly(dtype, at, 8, ' ', wanted);
        got[a] = wanted[b] = '\0';
        if (strcmp(got, wanted) != 0)
            fail_msg("%s, %s, element %zu on: got %s, wanted %s", variant, pe_dtype_name(dtype), i,
                     got, wanted);
    }
    fail_msg("%s, %s: %zu elements print differently", variant, pe_dtype_name(dtype), n);
}

/* Print n elements by every variant the CPU has; out of exactly the room that is promised. */
static void check(pe_dtype dtype, const char *data, size_t n, char separator)
{
    static char wanted[MOST * PE_NUMBER_TEXT_MAX], got[MOST * PE_NUMBER_TEXT_MAX];
    size_t bytes = print_singly(dtype, data, n, separator, wanted);
    for (const pe_blocks *const *v = pe_blocks_all(); *v != NULL; v++) {
        assert_true(pe_blocks_select((*v)->name));
        size_t written = pe_blocks_print(dtype, data, n, separator, got);
        if (written != bytes || memcmp(got, wanted, bytes) != 0)
            show_difference((*v)->name, dtype, data, n);
    }
}

static void fill_random(random_source *random, char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t bits = random_bits(random);
        memcpy(data + i, &bits, 8);
    }
}

/* What tables hold: sines, zeros and ones, small and large scalings of them, round decimals. */
static void fill_like_tables(random_source *random, pe_dtype dtype, char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_bits(random);
        double v = sin((double)(bits >> 44)), few = (double)(bits >> 34 & 1023);
        switch (bits & 15) {
        case 0:
            v = (double)(bits >> 8 & 1);
            break;
        case 1:
            v *= ldexp(1, (int)(bits >> 8 & 31) - 20);
            break;
        case 2:
            v = few / 1000 * (v < 0 ? -1 : 1);
            break;
        case 3:
            v = ldexp(v < 0 ? -1 : 1, (int)(bits >> 8 & 31) - 20);
            break;
        case 4:
            v = few / 100;
            break;
        case 5:
            v = pow(10, (double)(bits >> 8 & 7) - 6);
            break;
        default:
            v *= bits & 16 ? 1 : 10;
        }
        pe_dtype_store(dtype, dtype == PE_INT32 ? rint(v * 1000) : v,
                       data + i * pe_dtype_bytes(dtype));
    }
}

static void tables_print_alike(void **unused)
{
    static char data[8 * MOST];
    random_source random = random_make("tables");
    for (int round = 0; round < 40; round++)
        for (size_t d = 0; d < PE_LEN(dtypes); d++) {
            fill_like_tables(&random, dtypes[d], data, MOST);
            check(dtypes[d], data, MOST, ',');
        }
}

static void random_bits_print_alike(void **unused)
{
    static char data[8 * MOST];
    random_source random = random_make("bits");
    for (int round = 0; round < 40; round++)
        for (size_t d = 0; d < PE_LEN(dtypes); d++) {
            fill_random(&random, data, sizeof data);
            check(dtypes[d], data, MOST, ',');
        }
}

static void every_16_bit_value_prints_alike(void **unused)
{
    static char data[2 * MOST];
    for (uint32_t first = 0; first < 0x10000; first += MOST) {
        for (uint32_t i = 0; i < MOST; i++) {
            uint16_t bits = (uint16_t)(first + i);
            memcpy(data + 2 * i, &bits, 2);
        }
        check(PE_FLOAT16, data, MOST, ',');
        check(PE_BFLOAT16, data, MOST, ',');
    }
}

/* Every 997th of those that take the short way; tests/proof takes all. */
static void floats_in_turn_print_alike(void **unused)
{
    static char data[4 * MOST];
    uint32_t bits = 0x38d00000;
    while (bits <= 0x4f000000) {
        for (size_t i = 0; i < MOST; i++, bits += 997)
            memcpy(data + 4 * i, &bits, 4);
        check(PE_FLOAT32, data, MOST, ',');
    }
}

/* Attention biases, and what stands near powers of ten. */
static void fill_with_large(random_source *random, pe_dtype dtype, char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = random_bits(random);
        const double power = pow(10, (double)(bits >> 8 & 15) + 1);
        const double any = power * (1 + (double)(bits >> 12) * 0x1p-50);
        const double kinds[] = {any,
                                floor(any),
                                floor(any * 8) / 8,
                                power,
                                power * (1 + ldexp(1, -(int)(bits >> 20 & 31) - 20)),
                                power * (1 - ldexp(1, -(int)(bits >> 20 & 31) - 20))};
        pe_dtype_store(dtype, kinds[bits % 6] * (bits & 64 ? -1 : 1),
                       data + i * pe_dtype_bytes(dtype));
    }
}

static void numbers_from_ten_up_print_alike(void **unused)
{
    static const pe_dtype floats[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};
    static char data[8 * MOST];
    random_source random = random_make("from ten up");
    for (int round = 0; round < 40; round++)
        for (size_t d = 0; d < PE_LEN(floats); d++) {
            fill_with_large(&random, floats[d], data, MOST);
            check(floats[d], data, MOST, ',');
        }
}

static void any_length_alignment_and_separator(void **unused)
{
    static const char separators[] = {',', '\n', '\t', ' ', ';', '0', '\0', '\xff'};
    static char data[8 * 320 + 8];
    random_source random = random_make("lengths");
    for (size_t n = 0; n < 300; n++)
        for (size_t d = 0; d < PE_LEN(dtypes); d++) {
            char *at = data + n % 8;
            fill_like_tables(&random, dtypes[d], at, n);
            check(dtypes[d], at, n, separators[n % sizeof separators]);
        }
}

/* Whole numbers, ties, powers of two, halves of spacings and short decimals, in every binade. */
static void fill_with_edges(random_source *random, pe_dtype dtype, char *data, size_t n)
{
    static const int lowest[] = {
        [PE_FLOAT32] = -149, [PE_FLOAT64] = -1074, [PE_FLOAT16] = -24, [PE_BFLOAT16] = -133};
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = random_bits(random), few = bits >> 58;
        const int q = lowest[dtype] + (int)(bits >> 20 & 4095) % (2 - 2 * lowest[dtype]);
        const double decimal = (double)(bits >> 40) * pow(10, (double)(bits >> 32 & 63) - 48);
        const double kinds[] = {ldexp(1, q), ldexp((double)(2 * few + 1), q),
                                ldexp((double)(bits >> 11), q), decimal};
        double v = kinds[bits % 4];
        v = fabs(v) > pe_dtype_max(dtype) ? 0 : v;
        pe_dtype_store(dtype, bits & 64 ? -v : v, data + i * pe_dtype_bytes(dtype));
    }
}

static void edges_print_alike(void **unused)
{
    static const pe_dtype floats[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};
    static char data[8 * MOST];
    random_source random = random_make("edges");
    for (int round = 0; round < 40; round++)
        for (size_t d = 0; d < PE_LEN(floats); d++) {
            fill_with_edges(&random, floats[d], data, MOST);
            check(floats[d], data, MOST, ',');
        }
}

/* The input ends at a forbidden page, and so does the room for the output. */
static void nothing_else_is_touched(void **unused)
{
    random_source random = random_make("nothing else");
    for (size_t n = 1; n < 40; n++)
        for (size_t d = 0; d < PE_LEN(dtypes); d++)
            for (const pe_blocks *const *v = pe_blocks_all(); *v != NULL; v++) {
                guarded in = guard_make(n * pe_dtype_bytes(dtypes[d]), 0);
                guarded out = guard_make(n * PE_NUMBER_TEXT_MAX, 0);
                if (n % 2)
                    fill_like_tables(&random, dtypes[d], (char *)in.data, n);
                else
                    for (size_t i = 0; i < in.bytes; i++)
                        in.data[i] = (unsigned char)random_bits(&random);
                assert_true(pe_blocks_select((*v)->name));
                pe_blocks_print(dtypes[d], in.data, n, ',', (char *)out.data);
                guard_check(&in, "input");
                guard_check(&out, "output");
                guard_free(&in);
                guard_free(&out);
            }
}

static void selection(void **unused)
{
    const pe_blocks *const *all = pe_blocks_all(), *best = NULL;
    for (; *all != NULL; all++) {
        best = *all;
        assert_true(pe_blocks_select(best->name));
        assert_ptr_equal(pe_blocks_get(), best);
    }
    assert_true(pe_blocks_select("baseline"));
    assert_false(pe_blocks_select("v5"));
    assert_string_equal(pe_blocks_get()->name, "baseline");
    assert_true(pe_blocks_select("auto"));
    assert_ptr_equal(pe_blocks_get(), best);
}

/* Baseline stores all of a place's exponent and writes on behind its characters. */
static void exponents_end_in_zeros(void **unused)
{
    for (size_t i = 0; i < PE_LEN(pe_layout_places); i++) {
        const pe_place *place = &pe_layout_places[i];
        const size_t bytes = pe_layouts[place->layout].exponent_bits / 8;
        for (size_t j = 0; j < sizeof place->exponent; j++)
            assert_int_equal(place->exponent[j] != '\0', j < bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"what tables hold prints as it does singly", tables_print_alike, NULL, NULL, NULL},
        {"random bits print as they do singly", random_bits_print_alike, NULL, NULL, NULL},
        {"every 16-bit value prints as it does singly", every_16_bit_value_prints_alike, NULL, NULL,
         NULL},
        {"floats in turn print as they do singly", floats_in_turn_print_alike, NULL, NULL, NULL},
        {"numbers from ten up print as they do singly", numbers_from_ten_up_print_alike, NULL, NULL,
         NULL},
        {"ties, powers of two and short decimals print as they do singly", edges_print_alike, NULL,
         NULL, NULL},
        {"any length, alignment and separator", any_length_alignment_and_separator, NULL, NULL,
         NULL},
        {"nothing but the room promised is touched", nothing_else_is_touched, NULL, NULL, NULL},
        {"variants are chosen by name", selection, NULL, NULL, NULL},
        {"exponents of layouts end in zeros", exponents_end_in_zeros, NULL, NULL, NULL},
        cmocka_unit_test(every_variant_of_text_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
