/* mime_parts.h - texts of messages for mime.c: character sets, names of files, delivery status. */
#pragma once
#include "base/buf.h"
#include "helper/inside/inside.h"

/* Loads the converters of the character sets that letters are written in. */
void mime_charsets_prepare(void);
/* UTF-8 from any character set, by its name or, where nobody knows that, as it seems to be; LF at line ends, no other control
 * characters but tabs. */
void mime_put_text(struct buf *b, const char *bytes, size_t len, const char *charset);
/* On one line. */
void mime_put_line(struct buf *b, const char *text, size_t len);
/* A file name that means a file in no folder, whatever was sent; `number` for one that has none. */
void mime_safe_name(
	char ret[HELPER_MIME_NAME_MAX + 1], const char *name, const char *type, size_t number);
/* mime_words.c: the message, or a header alone, with such encoded words in its head that can be read one by one; false: it is to be
 * read as it is. */
bool mime_part_words(struct buf *b, const char *bytes, size_t len);
/* The fields of a message/delivery-status, in groups; false where it was refused. */
bool mime_put_status(const char *text, size_t len, size_t *count, struct outlet *o);
