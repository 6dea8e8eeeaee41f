/* SPDX-License-Identifier: MIT */
/* sandbox.c - what the settings ask of the sandbox, its walls in their order, and how they stand. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/sockios.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "sandbox/calls.h"

/* ---- the plan: what the settings ask for, and the files that they name ---- */

static void add(pe_sandbox_plan *plan, const char *path, pe_sandbox_use use)
{
    const size_t bytes = strlen(path);
    if (bytes == 0 || bytes >= sizeof plan->paths->path || plan->n_paths == PE_SANDBOX_PATHS_MAX)
        return;
    pe_sandbox_path *next = &plan->paths[plan->n_paths++];
    next->use = use;
    memcpy(next->path, path, bytes + 1);
}

/* The folder of a file, as the path names it. */
static void add_folder_of(pe_sandbox_plan *plan, const char *file, pe_sandbox_use use)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", file);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        snprintf(folder, sizeof folder, ".");
    else
        slash[slash == folder] = '\0';
    add(plan, folder, use);
}

/* Files are replaced by others of their name, and a name may be a link to another folder: what is
 * read again is what the folders hold then. */
static void add_file(pe_sandbox_plan *plan, const char *file)
{
    char real[PATH_MAX];
    if (file == NULL || *file == '\0')
        return;
    add(plan, file, PE_SANDBOX_READS);
    add_folder_of(plan, file, PE_SANDBOX_FINDS);
    if (realpath(file, real) != NULL && strcmp(real, file) != 0)
        add_folder_of(plan, real, PE_SANDBOX_FINDS);
}

void pe_sandbox_plan_make(const pe_config *config, pe_sandbox_plan *out)
{
    const pe_settings *settings = pe_config_settings(config);
    *out = (pe_sandbox_plan){.enclose = strcmp(settings->sandbox, "off") != 0,
                             .required = strcmp(settings->sandbox, "required") == 0,
                             .core_dumps = settings->core_dumps,
                             .user = settings->user};
    add(out, "/proc/self", PE_SANDBOX_FINDS); /* memory that is in use */
    add(out, settings->learned_dir, PE_SANDBOX_READS);
    add_file(out, pe_config_file(config));
    add_file(out, settings->keys_file);
    add_file(out, settings->tls_certificate);
    add_file(out, settings->tls_key);
    /* The file of a unix socket is removed at the end. */
    const pe_setting_list *places = &settings->listen;
    static const char prefix[] = "unix:";
    for (size_t i = 0; i < places->n; i++)
        if (strncmp(places->item[i], prefix, strlen(prefix)) == 0)
            add_folder_of(out, places->item[i] + strlen(prefix), PE_SANDBOX_REMOVES);
    /* Another file of their name is made when logs were moved away. */
    const char *const logs[] = {settings->log_file, settings->access_log_file};
    for (size_t i = 0; i < PE_LEN(logs); i++)
        if (*logs[i] != '\0')
            add_folder_of(out, logs[i], PE_SANDBOX_WRITES);
}

/* ---- what a wall says ---- */

/* Note what holds now, or why the wall could not be put up; a long text is cut. Returns the state. */
__attribute__((format(printf, 3, 4))) static pe_sandbox_state
say(pe_sandbox_wall *wall, pe_sandbox_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wall->detail, sizeof wall->detail, format, arguments);
    va_end(arguments);
    return state;
}

/* ---- the user that root becomes, core dumps, capabilities ---- */

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

static pe_sandbox_state enter_user(const pe_sandbox_plan *plan, pe_sandbox_wall *wall)
{
    uid_t user;
    gid_t group;
    if (geteuid() != 0)
        return say(wall, PE_SANDBOX_ON, "user %u, not root", (unsigned)geteuid());
    if (plan->user == NULL || *plan->user == '\0')
        return say(wall, PE_SANDBOX_OFF, "root, since the setting user is empty");
    if (!find_user(plan->user, &user, &group))
        return say(wall, PE_SANDBOX_FAILED, "root, since there is no user %.64s", plan->user);
    if (plan->enclose)
        drop_bound();
    if (!become(user, group))
        return say(wall, PE_SANDBOX_FAILED, "root, which could not become %.64s: %s", plan->user,
                   strerror(errno));
    return say(wall, PE_SANDBOX_ON, "root has become %.64s", plan->user);
}

/* The kernel hands a dump to a program whatever the limit, unless that is 1; to a file it writes
 * none below a page. Nobody else's program may look into the memory either. */
