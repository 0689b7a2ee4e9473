/* test_skills_import.c - skills in the Agent Skills format: in, out, and the same again. */
#include <stdlib.h>

#include "base/zip.h"
#include "fixture.h"

static const char good[] = "---\n"
			   "name: pdf-forms\n"
			   "description: >-\n"
			   "  Fills PDF forms.\n"
			   "  Use when a form is to be filled in.\n"
			   "license: Apache-2.0\n"
			   "compatibility: Needs qpdf\n"
			   "allowed-tools: Read Bash(git add:*), Write\n"
			   "metadata:\n"
			   "  author: example-org\n"
			   "  version: 1.0\n"
			   "---\n"
			   "\n"
			   "# Fill a form\n";

static struct answer import_md(struct fixture *f, const char *text, const char *query)
{
	return ask(f, f->admin, text,
		"POST /tenant/%s/skills/import%s\nContent-Type: text/markdown", f->tenant_id,
		query);
}

static struct answer import_zip(
	struct fixture *f, const char *tenant, const struct buf *zip, const char *query)
{
	return ask_bytes(f, f->admin, zip->at, zip->len,
		"POST /tenant/%s/skills/import%s\nContent-Type: application/zip", tenant, query);
}

TEST(skills_import_again_with_the_same_key_is_the_same_query)
{
	struct fixture *f = fixture_open();
	struct answer r;

#define IMPORT_ONCE(query)                                                         \
	ask(f, f->admin, good,                                                     \
		"POST /tenant/%s/skills/import%s\nContent-Type: text/markdown\r\n" \
		"Idempotency-Key: k",                                              \
		f->tenant_id, query)
	STATUS(IMPORT_ONCE(""), 201);
	STATUS(IMPORT_ONCE(""), 201);
	r = IMPORT_ONCE("?replace=true");
	STATUS(r, 422);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:idempotency_mismatch");
	fixture_close(f);
}

TEST(skills_import_one_file)
{
	struct fixture *f = fixture_open();
	struct answer r = import_md(f, good, "");
	const char *id = text_at(&r, "id");

	STATUS(r, 201);
	CHECK_STR(text_at(&r, "slug"), "pdf-forms");
	CHECK_STR(text_at(&r, "name"), "pdf-forms");
	CHECK_STR(text_at(&r, "visibility"), "private");
	CHECK_STR(
		text_at(&r, "description"), "Fills PDF forms. Use when a form is to be filled in.");
	CHECK_STR(text_at(&r, "license"), "Apache-2.0");
	CHECK_STR(text_at(&r, "metadata.version"), "1.0");
	CHECK_INT(json_array_size(at(&r, "allowed_tools")), 3);
	CHECK_STR(text_at(&r, "allowed_tools.1"), "Bash(git add:*)");
	CHECK_STR(text_at(&r, "instructions"), "# Fill a form\n");
	r = import_md(f, good, "");
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "pdf-forms"));

	test_step("in the place of the one that stands");
	STATUS(ask(f, f->admin, "x",
		       "PUT /tenant/%s/skills/%s/file?path=old\nContent-Type: text/plain",
		       f->tenant_id, id),
		201);
	r = import_md(f, "---\nname: pdf-forms\ndescription: New\n---\nNew", "?replace=true");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "id"), id);
	CHECK_STR(text_at(&r, "description"), "New");
	CHECK_STR(text_at(&r, "visibility"), "private");
	CHECK(json_is_null(at(&r, "license")));
	CHECK_INT(json_array_size(at(&r, "files")), 0);
	CHECK_INT(fixture_count(f, "select count(*) from skill_files"), 0);
	r = import_md(
		f, "---\nname: open\ndescription: O\n---\n", "?visibility=public&replace=true");
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "visibility"), "public");
	STATUS(ask(f, f->admin, good, "POST /tenant/%s/skills/import", f->tenant_id), 415);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'skill.import'"),
		3);
	fixture_close(f);
}

