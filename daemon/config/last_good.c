// SPDX-License-Identifier: Apache-2.0
#include "last_good.h"

#include <string.h>

#include "config_good.h"

/* The file was in use, so its warnings were logged before. */
static void last_good_on_warning(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

static int last_good_parse(struct last_good *g, int argc, char *const argv[], struct err *e)
{
	enum option_action action;
	int r = options_load_text(&g->options, &action, &g->file, argc, argv, last_good_on_warning,
				  NULL, e);

	if (r == 0)
		r = pool_config_load(&g->pools, &g->file, &g->options, last_good_on_warning, NULL,
				     e);
	return r == 0 ? pool_config_check_any(&g->pools, e) : r;
}

int last_good_read(struct last_good *ret, const struct options *o, int argc, char *const argv[],
		   struct err *e)
{
	uint64_t unix_ms = 0;
	int r;

	if (!options_keep_config(o))
		return err_set(e, -ENOENT, "none is kept");
	r = config_good_read(&ret->file, &unix_ms, o->state_dir, e);
	if (r < 0)
		return r;
	utc_text(unix_ms, ret->of);
	r = last_good_parse(ret, argc, argv, e);
	if (r < 0) {
		err_wrap(e, "%.100s/" CONFIG_GOOD_FILE " of %s, in place of the file", o->state_dir,
			 ret->of);
		last_good_done(ret);
	}
	return r;
}

void last_good_done(struct last_good *g)
{
	config_file_done(&g->file);
	pool_config_done(&g->pools);
	memset(g, 0, sizeof(*g));
}
