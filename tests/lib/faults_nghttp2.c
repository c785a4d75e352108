// SPDX-License-Identifier: Apache-2.0
/* makes nghttp2 allocate through our functions, so that faults_alloc() applies to it, too. */
#include <nghttp2/nghttp2.h>
#include <stdlib.h>

int __real_nghttp2_session_server_new3(nghttp2_session **, const nghttp2_session_callbacks *,
				       void *, const nghttp2_option *, nghttp2_mem *);
int __real_nghttp2_session_client_new3(nghttp2_session **, const nghttp2_session_callbacks *,
				       void *, const nghttp2_option *, nghttp2_mem *);
int __wrap_nghttp2_session_server_new3(nghttp2_session **, const nghttp2_session_callbacks *,
				       void *, const nghttp2_option *, nghttp2_mem *);
int __wrap_nghttp2_session_client_new3(nghttp2_session **, const nghttp2_session_callbacks *,
				       void *, const nghttp2_option *, nghttp2_mem *);

static void *mem_malloc(size_t size, void *arg)
{
	(void)arg;
	return malloc(size);
}

static void mem_free(void *p, void *arg)
{
	(void)arg;
	free(p);
}

static void *mem_calloc(size_t n, size_t size, void *arg)
{
	(void)arg;
	return calloc(n, size);
}

static void *mem_realloc(void *p, size_t size, void *arg)
{
	(void)arg;
	return realloc(p, size);
}

static nghttp2_mem mem = {NULL, mem_malloc, mem_free, mem_calloc, mem_realloc};

int __wrap_nghttp2_session_server_new3(nghttp2_session **ret, const nghttp2_session_callbacks *cb,
				       void *arg, const nghttp2_option *option, nghttp2_mem *unused)
{
	(void)unused;
	return __real_nghttp2_session_server_new3(ret, cb, arg, option, &mem);
}

int __wrap_nghttp2_session_client_new3(nghttp2_session **ret, const nghttp2_session_callbacks *cb,
				       void *arg, const nghttp2_option *option, nghttp2_mem *unused)
{
	(void)unused;
	return __real_nghttp2_session_client_new3(ret, cb, arg, option, &mem);
}
