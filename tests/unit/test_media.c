/* test_media.c - pixels of the pictures made: scaling, orientation, alpha, every kind of file. */
#include <math.h>
#include <stdlib.h>

#include "media/picture.h"
#include "picture_fixture.h"
#include "t.h"

enum { SIDE = 192, MADE_MAX = 512 * 1024 };

static char why[PICTURE_WHY_MAX];

static const char *type_of(const struct buf *b)
{
	return (uint8_t)b->at[0] == 0x89 ? "image/png"
	       : b->at[0] == 'R'	 ? "image/webp"
					 : "image/jpeg";
}

static enum picture_verdict verdict_of(const void *bytes, size_t len, const char *type)
{
	struct buf out;
	enum picture_verdict verdict;

	buf_init(&out, MADE_MAX);
	verdict = picture_square(bytes, len, type, 24, &out, why);
	CHECK((verdict == PICTURE_GOOD) == (why[0] == '\0'));
	CHECK((verdict == PICTURE_GOOD) == (out.len > 0));
	buf_free(&out);
	return verdict;
}

/* The square made of a file, which is freed. */
static struct picture made_of(struct buf *file)
{
	struct picture made = { 0 };
	struct buf out;

	buf_init(&out, MADE_MAX);
	CHECK_INT(picture_square(file->at, file->len, type_of(file), SIDE, &out, why), 0);
	CHECK_STR(why, "");
	if (out.len)
		made = picture_read(out.at, out.len);
	if (!made.rgba)
		made = (struct picture){ SIDE, SIDE, calloc((size_t)SIDE * SIDE, 4) };
	CHECK_INT(made.width, SIDE);
	CHECK_INT(made.height, SIDE);
	/* Header, data, end: nothing else is in it. */
	CHECK(out.len > 57 && memcmp(out.at + 37, "IDAT", 4) == 0);
	CHECK(!memmem(out.at, out.len, "tEXt", 4) && !memmem(out.at, out.len, "secret", 6));
	buf_free(&out);
	buf_free(file);
	return made;
}

static struct picture made_of_png(const struct picture *p, enum png_kind kind, bool interlaced)
{
	struct buf file;

	picture_fixture_png(&file, p, kind, interlaced);
	return made_of(&file);
}

static double light(int stored_value)
{
	static double known[256];
	double v = stored_value / 255.0;

	if (!known[stored_value])
		known[stored_value] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
	return known[stored_value];
}

static int stored(double v)
{
	return (int)lround(255 * (v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055));
}

static double overlap(double a, double a_end, double b, double b_end)
{
	double from = a > b ? a : b, end = a_end < b_end ? a_end : b_end;

	return end > from ? end - from : 0;
}

/* Of the pixels that can count at all, the first, and the one after the last. */
static int first(int at, double unit)
{
	int from = (int)(at * unit) - 2;

	return from > 0 ? from : 0;
}

static int last(int at, double unit, int size)
{
	int end = (int)((at + 1) * unit) + 3;

	return end < size ? end : size;
}

/* What a pixel must be by the definition: the light that falls on its area, or between its
 * neighbours, over the alpha there. */
static void by_definition(const struct picture *p, int x, int y, int out[4])
{
	int size = p->width < p->height ? p->width : p->height;
	double unit = (double)size / SIDE, sum[4] = { 0 }, all = 0;
	double at_x = (x + 0.5) * unit - 0.5, at_y = (y + 0.5) * unit - 0.5;

	at_x = fmin(fmax(at_x, 0), size - 1);
	at_y = fmin(fmax(at_y, 0), size - 1);
	for (int v = first(y, unit); v < last(y, unit, size); v++) {
		double tall = size >= SIDE ? overlap(v, v + 1, y * unit, (y + 1) * unit)
					   : fmax(0, 1 - fabs(v - at_y));

		for (int u = first(x, unit); u < last(x, unit, size); u++) {
			double wide = size >= SIDE ? overlap(u, u + 1, x * unit, (x + 1) * unit)
						   : fmax(0, 1 - fabs(u - at_x));
			const uint8_t *from = picture_at(
				p, u + (p->width - size) / 2, v + (p->height - size) / 2);

			for (int k = 0; k < 3; k++)
				sum[k] += wide * tall * light(from[k]) * from[3] / 255;
			sum[3] += wide * tall * from[3] / 255;
			all += wide * tall;
		}
	}
	out[3] = (int)lround(255 * sum[3] / all);
	for (int k = 0; k < 3; k++)
		out[k] = out[3] ? stored(sum[k] / sum[3]) : 0;
}

