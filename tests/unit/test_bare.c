/* test_bare.c - bare repositories, held against git itself: what it makes is read, and what is made here it reads. */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "git/bare.h"
#include "git/git_log.h"

struct git_place {
	struct arena a;
	struct problem p;
	const char *folder, *repo;
	struct bare *bare;
};

/* What a command of the shell prints, in the folder of the repository. */
static const char *said(struct git_place *at, const char *command)
{
	enum { MOST = 1 << 20 };
	char *text = arena_alloc(&at->a, MOST);
	FILE *f = popen(arena_printf(&at->a,
				"cd '%s' && export HOME=/nowhere GIT_CONFIG_NOSYSTEM=1 "
				"GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org "
				"GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org; %s",
				at->repo, command),
		"r");
	size_t n = fread(text, 1, MOST - 1, f);

	if (pclose(f))
		test_fail(__FILE__, __LINE__, "%s: %s", command, text);
	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	return text;
}

static struct git_place enter(void)
{
	struct git_place at = { 0 };

	at.folder = mkdtemp(arena_strdup(&at.a, "/tmp/lodge-bare.XXXXXX"));
	at.repo = arena_printf(&at.a, "%s/x.git", at.folder);
	CHECK_INT(bare_make(at.repo, "main", &at.a, &at.p), 0);
	CHECK_INT(bare_open(&at.bare, at.repo, &at.a, &at.p), 0);
	return at;
}

static void leave(struct git_place *at)
{
	CHECK_STR(said(at, "git fsck --strict 2>&1 | grep -v '^notice\\|^dangling' || true"), "");
	bare_close(at->bare);
	fixture_remove_folder(at->folder);
	arena_free(&at->a);
}

static int put(
	struct git_place *at, const char *onto, const char *path, const char *text, char id[41])
{
	struct bare_file file = { path, text, strlen(text) };

	return bare_commit(at->bare,
		&(struct bare_committing){ .branch = "main",
			.onto = onto,
			.files = &file,
			.count = 1,
			.name = "Ada <x>\n",
			.email = "ada@example.org",
			.message = "Put it there\n",
			.at = 1700000000 },
		id, &at->a, &at->p);
}

TEST(bare_names_of_refs_are_judged_as_git_judges_them)
{
	static const char *const names[] = { "main", "a/b", "v1.0", "a.b", "@a", "a@", "ä",
		"x.lockx", "release/2026-01", "", "-x", "a..b", ".a", "a/.b", "a.", "a/", "/a",
		"a//b", "a.lock", "a.lock/b", "a b", "a~", "a^", "a:", "a?", "a*", "a[", "a\\", "@",
		"a@{b", "a\x01", "a\x7f" };
	struct git_place at = enter();

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *git = said(&at,
			arena_printf(&at.a,
				"git check-ref-format \"refs/heads/$(printf '%%b' '%s')\" && echo good || echo bad",
				names[i][0] == 'a' && names[i][1] == '\\' ? "a\\\\\\\\"
									  : names[i]));

		test_step("%s", names[i]);
		if (*names[i] != '-' &&
			strcmp(names[i], "@") != 0) /* refused for what commands make of it */
			CHECK_STR(ref_name_fault(names[i]) ? "bad" : "good", git);
		else
			CHECK(ref_name_fault(names[i]));
	}
	leave(&at);
}

TEST(bare_paths_lead_nowhere_else)
{
	static const char *const good[] = { "a", "a/b.md", "prompts/description_prompt.md", "a b",
		".github/x", "git", "a.git", "ä" };
	static const char *const bad[] = { "", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a",
		".git", "a/.git/config", ".GIT", ".git.", ".git ", "git~1", "a\\b", "a:b", "a\nb",
		"\xff" };

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		test_step("%s", good[i]);
		CHECK(!bare_path_fault(good[i]));
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("%s", bad[i]);
		CHECK(bare_path_fault(bad[i]));
	}
}

