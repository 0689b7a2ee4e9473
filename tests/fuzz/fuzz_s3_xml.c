/* fuzz_s3_xml.c - what S3 answers: elements by name, and their texts. */
#include <string.h>

#include "outside/s3_xml.h"
#include "setup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct s3_xml all = { (const char *)data, (const char *)data + size }, one;
	struct arena a = { 0 };
	const char *text;

	while (s3_xml_element(&all, "Contents", &one)) {
		if (one.at < (const char *)data || one.end > (const char *)data + size ||
			one.at > one.end)
			abort();
		text = s3_xml_text(one, &a, "Key");
		if (text && strlen(s3_xml_escape(&a, text)) < strlen(text))
			abort();
	}
	arena_free(&a);
	return 0;
}
