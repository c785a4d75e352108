/* tls.h - the certificate that connections over TCP are met with: read, checked, replaced while
 * handshakes go on. The server's own; there is one. */
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

/* From now on that one is shown. -EINVAL and a sentence, and the one in use stays: no certificate,
 * no key, or one that is not the certificate's; one that has expired, in place of one that has not.
 * Several certificates are a chain, the node's first.
 */
int tls_use(const struct tls_pem *certificate, const struct tls_pem *key, struct err *);
/* Only looks whether it could. */
int tls_check(const struct tls_pem *certificate, const struct tls_pem *key, struct err *);
/* When the one in use expires, in unix seconds; 0 = there is none. */
uint64_t tls_expires_s(void);
/* After the last connection. */
void tls_done(void);

/* A libmicrohttpd option's (MHD_OPTION_HTTPS_CERT_CALLBACK): a
 * gnutls_certificate_retrieve_function2. */
void *tls_callback(void);
/* TLS 1.2 and 1.3. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