TEST(bare_commits_are_git_s_own_and_never_over_another)
{
	struct git_place at = enter();
	char one[41], two[41], tip[41];
	struct bare_entry e;
	const char *bytes;
	size_t len;

	CHECK_INT(bare_tip(at.bare, "main", tip, &at.a, &at.p), ERR_NOT_FOUND);
	CHECK_INT(put(&at, NULL, "prompts/a.md", "one\n", one), 0);
	CHECK_STR(said(&at, "git log --format=%H,%an,%ae,%s main"),
		arena_printf(&at.a, "%s,Ada x,ada@example.org,Put it there", one));
	CHECK_STR(said(&at, "git show main:prompts/a.md"), "one");
	CHECK_INT(put(&at, NULL, "prompts/a.md", "two\n", two), ERR_CONFLICT);
	CHECK_INT(put(&at, one, "prompts/a.md", "one\n", two), 0);
	CHECK_STR(two, one); /* nothing to commit */
	CHECK_INT(put(&at, one, "prompts/b.md", "two\n", two), 0);
	CHECK_INT(put(&at, one, "prompts/c.md", "three\n", tip), ERR_CONFLICT);
	CHECK_STR(at.p.detail,
		"The branch has changed meanwhile, or somebody is changing it: read it again.");
	CHECK_INT(put(&at, two, "prompts", "a file", tip), ERR_CONFLICT);
	CHECK_INT(put(&at, two, "prompts/a.md/b", "a folder", tip), ERR_CONFLICT);
	CHECK_INT(bare_tip(at.bare, "main", tip, &at.a, &at.p), 0);
	CHECK_STR(tip, two);
	CHECK_STR(said(&at, "git ls-tree -r --name-only main"), "prompts/a.md\nprompts/b.md");
	/* Somebody holds the ref: nothing is made. */
	said(&at, "touch refs/heads/main.lock");
	CHECK_INT(put(&at, two, "x", "x", tip), ERR_CONFLICT);
	said(&at, "rm refs/heads/main.lock");
	at.p = (struct problem){ 0 };
	CHECK_INT(bare_entry(at.bare, two, "prompts/b.md", &e, &at.a, &at.p), 0);
	CHECK_INT(bare_bytes(at.bare, e.id, 4, &at.a, &bytes, &len, &at.p), 0);
	CHECK_STR(bytes, "two\n");
	CHECK_INT(bare_bytes(at.bare, e.id, 3, &at.a, &bytes, &len, &at.p), ERR_TOO_LARGE);
	leave(&at);
}

TEST(bare_links_and_modules_are_told_of_and_not_followed)
{
	static const struct {
		const char *name;
		enum bare_kind kind;
	} wanted[] = {
		{ "file", BARE_FILE },
		{ "folder", BARE_FOLDER },
		{ "link", BARE_LINK },
		{ "module", BARE_MODULE },
		{ "program", BARE_PROGRAM },
	};
	struct git_place at = enter();
	const struct bare_entry *e;
	struct list found = { 0 };
	struct bare_entry one;
	char id[41];
	bool more;

	said(&at,
		"b=$(echo -n /etc/passwd | git hash-object -w --stdin) && "
		"t=$(printf '100644 blob %s\\tpasswd\\n' $b | git mktree) && "
		"r=$(printf '100644 blob %s\\tfile\\n040000 tree %s\\tfolder\\n120000 blob %s\\tlink\\n"
		"160000 commit 0123456789012345678901234567890123456789\\tmodule\\n100755 blob %s\\tprogram\\n' "
		"$b $t $b $b | git mktree --missing) && "
		"git update-ref refs/heads/main $(git commit-tree -m x $r)");
	CHECK_INT(bare_commit_of(at.bare, "main", id, &at.a, &at.p), 0);
	CHECK_INT(bare_folder(at.bare, id, "", NULL, 10, &at.a, &found, &more, &at.p), 0);
	CHECK_INT(found.count, 5);
	CHECK(!more);
	e = found.at;
	for (size_t i = 0; i < found.count && i < 5; i++) {
		CHECK_STR(e[i].name, wanted[i].name);
		CHECK_INT(e[i].kind, wanted[i].kind);
		CHECK_INT(e[i].size, wanted[i].kind <= BARE_PROGRAM ? 11 : NIL);
	}
	CHECK_INT(bare_folder(at.bare, id, "", "file", 2, &at.a, &found, &more, &at.p), 0);
	CHECK_INT(found.count, 2);
	CHECK(more);
	CHECK_INT(bare_folder(at.bare, id, "link", NULL, 9, &at.a, &found, &more, &at.p),
		ERR_NOT_FOUND);
	CHECK_INT(bare_entry(at.bare, id, "link/passwd", &one, &at.a, &at.p), ERR_NOT_FOUND);
	CHECK_INT(bare_entry(at.bare, id, "module/x", &one, &at.a, &at.p), ERR_NOT_FOUND);
	CHECK_INT(bare_entry(at.bare, id, "folder/passwd", &one, &at.a, &at.p), 0);
	leave(&at);
}

