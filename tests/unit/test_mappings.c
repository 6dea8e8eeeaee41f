/* SPDX-License-Identifier: MIT */
/* test_mappings.c - large allocations: mappings of their own, with few page faults, given back. */
#include "support/check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/buffer.h"
#include "base/memory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR 0 /* the sanitizer's */
#else
#define OWN_ALLOCATOR 1
#endif

enum { MIB = 1 << 20, BODY = 12 * MIB, PIECE = 8192 };

static void append_pieces(pe_buffer *buffer, size_t bytes)
{
    char piece[PIECE];
    for (size_t at = 0; at < bytes; at += PIECE) {
        memset(piece, (int)(at / PIECE % 251), PIECE);
        pe_buffer_add(buffer, piece, PIECE);
    }
}

static void check_pieces(const pe_buffer *buffer, size_t bytes)
{
    assert_false(buffer->failed);
    assert_int_equal(buffer->bytes, bytes);
    for (size_t at = 0; at < bytes; at += PIECE)
        assert_int_equal((unsigned char)buffer->data[at + at % 8191], at / PIECE % 251);
}

static size_t mappings(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.hblks;
}

static void a_large_buffer_is_a_mapping_that_goes_back(void **state)
{
    if (!OWN_ALLOCATOR)
        skip();
    for (int round = 0; round < 3; round++) { /* the allocator's default keeps the second */
        const size_t before = mappings();
        pe_buffer buffer = {0};
        append_pieces(&buffer, BODY);
        check_pieces(&buffer, BODY);
        assert_int_equal(mappings(), before + 1);
        pe_buffer_free(&buffer);
        assert_int_equal(mappings(), before);
    }
}

static long faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

/* Does the system give huge pages to who asks? It may be set not to, or have none left. */
static bool has_huge_pages(void)
{
    char *at = mmap(NULL, BODY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    const long before = faults();
    if (madvise(at, BODY, MADV_HUGEPAGE) == 0)
        memset(at, 1, BODY);
    const long taken = faults() - before;
    munmap(at, BODY);
    return taken > 0 && taken < BODY / 4096 / 2;
}

static void a_large_buffer_takes_few_page_faults(void **state)
{
    const char *emulator = getenv("TEST_EMULATOR");
    if (!OWN_ALLOCATOR || !has_huge_pages() || (emulator != NULL && *emulator != '\0'))
        skip(); /* an emulator keeps small pages */
    const long before = faults();
    pe_buffer buffer = {0};
    assert_non_null(pe_buffer_reserve(&buffer, BODY)); /* as for a body whose length is known */
    append_pieces(&buffer, BODY);
    const long taken = faults() - before;
    check_pieces(&buffer, BODY);
    pe_buffer_free(&buffer);
    print_message("%ld page faults for %d pages\n", taken, BODY / 4096);
    assert_in_range(taken, 1, BODY / 4096 / 2);
}

static void small_memory_is_left_alone(void **state)
{
    char few[64] = "as it was";
    pe_memory_use_huge_pages(few, sizeof few);
    pe_memory_use_huge_pages(NULL, 0);
    assert_string_equal(few, "as it was");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_buffer_is_a_mapping_that_goes_back),
        cmocka_unit_test(a_large_buffer_takes_few_page_faults),
        cmocka_unit_test(small_memory_is_left_alone),
    };
    pe_memory_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
