/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - the server certificate for TCP: read, checked, and replaced while handshakes are running.
 * The process has one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct MHD_Daemon;

struct tls_pem {
	const char *text;
	size_t len;
	const char *name; /* for messages */
};

/* Uses this certificate from now on. -EINVAL with a message, keeping the one in use: no
 * certificate, no key, a key that does not match; or one that has expired, if the one in use has
 * not. Several certificates are a chain, the node's first. */
int tls_use(const struct tls_pem *certificate, const struct tls_pem *key, struct err *);
/* Only checks whether tls_use() would succeed. */
int tls_check(const struct tls_pem *certificate, const struct tls_pem *key, struct err *);
/* Expiry of the certificate in use, in unix seconds; 0 = there is none. */
uint64_t tls_expires_s(void);
/* Call after the last connection. */
void tls_done(void);

/* For libmicrohttpd's MHD_OPTION_HTTPS_CERT_CALLBACK: a gnutls_certificate_retrieve_function2. */
void *tls_callback(void);
/* TLS 1.2 and 1.3. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
