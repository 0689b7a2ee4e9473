/* letter_fixture.h - a relay that keeps what it is given, for tests of letters to people. */
#pragma once
#include <pthread.h>

#include "fixture.h"

enum { LETTERBOX_MAX = 16 };

struct letter_tray {
	int listener, port;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t came;
	struct {
		char *to, *text; /* the recipient's line, and the message as it reads */
	} letters[LETTERBOX_MAX];
	size_t count;
	const char *_Atomic refusal; /* said to a recipient; NULL: all is well */
	_Atomic bool silent;	     /* a message is kept, and its sender not told */
};

/* From now on the fixture has a relay. */
void letter_tray_open(struct letter_tray *b, struct fixture *f);
/* Before the fixture is closed. */
void letter_tray_close(struct letter_tray *b, struct fixture *f);
/* The letter of that number, from 1 on, once it has come. */
const char *letter_tray_letter(struct letter_tray *b, size_t number);
/* How many have come, when none is on its way any more. */
size_t letter_tray_settled(struct letter_tray *b, struct fixture *f);
/* What stands behind the # of a letter's link. */
const char *letter_tray_token(struct fixture *f, const char *letter, const char *page);