/* What is written out of a tree that mktree is given. */
static int exported(struct git_place *at, const char *lines, struct bare_exported *ret)
{
	const char *commit = said(at,
		arena_printf(&at->a,
			"b=$(printf x | git hash-object -w --stdin); e=$(git mktree </dev/null); "
			"git commit-tree -m t $(printf '%s' | sed \"s/BLOB/$b/; s/TREE/${T:-$e}/\" | "
			"git mktree --missing)",
			lines));
	const char *folder = arena_printf(&at->a, "%s/out", at->folder);
	int fd, err;

	said(at, "rm -rf ../out && mkdir ../out");
	fd = open(folder, O_RDONLY | O_DIRECTORY);
	at->p = (struct problem){ 0 };
	err = bare_export(at->bare, commit, fd, ret, &at->a, &at->p);
	close(fd);
	return err;
}

TEST(bare_files_are_written_out_below_a_folder_and_nowhere_else)
{
	struct git_place at = enter();
	struct bare_exported done;
	const char *deep = "";

	CHECK_INT(
		exported(&at,
			"100644 blob BLOB\\ta\\n100755 blob BLOB\\tb\\n120000 blob BLOB\\tc\\n"
			"160000 commit 0123456789012345678901234567890123456789\\td\\n040000 tree TREE\\te\\n",
			&done),
		0);
	CHECK_INT((int64_t)done.left_out, 2);
	CHECK_INT(done.bytes, 2);
	CHECK_STR(
		said(&at,
			"cd ../out && find . -mindepth 1 -printf '%y%m%s%p\\n' | sed 's/^d7554096/d/' | sort"),
		"d./e\nf6441./a\nf7551./b");
	/* Names that would lead elsewhere, or mean something else there. */
	CHECK_INT(exported(&at, "100644 blob BLOB\\t..\\n", &done), ERR_INVALID);
	CHECK_INT(exported(&at, "040000 tree TREE\\t.git\\n", &done), ERR_INVALID);
	CHECK_INT(exported(&at, "100644 blob BLOB\\ta:b\\n", &done), ERR_INVALID);
	/* An object that is not there, and folders without an end. */
	CHECK_INT(
		exported(&at, "100644 blob 0123456789012345678901234567890123456789\\ta\\n", &done),
		ERR_UPSTREAM);
	for (int i = 0; i <= BARE_EXPORT_DEPTH_MAX; i++)
		deep = said(&at, arena_printf(&at.a, "printf '040000 tree %s\\tx\\n' | git mktree",
					 *deep ? deep : said(&at, "git mktree </dev/null")));
	CHECK_INT(exported(&at, arena_printf(&at.a, "040000 tree %s\\tx\\n", deep), &done),
		ERR_TOO_LARGE);
	fixture_remove_folder(at.repo); /* what is in it is nothing that fsck would take */
	CHECK_INT(bare_make(at.repo, "main", &at.a, &at.p), 0);
	leave(&at);
}