static pe_sandbox_state enter_core_dumps(const pe_sandbox_plan *plan, pe_sandbox_wall *wall)
{
    struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
    if (plan->core_dumps) {
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* a change of user had ended it */
        return say(wall, PE_SANDBOX_OFF, "dumps are allowed by the setting core_dumps");
    }
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return say(wall, PE_SANDBOX_FAILED, "%s", strerror(errno));
    if (setrlimit(RLIMIT_CORE, &limit) != 0) {
        limit.rlim_cur = limit.rlim_max = 0; /* the limit was 0 before */
        setrlimit(RLIMIT_CORE, &limit);
    }
    return say(wall, PE_SANDBOX_ON, "no dumps, no tracing by other programs of the user");
}

static pe_sandbox_state enter_capabilities(const pe_sandbox_plan *plan PE_UNUSED,
                                           pe_sandbox_wall *wall)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    drop_bound();
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none) != 0)
        return say(wall, PE_SANDBOX_FAILED, "%s", strerror(errno));
    return say(wall, PE_SANDBOX_ON, "none");
}

static pe_sandbox_state enter_new_privileges(const pe_sandbox_plan *plan PE_UNUSED,
                                             pe_sandbox_wall *wall)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return say(wall, PE_SANDBOX_FAILED, "%s", strerror(errno));
    return say(wall, PE_SANDBOX_ON, "none can be gained");
}

/* ---- files, by the kernel's Landlock ---- */

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

static pe_sandbox_state enter_landlock(const pe_sandbox_plan *plan, pe_sandbox_wall *wall)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return say(wall, PE_SANDBOX_FAILED, "the system has none: %s", strerror(errno));
    ruleset all = {0};
    for (size_t v = 1; v < PE_LEN(added) && (long)v <= version; v++) {
        all.files |= added[v].files;
        all.network |= added[v].network;
        all.scope |= added[v].scope;
    }
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0)
        return say(wall, PE_SANDBOX_FAILED, "no set of rules: %s", strerror(errno));
    bool done = true;
    for (size_t p = 0; p < plan->n_paths && done; p++)
        done = allow(rules, &all, &plan->paths[p]);
    done = done && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    const int error = errno;
    close(rules);
    if (!done)
        return say(wall, PE_SANDBOX_FAILED, "%s", strerror(error));
    return say(wall, PE_SANDBOX_ON, "version %ld; %zu paths can be opened%s", version,
               plan->n_paths, all.network != 0 ? ", no connection made" : "");
}

/* ---- system calls, by libseccomp ---- */

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

/* For all threads at once. */
static bool build(scmp_filter_ctx filter)
{
    bool done = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0;
    for (size_t i = 0; i < PE_LEN(allowed) + PE_LEN(deadly) && done; i++) {
        const bool kills = i >= PE_LEN(allowed);
        const int number =
            seccomp_syscall_resolve_name(kills ? deadly[i - PE_LEN(allowed)] : allowed[i]);
        done = number == __NR_SCMP_ERROR ||
               fine(seccomp_rule_add(filter, kills ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW, number,
                                     0));
    }
    for (size_t i = 0; i < PE_LEN(bound) && done; i++) {
        const struct scmp_arg_cmp fits =
            SCMP_CMP(bound[i].argument, SCMP_CMP_MASKED_EQ, bound[i].bits, bound[i].value);
        done = fine(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW,
                                           seccomp_syscall_resolve_name(bound[i].name), 1, &fits));
    }
    return done;
}

static pe_sandbox_state enter_seccomp(const pe_sandbox_plan *plan PE_UNUSED, pe_sandbox_wall *wall)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (filter == NULL || !build(filter)) {
        seccomp_release(filter);
        return say(wall, PE_SANDBOX_FAILED, "the filter could not be made");
    }
    const int result = seccomp_load(filter);
    seccomp_release(filter);
    if (result != 0)
        return say(wall, PE_SANDBOX_FAILED, "%s", strerror(-result));
    return say(wall, PE_SANDBOX_ON, "%zu system calls can be made",
               PE_LEN(allowed) + PE_LEN(bound));
}

/* ---- all walls ---- */

/* A sanitizer traces the process at its end, and counts of coverage are written then. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(PE_COVERAGE)
#define WATCHED_BUILD 1
#else
#define WATCHED_BUILD 0
#endif

static const struct {
    const char *name;
    /** Puts up the wall and says what holds now, or why it could not be. */
    pe_sandbox_state (*enter)(const pe_sandbox_plan *plan, pe_sandbox_wall *wall);
    bool enclosing; /* left out where plan->enclose is false */
    bool for_all;   /* for all threads, and so put up when they have been started */
} walls[PE_SANDBOX_WALLS] = {
    [PE_SANDBOX_USER] = {"user", enter_user, false, false},
    [PE_SANDBOX_CORE_DUMPS] = {"core_dumps", enter_core_dumps, false, false},
    [PE_SANDBOX_CAPABILITIES] = {"capabilities", enter_capabilities, true, false},
    [PE_SANDBOX_PRIVILEGES] = {"new_privileges", enter_new_privileges, true, false},
    [PE_SANDBOX_LANDLOCK] = {"landlock", enter_landlock, true, false},
    [PE_SANDBOX_SECCOMP] = {"seccomp", enter_seccomp, true, true},
};

