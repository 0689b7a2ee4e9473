/* test_helper.c - formats of strangers in a process of their own: YAML as a tree, archives as files, every limit from
 * both sides, and a process that breaks, lies, eats or sleeps. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/zip.h"
#include "helper/helper.h"
#include "t.h"
#include "tar_fixture.h"

/* ---- YAML ---- */

/* As JSON with the members by name, or "LINE: sentence". */
static const char *shown(struct helper *h, struct arena *a, const char *text, size_t len)
{
	struct helper_tree tree;
	struct buf b;

	if (helper_yaml_lines(h, a, text, len, &tree))
		return arena_printf(a, "%zu: %s", tree.fault_line, tree.fault);
	buf_init(&b, 1 << 20);
	json_tree_write(&b, tree.root);
	return arena_take(a, &b);
}

TEST(helper_yaml_becomes_a_tree)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "a: 1.0\nb: true\nc: 2026-01-01\nd: yes\ne: 0x10\nf: -1e3\n",
			"{\"a\":1.0,\"b\":true,\"c\":\"2026-01-01\",\"d\":\"yes\",\"e\":\"0x10\","
			"\"f\":-1e3}" },
		{ "a: 01\nb: 1e999\nc: .5\nd: 1.\ne: +1\nf: \"1\"\ng: 'true'\n",
			"{\"a\":\"01\",\"b\":\"1e999\",\"c\":\".5\",\"d\":\"1.\",\"e\":\"+1\","
			"\"f\":\"1\",\"g\":\"true\"}" },
		{ "a:\nb: ~\nc: null\nd: Null\ne: ''\n",
			"{\"a\":null,\"b\":null,\"c\":null,\"d\":\"Null\",\"e\":\"\"}" },
		{ "- x\n- - y\n  - {z: [1, 2]}\n- |\n  l\n",
			"[\"x\",[\"y\",{\"z\":[1,2]}],\"l\\n\"]" },
		{ "1: x\n? y\n: z\n", "{\"1\":\"x\",\"y\":\"z\"}" },
		{ "!!str 1\n", "\"1\"" },
		{ "! 1\n", "\"1\"" },
		{ "!!map {a: !!int 1}\n", "{\"a\":1}" },
		{ "--- x\n...\n", "\"x\"" },
		{ "a: \"\\x01\\u00e9\"\n", "{\"a\":\"\\u0001\xc3\xa9\"}" },
		{ "\xef\xbb\xbf"
		  "a: b\n",
			"{\"a\":\"b\"}" },

		{ "", "null" },
		{ "# nothing\n", "null" },
		{ "a: &x y\n", "1: anchors and aliases are not taken: put the text in quotes" },
		{ "- &x [y]\n", "1: anchors and aliases are not taken: put the text in quotes" },
		{ "a: b\nc: *x\n", "2: anchors and aliases are not taken: put the text in quotes" },
		{ "<<: *x\n", "1: anchors and aliases are not taken: put the text in quotes" },
		{ "a: !x y\n", "1: tags are not taken: put the text in quotes" },
		{ "!!binary eA==\n", "1: tags are not taken: put the text in quotes" },
		{ "!!python/object:os.system x\n",
			"1: tags are not taken: put the text in quotes" },
		{ "a: x\nb:\n  c: y\n  d: z\n  c: w\n", "5: this key is there already" },
		{ "{a: x, 'a': y}\n", "1: this key is there already" },
		{ "[a]: b\n", "1: a key must be a text" },
		{ "a: b\n---\nc: d\n", "2: there is more than one document" },
		{ "a: b: c\n",
			"1: a plain text has a colon with a blank after it: put the text in quotes" },
		{ "a: \"\\0\"\n", "1: an escape stands for no character" },
		{ "a: \"\\ud83d\"\n", "1: an escape stands for no character" },
		{ "a: \"\\q\"\n", "1: a quoted text has an escape that is not known" },
		{ "a: b\nc: \x01\n", "2: a control character stands in the text" },
		{ "b: c\na: \"x\n\n", "2: a quoted text is not closed" },
	};
	struct helper *h = helper_new(NULL);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };

		test_step("%s", cases[i].text);
		CHECK_STR(shown(h, &a, cases[i].text, strlen(cases[i].text)), cases[i].want);
		arena_free(&a);
	}
	helper_free(h);
}

