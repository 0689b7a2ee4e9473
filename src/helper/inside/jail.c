/* jail.c - lodge-helper locks itself in.
 *
 * Limits first: address space, processor time, no new descriptors, files,
 * processes or cores.  Then a filter of system calls, which nothing undoes.
 * It is written out here, sixteen calls of which four are looked at more
 * closely: libseccomp would make the same program of instructions from the
 * same list, and be one more library in a process that should have few. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "helper/inside/inside.h"

#if defined __x86_64__
#define JAIL_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define JAIL_ARCH AUDIT_ARCH_AARCH64
#else
#error "lodge-helper knows the system calls of x86-64 and ARM64 only"
#endif

#define FIELD_OF(member) ((unsigned)offsetof(struct seccomp_data, member))
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD_OF(member))
/* Little-endian machines: the low half of an argument comes first. */
#define LOAD_ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD_OF(args) + 8 * (n))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define IF_BITS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (value), (yes), (no))

#define ALLOW(call) IF_EQUAL(__NR_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)
/* Some libraries look for a file and do without it where there is none. */
#define DENY(call) IF_EQUAL(__NR_##call, 0, 1), RETURN(SECCOMP_RET_ERRNO | EPERM)
/* Only on the socket, which is descriptor 0. */
#define ALLOW_ON_SOCKET(call)                                             \
	IF_EQUAL(__NR_##call, 0, 4), LOAD_ARGUMENT(0), IF_EQUAL(0, 0, 1), \
		RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_KILL_PROCESS)
/* Never memory that can be run. */
#define ALLOW_UNLESS_EXECUTABLE(call)                                            \
	IF_EQUAL(__NR_##call, 0, 4), LOAD_ARGUMENT(2), IF_BITS(PROT_EXEC, 1, 0), \
		RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_KILL_PROCESS)

static bool filter_calls(void)
{
	static struct sock_filter filter[] = {
		LOAD(arch),
		IF_EQUAL(JAIL_ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW_ON_SOCKET(read),
		ALLOW_ON_SOCKET(write),
		ALLOW_UNLESS_EXECUTABLE(mmap),
		ALLOW_UNLESS_EXECUTABLE(mprotect),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(brk),
		ALLOW(futex),
		ALLOW(clock_gettime),
		ALLOW(gettimeofday),
		ALLOW(getrandom),
		ALLOW(sysinfo), /* qsort() asks how much memory there is */
		ALLOW(rt_sigreturn),
		ALLOW(exit),
		ALLOW(exit_group),
		DENY(openat),
		DENY(newfstatat),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool jail_enter(unsigned long cpu_seconds, unsigned long memory_bytes)
{
	const struct {
		__rlimit_resource_t what;
		unsigned long most;
	} limits[] = {
		{ RLIMIT_AS, memory_bytes },
		{ RLIMIT_CPU, cpu_seconds },
		{ RLIMIT_NOFILE, 1 },
		{ RLIMIT_NPROC, 0 },
		{ RLIMIT_FSIZE, 0 },
		{ RLIMIT_CORE, 0 },
	};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct rlimit now;

		/* Whoever started it may have less to give; of the processor's time the signal at the first of the
		 * two says why. */
		if (getrlimit(limits[i].what, &now))
			return false;
		if (now.rlim_max > limits[i].most)
			now.rlim_max = limits[i].most + (limits[i].what == RLIMIT_CPU);
		now.rlim_cur = limits[i].most < now.rlim_max ? limits[i].most : now.rlim_max;
		if (setrlimit(limits[i].what, &now))
			return false;
	}
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && filter_calls();
}
