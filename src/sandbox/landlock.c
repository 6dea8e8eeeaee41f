/* SPDX-License-Identifier: MIT */
/* landlock.c - the files that can still be opened, by the kernel's Landlock. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "sandbox/walls.h"

/* What the headers of older systems do not name. */
#define FS_TRUNCATE           (UINT64_C(1) << 14)
#define FS_IOCTL_DEVICE       (UINT64_C(1) << 15)
#define NET_BIND_TCP          (UINT64_C(1) << 0)
#define NET_CONNECT_TCP       (UINT64_C(1) << 1)
#define SCOPE_ABSTRACT_SOCKET (UINT64_C(1) << 0)
#define SCOPE_SIGNAL          (UINT64_C(1) << 1)

/* The kernel's landlock_ruleset_attr in full; an older kernel takes zeros at its end. */
typedef struct ruleset {
    uint64_t files, network, scope;
} ruleset;

/* What each version of the kernel's interface can forbid, beside what those before can. */
static const ruleset added[] = {
    [1] = {.files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1},
    [2] = {.files = LANDLOCK_ACCESS_FS_REFER},
    [3] = {.files = FS_TRUNCATE},
    [4] = {.network = NET_BIND_TCP | NET_CONNECT_TCP},
    [5] = {.files = FS_IOCTL_DEVICE},
    [6] = {.scope = SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL},
};

#define READ   ((uint64_t)LANDLOCK_ACCESS_FS_READ_FILE)
#define LIST   ((uint64_t)LANDLOCK_ACCESS_FS_READ_DIR)
#define REMOVE ((uint64_t)LANDLOCK_ACCESS_FS_REMOVE_FILE)

/* Rights for files, and those for folders alone. */
static const struct {
    uint64_t file, folder;
} rights[] = {
    [PE_SANDBOX_READS] = {READ, LIST},
    [PE_SANDBOX_FINDS] = {READ, LIST},
    [PE_SANDBOX_WRITES] = {LANDLOCK_ACCESS_FS_WRITE_FILE, LANDLOCK_ACCESS_FS_MAKE_REG},
    [PE_SANDBOX_REMOVES] = {0, REMOVE},
};

static ruleset forbid_all(long version)
{
    ruleset all = {0};
    for (size_t v = 1; v < PE_LEN(added) && (long)v <= version; v++) {
        all.files |= added[v].files;
        all.network |= added[v].network;
        all.scope |= added[v].scope;
    }
    return all;
}

/* A path that is not there, or not for this user, cannot be opened later either: no rule. */
static bool allow(int rules, const ruleset *all, const pe_sandbox_path *path)
{
    struct stat facts;
    const int fd = open(path->path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return true;
    const bool folder = fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode);
    const uint64_t wanted = rights[path->use].file | (folder ? rights[path->use].folder : 0);
    const struct landlock_path_beneath_attr rule = {.allowed_access = wanted & all->files,
                                                    .parent_fd = fd};
    const bool done =
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(fd);
    return done;
}

static bool allow_all(int rules, const ruleset *all, const pe_sandbox_plan *plan)
{
    for (size_t p = 0; p < plan->n_paths; p++)
        if (!allow(rules, all, &plan->paths[p]))
            return false;
    return true;
}

pe_sandbox_state pe_wall_landlock(const pe_sandbox_plan *plan, pe_wall_note note)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return pe_wall_say(note, PE_SANDBOX_FAILED, "the system has none: %s", strerror(errno));
    const ruleset all = forbid_all(version);
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0)
        return pe_wall_say(note, PE_SANDBOX_FAILED, "no set of rules: %s", strerror(errno));
    const bool done =
        allow_all(rules, &all, plan) && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    const int error = errno;
    close(rules);
    if (!done)
        return pe_wall_say(note, PE_SANDBOX_FAILED, "%s", strerror(error));
    return pe_wall_say(note, PE_SANDBOX_ON, "version %ld; %zu paths can be opened%s", version,
                       plan->n_paths, all.network != 0 ? ", no connection made" : "");
}
