/* supervisor.h - tells whoever started the service (systemd, Type=notify) how it is doing. */
#pragma once
#include <stdbool.h>

enum supervisor_state { SUPERVISOR_READY, SUPERVISOR_RELOADING, SUPERVISOR_STOPPING };

/* Does nothing where NOTIFY_SOCKET names no socket.  True if it was told. */
bool supervisor_tell(enum supervisor_state state);