static int distance(const uint8_t *got, const int *want)
{
	int most = 0;

	for (int k = 0; k < 4; k++)
		most = abs(got[k] - want[k]) > most ? abs(got[k] - want[k]) : most;
	return most;
}

static void check_definition(const struct picture *p, const struct picture *made, int within)
{
	for (int y = 0; y < SIDE; y += 7)
		for (int x = 0; x < SIDE; x += 5) {
			int want[4];
			const uint8_t *got = picture_at(made, x, y);

			by_definition(p, x, y, want);
			if (distance(got, want) > within) {
				test_fail(__FILE__, __LINE__,
					"%d x %d: pixel %d, %d is %d %d %d %d, not %d %d %d %d",
					p->width, p->height, x, y, got[0], got[1], got[2], got[3],
					want[0], want[1], want[2], want[3]);
				return;
			}
		}
}

static void gradient(int x, int y, uint8_t *rgba)
{
	rgba[0] = (uint8_t)(x * 255 / 600);
	rgba[1] = (uint8_t)(y * 255 / 600);
	rgba[2] = (uint8_t)((x + y) % 256);
	rgba[3] = 255;
}

static void veil(int x, int y, uint8_t *rgba)
{
	gradient(x, y, rgba);
	rgba[3] = (uint8_t)(x * y % 256);
}

TEST(media_scales_a_gradient_as_defined)
{
	static const int sizes[][2] = { { 192, 192 }, { 384, 384 }, { 500, 300 }, { 301, 599 },
		{ 193, 194 }, { 191, 191 }, { 96, 96 }, { 100, 37 }, { 3, 2 }, { 1, 1 } };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		for (int veiled = 0; veiled < 2; veiled++) {
			struct picture p =
				picture_paint(sizes[i][0], sizes[i][1], veiled ? veil : gradient);
			struct picture made = made_of_png(&p, KIND_RGBA_8, false);

			check_definition(&p, &made, 1);
			picture_free(&p);
			picture_free(&made);
		}
	}
}

static void chequers(int x, int y, uint8_t *rgba)
{
	memset(rgba, (x + y) % 2 ? 255 : 0, 3);
	rgba[3] = 255;
}

TEST(media_mixes_light_and_not_numbers)
{
	struct picture p = picture_paint(384, 384, chequers);
	struct picture made = made_of_png(&p, KIND_GRAY_1, false);

	CHECK_INT(picture_at(&made, 50, 50)[0], 188);
	picture_free(&p);
	picture_free(&made);
}

/* Red that is seen beside green that is not. */
static void half_seen(int x, int y, uint8_t *rgba)
{
	(void)y;
	memcpy(rgba, x % 2 ? "\xff\0\0\xff" : "\0\xff\0\0", 4);
}

static void unseen(int x, int y, uint8_t *rgba)
{
	(void)x;
	(void)y;
	memcpy(rgba, "\x12\x34\x56\0", 4);
}

TEST(media_keeps_alpha_and_lets_nothing_invisible_through)
{
	struct picture p = picture_paint(384, 384, half_seen);
	struct picture made = made_of_png(&p, KIND_RGBA_8, false);

	CHECK(distance(picture_at(&made, 9, 9), (int[]){ 255, 0, 0, 128 }) == 0);
	picture_free(&p);
	picture_free(&made);
	p = picture_paint(300, 200, unseen);
	made = made_of_png(&p, KIND_RGBA_8, false);
	CHECK(distance(picture_at(&made, 100, 100), (int[]){ 0, 0, 0, 0 }) == 0);
	picture_free(&p);
	picture_free(&made);
}

