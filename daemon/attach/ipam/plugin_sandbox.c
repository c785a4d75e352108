// SPDX-License-Identifier: Apache-2.0
/* plugin_sandbox.c - see plugin_sandbox.h.
 *
 * We clone a supervisor, process 1 of the sandbox: a copy of rocelet that never executes anything.
 * It sets up the sandbox, drops all privileges and starts the program. Then it waits until the
 * program ends, or until we end (end of file on the pipe `life`). When the supervisor exits, the
 * kernel kills all other processes of its namespace.
 *
 * Between clone and exec, only functions are called that are safe after the fork of a
 * multi-threaded process: no malloc, no stdio. */
#include "plugin_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cleanup.h"
#include "ipam_needs.h"
#include "plugin_mounts.h"

/* Descriptors of the supervisor, after the program's three. */
enum { LIFE_FD = 3, FIRST_FREE_FD };

/* Real uids that no account uses. Successive sandboxes get different uids. */
#define UIDS_FIRST 0xfffe0000u
#define UIDS_N	   0x8000u

/* Exit status 128 + N for signal N, as in shells. */
#define SIGNALLED  128
/* Exit status of a supervisor that has not found the program: none of 128 + N, and rare among
 * programs' own (see exit_as_program()). */
#define NO_PROGRAM 240

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "no AUDIT_ARCH for this architecture"
#endif
/* System call numbers of another ABI of the same architecture begin here (__X32_SYSCALL_BIT). */
#define ALIEN_BIT 0x40000000

/* SYS_fchmodat2, Linux 6.6 (scripts/syscall.tbl). */
#define FCHMODAT2 452

/* The type within the type argument of socket(); the other bits are flags (SOCK_TYPE_MASK in
 * linux/net.h, not exported to user space). */
#define SOCKET_TYPE_BITS 0xf

static pid_t clone_with(uint64_t flags, uint64_t exit_signal, int *ret_pid_fd)
{
	struct clone_args args = {
		.flags = flags | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)ret_pid_fd,
		.exit_signal = exit_signal,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* --- privileges and limits -------------------------------------------------------------------- */

#define NO_ROOT                                                                                    \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                           \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED)

static void set_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	for (unsigned i = 0; i < 2; i++)
		caps[i].effective = caps[i].permitted = caps[i].inheritable = (uint32_t)(kept >>
											 32 * i);
	if (syscall(SYS_capset, &head, caps) < 0)
		plugin_sandbox_fail("capabilities");
}

