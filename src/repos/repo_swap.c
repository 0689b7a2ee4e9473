/* repo_swap.c - see repo_swap.h.
 *
 * Wherever it is broken off, every repository is either in the folder, among the former ones, or in the copy; the command
 * is run again, and goes on by the note. */
#include "repos/repo_swap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"

enum { FOLDERS_OPEN = 16, NAMES_MAX = 100, NOTE_MAX = 2 * PATH_MAX };

#define NOTE_STATE "state: "
#define NOTE_FORMER "former: "
#define NOTE_OF "copy: "

static const char *const state_words[] = {
	[SWAP_NONE] = "none",
	[SWAP_BROUGHT] = "brought",
	[SWAP_PLACED] = "placed",
	[SWAP_ASIDE] = "aside",
};

static const char *stage_of(const char *folder, struct arena *a)
{
	return arena_printf(a, "%s/.restoring", folder);
}

/* The walk of the C library has nowhere to put it. */
static _Thread_local struct stat owner;

static int own_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return lchown(path, owner.st_uid, owner.st_gid);
}

static int give_away(const char *folder, const char *like)
{
	if (geteuid() != 0 || stat(like, &owner))
		return 0;
	return nftw(folder, own_one, FOLDERS_OPEN, FTW_PHYS);
}

/* Each repository in a folder; what `act` fails with ends it. */
static int each(const char *folder, int (*act)(const char *from, const char *to, const char *name),
	const char *to, struct arena *a, const char **ret_failed)
{
	const struct dirent *e;
	DIR *d = opendir(folder);
	int err = 0;

	*ret_failed = folder;
	if (!d)
		return errno;
	while (!err && (e = readdir(d)))
		if (repo_copy_is_one(e->d_name)) {
			*ret_failed = arena_printf(a, "%s/%s", folder, e->d_name);
			err = act(*ret_failed, to, e->d_name);
		}
	closedir(d);
	return err;
}

/* A folder that gets another above it must be one that may be written to. */
static int may_move(const char *from, const char *to, const char *name)
{
	(void)to;
	(void)name;
	return access(from, W_OK) ? errno : 0;
}

static int move_one(const char *from, const char *to, const char *name)
{
	struct arena a = { 0 };
	int err = rename(from, arena_printf(&a, "%s/%s", to, name)) ? errno : 0;

	arena_free(&a);
	return err;
}

/* ---- the note ---- */

static const char *note_of(const char *folder, struct arena *a)
{
	return arena_printf(a, "%s/.restoring/lodge-restoring", folder);
}

static const char *line_of(const char *text, const char *name, struct arena *a)
{
	const char *at = strstr(text, name);

	at = at ? at + strlen(name) : "";
	return arena_strndup(a, at, strcspn(at, "\n"));
}

