/* git_commands.c - `lodge ssh-keys` and `lodge git-serve`, by which the machine's OpenSSH serves git: which keys come in, and what
 * happens once one has. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "access/audit.h"
#include "base/clock.h"
#include "git/push_many.h"
#include "git/push_relay.h"
#include "git/ssh_key.h"
#include "repos/repo_lock.h"
#include "repos/repo_push.h"
#include "repos/repo_ssh.h"
#include "serve/manual.h"
#include "serve/open.h"
#include "serve/setting_value.h"

enum { TRIES = 10, SLOT_WAIT_MS = 5000 };

/* What the command is about, from the arguments to the transaction. */
struct git_errand {
	const struct settings *s;
	struct arena *a;
	struct store *store;
	struct db *db;
	struct problem problem;
	const char *wanted; /* the key that is asked about; NULL: all */
	struct list keys;   /* struct repo_ssh_key */
	struct repo_ssh_asked asked;
	struct repo_ssh_agent agent;
	struct repository row;
	struct repos *repos;
	int at_work; /* the lock that says so */
	int slot;    /* of those that are served at once */
	struct push push;
	int place; /* the file of the lock that pushes have */
	struct repo_pushing pushing;
	bool begun;   /* it has the repository to itself */
	int64_t size; /* of the repository after it */
};

static int open_errand(struct git_errand *e)
{
	int err = open_current(&e->store, e->s, STORE_BESIDE, e->a, &e->problem);

	if (!err)
		err = store_connect(e->store, &e->db, e->a, &e->problem);
	return err;
}

static int end_errand(struct git_errand *e, int err)
{
	if (err && !e->problem.err)
		problem_set(&e->problem, e->a, err, "the store: %s", e->db ? db_error(e->db) : "");
	if (e->repos)
		repo_unlock(e->slot);
	if (e->repos)
		repo_unlock(e->at_work);
	db_close(e->db);
	store_close(e->store);
	repos_free(e->repos);
	return err ? complain(&e->problem) : 0;
}

static int transact(struct git_errand *e, enum transaction mode, int (*act)(struct git_errand *e))
{
	int err, tries = TRIES;

	do {
		err = db_begin(e->db, mode);
		if (!err)
			err = act(e);
		if (err)
			db_rollback(e->db);
		else
			err = db_commit(e->db);
	} while (err == ERR_RETRY && --tries);
	return err;
}

/* ---- which keys come in ---- */

static int read_keys(struct git_errand *e)
{
	return repo_ssh_keys(e->db, e->a, e->wanted, &e->keys);
}

static const char *key_at(struct git_errand *e, size_t i)
{
	const char *key = NULL;

	return ssh_key_fault(e->a, ((struct repo_ssh_key *)e->keys.at + i)->ssh_public_key, &key)
		       ? NULL
		       : key;
}

/* One line for a key, however many agents have it: sshd takes the first that fits, and whose it is is looked up once it is known
 * which repository is asked for. */
static void print_key(struct git_errand *e, const char *program, const char *key)
{
	char config[PATH_MAX] = "", print[SSH_KEY_PRINT_LEN + 1];

	if (!*e->s->config || !realpath(e->s->config, config))
		*config = '\0';
	ssh_key_print(key, print);
	printf("restrict,command=\"%s git-serve%s%s %s\" %s\n", program,
		*config ? " --config " : "", config, print, key);
}

static bool is_first(const char **keys, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (keys[k] && strcmp(keys[k], keys[i]) == 0)
			return false;
	return true;
}

/* What `lodge git-serve` would not find again: sshd hands on neither our flags nor our environment, and a password that may be in
 * them has no place in a line that everybody on the machine sees. */
static int check_origins(struct git_errand *e)
{
	static const char *const needed[] = { "data", "store", "repo_folder", "repo_max_bytes" };

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		const struct settings_origin *o = settings_origin(e->s, needed[i]);

		if (o->place == IN_FLAGS || o->place == IN_ENVIRONMENT)
			return problem_set(&e->problem, e->a, ERR_USAGE,
				"%s %s: lodge git-serve, which sshd begins, would not know of it; write it into a file of "
				"settings, and name that with --config",
				needed[i], o->words);
	}
	return 0;
}

