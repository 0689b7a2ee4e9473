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