TEST(bare_refs_are_listed_whole_or_said_not_to_be)
{
	struct git_place at = enter();
	struct list names = { 0 };
	bool complete = false, has = false;
	const char *listed = "";
	char id[41], of[41];

	CHECK_INT(bare_refs(at.bare, BARE_BRANCHES, &at.a, &names, &complete, &at.p), 0);
	CHECK_INT(names.count, 0);
	CHECK(complete);
	CHECK_INT(put(&at, NULL, "a", "a", id), 0);
	said(&at,
		"git tag v1; git tag -m x v2 v1; git tag -m y v3 v2 2>/dev/null; git branch b/c main; "
		"git tag tree main^{tree}");
	CHECK_INT(bare_refs(at.bare, BARE_BRANCHES, &at.a, &names, &complete, &at.p), 0);
	CHECK_INT(names.count, 2);
	CHECK(complete);
	CHECK_STR(((const char **)names.at)[0], "b/c");
	CHECK_INT(bare_refs(at.bare, BARE_TAGS, &at.a, &names, &complete, &at.p), 0);
	CHECK_INT(names.count, 4);
	CHECK_INT(bare_has_ref(at.bare, "v1", &has, &at.a, &at.p), 0);
	CHECK(has);
	CHECK_INT(bare_has_ref(at.bare, "v", &has, &at.a, &at.p), 0);
	CHECK(!has);
	CHECK_INT(bare_commit_of(at.bare, "v3", of, &at.a, &at.p), 0);
	CHECK_STR(of, id);
	CHECK_INT(bare_commit_of(at.bare, id, of, &at.a, &at.p), 0);
	CHECK_STR(of, id);
	/* A branch that is called like a commit is not what its name means. */
	said(&at,
		arena_printf(&at.a,
			"c=$(git commit-tree -m evil main^{tree}); git update-ref refs/heads/%s $c; "
			"git update-ref refs/tags/%s $c; git update-ref refs/tags/%040d $c",
			id, id, 7));
	CHECK_INT(bare_commit_of(at.bare, id, of, &at.a, &at.p), 0);
	CHECK_STR(of, id);
	CHECK_INT(bare_commit_of(at.bare, arena_printf(&at.a, "%040d", 7), of, &at.a, &at.p),
		ERR_NOT_FOUND);
	said(&at, arena_printf(&at.a,
			  "git update-ref -d refs/heads/%s; git update-ref -d refs/tags/%s; "
			  "git update-ref -d refs/tags/%040d",
			  id, id, 7));
	CHECK_INT(bare_commit_of(at.bare, "tree", of, &at.a, &at.p), ERR_NOT_FOUND);
	CHECK_INT(bare_commit_of(at.bare, "../HEAD", of, &at.a, &at.p), ERR_NOT_FOUND);
	/* Packed, in files, in both, gone again, and locks beside them: as git lists them. */
	said(&at,
		"for i in $(seq 30); do echo create refs/heads/p/$i main; done | git update-ref --stdin; git pack-refs --all; "
		"git update-ref refs/heads/p/3 main; git branch -q -D p/4 p/5; git branch q/r/s/t main; git branch p/5 main; "
		"touch refs/heads/p/7.lock packed-refs.lock refs/heads/z.lock; mkdir refs/heads/empty");
	CHECK_INT(bare_refs(at.bare, BARE_BRANCHES, &at.a, &names, &complete, &at.p), 0);
	CHECK(complete);
	for (size_t i = 0; i < names.count; i++)
		listed = arena_printf(
			&at.a, "%s%s%s", listed, i ? "\n" : "", ((const char **)names.at)[i]);
	CHECK_STR(listed, said(&at, "git for-each-ref --format='%(refname:short)' refs/heads"));
	said(&at, arena_printf(&at.a,
			  "rm -rf packed-refs.lock refs/heads/* packed-refs; "
			  "git update-ref refs/heads/main %s; git update-ref refs/heads/b/c %s",
			  id, id));
	/* More than are listed; and of a name that no JSON holds. */
	said(&at,
		arena_printf(&at.a,
			"for i in $(seq 20100); do echo %s refs/tags/t$i; done | LC_ALL=C sort -k2 > packed-refs",
			id));
	CHECK_INT(bare_refs(at.bare, BARE_TAGS, &at.a, &names, &complete, &at.p), 0);
	CHECK_INT(names.count, BARE_REFS_MAX);
	CHECK(!complete);
	said(&at,
		arena_printf(&at.a,
			"rm packed-refs; git update-ref \"$(printf 'refs/heads/\\377')\" %s", id));
	CHECK_INT(bare_refs(at.bare, BARE_BRANCHES, &at.a, &names, &complete, &at.p), 0);
	CHECK_INT(names.count, 2);
	CHECK(!complete);
	leave(&at);
}

