/* SPDX-License-Identifier: MIT */
/* test_invariants.c - what should never happen is told once it does, and nothing else is. */
#include "support/check.h"

#include "base/array.h"
#include "http/pages/pages.h"

#define MIB UINT64_C(1048576)

static void what_spins_or_leaks_while_nothing_is_asked_is_told(void **state)
{
    static const struct {
        const char *what;
        pe_sight sight;
        pe_broken broken;
    } sights[] = {
        {"the first", {100, 5, 7, 0, 10 * MIB}, {0}},
        {"quiet", {102, 5.1, 7, 0, 10 * MIB}, {0}},
        {"work", {104, 7, 7, 1, 90 * MIB}, {0}},
        {"it is done", {106, 9, 8, 0, 12 * MIB}, {0}},
        {"all of it in between", {108, 11, 9, 0, 12 * MIB}, {0}},
        {"a core spins", {110, 13, 9, 0, 12 * MIB}, {.idle = true}},
        {"too soon", {110.5, 13.5, 9, 0, 12 * MIB}, {0}},
        {"it rests", {112, 13.2, 9, 0, 26 * MIB}, {0}},
        {"what was kept", {114, 13.2, 9, 0, 27 * MIB}, {.memory = true}},
        {"told once", {116, 13.2, 9, 0, 28 * MIB}, {0}},
        {"more", {118, 15.2, 9, 0, 44 * MIB}, {.idle = true, .memory = true}},
    };
    pe_invariants invariants = {0};
    for (size_t i = 0; i < PE_LEN(sights); i++) {
        const pe_broken broken = pe_invariants_judge(&invariants, &sights[i].sight);
        if (broken.idle != sights[i].broken.idle || broken.memory != sights[i].broken.memory)
            fail_msg("%s: idle %d, memory %d", sights[i].what, broken.idle, broken.memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_spins_or_leaks_while_nothing_is_asked_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