TEST(helper_yaml_knows_the_lines)
{
	static const char text[] = "# head\nb: 1\na:\n  - x\n\n  - y\nm: {k: v}\n";
	struct helper *h = helper_new(NULL);
	struct helper_tree t;
	struct arena a = { 0 };
	const struct json_node *list;

	CHECK_INT(helper_yaml_lines(h, &a, text, strlen(text), &t), 0);
	CHECK_INT(t.lines[t.root->index], 2);
	CHECK_INT(t.lines[json_tree_member(t.root, "b", 1)->index], 2);
	list = json_tree_member(t.root, "a", 1);
	CHECK_INT(t.lines[list->index], 3);
	CHECK_INT(t.lines[list->items[1]->index], 6);
	CHECK_INT(t.lines[json_tree_member(t.root, "m", 1)->index], 7);
	arena_free(&a);
	helper_free(h);
}

static char *repeated(struct arena *a, const char *piece, size_t times)
{
	size_t n = strlen(piece);
	char *out = arena_raw(a, n * times + 1, 1);

	for (size_t i = 0; i < times; i++)
		memcpy(out + i * n, piece, n);
	out[n * times] = '\0';
	return out;
}

TEST(helper_yaml_has_bounds)
{
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct json_node *root;
	const char *fault;
	char *text;

#define YAML(text) helper_yaml(h, &a, (text), strlen(text), &root, &fault)
	text = arena_printf(&a, "%s%s", repeated(&a, "[", 64), repeated(&a, "]", 64));
	CHECK_INT(YAML(text), 0);
	text = arena_printf(&a, "%s%s", repeated(&a, "[", 65), repeated(&a, "]", 65));
	CHECK_INT(YAML(text), ERR_INVALID);
	CHECK_STR(fault, "line 1: this nests too deeply");
	test_step("a scanner that is quadratic is left in time");
	CHECK_INT(YAML(repeated(&a, "[", 200 * 1000)), ERR_INVALID);
	CHECK_STR(fault, "line 1: this nests too deeply");
	test_step("directives are refused before anybody compares them");
	text = arena_printf(&a, "%s--- x\n", repeated(&a, "%TAG !abcdefgh! tag:x,2000:\n", 90000));
	CHECK_INT(YAML(text), ERR_INVALID);
	CHECK(strstr(fault, "line 1: a line that begins with % is a directive"));
	CHECK_INT(YAML("a: b\r%TAG ! x\n---\nb\n"), ERR_INVALID);
	CHECK(strstr(fault, "directive"));
	CHECK_INT(YAML("a: b\n...\n\xc2\x85%YAML 1.1\n"), ERR_INVALID);
	CHECK(strstr(fault, "line 3: a line"));
	CHECK_INT(YAML("a: 100%\nb: |\n  % of it\n"), 0);
	test_step("events: the stream, the document, the list and its two ends");
	CHECK_INT(YAML(repeated(&a, "- x\n", 200000 - 6)), 0);
	CHECK_INT((long long)root->count, 200000 - 6);
	CHECK_INT(YAML(repeated(&a, "- x\n", 200001)), ERR_INVALID);
	CHECK(strstr(fault, "too many parts"));
	test_step("keys");
	for (int more = 0; more < 2; more++) {
		struct buf b;

		buf_init(&b, 1 << 20);
		for (int i = 0; i < JSON_NAMES_MAX + more; i++)
			buf_printf(&b, "%x: \n", i);
		CHECK_INT(helper_yaml(h, &a, b.at, b.len, &root, &fault), more ? ERR_INVALID : 0);
		buf_free(&b);
	}
	CHECK_STR(fault, "line 65537: the text has too many keys in one place");
	test_step("bytes");
	text = repeated(&a, "x", 10 * 1000 * 1000);
	CHECK_INT(YAML(text), 0);
	CHECK_INT((long long)root->len, 10 * 1000 * 1000);
	CHECK_INT(YAML(repeated(&a, "x", 10 * 1000 * 1000 + 1)), ERR_INVALID);
	CHECK_STR(fault, "the text has more than 10 MB");
	arena_free(&a);
	helper_free(h);
}