/* Branches and merges by chance, of which some take one side whole. */
static const char *const random_history =
	"seed=7; r() { seed=$(( (seed * 1103515245 + 12345) % 2147483648 )); echo $(( seed / 65536 % $1 )); }; "
	"tips=; t=1700000000; for i in $(seq 60); do t=$((t + 10)); "
	"export GIT_AUTHOR_DATE=\"$t +0100\" GIT_COMMITTER_DATE=\"$t +0100\"; set -- $tips; parents=; base=; "
	"if [ $# -gt 0 ]; then eval base=\\${$(( $(r $#) + 1 ))}; parents=\"-p $base\"; "
	"if [ $(r 3) = 0 ]; then eval other=\\${$(( $(r $#) + 1 ))}; [ $other = $base ] || parents=\"$parents -p $other\"; fi; fi; "
	"export GIT_INDEX_FILE=index; rm -f index; [ -z \"$base\" ] || git read-tree $base; "
	"b=$(r 4 | git hash-object -w --stdin); f=$(r 3); "
	"[ $f = 0 ] || git update-index --add --cacheinfo 100644,$b,prompts/$f.md; "
	"[ $(r 9) != 0 ] || printf '0 %040d\\tprompts/1.md\\n' 0 | git update-index --index-info; "
	"c=$(git commit-tree -m \"number $i\" $parents $(git write-tree)); "
	"tips=\"$c $1 $2 $3\"; done; rm -f index; "
	"git update-ref refs/heads/main $(git commit-tree -m end -p ${tips%% *} -p $(echo $tips | cut -d' ' -f3) "
	"$(git rev-parse ${tips%% *}^{tree}))";

TEST(bare_histories_are_those_of_git_log)
{
	static const char *const paths[] = { "prompts/1.md", "prompts/2.md", "prompts", "nothing",
		"" };
	struct git_place at = enter();
	char tip[41];

	said(&at, random_history);
	CHECK_INT(bare_tip(at.bare, "main", tip, &at.a, &at.p), 0);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct list found = { 0 };
		const char *got = "";
		const struct bare_change *c;

		test_step("%s", paths[i]);
		CHECK_INT(bare_history(at.bare, tip, paths[i], 1000, &at.a, &found, &at.p), 0);
		c = found.at;
		for (size_t k = 0; k < found.count; k++)
			got = arena_printf(&at.a, "%s%s%s %s %lld", got, *got ? "\n" : "", c[k].id,
				c[k].title, (long long)c[k].at);
		CHECK_STR(got,
			said(&at, arena_printf(&at.a, "git log --format='%%H %%s %%ct' main %s%s",
					  *paths[i] ? "-- " : "", paths[i])));
		CHECK_INT(bare_history(at.bare, tip, paths[i], 3, &at.a, &found, &at.p), 0);
		CHECK(found.count <= 3);
	}
	leave(&at);
}

