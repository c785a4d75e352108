// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Workers allocate, too. */
static atomic_long alloc_left = -1, send_left = -1, write_left = -1;
static int send_code, write_code;
static atomic_size_t allocated;
static atomic_bool hit;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_reallocarray(void *, size_t, size_t);
char *__real_strdup(const char *);
char *__real_strndup(const char *, size_t);
ssize_t __real_send(int, const void *, size_t, int);
ssize_t __real_sendto(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
ssize_t __real_write(int, const void *, size_t);
ssize_t __real_pwrite(int, const void *, size_t, off_t);
int __real_fsync(int);
int __real_fdatasync(int);
int __real_mknodat(int, const char *, mode_t, dev_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__wrap_reallocarray(void *, size_t, size_t);
char *__wrap_strdup(const char *);
char *__wrap_strndup(const char *, size_t);
ssize_t __wrap_send(int, const void *, size_t, int);
ssize_t __wrap_sendto(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
ssize_t __wrap_write(int, const void *, size_t);
ssize_t __wrap_pwrite(int, const void *, size_t, off_t);
int __wrap_fsync(int);
int __wrap_fdatasync(int);
int __wrap_mknodat(int, const char *, mode_t, dev_t);

void faults_alloc(long nth)
{
	alloc_left = nth;
	allocated = 0;
	hit = false;
}

size_t faults_allocated(void)
{
	return allocated;
}

void faults_send(long nth, int code)
{
	send_left = nth;
	send_code = code;
	hit = false;
}

void faults_write(long nth, int code)
{
	write_left = nth;
	write_code = code;
	hit = false;
}

bool faults_end(void)
{
	alloc_left = send_left = write_left = -1;
	return hit;
}

/* True if this call must fail. */
static bool is_due(atomic_long *left)
{
	if (atomic_load(left) < 0 || atomic_fetch_sub(left, 1) > 0)
		return false;
	hit = true;
	return true;
}

void *__wrap_malloc(size_t n)
{
	allocated += n;
	return is_due(&alloc_left) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocated += n * size;
	return is_due(&alloc_left) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return is_due(&alloc_left) ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return is_due(&alloc_left) ? NULL : __real_reallocarray(p, n, size);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return is_due(&alloc_left) ? NULL : __real_strndup(s, n);
}

char *__wrap_strdup(const char *s)
{
	return is_due(&alloc_left) ? NULL : __real_strdup(s);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
	if (!is_due(&send_left))
		return __real_send(fd, bytes, len, flags);
	errno = send_code;
	return -1;
}

ssize_t __wrap_sendto(int fd, const void *bytes, size_t len, int flags, const struct sockaddr *to,
		      socklen_t n)
{
	if (!is_due(&send_left))
		return __real_sendto(fd, bytes, len, flags, to, n);
	errno = send_code;
	return -1;
}

static bool write_fails(void)
{
	if (!is_due(&write_left))
		return false;
	errno = write_code;
	return true;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
	return write_fails() ? -1 : __real_write(fd, bytes, len);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	return write_fails() ? -1 : __real_pwrite(fd, bytes, len, at);
}

int __wrap_fsync(int fd)
{
	return write_fails() ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
	return write_fails() ? -1 : __real_fdatasync(fd);
}

int __wrap_mknodat(int dir, const char *name, mode_t mode, dev_t dev)
{
	return write_fails() ? -1 : __real_mknodat(dir, name, mode, dev);
}