int command_ssh_keys(const struct settings *s, struct arena *a)
{
	struct git_errand e = { .s = s, .a = a };
	const char **keys;
	char program[PATH_MAX] = "lodge";
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	int err = check_origins(&e);

	if (!err)
		err = open_errand(&e);
	program[n > 0 ? n : 5] = '\0';
	if (s->argument_count == 2)
		e.wanted = arena_printf(a, "%s %s", s->arguments[0], s->arguments[1]);
	if (!err)
		err = transact(&e, READ_ONLY, read_keys);
	keys = arena_array(a, const char *, e.keys.count + 1);
	for (size_t i = 0; !err && i < e.keys.count; i++) {
		keys[i] = key_at(&e, i);
		if (keys[i] && e.wanted && strcmp(keys[i], e.wanted) != 0)
			keys[i] = NULL;
	}
	for (size_t i = 0; !err && i < e.keys.count; i++)
		if (keys[i] && is_first(keys, i))
			print_key(&e, program, keys[i]);
	return end_errand(&e, err);
}

/* ---- what happens once one has ---- */

static int refuse(struct git_errand *e, int err, const char *sentence)
{
	return problem_set(&e->problem, e->a, err, "%s", sentence);
}

/* The agent that is asked for, if this is its key. */
static int find_agent(struct git_errand *e)
{
	int err = repo_ssh_agent(e->db, e->a, e->asked.tenant_slug, e->asked.agent_slug, &e->agent);
	char print[SSH_KEY_PRINT_LEN + 1];
	const char *key = NULL;

	if (err)
		return err;
	if (!e->agent.ssh_public_key || ssh_key_fault(e->a, e->agent.ssh_public_key, &key))
		return ERR_NOT_FOUND;
	ssh_key_print(key, print);
	return strcmp(print, e->s->arguments[0]) == 0 ? 0 : ERR_NOT_FOUND;
}

static int find_asked(struct git_errand *e)
{
	int err = find_agent(e);

	if (!err)
		err = repo_find(e->db, e->a, e->agent.tenant_id, e->agent.agent_id,
			e->asked.purpose, &e->row);
	if (err == ERR_NOT_FOUND || (!err && e->row.host != RepoHost_embedded))
		return refuse(e, ERR_NOT_FOUND, "there is no such repository for this key");
	if (!err && e->asked.service == GIT_RECEIVE_PACK && e->agent.reads_only)
		return refuse(
			e, ERR_CONFLICT, "this agent is beyond the tenant's plan and only reads");
	if (!err && e->asked.service == GIT_RECEIVE_PACK && !repo_room(e->repos, &e->row))
		return refuse(e, ERR_NO_SPACE, "the repository has as many bytes as it may have");
	return err;
}

/* As the HTTP side has it: the row of the log, and that the repository is to be looked at. */
static int note_push(struct git_errand *e)
{
	const char *from = getenv("SSH_CONNECTION");
	struct audit_entry entry = { .action = "repo.push",
		.resource_id = e->row.id,
		.agent_id = e->agent.agent_id,
		.tenant_id = e->agent.tenant_id,
		.ip = from ? arena_strndup(e->a, from, strcspn(from, " ")) : NULL,
		.user_agent = "ssh",
		.meta = repo_push_meta(e->a, e->asked.purpose, &e->push) };
	int err = audit_write(e->db, e->a, &entry);

	if (!err)
		err = repo_find(e->db, e->a, e->agent.tenant_id, e->agent.agent_id,
			e->asked.purpose, &e->row);
	return err ? err : repo_pushed(e->db, e->a, &e->row, e->size, clock_now_us());
}

static int version_asked(void)
{
	const char *said = getenv("GIT_PROTOCOL");

	return said && strncmp(said, "version=", 8) == 0 && said[8] >= '0' && said[8] <= '2' &&
			       !said[9]
		       ? said[8] - '0'
		       : 0;
}