TEST(skills_import_names_the_line)
{
	static const struct {
		const char *text, *field, *code, *says;
	} cases[] = {
		{ "# no head\n", "SKILL.md", "syntax", "line 1: the file does not begin" },
		{ "---\nname: a\ndescription: b: c\n---\n", "SKILL.md", "syntax",
			"line 3: a plain" },
		{ "---\nname: a\nname: b\n---\n", "SKILL.md", "syntax", "line 3: this key" },
		{ "---\nname: A b\ndescription: d\n---\n", "name", "pattern",
			"line 2: may have small letters" },
		{ "---\ndescription: d\n---\n", "name", "required", "is required" },
		{ "---\nname: a\n---\n", "description", "required", "is required" },
		{ "---\nname: a\ndescription: ''\n---\n", "description", "too_short", "line 3: " },
		{ "---\nname: a\ndescription: d\nversion: 1\n---\n", "version", "unknown_field",
			"line 4: is not a field of SKILL.md; put it under metadata" },
		{ "---\nname: a\ndescription: [d]\n---\n", "description", "type", "line 3: " },
		{ "---\nname: a\ndescription: d\nmetadata: x\n---\n", "metadata", "type",
			"line 4: must be a map" },
		{ "---\nname: a\ndescription: d\nmetadata:\n  a:\n    b: c\n---\n", "metadata",
			"type", "line 5: must be a map of texts" },
		{ "---\nname: a\ndescription: d\nmetadata:\n  a: x\n  b: [y]\n---\n", "metadata",
			"type", "line 6: must be a map of texts" },
		{ "---\nname: a\ndescription: d\nallowed-tools: [[x]]\n---\n", "allowed-tools",
			"type", "line 4: must be a text or a list of texts" },
		{ "---\nname: a\ndescription: d\nallowed-tools:\n  - x\n  -\n---\n",
			"allowed-tools", "type", "line 6: must be a text or a list of texts" },
		{ "---\nname: a\ndescription: &x d\n---\n", "SKILL.md", "syntax",
			"line 3: anchors and aliases" },
		{ "---\n- a\n---\n", "SKILL.md", "syntax", "line 2: a key with its value" },
		{ "---\n# none\n---\n", "name", "required", "is required" },
		{ "---\nname: a\ndescription: d\nmetadata:\n  lodge-x: y\n---\n",
			"metadata.lodge-x", "reserved", "line 4: " },
		{ "---\nname: a\ndescription: d\nmetadata:\n  lodge-name: ''\n---\n",
			"metadata.lodge-name", "too_short", "must have" },
		{ "---\nname: a\ndescription: d\nallowed-tools: ['']\n---\n", "allowed-tools[0]",
			"too_short", "line 4: " },
	};
	struct fixture *f = fixture_open();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct answer r = import_md(f, cases[i].text, "");

		test_step("%s", cases[i].text);
		if (!refuses(&r, cases[i].field, cases[i].code) || !strstr(r.body, cases[i].says))
			test_fail(__FILE__, __LINE__, "%s", r.body);
	}
	CHECK_INT(fixture_count(f, "select count(*) from skills"), 0);
	fixture_close(f);
}

static void zip_of(struct buf *b, const char *const *names, const char *md)
{
	struct zip_writer w;

	buf_init(b, 1 << 24);
	zip_begin(&w, b);
	for (; *names; names++) {
		const char *base = strrchr(*names, '/');

		if (strcmp(base ? base + 1 : *names, "SKILL.md") == 0)
			zip_add(&w, *names, false, md, strlen(md));
		else
			zip_add(&w, *names, false, *names, strlen(*names));
	}
	zip_end(&w);
}