TEST(bare_histories_are_kept_for_the_next_who_asks)
{
	struct git_place at = enter();
	struct bare_cache_figures before, after;
	struct list first = { 0 }, again = { 0 };
	struct bare *other = NULL;
	char tip[41];

	said(&at, random_history);
	CHECK_INT(bare_tip(at.bare, "main", tip, &at.a, &at.p), 0);
	before = bare_cache_figures();
	CHECK_INT(bare_history_kept(at.bare, tip, "", 4, &at.a, &first, &at.p), 0);
	CHECK_INT(bare_history_kept(at.bare, tip, "", 2, &at.a, &again, &at.p), 0);
	after = bare_cache_figures();
	CHECK_INT((int64_t)(after.hits - before.hits), 1);
	CHECK_INT((int64_t)first.count, 4);
	CHECK_INT((int64_t)again.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct bare_change *one = (struct bare_change *)first.at + i,
					 *other_one = (struct bare_change *)again.at + i;

		CHECK_STR(other_one->id, one->id);
		CHECK_STR(other_one->title, one->title);
		CHECK_STR(other_one->author_email, one->author_email);
	}
	/* More than was walked for, another path, and another repository with the same commits, are walked. */
	CHECK_INT(bare_history_kept(at.bare, tip, "", 5, &at.a, &again, &at.p), 0);
	CHECK_INT((int64_t)again.count, 5);
	CHECK_INT(bare_history_kept(at.bare, tip, "prompts/1.md", 5, &at.a, &again, &at.p), 0);
	said(&at, "cp -r . ../twin.git");
	CHECK_INT(
		bare_open(&other, arena_printf(&at.a, "%s/twin.git", at.folder), &at.a, &at.p), 0);
	CHECK_INT(bare_history_kept(other, tip, "", 2, &at.a, &again, &at.p), 0);
	bare_close(other);
	CHECK_INT((int64_t)(bare_cache_figures().misses - before.misses), 4);
	CHECK_INT((int64_t)(bare_cache_figures().hits - before.hits), 1);
	/* What is kept has an end: the oldest went, the newest is there. */
	for (int i = 0; i < 1100; i++)
		CHECK_INT(bare_history_kept(at.bare, tip, arena_printf(&at.a, "none-%d", i), 5,
				  &at.a, &again, &at.p),
			0);
	after = bare_cache_figures();
	CHECK(after.entries <= 1024 && after.bytes <= 8 << 20);
	bare_history_kept(at.bare, tip, "none-1099", 5, &at.a, &again, &at.p);
	CHECK_INT((int64_t)(bare_cache_figures().hits - after.hits), 1);
	bare_history_kept(at.bare, tip, "none-0", 5, &at.a, &again, &at.p);
	CHECK_INT((int64_t)(bare_cache_figures().hits - after.hits), 1);
	leave(&at);
}

/* Where git has its index, it is asked: the same answer, and further than our own walk goes. */
TEST(bare_histories_are_read_by_the_index_of_paths)
{
	static const char *const paths[] = { "prompts/1.md", "prompts/2.md", "prompts", "nothing",
		"*" };
	struct git_place at = enter();
	char tip[41];

	said(&at, random_history);
	said(&at, "git commit-graph write --reachable --changed-paths --no-progress");
	CHECK(git_log_fits(at.repo, &at.a));
	CHECK_INT(bare_tip(at.bare, "main", tip, &at.a, &at.p), 0);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct list walked = { 0 }, found = { 0 };
		const struct bare_change *one, *other;

		test_step("%s", paths[i]);
		CHECK_INT(bare_history(at.bare, tip, paths[i], 100, &at.a, &walked, &at.p), 0);
		CHECK(git_log_history(at.repo, tip, paths[i], 100, &at.a, &found));
		CHECK_INT((int64_t)found.count, (int64_t)walked.count);
		one = walked.at;
		other = found.at;
		for (size_t k = 0; k < found.count && k < walked.count; k++) {
			CHECK_STR(other[k].id, one[k].id);
			CHECK_STR(other[k].title, one[k].title);
			CHECK_STR(other[k].author_name, one[k].author_name);
			CHECK_STR(other[k].author_email, one[k].author_email);
			CHECK_INT(other[k].at, one[k].at);
			CHECK_INT(other[k].offset_min, one[k].offset_min);
		}
	}
	said(&at, "echo broken > objects/info/commit-graph");
	CHECK_INT(bare_history_kept(at.bare, tip, "prompts", 1, &at.a, &(struct list){ 0 }, &at.p),
		0);
	said(&at, "rm -f objects/info/commit-graph");
	leave(&at);
}

