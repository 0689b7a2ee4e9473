/* test_converge.c - prompts that follow their repository while others change both: every row of the table of
 * docs/repositories.md, met by everything that may happen between the steps of the job, and the job itself beside requests.
 *
 * Whatever meets whatever, what stands in the end must be what comes of one
 * after the other; a small model of the rule, which shares no line with the
 * service, says what that is. */
#include <unistd.h>

#include "base/clock.h"
#include "queue_fixture.h"
#include "race.h"
#include "repo_fixture.h"
#include "repos/converge.h"

#define R "/tenant/%s/agents/%s"
#define FILE_PATH "prompts/description_prompt.md"
#define KIND "Be kind."

/* ---- the model ---- */

struct world {
	const char *file; /* NULL: none; "": it is no text */
	const char *live;
	const char *base; /* NULL: none */
	bool follows;
};

static bool is_text(const char *file)
{
	return file && *file;
}

static void model_converge(struct world *w)
{
	if (!w->follows || !is_text(w->file))
		return;
	if (strcmp(w->file, w->live) != 0 && w->base && strcmp(w->base, w->live) != 0)
		return;
	w->live = w->base = w->file;
}

static char model_state(const struct world *w)
{
	if (!w->file)
		return '-';
	if (!*w->file || strcmp(w->file, w->live) == 0)
		return '=';
	return w->base && strcmp(w->base, w->live) != 0 ? '!' : '<';
}

enum deed { NOTHING, EDIT, EDIT_TO_FILE, PUSH, REMOVE, TAKE_FILE, TAKE_LIVE, OFF, DEEDS };
static const char *const deed_names[] = { "nothing", "an edit", "an edit to what the file says",
	"a push", "a push that removes", "take: repository", "take: live", "off" };

static void model_deed(struct world *w, enum deed deed)
{
	if (deed == EDIT)
		w->live = "Edited.";
	else if (deed == EDIT_TO_FILE)
		w->live = "New.";
	else if (deed == PUSH)
		w->file = "Pushed.";
	else if (deed == REMOVE)
		w->file = NULL;
	else if (deed == OFF)
		w->follows = false;
	else if (deed == TAKE_LIVE)
		w->file = w->base = w->live;
	else if (deed == TAKE_FILE && is_text(w->file))
		w->live = w->base = w->file;
}

/* ---- the same for real ---- */

struct stand {
	struct fixture *f;
	const char *agent, *folder;
	const char *kind, *fresh, *pushed, *none, *noise; /* commits with that in the file */
};

static const char *commit_of(struct stand *s, const char *text)
{
	repo_push(s->f, s->agent, FILE_PATH, text);
	return repo_said(s->f, s->agent, "git rev-parse main");
}

static struct stand stand_up(struct fixture *f)
{
	struct stand s = { .f = f, .agent = repo_agent(f, "stand") };

	s.folder = repo_folder_of(f, s.agent);
	s.kind = repo_said(f, s.agent, "git rev-parse main");
	s.fresh = commit_of(&s, "New.\\n");
	s.pushed = commit_of(&s, "Pushed.\\n");
	s.noise = commit_of(&s, "\\377\\n");
	s.none = commit_of(&s, NULL);
	return s;
}

static void move_main(const struct stand *s, const char *file)
{
	const char *id = !file			     ? s->none
			 : !*file		     ? s->noise
			 : strcmp(file, "New.") == 0 ? s->fresh
			 : strcmp(file, KIND) == 0   ? s->kind
						     : s->pushed;
	const char *path = arena_printf(&s->f->arena, "%s/refs/heads/main", s->folder);
	FILE *out = fopen(path, "w");

	CHECK(out && fprintf(out, "%s\n", id) > 0 && fclose(out) == 0);
}

struct base_given {
	const struct stand *s;
	const char *text;
};

static int give_base(struct db *db, void *data)
{
	const struct base_given *b = data;
	const struct fixture *f = b->s->f;
	int err = prompt_bases_drop(db, f->tenant_id, b->s->agent);

	return err || !b->text ? err
			       : prompt_base_put(db, f->tenant_id, b->s->agent, 0, b->text,
					 b->s->kind, clock_now_us());
}

static void set_world(const struct stand *s, const struct world *w)
{
	struct base_given base = { s, w->base };

	move_main(s, w->file);
	CHECK_INT(fixture_work(s->f, give_base, &base), 0);
	fixture_sql(s->f, "update agent_rows set description_prompt = $1 where id = $2",
		ARGS(T(w->live), T(s->agent)));
	fixture_sql(s->f, "update repositories set projection = $1, size_bytes = 1, updated_at = 1",
		ARGS(T(w->follows ? "auto" : "off")));
}