TEST(skills_import_archives)
{
	static const struct {
		const char *names[5];
		const char *field; /* NULL: taken */
	} cases[] = {
		{ { "SKILL.md", "references/a.md" }, NULL },
		{ { "top/SKILL.md", "top/scripts/x.sh", "top/a" }, NULL },
		{ { "top/a", "__MACOSX/._x", "top/.DS_Store", "top/SKILL.md" }, NULL },
		{ { "SKILL.md", "sub/SKILL.md" }, "" },
		{ { "a/b/SKILL.md" }, "SKILL.md" },
		{ { "a/SKILL.md", "b/x" }, "SKILL.md" },
		{ { "readme.md" }, "SKILL.md" },
		{ { "SKILL.md", "../x" }, "archive" },
		{ { "SKILL.md", "SKILL.md" }, "archive" },
	};
	struct fixture *f = fixture_open();
	struct answer r;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b;

		test_step("%zu", i);
		zip_of(&b, cases[i].names, good);
		r = import_zip(f, f->tenant_id, &b, "?replace=true");
		buf_free(&b);
		if (!cases[i].field || !*cases[i].field)
			CHECK(r.status == 201 || r.status == 200);
		else
			CHECK(refuses(&r, cases[i].field,
				strcmp(cases[i].field, "archive") == 0 ? "archive" : "required"));
		if (i == 1) {
			CHECK_INT(json_array_size(at(&r, "files")), 2);
			CHECK_STR(text_at(&r, "files.1.path"), "scripts/x.sh");
		}
		if (i == 2)
			CHECK_INT(json_array_size(at(&r, "files")), 1);
	}
	r = ask(f, f->admin, "PK", "POST /tenant/%s/skills/import\nContent-Type: application/zip",
		f->tenant_id);
	CHECK(refuses(&r, "archive", "archive"));
	CHECK_INT(fixture_count(f, "select count(*) from skills"), 1);
	fixture_close(f);
}

TEST(skills_import_keeps_to_the_maxima)
{
	struct fixture *f = fixture_open();
	static char large[(1 << 20) + 1];
	struct zip_writer w;
	struct answer r;
	struct buf b;

	buf_init(&b, 1 << 24);
	zip_begin(&w, &b);
	zip_add(&w, "SKILL.md", false, good, strlen(good));
	for (int i = 0; i < 201; i++)
		zip_add(&w, arena_printf(&f->arena, "f%d", i), false, "x", 1);
	zip_end(&w);
	r = import_zip(f, f->tenant_id, &b, "");
	CHECK(refuses(&r, "files", "too_many"));
	b.len = 0;
	zip_begin(&w, &b);
	zip_add(&w, "SKILL.md", false, good, strlen(good));
	zip_add(&w, "large", false, large, sizeof large);
	zip_end(&w);
	r = import_zip(f, f->tenant_id, &b, "");
	CHECK(refuses(&r, "large", "too_large"));
	b.len = 0;
	zip_begin(&w, &b);
	zip_add(&w, "SKILL.md", false, good, strlen(good));
	for (int i = 0; i < 5; i++)
		zip_add(&w, arena_printf(&f->arena, "f%d", i), false, large, sizeof large - 1);
	zip_end(&w);
	r = import_zip(f, f->tenant_id, &b, "");
	CHECK(refuses(&r, "files", "too_large"));
	CHECK_INT(fixture_count(f, "select count(*) from skills"), 0);
	buf_free(&b);
	fixture_close(f);
}

/* ---- any skill, exported and imported, is equal ---- */

static const char *odd(struct arena *a, unsigned *seed, size_t least, size_t most)
{
	static const char *const pieces[] = { "a", "Z", " ", "\n", ": ", " #", "'", "\"", "\\",
		"- ", "[", "}", ",", "&", "!", "|", ">", "~", "null", "1.0", "---", "\n---\n", "\t",
		"\r\n", "\x01", "\x7f", "\xc2\x85", "\xe2\x80\xa8", "\xc3\xa9", "\xf0\x9f\x98\x80",
		"(", ")", "\xef\xbb\xbf" };
	const char *out = least ? "x" : "";

	for (size_t n = (size_t)rand_r(seed) % (most + 1); n; n--)
		out = arena_printf(a, "%s%s", out,
			pieces[(size_t)rand_r(seed) % (sizeof pieces / sizeof *pieces)]);
	return out;
}

