/* SPDX-License-Identifier: MIT */
/* test_process.c - what the process says of the machine's limits. */
#include "support/check.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/process.h"

static void a_thread_that_cannot_start_names_its_purpose_and_the_limit(void **state)
{
    pe_problem why;
    struct rlimit limit;
    assert_int_equal(pe_process_fail_thread("workers", EAGAIN, &why), PE_INTERNAL);
    assert_non_null(strstr(why.detail, "(workers)"));
    assert_non_null(strstr(why.detail, "pids.max"));
    assert_int_equal(getrlimit(RLIMIT_NPROC, &limit), 0);
    const bool held = limit.rlim_cur != RLIM_INFINITY && geteuid() != 0;
    assert_int_equal(strstr(why.detail, "RLIMIT_NPROC") != NULL, held);
    assert_int_equal(pe_process_fail_thread("log", ENOMEM, &why), PE_INTERNAL);
    assert_non_null(strstr(why.detail, strerror(ENOMEM)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_cannot_start_names_its_purpose_and_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
