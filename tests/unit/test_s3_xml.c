/* test_s3_xml.c - the XML that S3 speaks. */
#include "t.h"

#include "outside/s3_xml.h"

TEST(s3_xml_is_read_by_name_and_nothing_is_believed)
{
	static const struct {
		const char *xml, *key; /* NULL: there is none */
	} cases[] = {
		{ "<A><Key>plain</Key></A>", "plain" },
		{ "<A><Key a=\"x>y\">with an attribute</Key></A>", "with an attribute" },
		{ "<A><Keys>no</Keys><Key>yes</Key></A>", "yes" },
		{ "<A><Key/></A>", "" },
		{ "<A><Key>&lt;&amp;&gt;&quot;&apos;&#65;&#x42;</Key></A>", "<&>\"'AB" },
		{ "<A><Key>&other;</Key></A>", NULL },
		{ "<A><Key>&#0;</Key></A>", NULL },
		{ "<A><Key>&#999999999;</Key></A>", NULL },
		{ "<A><Key>&amp</Key></A>", NULL },
		{ "<A><Key><B/></Key></A>", NULL },
		{ "<A><Key>not closed", NULL },
		{ "<A><Key", NULL },
		{ "", NULL },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct s3_xml in = { cases[i].xml, cases[i].xml + strlen(cases[i].xml) };
		const char *key = s3_xml_text(in, &a, "Key");

		test_step("%s", cases[i].xml);
		CHECK_INT(key != NULL, cases[i].key != NULL);
		if (key && cases[i].key)
			CHECK_STR(key, cases[i].key);
	}
	CHECK_STR(s3_xml_escape(&a, "a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&apos;");
	arena_free(&a);
}