static void drop_privileges(const struct plugin_sandbox *c)
{
	uint64_t kept = c->capabilities;

	if (syscall(SYS_setresuid, c->real_uid, 0, 0) < 0)
		plugin_sandbox_fail("real uid");
	if (prctl(PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0) < 0)
		plugin_sandbox_fail("securebits");
	for (unsigned cap = 0; cap < 64 && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(kept & UINT64_C(1) << cap) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			plugin_sandbox_fail("bounding set");
	set_capabilities(kept);
	for (unsigned cap = 0; cap < 64; cap++)
		if (kept & UINT64_C(1) << cap &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			plugin_sandbox_fail("capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		plugin_sandbox_fail("no_new_privs");
	/* Otherwise the program could take control of its supervisor: both are uid 0. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		plugin_sandbox_fail("dumpable");
}

static void set_limits(void)
{
	/* RLIMIT_AS is high: a Go program reserves a GiB or more without using it. */
	static const struct {
		int what;
		rlim_t most;
	} limits[] = {
		{RLIMIT_AS, (rlim_t)4 << 30},
		{RLIMIT_DATA, (rlim_t)1 << 30},
		{RLIMIT_CPU, 20},
		{RLIMIT_FSIZE, (rlim_t)16 << 20},
		{RLIMIT_NOFILE, 256},
		{RLIMIT_CORE, 0},
		{RLIMIT_NPROC, PLUGIN_SANDBOX_TASKS_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct rlimit limit = {limits[i].most, limits[i].most};

		if (setrlimit((__rlimit_resource_t)limits[i].what, &limit) < 0)
			plugin_sandbox_fail("limits");
	}
}

#define IS(nr, yes) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), BPF_STMT(BPF_RET | BPF_K, yes)
#define NO(error)   (SECCOMP_RET_ERRNO | (error))
#define ARG(n)	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
/* MODE: a system call with a mode argument. OPEN: a system call that uses its mode only if its
 * flags create a file. */
#define MODE(nr, mode)                                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 4), ARG(mode),                                \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, S_ISUID | S_ISGID, 0, 1),                     \
		BPF_STMT(BPF_RET | BPF_K, NO(EPERM)), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define MAKES (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define OPEN(nr, flags, mode)                                                                      \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 6), ARG(flags),                               \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAKES, 0, 3), ARG(mode),                      \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, S_ISUID | S_ISGID, 0, 1),                     \
		BPF_STMT(BPF_RET | BPF_K, NO(EPERM)), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* The program stays in its namespaces and keeps its real uid. System calls of another ABI fail with
 * ENOSYS, and so does io_uring, whose operations would bypass the filter. The program cannot create
 * setuid or setgid files, since the folders that it writes to are the host's. Without AF_UNIX
 * sockets, the program can connect to no service of the host, neither by the file system nor by
 * abstract sockets of the host's network namespace. Stream socket pairs are allowed, since they
 * stay connected to each other; a datagram socket of a pair can be connected elsewhere. */
static void set_filter(const struct plugin_sandbox *c)
{
	const uint32_t refused_family = c->unix_sockets ? UINT32_MAX : AF_UNIX;
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ALIEN_BIT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, NO(ENOSYS)),
		IS(SYS_setuid, NO(EPERM)),
		IS(SYS_setreuid, NO(EPERM)),
		IS(SYS_setresuid, NO(EPERM)),
		IS(SYS_unshare, NO(EPERM)),
		IS(SYS_setns, NO(EPERM)),
		IS(SYS_io_uring_setup, NO(ENOSYS)),
		/* The flags of clone3 and openat2 are in memory, where a filter cannot read them.
		 * On ENOSYS, libraries use clone and openat, whose flags are in registers.
		 */
		IS(SYS_clone3, NO(ENOSYS)),
		IS(SYS_openat2, NO(ENOSYS)),
#ifdef SYS_chmod /* not on arm64 */
		MODE(SYS_chmod, 1),
		MODE(SYS_creat, 1),
		MODE(SYS_mknod, 1),
		OPEN(SYS_open, 1, 2),
#endif
		MODE(SYS_fchmod, 1),
		MODE(SYS_fchmodat, 2),
		MODE(FCHMODAT2, 2),
		MODE(SYS_mknodat, 2),
		OPEN(SYS_openat, 2, 3),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
		ARG(0),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, NO(EPERM)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
		ARG(0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused_family, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, NO(EAFNOSUPPORT)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 7),
		ARG(0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused_family, 0, 5),
		ARG(1),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_BITS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_SEQPACKET, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, NO(EAFNOSUPPORT)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {ARRAY_SIZE(code), (struct sock_filter *)code};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		plugin_sandbox_fail("seccomp");
}

/* --- the program ------------------------------------------------------------------------------ */

__attribute__((noreturn)) static void become(const struct plugin_sandbox *c, const char *program)
{
	char *args[] = {(char *)program, NULL};
	sigset_t none;

	sigemptyset(&none);
	set_limits();
	set_filter(c);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(program, args, c->env);
	plugin_sandbox_fail(program);
}

/* --- the supervisor --------------------------------------------------------------------------- */

/* A program's own status NO_PROGRAM becomes PLUGIN_SANDBOX_FAILED. */
__attribute__((noreturn)) static void exit_as_program(int pid_fd)
{
	siginfo_t info;

	if (waitid(P_PIDFD, (id_t)pid_fd, &info, WEXITED) < 0)
		_exit(PLUGIN_SANDBOX_FAILED);
	if (info.si_code != CLD_EXITED)
		_exit(SIGNALLED + info.si_status);
	_exit(info.si_status == NO_PROGRAM ? PLUGIN_SANDBOX_FAILED : info.si_status);
}

__attribute__((noreturn)) static void watch(int pid_fd)
{
	struct pollfd fds[] = {{LIFE_FD, 0, 0}, {pid_fd, POLLIN, 0}};

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[0].revents)
			_exit(SIGNALLED + SIGKILL);
		if (fds[1].revents)
			exit_as_program(pid_fd);
	}
}

