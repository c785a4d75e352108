#include "intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a */
static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static char **find(char **slots, size_t cap, const char *s)
{
	size_t i = hash(s) & (cap - 1);

	while (slots[i] && strcmp(slots[i], s) != 0)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static int grow(struct intern *in)
{
	size_t cap = in->cap ? in->cap * 2 : 64;
	char **slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < in->cap; i++)
		if (in->slots[i])
			*find(slots, cap, in->slots[i]) = in->slots[i];
	free(in->slots);
	in->slots = slots;
	in->cap = cap;
	return 0;
}

const char *intern(struct intern *in, const char *s)
{
	char **slot;

	if (in->n * 2 >= in->cap && grow(in) < 0)
		return NULL;
	slot = find(in->slots, in->cap, s);
	if (!*slot && (*slot = strdup(s)))
		in->n++;
	return *slot;
}

void intern_done(struct intern *in)
{
	for (size_t i = 0; i < in->cap; i++)
		free(in->slots[i]);
	free(in->slots);
	*in = (struct intern){0};
}