/* ---- archives ---- */

static const struct helper_limits small = { .packed = 1 << 20,
	.one = 1000,
	.all = 2500,
	.entries = 4,
	.ratio = 200,
	.path = 512,
	.depth = 16,
	.ratio_from = 1 << 20 };

/* The sentence, or "" if it is taken; *ret may be NULL. */
static const char *verdict(
	struct helper *h, struct arena *a, const struct buf *b, struct helper_files *ret)
{
	struct helper_files own;
	int err = helper_unpack(h, a, b->at, b->len, &small, ret ? ret : &own);

	CHECK(err == 0 || err == ERR_INVALID);
	return err ? (ret ? ret : &own)->fault : "";
}

#define SAYS(got, part)                                                                   \
	do {                                                                              \
		const char *got_ = (got), *part_ = (part);                                \
		if (*part_ ? !strstr(got_, part_) : *got_ != '\0')                        \
			test_fail(__FILE__, __LINE__, "\"%s\", not \"%s\"", got_, part_); \
	} while (0)

TEST(helper_unpacks_tar_archives)
{
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct helper_files files;
	struct buf b;

	buf_init(&b, 1 << 24);
	tar_begin(&b);
	tar_add(&b, "./", '5', "", 0);
	tar_add(&b, "./top/", '5', "", 0);
	tar_add(&b, "./top/a.md", '0', "hello", 5);
	tar_add(&b, "top/\xc3\xa9.txt", '0', "", 0);
	tar_end(&b);
	SAYS(verdict(h, &a, &b, &files), "");
	CHECK_INT((long long)files.count, 2);
	CHECK_STR(files.at[0].name, "top/a.md");
	CHECK_STR(files.at[0].bytes, "hello");
	CHECK_STR(files.at[1].name, "top/\xc3\xa9.txt");
	test_step("names of the pax format");
	tar_begin(&b);
	tar_add_pax(&b, "path", arena_printf(&a, "%s.md", repeated(&a, "\xc3\xa9", 150)));
	tar_add(&b, "short", '0', "x", 1);
	tar_end(&b);
	SAYS(verdict(h, &a, &b, &files), "");
	CHECK_INT((long long)files.count, 1);
	CHECK_STR(files.at[0].name, arena_printf(&a, "%s.md", repeated(&a, "\xc3\xa9", 150)));
	tar_begin(&b);
	tar_add_pax(&b, "path", "../x");
	tar_add(&b, "short", '0', "x", 1);
	tar_end(&b);
	SAYS(verdict(h, &a, &b, NULL), "not a relative path");
	tar_begin(&b);
	tar_add_pax(&b, "path", "\xff");
	tar_add(&b, "short", '0', "x", 1);
	tar_end(&b);
	SAYS(verdict(h, &a, &b, NULL), "not UTF-8");
	tar_begin(&b);
	tar_add_pax(&b, "hdrcharset", "KOI8-R");
	tar_add(&b, "a", '0', "x", 1);
	tar_end(&b);
	CHECK(!strstr(verdict(h, &a, &b, NULL), "broke down"));
	tar_begin(&b);
	tar_add_pax(&b, "linkpath", "elsewhere");
	tar_add(&b, "a", '0', "x", 1);
	tar_end(&b);
	SAYS(verdict(h, &a, &b, NULL), "");
	tar_begin(&b);
	tar_add_pax(&b, "GNU.sparse.map", "0,1,1000000,1");
	tar_add(&b, "a", '0', "x", 1);
	tar_end(&b);
	CHECK(!strstr(verdict(h, &a, &b, NULL), "broke down"));
	test_step("nothing in it");
	tar_begin(&b);
	tar_end(&b);
	SAYS(verdict(h, &a, &b, &files), "");
	CHECK_INT((long long)files.count, 0);
	buf_free(&b);
	arena_free(&a);
	helper_free(h);
}