static void stripes(int x, int y, uint8_t *rgba)
{
	memcpy(rgba,
		x < 200 || y < 200     ? "\xff\0\0\xff"
		: x >= 400 || y >= 400 ? "\0\0\xff\xff"
				       : "\0\xff\0\xff",
		4);
}

static void columns(int x, int y, uint8_t *rgba)
{
	(void)y;
	stripes(x, 300, rgba);
}

static void lines(int x, int y, uint8_t *rgba)
{
	(void)x;
	stripes(300, y, rgba);
}

TEST(media_cuts_the_square_in_the_middle)
{
	for (int tall = 0; tall < 2; tall++) {
		struct picture p =
			tall ? picture_paint(200, 600, lines) : picture_paint(600, 200, columns);
		struct picture made = made_of_png(&p, KIND_RGB_8, false);

		for (int i = 0; i < SIDE; i++)
			CHECK(distance(picture_at(&made, i, (i * 7) % SIDE),
				      (int[]){ 0, 255, 0, 255 }) == 0);
		picture_free(&p);
		picture_free(&made);
	}
}

/* A few colours, of which every kind of file keeps what it can. */
static void patches(int x, int y, uint8_t *rgba)
{
	rgba[0] = (uint8_t)(x / 40 * 60);
	rgba[1] = (uint8_t)(y / 40 * 50);
	rgba[2] = 77;
	rgba[3] = x / 80 + y / 80 == 2 ? 100 : 255;
}

static void keep_only(struct picture *p, enum png_kind kind)
{
	bool grey = kind <= KIND_GRAY_ALPHA_16,
	     alpha = kind >= KIND_RGBA_8 || kind == KIND_PALETTE || kind == KIND_GRAY_ALPHA_8 ||
		     kind == KIND_GRAY_ALPHA_16;

	for (int i = 0; i < p->width * p->height; i++) {
		uint8_t *at = p->rgba + (size_t)i * 4;

		if (kind == KIND_GRAY_1)
			at[0] = at[0] >= 128 ? 255 : 0;
		if (grey)
			at[1] = at[2] = at[0];
		if (!alpha)
			at[3] = 255;
	}
}

TEST(media_reads_every_kind_of_png)
{
	for (int kind = 0; kind < PNG_KINDS; kind++) {
		for (int how = 0; how < 4; how++) {
			struct picture p = how / 2 ? picture_paint(101, 90, patches)
						   : picture_paint(211, 223, patches);
			struct picture made = made_of_png(&p, (enum png_kind)kind, how % 2);

			test_step("kind %d, %d", kind, how);
			keep_only(&p, (enum png_kind)kind);
			check_definition(&p, &made, 1);
			picture_free(&p);
			picture_free(&made);
		}
	}
}

static void smooth(int x, int y, uint8_t *rgba)
{
	rgba[0] = (uint8_t)(40 + x * 100 / 1700);
	rgba[1] = (uint8_t)(200 - y * 100 / 1700);
	rgba[2] = (uint8_t)(60 + x * 100 / 1700);
	rgba[3] = 255;
}

TEST(media_reads_every_kind_of_jpeg)
{
	static const int sizes[][2] = { { 1700, 1600 }, { 801, 900 }, { 250, 200 }, { 33, 40 } };

	for (int kind = 0; kind < JPEG_KINDS; kind++) {
		/* the largest once a kind, by turns in one go and in several */
		for (int i = kind % 2; i < 8; i += i < 2 ? 2 - kind % 2 : 1) {
			struct jpeg_how how = { (enum jpeg_kind)kind, .progressive = i % 2,
				.plain_ink = kind == KIND_CMYK && i % 4 > 1 };
			struct picture p = picture_paint(sizes[i / 2][0], sizes[i / 2][1], smooth);
			struct picture made;
			struct buf file;

			test_step("kind %d, %d", kind, i);
			picture_fixture_jpeg(&file, &p, how);
			made = made_of(&file);
			if (kind == KIND_GREY)
				keep_only(&p, KIND_GRAY_8);
			check_definition(&p, &made, 4);
			picture_free(&p);
			picture_free(&made);
		}
	}
}

