/* files.c - see files.h. */
#include "serve/files.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/vault.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "http/http.h"
#include "outside/authorities.h"
#include "outside/fetch.h"
#include "outside/oidc.h"
#include "outside/secret_file.h"

enum { GROUPS_MAX = 64, SOON_S = 14 * 86400 };
enum { MAY_ENTER = 1, MAY_WRITE = 2, MAY_READ = 4 };

/* Whose eyes are used: our own, or those of the service's user where we are root and it is not. */
struct file_look {
	const struct settings *s;
	struct arena *a;
	struct files_report *out;
	bool for_another;
	uid_t uid;
	gid_t groups[GROUPS_MAX];
	int group_count;
};

/* One file: the setting that names it, and where it is. */
struct named {
	const char *setting, *path;
};

static void add_file_fault(struct file_look *l, const struct named *f, const char *why)
{
	if (l->out->fault_count < FILES_FAULTS_MAX)
		l->out->faults[l->out->fault_count++] =
			arena_printf(l->a, "%s: the file %s: %s", f->setting, f->path, why);
}

static void add_file_warning(struct file_look *l, const struct named *f, const char *why)
{
	if (l->out->warning_count < FILES_FAULTS_MAX)
		l->out->warnings[l->out->warning_count++] =
			arena_printf(l->a, "%s: the file %s: %s", f->setting, f->path, why);
}

/* ---- who looks ---- */

static void choose_eyes(struct file_look *l)
{
	const struct passwd *user;
	struct stat st;

	if (geteuid() != 0 || stat(l->s->data, &st) || st.st_uid == 0)
		return;
	l->for_another = true;
	l->uid = st.st_uid;
	l->groups[0] = st.st_gid;
	l->group_count = 1;
	user = getpwuid(st.st_uid);
	if (user) {
		l->group_count = GROUPS_MAX;
		if (getgrouplist(user->pw_name, user->pw_gid, l->groups, &l->group_count) < 0)
			l->group_count = GROUPS_MAX;
	}
}

static bool in_group(const struct file_look *l, gid_t group)
{
	for (int i = 0; i < l->group_count; i++)
		if (l->groups[i] == group)
			return true;
	return false;
}

static bool mode_permits(const struct file_look *l, const char *path, mode_t wanted)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if (st.st_uid == l->uid)
		return (st.st_mode >> 6 & wanted) == wanted;
	if (in_group(l, st.st_gid))
		return (st.st_mode >> 3 & wanted) == wanted;
	return (st.st_mode & wanted) == wanted;
}

/* Every folder on the way must let the user in. */
static bool path_permits(const struct file_look *l, const char *path, mode_t wanted)
{
	char *whole = realpath(path, NULL);
	bool good = whole && mode_permits(l, whole, wanted);

	for (char *slash = whole ? strchr(whole + 1, '/') : NULL; good && slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		good = mode_permits(l, whole, MAY_ENTER);
		*slash = '/';
	}
	free(whole);
	return good;
}

static const char *service_user_name(const struct file_look *l)
{
	const struct passwd *user = getpwuid(l->uid);

	return user ? arena_strdup(l->a, user->pw_name) : arena_printf(l->a, "%u", l->uid);
}

/* NULL if the service may do that with the file; else why not. */
static const char *why_file_closed(const struct file_look *l, const char *path, mode_t wanted)
{
	int mode = (wanted & MAY_READ ? R_OK : 0) | (wanted & MAY_WRITE ? W_OK : 0) |
		   (wanted & MAY_ENTER ? X_OK : 0);

	if (faccessat(AT_FDCWD, path, mode, AT_EACCESS))
		return strerror(errno);
	if (l->for_another && !path_permits(l, path, wanted))
		return arena_printf(l->a, "the user %s, to whom %s belongs, may not %s it",
			service_user_name(l), l->s->data, wanted & MAY_WRITE ? "write to" : "read");
	return NULL;
}

/* ---- what is looked at ---- */

static bool is_file_readable(struct file_look *l, const struct named *f)
{
	const char *why = why_file_closed(l, f->path, MAY_READ);
	struct stat st;

	if (!why && !stat(f->path, &st) && S_ISDIR(st.st_mode))
		why = "it is a folder";
	if (why)
		add_file_fault(l, f, why);
	return !why;
}

static void look_at_folder(struct file_look *l, const struct named *f)
{
	const char *why = why_file_closed(l, f->path, MAY_WRITE | MAY_ENTER);

	if (why && access(f->path, F_OK) == 0) /* what is not there is made */
		add_file_fault(l, f, why);
}

static void look_at_certificate(struct file_look *l, const struct named *f)
{
	int64_t now = clock_now_us() / SECOND_US;
	struct http_certificate cert;
	struct problem p = { 0 };

	if (!is_file_readable(l, f) || why_file_closed(l, l->s->tls_key, MAY_READ))
		return; /* the key's own row says so */
	if (http_certificate_read(f->path, l->s->tls_key, &cert, l->a, &p))
		add_file_fault(l, f, p.detail);
	else if (now >= cert.until_s)
		add_file_fault(l, f, "the certificate has ended");
	else if (now < cert.from_s)
		add_file_fault(l, f, "the certificate does not hold yet");
	else if (cert.until_s - now < SOON_S)
		add_file_warning(l, f,
			arena_printf(l->a, "the certificate ends in %lld days",
				(long long)((cert.until_s - now) / 86400)));
}

