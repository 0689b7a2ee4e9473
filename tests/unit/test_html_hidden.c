/* test_html_hidden.c - the text of a page, without what it hides from the eye. */
#include "base/html_text.h"
#include "t.h"

TEST(html_text_leaves_out_what_is_hidden)
{
	static const struct {
		const char *page, *want;
	} cases[] = {
		{ "a<div style=\"display:none\">b<div>c</div>d</div>e", "a e" },
		{ "a<span style='DISPLAY : None !important'>b</span>c", "a c" },
		{ "a<span hidden>b</span>c<span hidden=\"\">d</span>", "a c" },
		{ "a<span style=\"visibility:hidden\">b</span>", "a" },
		{ "a<span style=\"font-size:0\">b</span><i style=\"font-size:1px\">c</i>", "a" },
		{ "a<span style=\"opacity:0\">b</span><i style=\"opacity:.01\">c</i>", "a" },
		{ "a<span style=\"max-height:0;overflow:hidden\">b</span>", "a" },
		{ "a<span style=\"mso-hide:all\">b</span>", "a" },
		{ "a<span style=\"position:absolute;left:-9999px\">b</span>", "a" },
		{ "a<span style=\"color:#fff\">b</span>", "a" },
		{ "a<font color=white>b</font><i style=\"color: rgb(255, 255, 254)\">c</i>", "a" },
		{ "a<span style=\"color:transparent\">b</span>", "a" },
		{ "<table bgcolor=\"#000000\"><tr><td style=\"color:white\">b</td></tr></table><i style=\"color:white\">c</i>",
			"b" },
		{ "<div style=\"background:#222\"><div><b style=\"color:#fff\">b</b></div><b style=\"color:#222\">c</b></div>",
			"b" },
		{ "<div style=\"background:url(x.png)\"><b style=\"color:#fff\">b</b></div>", "b" },
		{ "a<p hidden>b<p>c", "a\n\nc" },
		{ "a<img hidden>b<br style='display:none'>c", "ab\nc" },
		{ "a<div hidden><script>'<div>'</script></div>b", "a b" },
		{ "a<div hidden><!-- </div> -->b</div>c", "a c" },
		{ "a<b style=\"font-size:12px;color:#333;opacity:1;left:-5px\">b</b>", "ab" },
		{ "a<div hidden>b", "a" },
		{ "<b title='display:none'>b</b> <b data-hidden>c</b>", "b c" },
	};
	struct arena a = { 0 };
	size_t len;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].page);
		CHECK_STR(html_text(&a, cases[i].page, strlen(cases[i].page), &len), cases[i].want);
	}
	arena_free(&a);
}

#define STYLED(style) "a<span style=\"" style "\">b</span>c"