TEST(media_reads_every_kind_of_webp)
{
	static const int sizes[][2] = { { 1000, 900 }, { 500, 300 }, { 33, 40 } };

	for (int i = 0; i < 6; i++) {
		bool lossless = i % 2;
		struct picture p = picture_paint(sizes[i / 2][0], sizes[i / 2][1], smooth), made;
		struct buf file;

		test_step("%d", i);
		picture_fixture_webp(&file, &p, lossless);
		made = made_of(&file);
		check_definition(&p, &made, lossless ? 2 : 6);
		picture_free(&p);
		picture_free(&made);
	}
}

TEST(media_keeps_the_alpha_of_webp)
{
	struct picture p = picture_paint(211, 223, patches);

	for (int lossless = 0; lossless < 2; lossless++) {
		struct picture made;
		struct buf file;

		picture_fixture_webp(&file, &p, lossless);
		made = made_of(&file);
		CHECK(abs(picture_at(&made, 10, SIDE - 30)[3] - 100) <= 2);
		CHECK_INT(picture_at(&made, 5, 5)[3], 255);
		picture_free(&made);
	}
	picture_free(&p);
}

/* Red, green, blue and white, from the upper left clockwise to the lower left. */
static void quarters(int x, int y, uint8_t *rgba)
{
	static const uint8_t colours[4][4] = { { 255, 0, 0, 255 }, { 0, 255, 0, 255 },
		{ 255, 255, 255, 255 }, { 0, 0, 255, 255 } };

	memcpy(rgba, colours[(y >= 200) * 2 + (x >= 200)], 4);
}

static char corner(const struct picture *p, int x, int y)
{
	const uint8_t *at = picture_at(p, x, y);

	return at[0] > 128 && at[1] > 128 ? 'w' : at[0] > 128 ? 'r' : at[1] > 128 ? 'g' : 'b';
}

TEST(media_turns_photographs_upright)
{
	/* The corners clockwise from the upper left, by what EXIF says of each number. */
	static const char *const want[] = { "rgbw", "rgbw", "grwb", "bwrg", "wbgr", "rwbg", "wrgb",
		"bgrw", "gbwr", "rgbw" };
	struct picture p = picture_paint(400, 400, quarters);

	for (int i = 0; i < 20; i++) {
		struct picture made;
		struct buf file;
		char got[5] = "";

		picture_fixture_jpeg(&file, &p,
			(struct jpeg_how){ .orientation = i % 10, .big_endian = i >= 10 });
		made = made_of(&file);
		got[0] = corner(&made, 20, 20);
		got[1] = corner(&made, 170, 20);
		got[2] = corner(&made, 170, 170);
		got[3] = corner(&made, 20, 170);
		test_step("orientation %d", i);
		CHECK_STR(got, want[i % 10]);
		picture_free(&made);
	}
	picture_free(&p);
}

static void put_big_endian(char *at, unsigned n)
{
	for (int i = 0; i < 4; i++)
		at[i] = (char)(n >> 8 * (3 - i));
}

/* Forgets the most memory there ever was, and answers what there is. */
static long peak_kb(bool forget)
{
	FILE *file =
		fopen(forget ? "/proc/self/clear_refs" : "/proc/self/status", forget ? "w" : "r");
	char line[256];
	long kb = -1;

	if (!file) {
		test_fail(__FILE__, __LINE__, "/proc is not there");
		return 0;
	}
	if (forget)
		fputs("5", file);
	while (!forget && fgets(line, sizeof line, file))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	fclose(file);
	return forget ? peak_kb(false) : kb;
}

