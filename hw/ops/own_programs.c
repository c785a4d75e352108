// SPDX-License-Identifier: Apache-2.0
#include "own_programs.h"

#include <bpf/bpf.h>
#include <pthread.h>
#include <stddef.h>

#define PROGRAMS_MAX 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t ids[PROGRAMS_MAX];
static size_t n_ids;

/* Returns the kernel's id of a program; 0: the kernel does not report it. */
static uint32_t id_of(int program_fd)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(program_fd, &info, &size) < 0 ? 0 : info.id;
}

static size_t program_index(uint32_t id)
{
	size_t i = 0;

	while (i < n_ids && ids[i] != id)
		i++;
	return i;
}

uint32_t own_program_add(int program_fd)
{
	uint32_t id = id_of(program_fd);

	pthread_mutex_lock(&lock);
	if (id && n_ids < PROGRAMS_MAX)
		ids[n_ids++] = id;
	pthread_mutex_unlock(&lock);
	return id;
}

void own_program_remove(uint32_t id)
{
	size_t i;

	pthread_mutex_lock(&lock);
	i = program_index(id);
	if (id && i < n_ids)
		ids[i] = ids[--n_ids];
	pthread_mutex_unlock(&lock);
}

bool own_program_is(uint32_t id)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = program_index(id) < n_ids;
	pthread_mutex_unlock(&lock);
	return is;
}