static const char *const state_names[] = {
    [PE_SANDBOX_OFF] = "off", [PE_SANDBOX_ON] = "on", [PE_SANDBOX_FAILED] = "failed"};

static void warn(size_t w, const char *detail)
{
    PE_LOG(PE_LOG_WARN, "sandbox", PE_TEXT("wall", walls[w].name), PE_TEXT("detail", detail));
}

static pe_status enter_those(const pe_sandbox_plan *plan, bool for_all, pe_sandbox *out,
                             pe_problem *why)
{
    for (size_t w = 0; w < PE_SANDBOX_WALLS; w++) {
        pe_sandbox_wall *wall = &out->wall[w];
        if (walls[w].for_all != for_all)
            continue;
        if (WATCHED_BUILD)
            wall->state = say(wall, plan->required ? PE_SANDBOX_FAILED : PE_SANDBOX_OFF,
                              "not in a build with a sanitizer or coverage");
        else if (walls[w].enclosing && !plan->enclose)
            wall->state = say(wall, PE_SANDBOX_OFF, "switched off by the setting sandbox");
        else
            wall->state = walls[w].enter(plan, wall);
        if (wall->state == PE_SANDBOX_FAILED && plan->required)
            return pe_fail(why, PE_INVALID_PARAMETER, "sandbox",
                           "sandbox is required, but %s is not to be had: %s", walls[w].name,
                           wall->detail);
        if (wall->state == PE_SANDBOX_FAILED)
            warn(w, wall->detail);
    }
    return PE_OK;
}

/* The first folder on the way to a path that this user may not pass, or the path. */
static void find_closed(const char *path, char *out, size_t room)
{
    for (const char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        snprintf(out, room, "%.*s", (int)(at - path), path);
        if (eaccess(out, X_OK) != 0)
            return;
    }
    snprintf(out, room, "%s", path);
}

/* What only root may use cannot be used again: what fails then, and what mends it. */
static void warn_unusable(const pe_sandbox_plan *plan)
{
    static const int modes[] = {[PE_SANDBOX_READS] = R_OK, [PE_SANDBOX_WRITES] = W_OK | X_OK};
    char detail[1024], closed[512];
    for (size_t p = 0; p < plan->n_paths; p++) {
        const char *path = plan->paths[p].path;
        const pe_sandbox_use use = plan->paths[p].use;
        if ((size_t)use >= PE_LEN(modes) || eaccess(path, modes[use]) == 0)
            continue;
        const bool reads = use == PE_SANDBOX_READS, denied = errno == EACCES;
        snprintf(detail, sizeof detail, "user %u may not %s %.400s after the start: %s, so %s",
                 (unsigned)geteuid(), reads ? "read" : "write into", path, strerror(errno),
                 reads ? "SIGHUP will not read it again" : "SIGUSR1 will not open the log again");
        find_closed(path, closed, sizeof closed);
        const size_t used = strlen(detail);
        if (denied)
            snprintf(detail + used, sizeof detail - used, "; chgrp %u %.200s && chmod %s %.200s",
                     (unsigned)getegid(), closed,
                     strcmp(closed, path) != 0 ? "g+x"
                     : reads                   ? "g+rX"
                                               : "g+wx",
                     closed);
        warn(PE_SANDBOX_USER, detail);
    }
}

pe_status pe_sandbox_enter(const pe_sandbox_plan *plan, pe_sandbox *out, pe_problem *why)
{
    const pe_status status = enter_those(plan, false, out, why);
    if (status == PE_OK)
        warn_unusable(plan);
    return status;
}

pe_status pe_sandbox_seal(const pe_sandbox_plan *plan, pe_sandbox *out, pe_problem *why)
{
    return enter_those(plan, true, out, why);
}

void pe_sandbox_json(const pe_sandbox *sandbox, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    for (size_t w = 0; w < PE_SANDBOX_WALLS; w++) {
        pe_buffer_format(out, "%s\"%s\":{\"state\":\"%s\",\"detail\":", w == 0 ? "" : ",",
                         walls[w].name, state_names[sandbox->wall[w].state]);
        pe_buffer_json_string(out, sandbox->wall[w].detail);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "}");
}

void pe_sandbox_text(const pe_sandbox *sandbox, pe_buffer *out)
{
    for (size_t w = 0; w < PE_SANDBOX_WALLS; w++)
        pe_buffer_format(out, "sandbox: %-14s %-6s %s\n", walls[w].name,
                         state_names[sandbox->wall[w].state], sandbox->wall[w].detail);
}
