/* SPDX-License-Identifier: MIT */
/* calls.h - the system calls of the server after its start. `make test-calls` compares. */
#ifndef PE_SANDBOX_CALLS_H
#define PE_SANDBOX_CALLS_H

/* X(call). Everything else fails with ENOSYS, which the C library takes for an older system. */
#define PE_CALLS_MAP(X)                                                                            \
    /* sockets and epoll */                                                                        \
    X(accept4)                                                                                     \
    X(close)                                                                                       \
    X(epoll_ctl)                                                                                   \
    X(epoll_wait)                                                                                  \
    X(epoll_pwait)                                                                                 \
    X(getsockopt)                                                                                  \
    X(poll)                                                                                        \
    X(ppoll)                                                                                       \
    X(recvfrom)                                                                                    \
    X(recvmsg)                                                                                     \
    X(sendmsg)                                                                                     \
    X(sendto)                                                                                      \
    X(setsockopt)                                                                                  \
    X(shutdown)                                                                                    \
    /* memory */                                                                                   \
    X(brk)                                                                                         \
    X(madvise)                                                                                     \
    X(mremap)                                                                                      \
    X(munmap)                                                                                      \
    /* threads and time */                                                                         \
    X(clock_gettime)                                                                               \
    X(clock_nanosleep)                                                                             \
    X(exit)                                                                                        \
    X(exit_group)                                                                                  \
    X(futex)                                                                                       \
    X(getpid)                                                                                      \
    X(getpriority)                                                                                 \
    X(getrandom)                                                                                   \
    X(gettid)                                                                                      \
    X(rseq)                                                                                        \
    X(rt_sigaction)                                                                                \
    X(rt_sigprocmask)                                                                              \
    X(rt_sigreturn)                                                                                \
    X(rt_sigtimedwait)                                                                             \
    X(restart_syscall)                                                                             \
    X(sched_getaffinity)                                                                           \
    X(sched_yield)                                                                                 \
    X(set_robust_list)                                                                             \
    X(setpriority)                                                                                 \
    X(tgkill)                                                                                      \
    /* files; Landlock says which */                                                               \
    X(fcntl)                                                                                       \
    X(fstat)                                                                                       \
    X(getdents64)                                                                                  \
    X(lseek)                                                                                       \
    X(newfstatat)                                                                                  \
    X(getcwd)                                                                                      \
    X(readlink)                                                                                    \
    X(readlinkat)                                                                                  \
    X(unlink)                                                                                      \
    X(unlinkat)                                                                                    \
    X(openat)                                                                                      \
    X(pread64)                                                                                     \
    X(read)                                                                                        \
    X(write)

/** Only where some bits of an argument have a value: X(call, argument, bits, value). No memory can
 * become code. */
#define PE_CALLS_BOUND_MAP(X)                                                                      \
    X(mmap, 2, PROT_EXEC, 0)                                                                       \
    X(mprotect, 2, PROT_EXEC, 0)                                                                   \
    X(clone, 0, CLONE_THREAD, CLONE_THREAD) /* threads, no processes */                            \
    X(ioctl, 1, UINT64_MAX, SIOCINQ)        /* bytes that wait in a socket */                      \
    X(ioctl, 1, UINT64_MAX, SIOCOUTQ)                                                              \
    X(prctl, 0, UINT64_MAX, PR_SET_NAME) /* the library's, in a thread that begins */

/** No fault leads here by itself: the process ends. */
#define PE_CALLS_DEADLY_MAP(X)                                                                     \
    X(execve)                                                                                      \
    X(execveat)                                                                                    \
    X(fork)                                                                                        \
    X(vfork)                                                                                       \
    X(ptrace)                                                                                      \
    X(process_vm_readv)                                                                            \
    X(process_vm_writev)                                                                           \
    X(bpf)                                                                                         \
    X(init_module)                                                                                 \
    X(finit_module)                                                                                \
    X(kexec_load)                                                                                  \
    X(mount)                                                                                       \
    X(setns)                                                                                       \
    X(unshare)

#endif