TEST(helper_refuses_tar_archives)
{
	struct helper *h = helper_new(NULL);
	struct arena arena = { 0 }, *a = &arena;
	const struct {
		const char *name;
		char kind;
		size_t len;
		const char *also, *says;
	} cases[] = {
		{ "a", '0', 1000, NULL, "" },
		{ "a", '0', 1001, NULL, "\"a\" is too large" },
		{ "../x", '0', 1, NULL, "not a relative path" },
		{ "/etc/passwd", '0', 1, NULL, "not a relative path" },
		{ "a/../../x", '0', 1, NULL, "not a relative path" },
		{ "a\\b", '0', 1, NULL, "not a relative path" },
		{ "a\xff", '0', 1, NULL, "not UTF-8" },
		{ "link", '2', 0, NULL, "\"link\" is a link or a device" },
		{ "hard", '1', 0, NULL, "\"hard\" is a link or a device" },
		{ "char", '3', 0, NULL, "\"char\" is a link or a device" },
		{ "block", '4', 0, NULL, "\"block\" is a link or a device" },
		{ "fifo", '6', 0, NULL, "\"fifo\" is a link or a device" },
		{ "a", '0', 1, "a", "\"a\" is there twice" },
		{ "Read.me", '0', 1, "README", "" },
		{ "Readme", '0', 1, "README", "\"README\" is there twice" },
		{ "a", '0', 1, "a/b", "\"a/b\" is there twice" },
		{ "a/b", '0', 1, "a", "\"a\" is there twice" },
		{ "a/", '0', 0, NULL, "" },
		{ arena_printf(a, "%sx", repeated(a, "d/", 15)), '0', 1, NULL, "" },
		{ arena_printf(a, "%sx", repeated(a, "d/", 16)), '0', 1, NULL, "lies too deep" },
		{ repeated(a, "n", 512), '0', 1, NULL, "" },
		{ repeated(a, "n", 513), '0', 1, NULL, "longer than 512 bytes" },
	};
	static char bytes[2000];
	struct buf b;

	buf_init(&b, 1 << 24);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].name);
		tar_begin(&b);
		tar_add(&b, cases[i].name, cases[i].kind, bytes, cases[i].len);
		if (cases[i].also)
			tar_add(&b, cases[i].also, '0', bytes, 1);
		tar_end(&b);
		SAYS(verdict(h, a, &b, NULL), cases[i].says);
	}
	test_step("together");
	for (int n = 2; n <= 3; n++) {
		tar_begin(&b);
		for (int i = 0; i < n; i++)
			tar_add(&b, arena_printf(a, "%d", i), '0', bytes, 900);
		tar_end(&b);
		SAYS(verdict(h, a, &b, NULL), n == 2 ? "" : "unpacks to too many bytes");
	}
	for (int n = 4; n <= 5; n++) {
		tar_begin(&b);
		for (int i = 0; i < n; i++)
			tar_add(&b, arena_printf(a, "%d", i), '0', bytes, 1);
		tar_end(&b);
		SAYS(verdict(h, a, &b, NULL), n == 4 ? "" : "more than 4 entries");
	}
	buf_free(&b);
	arena_free(a);
	helper_free(h);
}

TEST(helper_refuses_what_is_cut_or_damaged)
{
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct helper_files files;
	struct buf b, whole;

	buf_init(&b, 1 << 20);
	buf_init(&whole, 1 << 20);
	tar_begin(&whole);
	tar_add(&whole, "a", '0', "hello", 5);
	tar_end(&whole);
	for (size_t n = 2; n < whole.len; n++) {
		b.len = 0;
		buf_put(&b, whole.at, n);
		test_step("the first %zu bytes", n);
		CHECK(*verdict(h, &a, &b, NULL));
	}
	for (size_t n = 10; n < whole.len; n++) {
		b.len = 0;
		buf_put(&b, whole.at, whole.len);
		b.at[n] ^= 1;
		test_step("byte %zu turned", n);
		/* A copy of zeros may be taken from elsewhere among them, which changes nothing. */
		if (!*verdict(h, &a, &b, &files))
			CHECK(files.count == 1 && strcmp(files.at[0].bytes, "hello") == 0);
	}
	test_step("something after it");
	b.len = 0;
	buf_put(&b, whole.at, whole.len);
	buf_lit(&b, "x");
	SAYS(verdict(h, &a, &b, NULL), "Something follows");
	tar_begin(&b);
	tar_add(&b, "a", '0', "x", 1);
	tar_zeros(&b, 1024);
	tar_add(&b, "b", '0', "x", 1);
	tar_end(&b);
	SAYS(verdict(h, &a, &b, NULL), "Something follows");
	test_step("without its end");
	tar_begin(&b);
	tar_add(&b, "a", '0', "xyz", 3);
	tar_pack(&b);
	SAYS(verdict(h, &a, &b, NULL), "cut off");
	tar_begin(&b);
	buf_lit(&b, "This is a text that gzip has packed.");
	tar_pack(&b);
	CHECK(*verdict(h, &a, &b, NULL));
	test_step("neither");
	b.len = 0;
	buf_lit(&b, "Rar!");
	SAYS(verdict(h, &a, &b, NULL), "neither a ZIP archive nor");
	b.len = 0;
	SAYS(verdict(h, &a, &b, NULL), "neither a ZIP archive nor");
	buf_free(&b);
	buf_free(&whole);
	arena_free(&a);
	helper_free(h);
}