static void look_at_tls_key(struct file_look *l, const struct named *f)
{
	struct stat st;

	if (!is_file_readable(l, f) || stat(f->path, &st))
		return;
	if (st.st_mode & 07)
		add_file_fault(l, f,
			arena_printf(l->a,
				"everybody on this machine can read or write it (mode %04o); chmod 600 it",
				st.st_mode & 07777));
}

/* One that is not there is made by the first start; whether the store needs it, the store tells. */
static void look_at_master_key(struct file_look *l, const struct named *f)
{
	struct vault_keys keys = { 0 };
	struct problem p = { 0 };

	if (access(f->path, F_OK) && errno == ENOENT)
		return;
	if (is_file_readable(l, f) && vault_read(&keys, f->path, l->a, &p))
		add_file_fault(l, f, p.detail ? p.detail : "it cannot be read");
	wipe(&keys, sizeof keys);
}

static void look_at_secret(struct file_look *l, const struct named *f)
{
	const char *why = NULL, *secret;

	if (!is_file_readable(l, f))
		return;
	secret = secret_file_read(l->a, f->path, &why);
	if (secret)
		wipe((char *)secret, strlen(secret));
	else
		add_file_fault(l, f, why);
}

static void look_at_providers(struct file_look *l, const struct named *f)
{
	struct oidc_config list[OIDC_PROVIDERS_MAX];
	int count = oidc_config_list(l->a, f->path, list);

	for (int i = 0; i < count; i++) {
		const struct named one = { arena_printf(l->a, "%s, %s", f->setting, list[i].name),
			list[i].secret_file };

		if (!fetch_permits(list[i].issuer, EGRESS_PUBLIC) &&
			!fetch_permits(list[i].issuer, EGRESS_LOOPBACK) && !l->s->private_all &&
			!fetch_is_listed(list[i].issuer))
			add_file_fault(l, &(struct named){ one.setting, list[i].issuer },
				"this address is not called: it is plain HTTP or private, and allow_private_addresses "
				"does not list it");
		look_at_secret(l, &one);
	}
}

static void look_at_authorities(struct file_look *l, const struct named *f)
{
	const char *fault = is_file_readable(l, f) ? authorities_fault(f->path) : NULL;

	if (fault)
		add_file_fault(l, f, fault);
}

/* A place that is no file has none; one that is, is made when the service begins. */
static void look_at_socket(struct file_look *l, const struct named *f)
{
	static const char mark[] = "unix:";
	const char *path = f->path + sizeof mark - 1, *slash, *folder, *why;
	struct stat st;

	if (strncmp(f->path, mark, sizeof mark - 1) != 0)
		return;
	slash = strrchr(path, '/');
	folder = !slash		 ? "."
		 : slash == path ? "/"
				 : arena_strndup(l->a, path, (size_t)(slash - path));
	why = why_file_closed(l, folder, MAY_WRITE | MAY_ENTER);
	if (why)
		add_file_fault(l, f, arena_printf(l->a, "its folder %s: %s", folder, why));
	else if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		add_file_fault(l, f, "there is something else, which is no socket");
}

static void (*const lookers[])(struct file_look *l, const struct named *f) = {
	[FILE_FOLDER] = look_at_folder,
	[FILE_CERTIFICATE] = look_at_certificate,
	[FILE_TLS_KEY] = look_at_tls_key,
	[FILE_MASTER_KEY] = look_at_master_key,
	[FILE_SECRET] = look_at_secret,
	[FILE_AUTHORITIES] = look_at_authorities,
	[FILE_SOCKET] = look_at_socket,
	[FILE_PROVIDERS] = look_at_providers,
};

static void look_to_write(struct file_look *l, const struct named *f)
{
	const char *why = why_file_closed(l, f->path, MAY_READ | MAY_WRITE);

	if (why && access(f->path, F_OK) == 0)
		add_file_fault(l, f, why);
}

/* The files of the store: a restore by hand, or a command of another user, may have left one. */
static void look_at_store(struct file_look *l)
{
	static const char *const parts[] = { "", "-wal", "-shm", "-id" };

	for (size_t i = 0;
		strncmp(l->s->store, "sqlite:", 7) == 0 && i < sizeof parts / sizeof *parts; i++) {
		const struct named f = { "store",
			arena_printf(l->a, "%s%s", l->s->store + 7, parts[i]) };

		look_to_write(l, &f);
	}
}

static const char *setting_file_path(const struct settings *s, const struct setting *row)
{
	return *(const char *const *)(const void *)((const char *)s + row->at);
}

void files_look_tls(const struct settings *s, struct arena *a, struct files_report *ret)
{
	struct file_look l = { .s = s, .a = a, .out = ret };

	*ret = (struct files_report){ 0 };
	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];

		if ((row->file == FILE_CERTIFICATE || row->file == FILE_TLS_KEY) &&
			*setting_file_path(s, row))
			lookers[row->file](
				&l, &(struct named){ row->name, setting_file_path(s, row) });
	}
}

void files_look(const struct settings *s, struct arena *a, struct files_report *ret)
{
	struct file_look l = { .s = s, .a = a, .out = ret };

	*ret = (struct files_report){ 0 };
	choose_eyes(&l);
	if (*s->config)
		is_file_readable(&l, &(struct named){ "config", s->config });
	look_at_store(&l);
	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		const struct named f = { row->name, row->file ? setting_file_path(s, row) : "" };

		if (row->file && *f.path)
			lookers[row->file](&l, &f);
	}
}
