// SPDX-License-Identifier: Apache-2.0
/* ready_wiring.c - events when the daemon is not ready, with the text of /readyz, and when it is
 * again: the log and `rocectl events` have what the probe sees. */
#include <stdio.h>
#include <string.h>

#include "daemon.h"
#include "unix_time.h"

/* Shorter interruptions are not reported: a restart of the kubelet, an upgrade. */
#define REPORT_AFTER_MS 15000
/* Pause between two reports, if the reason changes. */
#define REPORT_PAUSE_MS 60000

static void ready_report(struct daemon *d, enum event_type type, const char *reason,
			 const char *text)
{
	struct event event = {.type = type};

	snprintf(event.reason, sizeof(event.reason), "%s", reason);
	event.first_ms = event.last_ms = unix_ms();
	snprintf(event.message, sizeof(event.message), "%.*s", (int)(sizeof(event.message) - 1),
		 text);
	event.message[strcspn(event.message, "\n")] = '\0';
	daemon_event(d, &event);
}

static void ready_again(struct daemon *d)
{
	if (d->not_ready.told[0])
		ready_report(d, EVENT_NORMAL, "Ready", "ready again");
	d->not_ready = (struct not_ready){.since_ms = 0};
}

void ready_wiring_check(struct daemon *d, uint64_t now_ms)
{
	struct not_ready *n = &d->not_ready;
	char text[READINESS_TEXT];

	/* These have events of their own (reload.c, and the engine's). */
	if (readiness_is_starting(&d->routes, text) || readiness_is_refused(&d->routes, text) ||
	    readiness_cannot_attach(&d->routes, text))
		return;
	if (!readiness_cannot_serve(&d->routes, text)) {
		ready_again(d);
		return;
	}
	if (n->since_ms == 0)
		n->since_ms = now_ms;
	if (now_ms - n->since_ms < REPORT_AFTER_MS || strcmp(n->told, text) == 0 ||
	    (n->told[0] && now_ms - n->told_ms < REPORT_PAUSE_MS))
		return;
	memcpy(n->told, text, sizeof(n->told));
	n->told_ms = now_ms;
	ready_report(d, EVENT_WARNING, "NotReady", text + strlen("not ready: "));
}
