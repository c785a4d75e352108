/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - reads and checks the server certificate for TCP, and replaces it while handshakes are
 * running. The process has one certificate. */
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
 * certificate, no key, a key that does not match; or the certificate has expired, but the one in
 * use has not. Several certificates are a chain, which begins with the node's. */
int tls_use(const struct tls_pem *certificate, const struct tls_pem *key, struct err *);
/* Only checks whether tls_use() would succeed. */
int tls_check(const struct tls_pem *certificate, const struct tls_pem *key, struct err *);
/* Returns the expiry of the certificate in use, in unix seconds; 0 = there is none. */
uint64_t tls_expires_s(void);
/* Frees all certificates. Call after the last connection. */
void tls_done(void);

/* Returns a gnutls_certificate_retrieve_function2, for libmicrohttpd's
 * MHD_OPTION_HTTPS_CERT_CALLBACK. */
void *tls_callback(void);
/* TLS 1.2 and 1.3. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
