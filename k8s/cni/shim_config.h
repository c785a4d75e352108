/* SPDX-License-Identifier: Apache-2.0 */
/* shim_config.h - validates the network configuration from standard input: CNI specification 1.1.0,
 * section 1. Pure. */
#pragma once

#include "shim_env.h"

/* A longer configuration is an error. */
#define SHIM_CONFIG_MAX ((size_t)1 << 20)

/* The supported versions, oldest first; NULL after the last. */
extern const char *const shim_versions[];

/* Parses and validates the text, modifying it: numbers out of range of C types are clipped.
 * text[len] must be '\0'. Error codes: 6, not a JSON object; 7, invalid name. The caller owns
 * *ret. */
int shim_config_load(json_t **ret, char *text, size_t len, struct shim_error *);
/* Returns cniVersion, "0.1.0" if it is absent. NULL: it is not a string. */
const char *shim_config_version(const json_t *config);
/* Fails if the version is not supported or lacks the verb (error code 1), or is malformed (6). */
int shim_config_check_version(const json_t *config, enum shim_verb, struct shim_error *);
/* True if a supported version is at least MAJOR.MINOR.0. */
bool shim_version_reaches(const char *version, unsigned major, unsigned minor);
