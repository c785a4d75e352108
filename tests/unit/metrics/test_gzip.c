// SPDX-License-Identifier: Apache-2.0
/* zlib, which did not compress the page, decompresses it to the same text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cleanup.h"
#include "faults.h"
#include "gzip.h"
#include "page_text.h"
#include "test_group.h"

/* Asserts exactly one gzip member, with nothing after it. */
static void assert_member(const struct text *member, const char *want, size_t len)
{
	AUTO_FREE char *got = malloc(len + 1);
	z_stream z = {
		.next_in = (Bytef *)member->data,
		.avail_in = (uInt)member->len,
		.next_out = (Bytef *)got,
		.avail_out = (uInt)len + 1,
	};

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, len);
	inflateEnd(&z);
	assert_memory_equal(got, want, len);
}

static void assert_compresses(struct gzip *g, struct page *p)
{
	for (int f = 0; f < N_METRICS_FORMATS; f++) {
		size_t len;
		AUTO_FREE char *want = page_text(p, (enum metrics_format)f, &len);
		const struct text *member = gzip_page(g, p, (enum metrics_format)f);

		assert_non_null(member);
		assert_member(member, want, len);
		/* compressed once per page */
		assert_ptr_equal(gzip_page(g, p, (enum metrics_format)f), member);
	}
}

/* A page whose text has exactly this many bytes, in families of about the other size. */
static struct page *make_page(size_t bytes, size_t family)
{
	struct page *p = page_new();
	char name[32];

	for (unsigned i = 0; p->text.len < bytes; i++) {
		size_t end = p->text.len + family < bytes ? p->text.len + family : bytes;

		snprintf(name, sizeof(name), "roce_family_%u_total", i);
		page_begin(p, name, "counter", "Counts.");
		while (p->text.len < end)
			text_addf(&p->text, "%s{device=\"mlx5_%zu\",port=\"1\"} %zu\n", name,
				  p->text.len % 97, p->text.len * 2654435761u);
		p->text.len = end;
		page_end(p);
	}
	return p;
}

static void pages_of_all_sizes(void **state)
{
	static const size_t near[] = {1, 32768, 65536, 400000};
	static const size_t families[] = {100, 5000, 32768, 1000000};
	struct gzip *g = gzip_new();

	(void)state;
	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++)
		for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++)
			for (size_t more = 0; more < 3; more++) {
				struct page *p = make_page(near[i] + more - 1, families[k]);

				assert_compresses(g, p);
				page_unref(p);
			}
	gzip_free(g);
	gzip_free(NULL);
}

/* Every number of remaining bytes around the size of the input buffer. */
static void input_that_ends_at_the_buffers_end(void **state)
{
	struct gzip *g = gzip_new();

	(void)state;
	for (size_t bytes = 32768 - 120; bytes <= 32768; bytes++) {
		struct page *p = make_page(bytes, SIZE_MAX / 2);

		assert_compresses(g, p);
		page_unref(p);
	}
	gzip_free(g);
}

static void text_that_does_not_shrink(void **state)
{
	struct gzip *g = gzip_new();
	struct page *p = page_new();
	uint32_t x = 1;

	(void)state;
	page_begin(p, "noise", "gauge", "Noise.");
	for (int i = 0; i < 300000; i++) {
		char byte;

		x = x * 1664525 + 1013904223;
		byte = (char)(x >> 24);
		text_add(&p->text, &byte, 1);
	}
	page_end(p);
	assert_compresses(g, p);
	page_unref(p);
	gzip_free(g);
}

/* A page that fails is not served and does not affect the next one. */
static void out_of_memory(void **state)
{
	struct gzip *g = gzip_new();
	const struct text *member;
	bool failed = true;

	(void)state;
	for (long n = 0; failed; n++) {
		/* noise, so that the compressed text grows */
		struct page *p = make_page(200000, 10000), *next = make_page(70000, 3000);

		for (size_t i = 0; i < p->text.len; i++)
			p->text.data[i] = (char)((i * i * 2654435761u) >> 13);
		faults_alloc(n);
		member = gzip_page(g, p, METRICS_PROMETHEUS);
		failed = faults_end();
		assert_true(failed ? !member : member != NULL);
		assert_compresses(g, next);
		page_unref(p);
		page_unref(next);
		assert_true(n < 20 && (failed || n > 2));
	}
	gzip_free(g);
	faults_alloc(0);
	assert_null(gzip_new());
	assert_true(faults_end());
}

TEST_GROUP(gzip)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_of_all_sizes),
		cmocka_unit_test(input_that_ends_at_the_buffers_end),
		cmocka_unit_test(text_that_does_not_shrink),
		cmocka_unit_test(out_of_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
