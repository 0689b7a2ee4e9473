/* sql_jail.c - lodge-sql takes from itself what it does not need.
 *
 * Memory, processor, processes and files have limits.  Where the kernel knows
 * Landlock, no file can be reached but those by which names are resolved and
 * certificates are checked: above all not the store and its key. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "outside/sql/sql.h"

enum { MEMORY = 256 << 20, CPU_S = 20, FILES = 32 };

static void limit(__rlimit_resource_t what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now))
		_exit(3);
	if (now.rlim_max > most)
		now.rlim_max = most;
	now.rlim_cur = now.rlim_max;
	if (setrlimit(what, &now))
		_exit(3);
}

static void allow_read(int rules, const char *path)
{
	struct landlock_path_beneath_attr rule = { .parent_fd = open(path, O_PATH | O_CLOEXEC) };

	if (rule.parent_fd < 0)
		return; /* a machine without it does without it */
	rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0)) {
		rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE; /* it is no folder */
		syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	}
	close(rule.parent_fd);
}

/* Whether it did, or could not because this kernel has no such locks. */
static bool lock_files(void)
{
	static const char *const readable[] = { "/usr", "/lib", "/lib64", "/etc/ssl",
		"/etc/ld.so.cache", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/host.conf",
		"/etc/hosts", "/etc/gai.conf", "/etc/services", "/etc/passwd",
		"/run/systemd/resolve", "/dev/urandom", "/dev/null" };
	struct landlock_ruleset_attr all = { .handled_access_fs =
						     (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);

	if (rules < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP;
	for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
		allow_read(rules, readable[i]);
	if (syscall(SYS_landlock_restrict_self, rules, 0))
		_exit(3);
	close(rules);
	return true;
}

bool sql_jail(void)
{
	limit(RLIMIT_AS, MEMORY);
	limit(RLIMIT_CPU, CPU_S);
	limit(RLIMIT_NOFILE, FILES);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_CORE, 0);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(3);
	return lock_files();
}