TEST(bare_what_cannot_be_read_is_said_without_names_of_files)
{
	struct git_place at = enter();
	struct bare *other = NULL;
	struct problem p = { 0 };
	char id[41];

	CHECK_INT(bare_make(at.repo, "main", &at.a, &p), ERR_CONFLICT);
	p = (struct problem){ 0 };
	CHECK_INT(bare_open(&other, arena_printf(&at.a, "%s/none.git", at.folder), &at.a, &p),
		ERR_UPSTREAM);
	CHECK(!strstr(p.detail, at.folder));
	said(&at, "git init -q --bare --object-format=sha256 ../sha256.git");
	p = (struct problem){ 0 };
	CHECK_INT(bare_open(&other, arena_printf(&at.a, "%s/sha256.git", at.folder), &at.a, &p),
		ERR_UPSTREAM);
	CHECK_INT(put(&at, NULL, "a", "a", id), 0);
	said(&at,
		"cp -r . ../broken.git; cd ../broken.git; find objects -type f -exec chmod u+w {} + -exec sh -c 'echo x > $0' {} \\;");
	p = (struct problem){ 0 };
	CHECK_INT(bare_open(&other, arena_printf(&at.a, "%s/broken.git", at.folder), &at.a, &p), 0);
	CHECK_INT(bare_commit_of(other, "main", id, &at.a, &p), ERR_UPSTREAM);
	bare_close(other);
	leave(&at);
}

/* A file of some bytes, kept as a difference from one of many, as git itself packs them. */
static const char *differs_from(struct git_place *at, int lines)
{
	return said(at,
		arena_printf(&at->a,
			"rm -rf objects/pack/* && big=$(seq %d | git hash-object -w --stdin) && "
			"small=$(seq %d | git hash-object -w --stdin) && "
			"printf '%%s a\\n%%s a\\n' $big $small | git -c core.bigFileThreshold=512m "
			"pack-objects -q objects/pack/pack >/dev/null && git prune-packed && "
			"git verify-pack -v objects/pack/*.idx | grep -c \"^$small blob .* $big\" >/dev/null && "
			"echo $small",
			lines, lines / 16));
}

TEST(bare_does_not_inflate_what_is_much_larger_than_what_is_asked_for)
{
	enum { MOST = 10 << 20 };
	struct git_place at = enter();
	const char *bytes, *id = differs_from(&at, 1000000); /* 7 MB */
	size_t len = 0;

	bare_close(at.bare);
	CHECK_INT(bare_open(&at.bare, at.repo, &at.a, &at.p), 0);
	CHECK_INT(bare_bytes(at.bare, id, MOST, &at.a, &bytes, &len, &at.p), 0);
	CHECK(len > 300000);
	id = differs_from(&at, 2500000); /* 19 MB */
	bare_close(at.bare);
	CHECK_INT(bare_open(&at.bare, at.repo, &at.a, &at.p), 0);
	CHECK_INT(bare_bytes(at.bare, id, MOST, &at.a, &bytes, &len, &at.p), ERR_TOO_LARGE);
	CHECK(at.p.detail && strstr(at.p.detail, "16 MiB"));
	leave(&at);
}
