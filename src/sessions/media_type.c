/* media_type.c - see media_type.h. */
#include "sessions/media_type.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"

static bool begins(const unsigned char *bytes, size_t len, size_t at, const char *with, size_t n)
{
	return len >= at + n && memcmp(bytes + at, with, n) == 0;
}
#define BEGINS(at, with) begins(bytes, len, at, with, sizeof(with) - 1)

const char *media_image_type(const unsigned char *bytes, size_t len)
{
	return BEGINS(0, "\x89PNG\r\n\x1a\n")		    ? "image/png"
	       : BEGINS(0, "\xff\xd8\xff")		    ? "image/jpeg"
	       : BEGINS(0, "GIF87a") || BEGINS(0, "GIF89a") ? "image/gif"
	       : BEGINS(0, "RIFF") && BEGINS(8, "WEBP")	    ? "image/webp"
							    : NULL;
}

const char *media_sound_type(const unsigned char *bytes, size_t len)
{
	bool frame = len > 1 && bytes[0] == 0xff && (bytes[1] & 0xe0) == 0xe0;

	return BEGINS(0, "RIFF") && BEGINS(8, "WAVE") ? "audio/wav"
	       : BEGINS(0, "ID3") || frame	      ? "audio/mpeg"
						      : NULL;
}

/* As in text/plain; what stands after a semicolon is left off. */
static const char *clean_type(struct arena *a, const char *claimed)
{
	size_t len = claimed ? strcspn(claimed, "; ") : 0,
	       slash = claimed ? strcspn(claimed, "/") : 0;
	char *out;

	if (len < 3 || len > 96 || !slash || slash + 1 >= len)
		return NULL;
	out = arena_strndup(a, claimed, len);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)out[i];

		if (!isalnum(c) && !(c && strchr("./+-_", c)))
			return NULL;
		out[i] = (char)tolower(c);
	}
	return out;
}

const char *media_file_type(
	struct arena *a, const char *claimed, const unsigned char *bytes, size_t len)
{
	const char *type = clean_type(a, claimed), *image = media_image_type(bytes, len);
	bool pdf = BEGINS(0, "%PDF-"), says_pdf = type && strcmp(type, "application/pdf") == 0;

	if (image || pdf)
		return image ? image : "application/pdf";
	if (says_pdf || (type && strncmp(type, "image/", 6) == 0))
		return NULL;
	if (type && strncmp(type, "text/", 5) != 0 && strcmp(type, "application/octet-stream") != 0)
		return type;
	if (utf8_valid((const char *)bytes, len) && !memchr(bytes, '\0', len))
		return type && *type == 't' ? type : "text/plain";
	return type && *type == 't' ? NULL : "application/octet-stream";
}

const char *media_shown_type(
	struct arena *a, const char *claimed, const unsigned char *bytes, size_t len)
{
	const char *sound = media_sound_type(bytes, len);
	const char *type = sound && !media_image_type(bytes, len)
				   ? sound
				   : media_file_type(a, claimed, bytes, len);

	if (!type || (!sound && strncmp(type, "audio/", 6) == 0))
		return "application/octet-stream";
	return type;
}