static int serve_fetch(struct git_errand *e, struct git_setup *setup)
{
	pid_t pid;
	int status, err = git_child_begin(setup, (int[]){ 0, 1, 2 }, &pid);

	if (err)
		return refuse(e, ERR_INTERNAL, "git cannot be begun");
	status = git_child_await_for(pid, GIT_WALL_MS);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0
		       ? 0
		       : refuse(e, ERR_INTERNAL, "git did not come to its end");
}

/* Not before its commands have come: who has them ready in a minute holds up nobody until then. */
static const char *enter_push(void *ctx, struct push *p, int64_t *ret_room)
{
	struct git_errand *e = ctx;

	if (!repo_push_enter(e->place, REPO_PUSH_WAIT_MS))
		return "another push to this repository is under way: try again in a moment";
	e->begun = true;
	if (repo_push_begin(&e->pushing, e->repos, e->row.id, p, e->a))
		return "the repository has as many bytes as it may have";
	*ret_room = e->pushing.room;
	return NULL;
}

static int serve_push(struct git_errand *e, struct git_setup *setup)
{
	const struct push_gate gate = { enter_push, e };
	const char *fault = NULL;
	enum push_relay_end end;
	int err = 0;

	e->place = repo_push_place(e->repos, e->a, e->row.id);
	if (e->place < 0)
		return refuse(e, ERR_UPSTREAM, "the repository cannot be written to just now");
	setup->holds = e->place;
	end = push_relay(setup, &gate, (int[]){ STDIN_FILENO, STDOUT_FILENO }, GIT_WALL_MS,
		&e->push, e->a, &fault);
	if (e->begun)
		push_trace_end(&e->pushing.trace, &e->push, e->a);
	push_many_pack(&e->push, setup->path);
	e->size = repo_size(e->repos, e->a, e->row.id);
	repo_unlock(e->place);
	if (repo_push_did(&e->push))
		err = transact(e, READ_WRITE, note_push);
	if (!err && end == RELAY_REFUSED)
		err = refuse(e, ERR_INVALID, fault ? fault : "the push was refused");
	if (!err && end == RELAY_BROKEN)
		err = refuse(e, ERR_INTERNAL, "git did not come to its end");
	return err;
}

int command_git_serve(const struct settings *s, struct arena *a)
{
	struct git_errand e = { .s = s, .a = a, .at_work = -1, .slot = -1 };
	const char *line = getenv("SSH_ORIGINAL_COMMAND");
	struct git_setup setup = { .version = version_asked() };
	int err;

	if (!line || !repo_ssh_read(a, line, &e.asked))
		return end_errand(
			&e, refuse(&e, ERR_USAGE, "this key serves git, and nothing else"));
	err = repos_new(&e.repos,
		&(struct repos_settings){
			.folder = s->repo_folder, .bytes_max = s->repo_max_bytes.bytes },
		a, &e.problem);
	if (!err && (e.at_work = repo_lock_ssh(e.repos, a)) < 0 && errno == EWOULDBLOCK)
		err = refuse(&e, ERR_BUSY,
			"a copy is being put in the place of the repositories: try again later");
	if (!err)
		err = open_errand(&e);
	if (!err)
		err = transact(&e, READ_ONLY, find_asked);
	if (err)
		return end_errand(&e, err);
	e.slot = repo_lock_slot(e.repos, a, e.agent.tenant_id, SLOT_WAIT_MS);
	if (e.slot < 0)
		return end_errand(&e,
			refuse(&e, ERR_BUSY,
				"as many others are served by ssh as may be at once: try again in a moment"));
	setup.service = e.asked.service;
	setup.path = repo_path(e.repos, a, e.row.id);
	setup.input_max = repo_room(e.repos, &e.row) ? repo_room(e.repos, &e.row) : 1;
	if (setup.service == GIT_RECEIVE_PACK)
		setup.version = 0;
	return end_errand(
		&e, (setup.service == GIT_UPLOAD_PACK ? serve_fetch : serve_push)(&e, &setup));
}