static struct racer deed_racer(const struct stand *s, enum deed deed)
{
	struct fixture *f = s->f;
	struct racer r = { .token = f->admin };
	const char *at = arena_printf(&f->arena, R, f->tenant_id, s->agent);

	if (deed == EDIT || deed == EDIT_TO_FILE) {
		r.request = arena_printf(&f->arena, "PATCH %s", at);
		r.body = deed == EDIT ? "{\"description_prompt\":\"Edited.\"}"
				      : "{\"description_prompt\":\"New.\"}";
	} else if (deed == OFF) {
		r.request = arena_printf(&f->arena, "PATCH %s/repo", at);
		r.body = "{\"projection\":\"off\"}";
	} else {
		r.request = arena_printf(&f->arena, "POST %s/prompt-provenance/resolve", at);
		r.body = arena_printf(&f->arena, "{\"file\":\"" FILE_PATH "\",\"take\":\"%s\"}",
			deed == TAKE_FILE ? "repository" : "live");
	}
	return r;
}

/* A push tells of itself, as the wire does: who reads the row after it sees that it was there. */
static void do_deed(const struct stand *s, enum deed deed)
{
	struct racer r;
	struct answer answer;

	if (deed == NOTHING)
		return;
	if (deed == PUSH || deed == REMOVE) {
		move_main(s, deed == PUSH ? "Pushed." : NULL);
		fixture_sql(s->f, "update repositories set updated_at = updated_at + 1", NO_ARGS);
		return;
	}
	r = deed_racer(s, deed);
	answer = ask(s->f, r.token, r.body, "%s", r.request);
	CHECK(answer.status == 200 || (deed == TAKE_FILE && answer.status == 409));
}

static const char *text_of(struct fixture *f, const struct stand *s)
{
	struct answer r = ask(f, f->admin, NULL, "GET " R, f->tenant_id, s->agent);
	const char *text = text_at(&r, "description_prompt");

	return text ? text : "(none)";
}

static char state_of(struct fixture *f, const struct stand *s)
{
	struct answer r =
		ask(f, f->admin, NULL, "GET " R "/prompt-provenance", f->tenant_id, s->agent);

	CHECK(json_is_true(at(&r, "available")));
	return json_is_true(at(&r, "files.0.diverged"))		    ? '!'
	       : json_is_true(at(&r, "files.0.pending_projection")) ? '<'
	       : json_is_true(at(&r, "files.0.repo_present"))	    ? '='
								    : '-';
}

/* One of the two orders, and never a third. */
static void check_outcome(const struct stand *s, const struct world *before, enum deed deed)
{
	struct world first = *before, then = *before;
	const char *live = text_of(s->f, s);
	char state = state_of(s->f, s);

	model_deed(&first, deed);
	model_converge(&first);
	model_converge(&then);
	model_deed(&then, deed);
	if (deed == PUSH || deed == REMOVE) /* which begins another */
		model_converge(&then);
	if ((strcmp(live, first.live) != 0 || state != model_state(&first)) &&
		(strcmp(live, then.live) != 0 || state != model_state(&then)))
		test_fail(__FILE__, __LINE__, "it is \"%s\" %c, not \"%s\" %c or \"%s\" %c", live,
			state, first.live, model_state(&first), then.live, model_state(&then));
}

static void each_world(void (*with)(struct stand *s, const struct world *w), struct stand *s)
{
	static const char *const files[] = { NULL, "", KIND, "New." };
	static const char *const lives[] = { KIND, "Ours." };
	static const char *const bases[] = { NULL, KIND };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		for (size_t j = 0; j < sizeof lives / sizeof *lives; j++)
			for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
				struct world w = { files[i], lives[j], bases[k], true };

				with(s, &w);
			}
}

/* ---- between the steps ---- */

struct stepping {
	const struct stand *s;
	struct convergence what;
};

static int step_load(struct db *db, void *data)
{
	struct stepping *v = data;

	v->what = (struct convergence){ .failed = NULL };
	return converge_load(db, &v->s->f->arena, v->s->f->tenant_id, v->s->agent, &v->what);
}

static int step_apply(struct db *db, void *data)
{
	struct stepping *v = data;

	return converge_apply(db, &v->s->f->arena, &v->what, clock_now_us());
}

enum when { LOADED, READ, NEVER };

/* As the job does it: again from the beginning where it was overtaken. */
static void converge(const struct stand *s, enum deed deed, enum when moment)
{
	struct stepping v = { .s = s };
	int err = ERR_CONFLICT;

	for (int round = 0; err == ERR_CONFLICT && round < 3; round++) {
		err = fixture_work(s->f, step_load, &v);
		if (err == ERR_NOT_FOUND) /* it follows no more */
			return;
		CHECK_INT(err, 0);
		if (!round && moment == LOADED)
			do_deed(s, deed);
		CHECK_INT(converge_read(s->f->service.repos, &s->f->arena, &v.what), 0);
		if (!round && moment == READ)
			do_deed(s, deed);
		err = fixture_work(s->f, step_apply, &v);
	}
	CHECK_INT(err, 0);
}