void repo_swap_look(const char *folder, struct repo_swap *ret, struct arena *a)
{
	int fd = open(note_of(folder, a), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text = arena_alloc(a, NOTE_MAX + 1);
	ssize_t n = fd < 0 ? 0 : read(fd, text, NOTE_MAX);
	const char *state;

	*ret = (struct repo_swap){ 0 };
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = line_of(text, NOTE_STATE, a);
	ret->state = SWAP_BROUGHT; /* of one that cannot be read as well */
	for (int i = SWAP_PLACED; i <= SWAP_ASIDE; i++)
		if (strcmp(state, state_words[i]) == 0)
			ret->state = (enum repo_swap_state)i;
	ret->former = line_of(text, NOTE_FORMER, a);
	ret->of = line_of(text, NOTE_OF, a);
}

/* Under another name first: a note is whole, or as it was.  0, or an errno. */
static int write_note(
	const char *folder, const char *like, const struct repo_swap *note, struct arena *a)
{
	const char *path = note_of(folder, a), *fresh = arena_printf(a, "%s.new", path);
	const char *text = arena_printf(a,
		"A copy is being put in the place of the repositories in the folder above. Run lodge restore again to go on.\n" NOTE_STATE
		"%s\n" NOTE_FORMER "%s\n" NOTE_OF "%s\n",
		state_words[note->state], note->former, note->of);
	size_t len = strlen(text);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return errno;
	err = write(fd, text, len) != (ssize_t)len || fsync(fd) ? (errno ? errno : EIO) : 0;
	close(fd);
	if (!err && (give_away(fresh, like) || rename(fresh, path) || folder_sync(path)))
		err = errno;
	return err;
}

/* ---- the two steps ---- */

void repo_swap_drop(const char *folder, struct arena *a)
{
	struct repo_swap note;

	repo_swap_look(folder, &note, a);
	unlink(note_of(folder, a)); /* first: what is left then is nothing that is under way */
	folder_sync(note_of(folder, a));
	repo_copy_drop(stage_of(folder, a));
	if (note.former && *note.former && !strchr(note.former, '/'))
		rmdir(arena_printf(a, "%s/%s", folder, note.former)); /* if it is empty */
}

/* A name that nothing has yet: two may be put aside within a second. */
static const char *make_former(const char *folder, const char *like, struct arena *a)
{
	char when[32];
	time_t now = time(NULL);
	struct tm tm;
	const char *name, *path;

	strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	name = arena_printf(a, "former.%s", when);
	for (int i = 2; i < NAMES_MAX; i++) {
		path = arena_printf(a, "%s/%s", folder, name);
		if (mkdir(path, 0700) == 0)
			return give_away(path, like) ? NULL : name;
		if (errno != EEXIST)
			return NULL;
		name = arena_printf(a, "former.%s-%d", when, i);
	}
	return NULL;
}

int repo_swap_begin(const char *copy, const char *folder, const char *like, const char *of,
	struct repo_copied *ret, struct arena *a, struct problem *p)
{
	struct repo_swap note = { .state = SWAP_BROUGHT, .of = of };
	const char *stage = stage_of(folder, a), *failed;
	int number, err = 0;

	if (mkdir(folder, 0700) == 0)
		err = give_away(folder, like);
	else if (errno != EEXIST)
		err = -1;
	if (err)
		return problem_set(p, a, ERR_STORE,
			"the folder of repositories, %s: %s. Nothing was changed", folder,
			strerror(errno));
	number = each(folder, may_move, NULL, a, &failed);
	if (number)
		return problem_set(p, a, ERR_STORE,
			"%s cannot be put aside: %s. Nothing was changed; run the command as the user to whom it belongs, "
			"or as root",
			failed, strerror(number));
	repo_swap_drop(folder, a); /* of one that was broken off */
	err = repo_copy_all(copy, stage, ret, a, p);
	if (!err && give_away(stage, like))
		err = problem_set(p, a, ERR_STORE, "the owner of %s: %s", stage, strerror(errno));
	if (!err) {
		note.former = make_former(folder, like, a);
		number = note.former ? write_note(folder, like, &note, a) : errno;
		if (number)
			err = problem_set(p, a, ERR_STORE, "%s: %s", stage, strerror(number));
	}
	if (err) {
		repo_swap_drop(folder, a);
		if (note.former)
			rmdir(arena_printf(a, "%s/%s", folder, note.former));
		p->detail = arena_printf(a,
			"%s. Nothing was changed; make room or give the right, and run it again",
			p->detail);
	}
	return err;
}

/* What is there already was written before, so that it hardly can fail. */
static int go_to(const char *folder, const char *like, enum repo_swap_state state,
	struct repo_swap *note, struct arena *a)
{
	note->state = state;
	return write_note(folder, like, note, a);
}

int repo_swap_placed(const char *folder, const char *like, struct arena *a, struct problem *p)
{
	struct repo_swap note;
	int number;

	repo_swap_look(folder, &note, a);
	number = note.state == SWAP_BROUGHT ? go_to(folder, like, SWAP_PLACED, &note, a) : 0;
	return number ? problem_set(p, a, ERR_STORE,
				"the store was put back, but not the repositories: %s: %s. Mend that and run the same command again",
				note_of(folder, a), strerror(number))
		      : 0;
}

int repo_swap_end(const char *folder, const char *like, const char **ret_kept, struct arena *a,
	struct problem *p)
{
	const char *stage = stage_of(folder, a), *failed = folder, *former;
	struct repo_swap note;
	int number = 0;

	*ret_kept = NULL;
	repo_swap_look(folder, &note, a);
	if (note.state < SWAP_PLACED || !*note.former || strchr(note.former, '/'))
		return problem_set(p, a, ERR_STORE,
			"%s says of no copy that it is to be put in their place",
			note_of(folder, a));
	former = arena_printf(a, "%s/%s", folder, note.former);
	if (note.state == SWAP_PLACED) {
		if (mkdir(former, 0700) ? errno != EEXIST : give_away(former, like))
			number = errno;
		if (!number)
			number = each(folder, move_one, former, a, &failed);
		if (!number)
			number = go_to(folder, like, SWAP_ASIDE, &note, a);
	}
	if (!number)
		number = each(stage, move_one, folder, a, &failed);
	if (!number && folder_sync(stage))
		number = errno;
	if (rmdir(former) && errno != ENOENT) /* it is not empty */
		*ret_kept = former;
	if (!number)
		return 0;
	return problem_set(p, a, ERR_STORE,
		"the store was put back, but not all repositories: %s: %s. Mend that and run the same command again, which goes on "
		"from here%s%s",
		failed, strerror(number), *ret_kept ? "; former ones are in " : "",
		*ret_kept ? *ret_kept : "");
}
