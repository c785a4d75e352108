// SPDX-License-Identifier: Apache-2.0
/* tls.c - see tls.h.
 *
 * GnuTLS requests the certificate without a context of ours
 * (gnutls_certificate_retrieve_function2), so the certificate in use is a static variable. A
 * handshake may still use a replaced certificate: it is freed when its successor is replaced as
 * well, at least a minute later. */
#include "tls.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "cleanup.h"

#define CHAIN_MAX 8
#define RETIRED_S 60

struct certificate {
	gnutls_pcert_st chain[CHAIN_MAX];
	unsigned n;
	gnutls_privkey_t key;
	time_t expires_s; /* by the wall clock */
	time_t retired_s;
	struct certificate *before;
};

static struct certificate *in_use; /* followed by replaced ones */

static void certificate_free(struct certificate *c)
{
	for (unsigned i = 0; i < c->n; i++)
		gnutls_pcert_deinit(&c->chain[i]);
	if (c->key)
		gnutls_privkey_deinit(c->key);
	free(c);
}

/* --- reading ---------------------------------------------------------------------------------- */

static gnutls_datum_t datum_of(const struct tls_pem *p)
{
	return (gnutls_datum_t){(unsigned char *)p->text, (unsigned)p->len};
}

static int tls_refuse(const struct tls_pem *p, int code, struct err *e)
{
	return err_set(e, -EINVAL, "%s: %s", p->name, gnutls_strerror(code));
}

static int read_expiry(struct certificate *c)
{
	gnutls_x509_crt_t node;
	int r = gnutls_pcert_export_x509(&c->chain[0], &node);

	if (r < 0)
		return r;
	c->expires_s = gnutls_x509_crt_get_expiration_time(node);
	gnutls_x509_crt_deinit(node);
	return c->expires_s < 0 ? GNUTLS_E_ASN1_GENERIC_ERROR : 0;
}

static int read_certificate(struct certificate *ret, const struct tls_pem *certificate,
			    const struct tls_pem *key, struct err *e)
{
	const gnutls_datum_t pem = datum_of(certificate), key_pem = datum_of(key);
	unsigned n = CHAIN_MAX;
	int r = gnutls_pcert_list_import_x509_raw(ret->chain, &n, &pem, GNUTLS_X509_FMT_PEM, 0);

	if (r < 0)
		return tls_refuse(certificate, r, e);
	ret->n = n;
	r = read_expiry(ret);
	if (r < 0)
		return tls_refuse(certificate, r, e);
	r = gnutls_privkey_init(&ret->key);
	if (r == 0)
		r = gnutls_privkey_import_x509_raw(ret->key, &key_pem, GNUTLS_X509_FMT_PEM, NULL,
						   0);
	return r < 0 ? tls_refuse(key, r, e) : 0;
}

/* Checks that the key matches the certificate, in the same way as a client. */
static int check_match(const struct tls_pem *certificate, const struct tls_pem *key, struct err *e)
{
	const gnutls_datum_t pem = datum_of(certificate), key_pem = datum_of(key);
	gnutls_certificate_credentials_t both;
	int r = gnutls_certificate_allocate_credentials(&both);

	if (r < 0)
		return tls_refuse(certificate, r, e);
	r = gnutls_certificate_set_x509_key_mem(both, &pem, &key_pem, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(both);
	return r < 0 ? err_set(e, -EINVAL, "%s and %s: %s", certificate->name, key->name,
			       gnutls_strerror(r))
		     : 0;
}

/* --- in use ----------------------------------------------------------------------------------- */

static time_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Frees certificates that were replaced at that time or before. */
static void free_retired(struct certificate *newest, time_t until_s)
{
	struct certificate **at = &newest->before, *old;

	while ((old = *at) != NULL) {
		if (old->retired_s > until_s) {
			at = &old->before;
			continue;
		}
		*at = old->before;
		certificate_free(old);
	}
}

static void replace_certificate(struct certificate *c)
{
	if (in_use) {
		free_retired(in_use, now_s() - RETIRED_S);
		in_use->retired_s = now_s();
	}
	c->before = in_use;
	in_use = c;
}

static bool has_expired(const struct certificate *c)
{
	return c->expires_s <= time(NULL);
}

/* Rejects an expired certificate while the one in use is still valid. */
static int check_better(const struct certificate *c, const char *name, struct err *e)
{
	return in_use && !has_expired(in_use) && has_expired(c)
		       ? err_set(e, -EINVAL, "%s: the certificate has expired", name)
		       : 0;
}

static int certificate_new(struct certificate **ret, const struct tls_pem *certificate,
			   const struct tls_pem *key, struct err *e)
{
	struct certificate *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, -ENOMEM, "out of memory");
	r = read_certificate(c, certificate, key, e);
	if (r == 0)
		r = check_match(certificate, key, e);
	if (r == 0)
		r = check_better(c, certificate->name, e);
	if (r == 0)
		*ret = c;
	else
		certificate_free(c);
	return r;
}

int tls_check(const struct tls_pem *certificate, const struct tls_pem *key, struct err *e)
{
	struct certificate *c = NULL;
	int r = certificate_new(&c, certificate, key, e);

	if (c)
		certificate_free(c);
	return r;
}

int tls_use(const struct tls_pem *certificate, const struct tls_pem *key, struct err *e)
{
	struct certificate *c = NULL;
	int r = certificate_new(&c, certificate, key, e);

	if (c)
		replace_certificate(c);
	return r;
}

uint64_t tls_expires_s(void)
{
	return in_use ? (uint64_t)in_use->expires_s : 0;
}

void tls_done(void)
{
	if (!in_use)
		return;
	free_retired(in_use, now_s() + 1);
	certificate_free(take_ptr(in_use));
}

static int tls_show(gnutls_session_t session, const gnutls_datum_t *authorities, int n_authorities,
		    const gnutls_pk_algorithm_t *algorithms, int n_algorithms,
		    gnutls_pcert_st **ret, unsigned *ret_n, gnutls_privkey_t *ret_key)
{
	(void)session, (void)authorities, (void)n_authorities, (void)algorithms, (void)n_algorithms;
	if (!in_use)
		return -1;
	*ret = in_use->chain;
	*ret_n = in_use->n;
	*ret_key = in_use->key;
	return 0;
}

void *tls_callback(void)
{
	return (void *)tls_show;
}
