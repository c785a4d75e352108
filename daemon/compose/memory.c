// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- the heap --------------------------------------------------------------------------------- */

void memory_keep_small(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}

/* --- GnuTLS ----------------------------------------------------------------------------------- */

/* GnuTLS, a dependency of libmicrohttpd, initialises itself on loading: megabytes of tables and
 * tests of ciphers, which are useless without TLS. These functions prevent that. GnuTLS calls the
 * first (gnutls/gnutls.h, GNUTLS_SKIP_GLOBAL_INIT), libmicrohttpd the other two. */
int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void)
{
	return 1;
}

int gnutls_global_init(void);
int gnutls_global_init(void)
{
	return 0;
}

void gnutls_global_deinit(void);
void gnutls_global_deinit(void)
{
}

int memory_start_tls(void)
{
	static bool started;
	int (*init)(void);

	if (started)
		return 0;
	*(void **)&init = dlsym(RTLD_NEXT, "gnutls_global_init");
	started = init && init() == 0;
	return started ? 0 : -ELIBACC;
}

/* --- code ------------------------------------------------------------------------------------- */

/* True if the dynamic linker has modified code, because it contains relocations (elf(5), DT_TEXTREL
 * and DF_TEXTREL). */
static bool has_modified_code(const struct dl_phdr_info *object, const ElfW(Phdr) * dynamic)
{
	const ElfW(Dyn) *d = (const ElfW(Dyn) *)(object->dlpi_addr + dynamic->p_vaddr);

	for (; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
			return true;
	return false;
}

static bool has_unmodified_code(const struct dl_phdr_info *object)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return !has_modified_code(object, &object->dlpi_phdr[i]);
	return false;
}

static void release_pages(uintptr_t start, uintptr_t end)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	start -= start % page;
	end = (end + page - 1) / page * page;
	/* On failure the pages stay mapped. */
	(void)madvise((void *)start, end - start, MADV_DONTNEED);
}

#define MAX_HEADERS 32

/* The headers are copied, because they are in the first segment of the object: to read them after
 * the release of that segment would map it again. An object with more headers stays mapped. */
static int release_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	ElfW(Phdr) headers[MAX_HEADERS];

	(void)size, (void)arg;
	if (object->dlpi_phnum > MAX_HEADERS || !has_unmodified_code(object))
		return 0;
	memcpy(headers, object->dlpi_phdr, object->dlpi_phnum * sizeof(headers[0]));
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		uintptr_t start = object->dlpi_addr + headers[i].p_vaddr;

		if (headers[i].p_type == PT_LOAD && !(headers[i].p_flags & PF_W))
			release_pages(start, start + headers[i].p_memsz);
	}
	return 0;
}

void memory_release(void)
{
	malloc_trim(0);
	dl_iterate_phdr(release_object, NULL);
}
