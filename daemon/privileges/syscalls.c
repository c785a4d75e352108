// SPDX-License-Identifier: Apache-2.0
/* syscalls.c - see syscalls.h. The calls were observed in the lab's scenarios (SECURITY.md, "System
 * calls"); the reason for a call is given where it is not obvious. */
#include "syscalls.h"

#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "cleanup.h"

/* clang-format off */
#define ALWAYS(name) {#name, CALLS_ALWAYS}
#define BPF(name)    {#name, CALLS_BPF}
#define ATTACH(name) {#name, CALLS_ATTACH}

const struct syscall_row syscalls_allowed[] = {
	/* files */
	ALWAYS(read), ALWAYS(readv), ALWAYS(pread64), ALWAYS(preadv), ALWAYS(preadv2),
	ALWAYS(write), ALWAYS(writev), ALWAYS(pwrite64), ALWAYS(pwritev), ALWAYS(pwritev2),
	ALWAYS(open), ALWAYS(openat), ALWAYS(openat2), ALWAYS(creat), ALWAYS(close),
	ALWAYS(close_range), ALWAYS(lseek), ALWAYS(getdents), ALWAYS(getdents64),
	ALWAYS(stat), ALWAYS(lstat), ALWAYS(fstat), ALWAYS(newfstatat), ALWAYS(statx),
	ALWAYS(statfs), ALWAYS(fstatfs), ALWAYS(access), ALWAYS(faccessat), ALWAYS(faccessat2),
	ALWAYS(readlink), ALWAYS(readlinkat), ALWAYS(name_to_handle_at),
	ALWAYS(open_by_handle_at), /* a cgroup by its id */
	ALWAYS(getcwd), ALWAYS(umask), ALWAYS(fcntl), ALWAYS(flock), ALWAYS(ioctl),
	ALWAYS(mkdir), ALWAYS(mkdirat), ALWAYS(rmdir), ALWAYS(unlink), ALWAYS(unlinkat),
	ALWAYS(rename), ALWAYS(renameat), ALWAYS(renameat2), ALWAYS(chmod), ALWAYS(fchmod),
	ALWAYS(fchmodat), ALWAYS(fchmodat2), ALWAYS(ftruncate), ALWAYS(fallocate),
	ALWAYS(fsync), ALWAYS(fdatasync), ALWAYS(fadvise64), ALWAYS(sendfile),
	ALWAYS(copy_file_range),
	/* pipes, polling, timers and watches */
	ALWAYS(dup), ALWAYS(dup2), ALWAYS(dup3), ALWAYS(pipe), ALWAYS(pipe2), ALWAYS(eventfd),
	ALWAYS(eventfd2), ALWAYS(signalfd4), ALWAYS(epoll_create), ALWAYS(epoll_create1),
	ALWAYS(epoll_ctl), ALWAYS(epoll_wait), ALWAYS(epoll_pwait), ALWAYS(epoll_pwait2),
	ALWAYS(poll), ALWAYS(ppoll), ALWAYS(select), ALWAYS(pselect6), ALWAYS(timerfd_create),
	ALWAYS(timerfd_settime), ALWAYS(timerfd_gettime), ALWAYS(inotify_init),
	ALWAYS(inotify_init1), ALWAYS(inotify_add_watch), ALWAYS(inotify_rm_watch),
	/* sockets; the families are below */
	ALWAYS(connect), ALWAYS(bind), ALWAYS(listen), ALWAYS(accept), ALWAYS(accept4),
	ALWAYS(getsockname), ALWAYS(getpeername), ALWAYS(getsockopt), ALWAYS(setsockopt),
	ALWAYS(sendto), ALWAYS(recvfrom), ALWAYS(sendmsg), ALWAYS(recvmsg), ALWAYS(sendmmsg),
	ALWAYS(recvmmsg), ALWAYS(shutdown), ALWAYS(socketpair),
	/* memory */
	ALWAYS(brk), ALWAYS(mmap), ALWAYS(munmap), ALWAYS(mremap), ALWAYS(mprotect),
	ALWAYS(madvise), ALWAYS(msync), ALWAYS(mincore), ALWAYS(mlock), ALWAYS(mlock2),
	ALWAYS(munlock), ALWAYS(memfd_create), ALWAYS(membarrier),
	/* threads, time, signals */
	ALWAYS(clone), ALWAYS(clone3), ALWAYS(exit), ALWAYS(exit_group), ALWAYS(futex),
	ALWAYS(futex_waitv), ALWAYS(set_robust_list), ALWAYS(get_robust_list),
	ALWAYS(set_tid_address), ALWAYS(rseq), ALWAYS(sched_yield), ALWAYS(sched_getaffinity),
	ALWAYS(sched_setaffinity), ALWAYS(sched_getattr), ALWAYS(sched_setattr),
	ALWAYS(sched_getparam), ALWAYS(sched_getscheduler), ALWAYS(sched_get_priority_max),
	ALWAYS(sched_get_priority_min), ALWAYS(getcpu), ALWAYS(getpriority),
	ALWAYS(setpriority),
	ALWAYS(clock_gettime), ALWAYS(clock_getres), ALWAYS(clock_nanosleep), ALWAYS(nanosleep),
	ALWAYS(gettimeofday), ALWAYS(time), ALWAYS(rt_sigaction), ALWAYS(rt_sigprocmask),
	ALWAYS(rt_sigreturn), ALWAYS(rt_sigsuspend), ALWAYS(rt_sigpending),
	ALWAYS(rt_sigtimedwait), ALWAYS(sigaltstack), ALWAYS(restart_syscall), ALWAYS(kill),
	ALWAYS(tkill), ALWAYS(tgkill), ALWAYS(pause),
	/* identity and environment */
	ALWAYS(getpid), ALWAYS(getppid), ALWAYS(gettid), ALWAYS(getuid), ALWAYS(geteuid),
	ALWAYS(getgid), ALWAYS(getegid), ALWAYS(getresuid), ALWAYS(getresgid),
	ALWAYS(getgroups), ALWAYS(getpgrp), ALWAYS(getpgid), ALWAYS(getsid), ALWAYS(capget),
	ALWAYS(prctl), ALWAYS(arch_prctl), ALWAYS(getrlimit), ALWAYS(setrlimit),
	ALWAYS(prlimit64), ALWAYS(getrusage), ALWAYS(times), ALWAYS(uname), ALWAYS(sysinfo),
	ALWAYS(getrandom),
	ALWAYS(kcmp), /* whether processes share their open files, for the search for namespaces */

	/* BPF programs; kprobes are perf events */
	BPF(bpf), BPF(perf_event_open),

	/* device nodes of soft-RoCE devices */
	ATTACH(mknod), ATTACH(mknodat), ATTACH(fchown), ATTACH(fchownat),
	/* start and end of the sandbox */
	ATTACH(open_tree), ATTACH(move_mount), ATTACH(mount_setattr), ATTACH(setresuid),
	ATTACH(capset), ATTACH(seccomp), ATTACH(setsid), ATTACH(execve), ATTACH(waitid),
	ATTACH(wait4), ATTACH(pidfd_open), ATTACH(pidfd_send_signal),
	/* further calls of shell scripts and Go programs */
	ATTACH(fork), ATTACH(vfork), ATTACH(execveat), ATTACH(setpgid), ATTACH(chdir),
	ATTACH(fchdir), ATTACH(truncate), ATTACH(link), ATTACH(linkat), ATTACH(symlink),
	ATTACH(symlinkat), ATTACH(chown), ATTACH(lchown), ATTACH(utime), ATTACH(utimes),
	ATTACH(utimensat), ATTACH(sync), ATTACH(syncfs), ATTACH(getxattr), ATTACH(lgetxattr),
	ATTACH(fgetxattr), ATTACH(listxattr), ATTACH(llistxattr), ATTACH(flistxattr),
	ATTACH(alarm), ATTACH(setitimer), ATTACH(getitimer), ATTACH(timer_create),
	ATTACH(timer_settime), ATTACH(timer_gettime), ATTACH(timer_getoverrun),
	ATTACH(timer_delete), ATTACH(splice), ATTACH(tee),
	ATTACH(rt_sigqueueinfo), ATTACH(rt_tgsigqueueinfo),
};
/* clang-format on */
const size_t n_syscalls_allowed = ARRAY_SIZE(syscalls_allowed);

