/* fixture.h - a file of tests/fixtures/ in a test. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The whole file as a heap block of exactly its size, so that a read past its end is found; path
 * below tests/fixtures/. */
uint8_t *fixture_read(const char *path, size_t *ret_len);
/* These bytes are the file's; frees them. */
void assert_fixture(const char *path, uint8_t *bytes, size_t len);