/* Puts the descriptors in their places, 0 to LIFE_FD, and closes all others. */
static void place_descriptors(const struct plugin_sandbox *c, int life_fd)
{
	int fds[] = {c->fds[0], c->fds[1], c->fds[2], life_fd};

	for (int i = 0; i < (int)ARRAY_SIZE(fds); i++)
		fds[i] = fcntl(fds[i], F_DUPFD, FIRST_FREE_FD);
	for (int i = 0; i < (int)ARRAY_SIZE(fds); i++)
		if (fds[i] < 0 || dup2(fds[i], i) < 0)
			_exit(PLUGIN_SANDBOX_FAILED);
	if (fcntl(LIFE_FD, F_SETFD, FD_CLOEXEC) < 0 ||
	    syscall(SYS_close_range, FIRST_FREE_FD, ~0U, 0) < 0)
		plugin_sandbox_fail("descriptors");
}

__attribute__((noreturn)) static void supervise(const struct plugin_sandbox *c, int life_fd)
{
	char program[IPAM_PATH_SIZE];
	int pid_fd;
	pid_t pid;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	place_descriptors(c, life_fd);
	setsid();
	umask(022);
	if (chdir("/") < 0)
		plugin_sandbox_fail("/");
	if (!ipam_plugin_find(program, c->folders, c->name))
		_exit(NO_PROGRAM);
	plugin_mounts_close(c, program);
	drop_privileges(c);
	pid = clone_with(0, SIGCHLD, &pid_fd);
	if (pid < 0)
		plugin_sandbox_fail("clone");
	if (pid == 0)
		become(c, program);
	watch(pid_fd);
}

/* --- the daemon's side ------------------------------------------------------------------------ */

static int start_supervisor(const struct plugin_sandbox *c, int life_fd, int *ret_pid_fd)
{
	uint64_t flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC |
			 (c->host_network ? 0 : CLONE_NEWNET) | CLONE_CLEAR_SIGHAND;
	sigset_t all, before;
	pid_t pid;
	int error;

	sigfillset(&all);
	/* No signal handler of ours may run in the copy. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone_with(flags, 0, ret_pid_fd);
	if (pid == 0)
		supervise(c, life_fd);
	error = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -error : 0;
}

static int start_unique(const struct plugin_sandbox *like, int life_fd, int *ret_pid_fd)
{
	static unsigned n;
	struct plugin_sandbox c = *like;

	c.real_uid = UIDS_FIRST + ((unsigned)getpid() + n++) % UIDS_N;
	return start_supervisor(&c, life_fd, ret_pid_fd);
}

int plugin_sandbox_start(struct plugin_process *ret, const struct plugin_sandbox *c, struct err *e)
{
	int fds[2], pid_fd = -1, error;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(e, -errno, "pipe: %s", strerror(errno));
	error = start_unique(c, fds[0], &pid_fd);
	close(fds[0]);
	if (error < 0) {
		close(fds[1]);
		return err_set(e, error, "cannot create its namespaces: %s", strerror(-error));
	}
	*ret = (struct plugin_process){.pid_fd = pid_fd, .life_fd = fds[1]};
	return 0;
}

void plugin_sandbox_kill(const struct plugin_process *c)
{
	pidfd_send_signal(c->pid_fd, SIGKILL, NULL, 0);
}

int plugin_sandbox_status(const struct plugin_process *c, int *ret_status)
{
	siginfo_t info = {0};

	if (waitid(P_PIDFD, (id_t)c->pid_fd, &info, WEXITED | WNOHANG | __WALL) < 0)
		return -errno;
	if (info.si_pid == 0)
		return -EAGAIN;
	if (info.si_code != CLD_EXITED)
		*ret_status = -info.si_status;
	else if (info.si_status == NO_PROGRAM)
		*ret_status = PLUGIN_SANDBOX_MISSING;
	else if (info.si_status > SIGNALLED && info.si_status < SIGNALLED + NSIG)
		*ret_status = SIGNALLED - info.si_status;
	else
		*ret_status = info.si_status;
	return 0;
}
