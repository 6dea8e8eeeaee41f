/* SPDX-License-Identifier: MIT */
/* test_meter.c - what takes far more than its price ends, as does what nobody waits for. The clock
 * is the test's. */
#include "support/check.h"

#include <string.h>

#include "base/array.h"
#include "base/yield.h"

#define MS INT64_C(1000000)

static int64_t now;

static int64_t clock_of_test(void)
{
    return now;
}

static bool is_left(void *context)
{
    return *(bool *)context;
}

/* As much as makes the meter read the clock. */
static void work_for(int64_t nanoseconds)
{
    now += nanoseconds;
    pe_yield_spend(PE_YIELD_WORK / 16);
}

static void what_takes_too_long_ends_and_says_how_much(void **state)
{
    pe_problem why;
    pe_meter meter = {.nanoseconds_max = 20 * MS};
    pe_meter_begin(&meter);
    work_for(20 * MS);
    assert_false(pe_yield_must_end());
    assert_int_equal(pe_yield_check(&why), PE_OK);
    work_for(1);
    assert_true(pe_yield_must_end());
    assert_int_equal(pe_yield_check(&why), PE_TOO_MUCH_WORK);
    assert_int_equal(why.max_work, 20 * MS / PE_UNIT_NANOSECONDS);
    pe_meter_end();
    assert_true(meter.overran);
    assert_int_equal(meter.nanoseconds, 20 * MS + 1);
    assert_int_equal(pe_meter_spent(&meter), 20 * MS / PE_UNIT_NANOSECONDS);
    assert_false(pe_yield_must_end());
}

static void time_between_turns_and_of_others_is_not_counted(void **state)
{
    pe_meter meter = {.nanoseconds_max = 20 * MS}, other = {.nanoseconds_max = 20 * MS};
    for (int i = 0; i < 10; i++) {
        pe_meter_begin(&meter);
        work_for(MS);
        pe_meter_end();
        now += 100 * MS;
        pe_meter_begin(&other);
        work_for(5 * MS);
        pe_meter_end();
    }
    assert_int_equal(meter.nanoseconds, 10 * MS);
    assert_int_equal(meter.ended, PE_OK);
    assert_int_equal(other.ended, PE_TOO_MUCH_WORK);
}

static void counted_units_end_it_without_a_clock(void **state)
{
    pe_meter meter = {.units_max = PE_YIELD_WORK};
    pe_meter_begin(&meter);
    for (int i = 0; i < 16; i++)
        work_for(1000 * MS);
    assert_false(pe_yield_must_end());
    work_for(0);
    assert_true(pe_yield_must_end());
    pe_yield_finish(); /* what is left is done */
    work_for(0);
    assert_false(pe_yield_must_end());
    pe_meter_end();
    assert_false(meter.overran);
    assert_int_equal(meter.nanoseconds, 0);
}

static void what_nobody_waits_for_ends_and_does_not_go_on(void **state)
{
    pe_problem why;
    bool left = false;
    pe_meter meter = {.is_left = is_left, .context = &left};
    pe_meter_begin(&meter);
    work_for(0);
    assert_false(pe_yield_must_end());
    left = true;
    work_for(0);
    assert_int_equal(pe_yield_check(&why), PE_OVERLOADED);
    pe_yield_finish();
    assert_true(pe_yield_must_end());
    pe_meter_end();
}

static int waits;

static void count_wait(void *context)
{
    waits++;
}

/* Half of the units that the time is worth are counted. */
static void turns_are_as_long_by_the_clock_as_by_the_count(void **state)
{
    const pe_yield_ways ways = {.wait = count_wait};
    pe_meter meter = {.nanoseconds_max = INT64_MAX};
    pe_yield_set(&ways);
    pe_yield_begin();
    pe_meter_begin(&meter);
    for (int i = 0; i < 320; i++)
        work_for((int64_t)PE_YIELD_WORK / 16 * PE_UNIT_NANOSECONDS * 2);
    pe_meter_end();
    pe_yield_set(NULL);
    assert_in_range(waits, 32, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_takes_too_long_ends_and_says_how_much),
        cmocka_unit_test(time_between_turns_and_of_others_is_not_counted),
        cmocka_unit_test(counted_units_end_it_without_a_clock),
        cmocka_unit_test(what_nobody_waits_for_ends_and_does_not_go_on),
        cmocka_unit_test(turns_are_as_long_by_the_clock_as_by_the_count),
    };
    pe_meter_use_clock(clock_of_test);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