TEST(helper_unpacks_no_bombs)
{
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct helper_files files;
	struct buf b;

	/* Nothing at all packs to a thousandth. */
	buf_init(&b, 8 << 20);
	tar_begin(&b);
	for (int i = 0; i < 3; i++)
		tar_add(&b, arena_printf(&a, "%d", i), '0', arena_alloc(&a, 1 << 20), 1 << 20);
	tar_end(&b);
	CHECK_INT(helper_unpack(h, &a, b.at, b.len, &helper_bundle_limits, &files), ERR_INVALID);
	SAYS(files.fault, "far more than it is packed");
	buf_free(&b);
	arena_free(&a);
	helper_free(h);
}

TEST(helper_unpacks_zip_archives)
{
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct helper_files files;
	struct zip_writer w;
	struct buf b;

	buf_init(&b, 1 << 20);
	zip_begin(&w, &b);
	zip_add(&w, "SKILL.md", false, "hello", 5);
	zip_add(&w, repeated(&a, "n", 512), false, "", 0);
	zip_end(&w);
	SAYS(verdict(h, &a, &b, &files), "");
	CHECK_INT((long long)files.count, 2);
	CHECK_STR(files.at[0].name, "SKILL.md");
	CHECK_STR(files.at[0].bytes, "hello");
	CHECK_INT((long long)strlen(files.at[1].name), 512);
	b.len = 0;
	zip_begin(&w, &b);
	zip_add(&w, "a/Skill.md", false, "hello", 5);
	zip_add(&w, "a/SKILL.MD", false, "hello", 5);
	zip_end(&w);
	SAYS(verdict(h, &a, &b, NULL), "\"a/SKILL.MD\" is there twice");
	b.len = 0;
	zip_begin(&w, &b);
	zip_add(&w, "../a", false, "hello", 5);
	zip_end(&w);
	SAYS(verdict(h, &a, &b, NULL), "not a relative path");
	for (int n = 5000; n <= 5001; n++) {
		b.len = 0;
		zip_begin(&w, &b);
		for (int i = 0; i < n; i++)
			zip_add(&w, arena_printf(&a, "%d", i), false, "", 0);
		zip_end(&w);
		CHECK_INT(helper_unpack(h, &a, b.at, b.len, &helper_bundle_limits, &files),
			n == 5000 ? 0 : ERR_INVALID);
	}
	SAYS(files.fault, "more than 5000 entries");
	test_step("more than was asked for");
	CHECK_INT(helper_unpack(h, &a, b.at, small.packed + 1, &small, &files), ERR_INVALID);
	SAYS(files.fault, "has more than 1048576 bytes");
	buf_free(&b);
	arena_free(&a);
	helper_free(h);
}

/* ---- a process that does wrong ---- */

