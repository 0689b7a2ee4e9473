/* ssh_key.h - a public key as OpenSSH writes it, in one line: its kind, its bytes in base64, and perhaps a comment.  Taken are
 * ed25519, ecdsa and rsa from 3072 bits on. */
#pragma once
#include "base/arena.h"

enum { SSH_KEY_MAX = 8 * 1024 }; /* bytes of a line */

/* NULL, and the kind and the bytes as they stand in the line, with one space between and without the comment; or what is wrong
 * with it. */
const char *ssh_key_fault(struct arena *a, const char *line, const char **ret_key);

enum { SSH_KEY_PRINT_LEN = 64 };
/* What a key in that form is known by: SHA-256 of it, in hexadecimal. */
void ssh_key_print(const char *key, char ret[SSH_KEY_PRINT_LEN + 1]);