/* However the style is written, and whichever way it has of hiding. */
TEST(html_text_leaves_out_what_a_style_hides_in_any_spelling)
{
	static const char *const hiding[] = {
		STYLED("display&#58;none"),
		STYLED("display&#58none"),
		STYLED("display&#x3a;none"),
		STYLED("display&#x000000003A;n&#111;ne"),
		STYLED("display&colon;none"),
		STYLED("dis/**/play:none"),
		STYLED("/* x */display:/*;*/none"),
		STYLED("display:n\\6fne"),
		STYLED("d\\69 splay:\\6e one"),
		STYLED("display:n\\00006F ne"),
		STYLED("display&#58;n&#92;6fne"),
		STYLED("background:url(data:x;y);display:none"),
		STYLED("font-family:';display:block';display:none"),
		STYLED("opacity:0%"),
		STYLED("opacity:calc(0)"),
		STYLED("filter:opacity(0)"),
		STYLED("filter:opacity(0%)"),
		STYLED("color:rgba(0,0,0,0)"),
		STYLED("color:rgb(0 0 0 / 0%)"),
		STYLED("color:hsla(0,0%,0%,0)"),
		STYLED("color:hsl(120,50%,100%)"),
		STYLED("color:#0000"),
		STYLED("color:#00000000"),
		STYLED("color:#fff;color:#zzz"),
		STYLED("-webkit-text-fill-color:transparent"),
		STYLED("width:0;overflow:hidden"),
		STYLED("overflow:hidden;height:0px"),
		STYLED("height:1px;overflow-y:clip"),
		STYLED("font:0/0 a"),
		STYLED("font:italic 1px serif"),
		STYLED("transform:scale(0)"),
		STYLED("transform:rotate(3deg) scaleX(0)"),
		STYLED("transform:translate(-9999px, 0)"),
		STYLED("transform:translateY(-200em)"),
		STYLED("position:absolute;clip:rect(0 0 0 0)"),
		STYLED("clip:rect(1px,1px,1px,1px)"),
		STYLED("clip-path:inset(50%)"),
		STYLED("clip-path:inset(0 100% 0 0)"),
		STYLED("clip-path:circle(0)"),
		STYLED("clip-path:polygon(0 0, 0 0, 0 0)"),
		STYLED("position:fixed;left:-100vw"),
		STYLED("position:fixed;top:99999px"),
		STYLED("margin:0 0 0 -9999px"),
		STYLED("content-visibility:hidden"),
		"a<span popover>b</span>c",
		"a<font color=\"&#35;ffffff\">b</font>c",
		"a<dialog>b<dialog open>d</dialog></dialog>c",
		"a<audio>b</audio>c",
		"a<canvas>b</canvas>c",
		"a<video>b</video>c",
	};
	static const char *const shown[] = {
		STYLED("display:block"),
		STYLED("font-size:1em"),
		STYLED("font:400 12px/1 serif"),
		STYLED("font:bold 1em x"),
		STYLED("opacity:50%"),
		STYLED("width:0"),
		STYLED("overflow:hidden"),
		STYLED("transform:translate(-50%,-50%) scale(1.5)"),
		STYLED("clip-path:inset(10px)"),
		STYLED("clip-path:circle(50%)"),
		STYLED("clip-path:polygon(50% 0,100% 100%,0 100%)"),
		STYLED("color:rgba(0,0,0,.8)"),
		STYLED("color:hsl(120,50%,20%)"),
		STYLED("left:50%;margin-left:-50%"),
		STYLED("background:rgba(0,0,0,0);color:#000"),
		STYLED("content:'display:none'"),
	};
	struct arena a = { 0 };
	const char *text;
	size_t len;

	for (size_t i = 0; i < sizeof hiding / sizeof *hiding; i++) {
		test_step("%s", hiding[i]);
		text = html_text(&a, hiding[i], strlen(hiding[i]), &len);
		CHECK(!strchr(text, 'b') && strchr(text, 'a') && strchr(text, 'c'));
	}
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
		test_step("%s", shown[i]);
		CHECK_STR(html_text(&a, shown[i], strlen(shown[i]), &len), "abc");
	}
	arena_free(&a);
}

TEST(html_text_leaves_out_what_opens_when_it_is_asked_for)
{
	static const struct {
		const char *page, *want;
	} cases[] = {
		{ "a<details>b<summary>s</summary>c<details open>d</details>e</details>f",
			"a\ns\nf" },
		{ "a<details><summary>s<details><summary>t</summary>u</details></summary>v</details>f",
			"a\ns\nt\nf" },
		{ "a<details>b</details>f", "a\nf" },
		{ "a<details open><summary>s</summary>c</details>f", "ascf" },
		{ "a<dialog open>b</dialog>c", "abc" },
	};
	struct arena a = { 0 };
	size_t len;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].page);
		CHECK_STR(html_text(&a, cases[i].page, strlen(cases[i].page), &len), cases[i].want);
	}
	test_step("the title of a page is shown, that of a letter is not");
	CHECK_STR(html_text(&a, "<title>t</title>b", 17, &len), "t\n\nb");
	CHECK_STR(html_letter_text(&a, "<title>t</title>b", 17, &len), "b");
	arena_free(&a);
}