TEST(helper_survives_its_process)
{
	static const struct {
		const char *what, *says;
	} cases[] = {
		{ "open", "open: refused" },
		{ "socket", "broke down" },
		{ "execute", "broke down" },
		{ "run memory", "broke down" },
		{ "write elsewhere", "broke down" },
		{ "crash", "broke down" },
		{ "leave", "broke down" },
		{ "half", "broke down" },
		{ "unknown", "broke down" },
		{ "huge", "broke down" },
		{ "long name", "broke down" },
		{ "noise", "broke down" },
		{ "slip", "broke down" },
		{ "none of these", "There is no such task." },
		{ "good", "" },
	};
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct helper_files files;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int err = helper_misdeed(h, &a, cases[i].what, &files);

		test_step("%s", cases[i].what);
		CHECK_INT(err, *cases[i].says ? ERR_INVALID : 0);
		CHECK_INT((long long)files.count, !*cases[i].says);
		SAYS(files.fault ? files.fault : "", cases[i].says);
	}
	arena_free(&a);
	helper_free(h);
}

TEST(helper_has_so_much_memory_and_time)
{
	struct helper *h = helper_new(
		&(struct helper_setup){ .cpu_s = 1, .memory = 64 << 20, .wall_ms = 30000 });
	struct helper *hasty = helper_new(&(struct helper_setup){ .wall_ms = 50, .processes = 1 });
	struct arena a = { 0 };
	struct helper_files files;
	int64_t began = clock_mono_ms();

	CHECK_INT(helper_misdeed(h, &a, "eat", &files), ERR_INVALID);
	CHECK(strtol(files.fault, NULL, 10) > 16 && strtol(files.fault, NULL, 10) < 64);
	CHECK_INT(helper_misdeed(h, &a, "spin", &files), ERR_INVALID);
	CHECK_STR(files.fault, "This takes too long to read.");
	CHECK(clock_mono_ms() - began < 20000);
	CHECK_INT(helper_misdeed(hasty, &a, "sleep", &files), ERR_INVALID);
	CHECK_STR(files.fault, "This takes too long to read.");
	helper_free(h);
	helper_free(hasty);
	h = helper_new(&(struct helper_setup){ .program = "/nowhere/lodge-helper" });
	CHECK_INT(helper_misdeed(h, &a, "good", &files), ERR_INTERNAL);
	SAYS(files.fault, "cannot be started: ENOENT");
	helper_free(h);
	arena_free(&a);
}

/* The process of ours that has this name and lives; 0 if there is none. */
static pid_t child_named(const char *name)
{
	DIR *proc = opendir("/proc");
	pid_t found = 0;

	for (struct dirent *d; !found && (d = readdir(proc));) {
		char path[300], line[1000] = "", *comm, *rest;
		long pid = strtol(d->d_name, NULL, 10);
		FILE *f = NULL;

		snprintf(path, sizeof path, "/proc/%ld/stat", pid);
		if (!pid || !(f = fopen(path, "r")))
			continue;
		comm = fgets(line, sizeof line, f) ? strchr(line, '(') : NULL;
		rest = comm ? strrchr(comm, ')') : NULL; /* ") S PARENT" */
		if (rest && rest[2] != 'Z' && strtol(rest + 3, NULL, 10) == getpid() &&
			strncmp(comm + 1, name, strlen(name)) == 0)
			found = (pid_t)pid;
		fclose(f);
	}
	closedir(proc);
	return found;
}

struct sleeper {
	struct helper *helper;
	struct helper_files files;
	struct arena arena;
	int err;
};

static void *sleep_in_helper(void *data)
{
	struct sleeper *s = data;

	s->err = helper_misdeed(s->helper, &s->arena, "sleep", &s->files);
	return NULL;
}

TEST(helper_killed_in_the_middle_is_told)
{
	struct helper *h = helper_new(&(struct helper_setup){ .processes = 1 });
	struct sleeper s = { .helper = h };
	struct arena a = { 0 };
	struct helper_files files;
	pthread_t thread;
	pid_t pid = 0;

	CHECK_INT(pthread_create(&thread, NULL, sleep_in_helper, &s), 0);
	while (!(pid = child_named("lodge-helper")))
		usleep(1000);
	kill(pid, SIGKILL);
	/* It waits for the turn of the one that was killed. */
	CHECK_INT(helper_misdeed(h, &a, "good", &files), 0);
	pthread_join(thread, NULL);
	CHECK_INT(s.err, ERR_INVALID);
	SAYS(s.files.fault, "broke down");
	CHECK_INT(child_named("lodge-helper"), 0);
	arena_free(&s.arena);
	arena_free(&a);
	helper_free(h);
}