TEST(media_refuses_a_bomb_by_its_header)
{
	static const unsigned sizes[][2] = { { 100000, 100000 }, { 8193, 1 }, { 1, 8193 },
		{ 8000, 5001 }, { 0xffffffff, 0xffffffff } };
	struct picture p = picture_paint(64, 64, gradient);
	struct buf file;
	long before;

	picture_fixture_png(&file, &p, KIND_RGB_8, false);
	before = peak_kb(true);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		put_big_endian(file.at + 16, sizes[i][0]);
		put_big_endian(file.at + 20, sizes[i][1]);
		CHECK_INT(verdict_of(file.at, file.len, "image/png"), PICTURE_TOO_LARGE);
		CHECK(strstr(why, "pixels; the most is"));
	}
	put_big_endian(file.at + 20, 0);
	put_big_endian(file.at + 16, 5);
	CHECK_INT(verdict_of(file.at, file.len, "image/png"), PICTURE_DAMAGED);
	CHECK(peak_kb(false) - before < 256);
	picture_free(&p);
	buf_free(&file);
}

TEST(media_refuses_what_must_be_held_and_is_large)
{
	struct picture p = picture_paint(64, 64, smooth);
	struct buf file;
	char *at;
	long before;

	picture_fixture_jpeg(&file, &p, (struct jpeg_how){ .progressive = true });
	before = peak_kb(true);
	at = memmem(file.at, file.len, "\xff\xc2", 2);
	memcpy(at + 5, "\x0f\xa0\x13\x88", 4); /* 4000 high, 5000 wide */
	CHECK_INT(verdict_of(file.at, file.len, "image/jpeg"), PICTURE_TOO_LARGE);
	CHECK(strstr(why, "the most is 16 million"));
	memcpy(at + 5, "\x27\x10\x27\x10", 4);
	CHECK_INT(verdict_of(file.at, file.len, "image/jpeg"), PICTURE_TOO_LARGE);
	CHECK(peak_kb(false) - before < 512);
	buf_free(&file);
	picture_fixture_webp(&file, &p, true);
	before = peak_kb(true);
	at = (char *)memmem(file.at, file.len, "VP8L", 4) + 9;
	memcpy(at, "\x87\xd3\xe7\x03", 4); /* 14 bits of 4999, 14 of 3999 */
	CHECK_INT(verdict_of(file.at, file.len, "image/webp"), PICTURE_TOO_LARGE);
	CHECK(strstr(why, "5000 x 4000"));
	CHECK(peak_kb(false) - before < 512);
	buf_free(&file);
	picture_free(&p);
}

static void flat(int x, int y, uint8_t *rgba)
{
	(void)x;
	(void)y;
	memcpy(rgba, "\x20\x40\x60\xff", 4);
}

/* The thread sanitizer keeps several bytes for each of ours. */
#ifdef __SANITIZE_THREAD__
enum { WORKING_KB = 16384 };
#else
enum { WORKING_KB = 4096 };
#endif

TEST(media_holds_no_large_picture_whole)
{
	for (int how = 0; how < 3; how++) {
		struct picture p = picture_paint(2400, 2300, flat), made;
		struct buf file;
		long before;

		if (how == 2)
			picture_fixture_jpeg(&file, &p, (struct jpeg_how){ .kind = KIND_YCC });
		else
			picture_fixture_png(&file, &p, KIND_RGB_8, how == 1);
		before = peak_kb(true);
		made = made_of(&file);
		CHECK(peak_kb(false) - before < WORKING_KB); /* as RGBA it is 22 MB */
		CHECK(distance(picture_at(&made, 9, 9), (int[]){ 0x20, 0x40, 0x60, 255 }) <= 1);
		picture_free(&p);
		picture_free(&made);
	}
}

