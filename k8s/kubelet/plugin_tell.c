/* plugin_tell.c - what the log hears of a resource: every change once, and each trouble once until
 * it is over. */
#include "cleanup.h"
#include "fnv.h"
#include "kubelet_plugin.h"
#include "log.h"

void plugin_tell_nobody(struct kubelet_plugin *p, const char *why)
{
	if (!p->place->told_nobody)
		log_info("kubelet", 0, "no kubelet answers (%s), waiting for it", why);
	p->place->told_nobody = true;
}

/* A starting kubelet does so, and has ended its watch before. */
void plugin_tell_deleted(struct kubelet_plugin *p)
{
	if (p->told_works)
		log_info("kubelet", 0, "%s: somebody has deleted %s, registering again",
			 p->resource, p->path);
	p->told_works = false;
}

/* Each reason once, however often they take turns. */
static void tell_error(struct kubelet_plugin *p)
{
	uint64_t hash = fnv1a(FNV1A_START, p->registration.error, strlen(p->registration.error));

	for (size_t i = 0; i < p->n_told_errors && i < ARRAY_SIZE(p->told_errors); i++)
		if (p->told_errors[i] == hash)
			return;
	p->told_errors[p->n_told_errors++ % ARRAY_SIZE(p->told_errors)] = hash;
	log_warn("kubelet", 0, "%s: %s, trying again", p->resource, p->registration.error);
}

static void tell_change(struct kubelet_plugin *p, bool works)
{
	if (works)
		log_info("kubelet", 0, "%s: registered%s, the kubelet watches its list",
			 p->resource, p->told_worked ? " again" : "");
	else
		log_info("kubelet", 0, "%s: the kubelet has stopped watching its list, %s",
			 p->resource, p->place->registry ? "waiting for it" : "registering again");
	p->told_works = works;
	p->told_worked |= works;
}

void plugin_tell(struct kubelet_plugin *p)
{
	bool works = registration_works(&p->registration);

	if (p->registration.error[0] != '\0')
		tell_error(p);
	if (works != p->told_works)
		tell_change(p, works);
	if (works) {
		p->n_told_errors = 0;
		p->place->told_nobody = false;
	}
}
