/* SPDX-License-Identifier: MIT */
/* seccomp.c - the system calls that can still be made, by libseccomp. */
#include <errno.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/array.h"
#include "sandbox/calls.h"
#include "sandbox/walls.h"

#define NAME(call)                         #call,
#define BOUND(call, argument, bits, value) {#call, argument, bits, value},

static const char *const allowed[] = {PE_CALLS_MAP(NAME)};
static const char *const deadly[] = {PE_CALLS_DEADLY_MAP(NAME)};
static const struct {
    const char *name;
    unsigned argument;
    uint64_t bits, value;
} bound[] = {PE_CALLS_BOUND_MAP(BOUND)};

/* Other architectures lack some calls; -EDOM is libseccomp's word for that. */
static bool fine(int result)
{
    return result == 0 || result == -EDOM;
}

static bool add_all(scmp_filter_ctx filter, uint32_t action, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int number = seccomp_syscall_resolve_name(names[i]);
        if (number != __NR_SCMP_ERROR && !fine(seccomp_rule_add(filter, action, number, 0)))
            return false;
    }
    return true;
}

static bool add_bound(scmp_filter_ctx filter)
{
    for (size_t i = 0; i < PE_LEN(bound); i++) {
        const struct scmp_arg_cmp fits =
            SCMP_CMP(bound[i].argument, SCMP_CMP_MASKED_EQ, bound[i].bits, bound[i].value);
        if (!fine(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW,
                                         seccomp_syscall_resolve_name(bound[i].name), 1, &fits)))
            return false;
    }
    return true;
}

/* For all threads at once. */
static bool build(scmp_filter_ctx filter)
{
    return seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
           add_all(filter, SCMP_ACT_ALLOW, allowed, PE_LEN(allowed)) &&
           add_all(filter, SCMP_ACT_KILL_PROCESS, deadly, PE_LEN(deadly)) && add_bound(filter);
}

pe_sandbox_state pe_wall_seccomp(const pe_sandbox_plan *plan PE_UNUSED, pe_wall_note note)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (filter == NULL || !build(filter)) {
        seccomp_release(filter);
        return pe_wall_say(note, PE_SANDBOX_FAILED, "the filter could not be made");
    }
    const int result = seccomp_load(filter);
    seccomp_release(filter);
    if (result != 0)
        return pe_wall_say(note, PE_SANDBOX_FAILED, "%s", strerror(-result));
    return pe_wall_say(note, PE_SANDBOX_ON, "%zu system calls can be made",
                       PE_LEN(allowed) + PE_LEN(bound));
}