TEST(media_tells_types_by_their_bytes)
{
	struct picture p = picture_paint(64, 64, smooth);
	struct buf files[3];
	static const char *const types[] = { "image/png", "image/jpeg", "image/webp" };

	picture_fixture_png(&files[0], &p, KIND_RGB_8, false);
	picture_fixture_jpeg(&files[1], &p, (struct jpeg_how){ .kind = KIND_YCC });
	picture_fixture_webp(&files[2], &p, false);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			CHECK_INT(verdict_of(files[i].at, files[i].len, types[k]),
				i == k ? PICTURE_GOOD : PICTURE_OTHER_TYPE);
	CHECK_STR(why, "");
	verdict_of(files[1].at, files[1].len, "image/png");
	CHECK_STR(why,
		"The body is a JPEG picture and not image/png; send it as Content-Type: image/jpeg.");
	CHECK_INT(verdict_of("GIF89a\1\0\1\0", 10, "image/png"), PICTURE_OTHER_TYPE);
	CHECK_STR(why, "The body is no PNG, JPEG or WebP picture.");
	CHECK_INT(verdict_of("", 0, "image/png"), PICTURE_OTHER_TYPE);
	CHECK_INT(verdict_of("<svg/>", 6, "image/webp"), PICTURE_OTHER_TYPE);
	for (int i = 0; i < 3; i++)
		buf_free(&files[i]);
	picture_free(&p);
}

TEST(media_refuses_what_moves_and_what_never_ends)
{
	static const char animated[] = "RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x3f\0\0\x3f\0\0";
	struct picture p = picture_paint(64, 64, smooth);
	struct buf file;

	CHECK_INT(verdict_of(animated, sizeof animated - 1, "image/webp"), PICTURE_UNSUPPORTED);
	CHECK_STR(why, "The WebP picture is animated; send a still one.");
	picture_fixture_jpeg(&file, &p, (struct jpeg_how){ .many_scans = true });
	CHECK_INT(verdict_of(file.at, file.len, "image/jpeg"), PICTURE_UNSUPPORTED);
	CHECK(strstr(why, "scans"));
	buf_free(&file);
	picture_free(&p);
}

/* Cut at every 64th byte, and with every 64th byte turned: no crash; what is cut early is refused. */
static void maim(struct buf *file)
{
	const char *type = type_of(file);
	int good = 0;

	for (size_t n = 0; n < file->len; n += 64) {
		char *part = malloc(n + 1); /* exactly as long, so that a step beyond is seen */

		memcpy(part, file->at, n);
		part = realloc(part, n ? n : 1);
		if (verdict_of(part, n, type) == PICTURE_GOOD && n + 64 < file->len - 128)
			good++;
		free(part);
		file->at[n] ^= 0x55;
		verdict_of(file->at, file->len, type);
		file->at[n] ^= 0x55;
	}
	CHECK_INT(good, 0);
	CHECK_INT(verdict_of(file->at, file->len, type), PICTURE_GOOD);
	buf_free(file);
}

static void noise(int x, int y, uint8_t *rgba)
{
	static unsigned n = 1;

	for (int k = 0; k < 4; k++)
		rgba[k] = (uint8_t)((n = n * 1103515245 + 12345) >> 16);
	rgba[1] = (uint8_t)(x * 3 + y);
}

TEST(media_survives_what_is_cut_or_damaged)
{
	struct picture p = picture_paint(70, 60, noise);
	struct buf file;

	for (int i = 0; i < 2; i++) {
		test_step("%d", i);
		picture_fixture_png(&file, &p, i ? KIND_RGBA_16 : KIND_RGB_8, i);
		maim(&file);
		picture_fixture_jpeg(&file, &p,
			(struct jpeg_how){ .kind = i ? KIND_YCCK : KIND_YCC, .orientation = 6 });
		maim(&file);
		picture_fixture_webp(&file, &p, i);
		maim(&file);
	}
	picture_free(&p);
}