/* The three mounts in the sandbox: mount propagation, an empty mount over a folder, and its own
 * /proc (plugin_mounts.c). */
#define NOT_SEEN_OUTSIDE (MS_REC | MS_SLAVE)
#define HIDES_A_FOLDER	 (MS_NODEV | MS_NOEXEC | MS_NOSUID)
#define PROC_OF_SANDBOX	 (MS_RDONLY | MS_NODEV | MS_NOEXEC | MS_NOSUID)

const struct syscall_condition syscalls_conditional[] = {
	{"socket", CALLS_ALWAYS, 0, AF_UNIX},	      {"socket", CALLS_ALWAYS, 0, AF_INET},
	{"socket", CALLS_ALWAYS, 0, AF_INET6},	      {"socket", CALLS_ALWAYS, 0, AF_NETLINK},
	{"socket", CALLS_ALWAYS, 0, AF_PACKET},	      {"setns", CALLS_ALWAYS, 1, CLONE_NEWNET},
	{"mount", CALLS_ATTACH, 3, NOT_SEEN_OUTSIDE}, {"mount", CALLS_ATTACH, 3, PROC_OF_SANDBOX},
	{"mount", CALLS_ATTACH, 3, HIDES_A_FOLDER},
};
const size_t n_syscalls_conditional = ARRAY_SIZE(syscalls_conditional);

/* Calls that a plugin may try, such as umount2 and unshare, are not listed; they only fail. */
const char *const syscalls_fatal[] = {
	"acct",		 "add_key",	     "adjtimex",	  "chroot",	 "clock_adjtime",
	"clock_settime", "delete_module",    "finit_module",	  "init_module", "ioperm",
	"iopl",		 "kexec_file_load",  "kexec_load",	  "keyctl",	 "modify_ldt",
	"pivot_root",	 "process_vm_readv", "process_vm_writev", "ptrace",	 "quotactl",
	"reboot",	 "request_key",	     "settimeofday",	  "swapoff",	 "swapon",
	"userfaultfd",	 "vhangup",
};
const size_t n_syscalls_fatal = ARRAY_SIZE(syscalls_fatal);
