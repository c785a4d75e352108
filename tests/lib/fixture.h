/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - reads files of tests/fixtures/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The file in a heap block of exactly its size, so that sanitizers find a read past its end. path:
 * below tests/fixtures/. */
uint8_t *fixture_read(const char *path, size_t *ret_len);
/* Asserts that the bytes equal the file's; frees them. */
void assert_fixture(const char *path, uint8_t *bytes, size_t len);