static void put_string(struct buf *b, const char *text)
{
	json_t *value = json_string(text);
	char *written = json_dumps(value, JSON_ENCODE_ANY);

	buf_puts(b, written);
	free(written);
	json_decref(value);
}

static void put(struct buf *b, const char *key, const char *text)
{
	buf_printf(b, "%s\"%s\":", b->at[b->len - 1] == '{' ? "" : ",", key);
	put_string(b, text);
}

static const char *odd_skill(struct arena *a, unsigned *seed, int n)
{
	const char *out;
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_putc(&b, '{');
	put(&b, "slug", arena_printf(a, "s-%d", n));
	put(&b, "name", rand_r(seed) % 4 ? odd(a, seed, 1, 6) : arena_printf(a, "s-%d", n));
	put(&b, "description", odd(a, seed, 1, 12));
	put(&b, "instructions", odd(a, seed, 0, 40));
	if (rand_r(seed) % 2)
		put(&b, "license", odd(a, seed, 1, 5));
	if (rand_r(seed) % 2)
		put(&b, "compatibility", odd(a, seed, 1, 5));
	buf_lit(&b, ",\"metadata\":{");
	for (int i = rand_r(seed) % 4; i > 0; i--)
		put(&b, arena_printf(a, "k%d", i), odd(a, seed, 0, 6));
	if (rand_r(seed) % 2)
		put(&b, "odd: key # ", odd(a, seed, 0, 6));
	buf_lit(&b, "},\"allowed_tools\":[");
	for (int i = rand_r(seed) % 4; i > 0; i--) {
		static const char *const tools[] = { "Read", "Bash(git:*)", "Bash(git add:*)",
			"a b", "a,b", "x(", "y)", "'q'", "- z", "~", "#" };

		put_string(&b, tools[(size_t)rand_r(seed) % (sizeof tools / sizeof *tools)]);
		buf_puts(&b, i > 1 ? "," : "");
	}
	buf_lit(&b, "]}");
	out = arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return out;
}

static bool same_but_for_place(const struct answer *a, const struct answer *b)
{
	static const char *const fields[] = { "name", "slug", "description", "instructions",
		"license", "compatibility", "metadata", "allowed_tools", "files" };

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (!json_equal(at(a, fields[i]), at(b, fields[i])))
			return false;
	return true;
}

TEST(skills_exported_and_imported_are_equal)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	unsigned seed = 11;

	for (int n = 0; n < 120; n++) {
		const char *body = odd_skill(&f->arena, &seed, n), *id;
		struct answer made, out, md, again, from_md;

		test_step("%s", body);
		made = ask(f, f->admin, body, "POST /tenant/%s/skills", f->tenant_id);
		STATUS(made, 201);
		id = text_at(&made, "id");
		for (int k = rand_r(&seed) % 3; k > 0; k--)
			STATUS(ask_bytes(f, f->admin, "\0\1\xffz", (size_t)k,
				       "PUT /tenant/%s/skills/%s/file?path=assets/%d\n"
				       "Content-Type: application/octet-stream",
				       f->tenant_id, id, k),
				201);
		made = ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s", f->tenant_id, id);
		out = ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s/export", f->tenant_id, id);
		STATUS(out, 200);
		again = ask_bytes(f, f->admin, out.body, out.body_len,
			"POST /tenant/%s/skills/import\nContent-Type: application/zip", other);
		STATUS(again, 201);
		if (!same_but_for_place(&made, &again))
			test_fail(__FILE__, __LINE__, "%s\n%s", made.body, again.body);
		md = ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s/SKILL.md", f->tenant_id, id);
		STATUS(md, 200);
		from_md = ask_bytes(f, f->admin, md.body, md.body_len,
			"POST /tenant/%s/skills/import?replace=true\nContent-Type: text/markdown",
			other);
		STATUS(from_md, 200);
		json_object_set(from_md.json, "files", at(&made, "files"));
		CHECK(same_but_for_place(&made, &from_md));
	}
	fixture_close(f);
}
