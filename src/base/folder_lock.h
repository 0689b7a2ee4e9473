/* folder_lock.h - a folder that is used by the processes of one store, and by those of no other: a lock of a file in it (flock), which
 * goes with whoever holds it.
 *
 * An id that the store keeps does not tell a store from a copy of it.  So those who share the lock do it under a name, which is in the file;
 * one whose name is another does not get it while somebody holds it. */
#pragma once

/* Joins those who hold the lock of this file as `who`; NULL: alone.  Waits so long for one that is just ending.  0, or -1 with errno;
 * EWOULDBLOCK: others hold it. */
int folder_lock_join(int fd, const char *who, int wait_ms);