static void meet_every_deed(struct stand *s, const struct world *w)
{
	for (enum deed deed = EDIT; deed < DEEDS; deed++)
		for (enum when moment = LOADED; moment < NEVER; moment++) {
			test_step("file %s, live %s, base %s: %s %s", w->file ? w->file : "none",
				w->live, w->base ? w->base : "none", deed_names[deed],
				moment == LOADED ? "before the file is read" : "after it");
			set_world(s, w);
			converge(s, deed, moment);
			if (deed == PUSH || deed == REMOVE)
				converge(s, NOTHING, NEVER);
			check_outcome(s, w, deed);
		}
}

TEST(converge_gives_way_to_whatever_happens_between_its_steps)
{
	struct fixture *f = fixture_open();
	struct stand s = stand_up(f);

	each_world(meet_every_deed, &s);
	CHECK_STR(repo_said(f, s.agent, "git fsck --strict --no-dangling"), "");
	fixture_close(f);
}

/* ---- the job beside requests ---- */

static void await_jobs(struct fixture *f)
{
	UNTIL_TRUE(fixture_count(f, "select count(*) from jobs where kind = 'repo.converge'") == 0);
}

static void begin_job(const struct stand *s)
{
	STATUS(ask(s->f, s->f->admin, "{\"projection\":\"auto\"}", "PATCH " R "/repo",
		       s->f->tenant_id, s->agent),
		200);
}

static void run_every_row(struct stand *s, const struct world *w)
{
	test_step("file %s, live %s, base %s", w->file ? w->file : "none", w->live,
		w->base ? w->base : "none");
	set_world(s, w);
	begin_job(s);
	await_jobs(s->f);
	check_outcome(s, w, NOTHING);
}

TEST(converge_job_brings_every_row_of_the_table_in_line)
{
	struct fixture *f = fixture_open();
	struct stand s = stand_up(f);

	each_world(run_every_row, &s);
	fixture_close(f);
}

/* Who loses to another may be told 409, and then has done nothing. */
static void race_job(const struct stand *s, const struct world *w, enum deed deed)
{
	struct racer racers[2] = { { .token = s->f->admin,
					   .request = arena_printf(&s->f->arena, "PATCH " R "/repo",
						   s->f->tenant_id, s->agent),
					   .body = "{\"projection\":\"auto\"}" },
		deed_racer(s, deed) };
	int status;

	test_step("%s beside the job, base %s", deed_names[deed], w->base ? w->base : "none");
	set_world(s, w);
	race(s->f, racers, 2);
	await_jobs(s->f);
	CHECK_INT(racers[0].answer.status, 200);
	status = racers[1].answer.status;
	CHECK(status == 200 || (status == 409 && (deed == TAKE_FILE || deed == TAKE_LIVE)));
	if (status == 200) {
		check_outcome(s, w, deed);
	} else { /* a commit of the live text may stand: it is what the next look takes */
		begin_job(s);
		await_jobs(s->f);
		CHECK(state_of(s->f, s) == '=' || state_of(s->f, s) == '!');
	}
}

TEST(converge_job_never_undoes_what_a_request_did)
{
	enum { ROUNDS = 6 };
	struct fixture *f = fixture_open();
	struct stand s = stand_up(f);

	for (int round = 0; round < ROUNDS; round++) {
		const struct world w = { "New.", KIND, round % 2 ? KIND : NULL, true };

		race_job(&s, &w, EDIT);
		if (w.base) /* without one there is nothing that an edit from before would be held against */
			CHECK_STR(text_of(f, &s), "Edited.");
		race_job(&s, &w, EDIT_TO_FILE);
		race_job(&s, &w, TAKE_FILE);
		race_job(&s, &w, TAKE_LIVE);
	}
	/* Pushes one after the other, and a job for each: the last one counts. */
	for (int round = 0; round < ROUNDS; round++) {
		const struct world w = { "New.", KIND, KIND, true };

		test_step("pushes, round %d", round);
		set_world(&s, &w);
		begin_job(&s);
		move_main(&s, "Pushed.");
		begin_job(&s);
		move_main(&s, round % 2 ? "New." : KIND);
		begin_job(&s);
		await_jobs(f);
		CHECK_STR(text_of(f, &s), round % 2 ? "New." : KIND);
		CHECK(state_of(f, &s) == '=');
	}
	CHECK_STR(repo_said(f, s.agent, "git fsck --strict --no-dangling"), "");
	fixture_close(f);
}
