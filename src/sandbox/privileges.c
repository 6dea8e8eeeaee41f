/* SPDX-License-Identifier: MIT */
/* privileges.c - the user that root becomes, capabilities, new privileges, core dumps. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/walls.h"

/* ---- the user ---- */

/* What a line of the list of users takes. */
#define ENTRY_BYTES 4096

/* A user by name or, for containers without a list of users, by number. */
static bool find_user(const char *name, uid_t *user, gid_t *group)
{
    char text[ENTRY_BYTES], *end;
    struct passwd entry, *found = NULL;
    if (getpwnam_r(name, &entry, text, sizeof text, &found) == 0 && found != NULL) {
        *user = entry.pw_uid;
        *group = entry.pw_gid;
        return true;
    }
    const unsigned long number = strtoul(name, &end, 10);
    *user = (uid_t)number;
    *group = (gid_t)number;
    return *name >= '0' && *name <= '9' && *end == '\0' && number < (uid_t)-1;
}

/* The signal that a parent's end brings is forgotten with the user, and so set again. */
static bool become(uid_t user, gid_t group)
{
    int at_parents_end = 0;
    prctl(PR_GET_PDEATHSIG, &at_parents_end, 0, 0, 0);
    const bool done = setgroups(0, NULL) == 0 && setresgid(group, group, group) == 0 &&
                      setresuid(user, user, user) == 0;
    prctl(PR_SET_PDEATHSIG, (unsigned long)at_parents_end, 0, 0, 0);
    return done;
}

/* While it still may: no program that this process starts could regain a capability. */
static void drop_bound(void)
{
    for (unsigned long capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;)
        capability++;
}

pe_sandbox_state pe_wall_user(const pe_sandbox_plan *plan, pe_wall_note note)
{
    uid_t user;
    gid_t group;
    if (geteuid() != 0)
        return pe_wall_say(note, PE_SANDBOX_ON, "user %u, not root", (unsigned)geteuid());
    if (plan->user == NULL || *plan->user == '\0')
        return pe_wall_say(note, PE_SANDBOX_OFF, "root, since the setting user is empty");
    if (!find_user(plan->user, &user, &group))
        return pe_wall_say(note, PE_SANDBOX_FAILED, "root, since there is no user %.64s",
                           plan->user);
    if (plan->enclose)
        drop_bound();
    if (!become(user, group))
        return pe_wall_say(note, PE_SANDBOX_FAILED, "root, which could not become %.64s: %s",
                           plan->user, strerror(errno));
    return pe_wall_say(note, PE_SANDBOX_ON, "root has become %.64s", plan->user);
}

/* ---- core dumps ---- */

/* The kernel hands a dump to a program whatever the limit, unless that is 1; to a file it writes
 * none below a page. Nobody else's program may look into the memory either. */
pe_sandbox_state pe_wall_core_dumps(const pe_sandbox_plan *plan, pe_wall_note note)
{
    struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
    if (plan->core_dumps) {
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* a change of user had ended it */
        return pe_wall_say(note, PE_SANDBOX_OFF, "dumps are allowed by the setting core_dumps");
    }
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return pe_wall_say(note, PE_SANDBOX_FAILED, "%s", strerror(errno));
    if (setrlimit(RLIMIT_CORE, &limit) != 0) {
        limit.rlim_cur = limit.rlim_max = 0; /* the limit was 0 before */
        setrlimit(RLIMIT_CORE, &limit);
    }
    return pe_wall_say(note, PE_SANDBOX_ON, "no dumps, no tracing by other programs of the user");
}

/* ---- capabilities ---- */

pe_sandbox_state pe_wall_capabilities(const pe_sandbox_plan *plan PE_UNUSED, pe_wall_note note)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    drop_bound();
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none) != 0)
        return pe_wall_say(note, PE_SANDBOX_FAILED, "%s", strerror(errno));
    return pe_wall_say(note, PE_SANDBOX_ON, "none");
}

pe_sandbox_state pe_wall_new_privileges(const pe_sandbox_plan *plan PE_UNUSED, pe_wall_note note)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return pe_wall_say(note, PE_SANDBOX_FAILED, "%s", strerror(errno));
    return pe_wall_say(note, PE_SANDBOX_ON, "none can be gained");
}
