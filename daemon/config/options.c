// SPDX-License-Identifier: Apache-2.0
/* options.c - the sources of options, in the order of their precedence: defaults, the config file,
 * the command line. */
#include "options.h"

#include <math.h>
#include <string.h>

#include "config_beside.h"
#include "config_file.h"
#include "option_value.h"
#include "options_file.h"

void options_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < n_options; i++)
		option_set(o, &option_table[i], option_table[i].def, NULL);
}

/* --- the command line ------------------------------------------------------------------------- */

static int options_unknown_flag(const char *name, size_t len, struct err *e)
{
	const char *near = option_suggest(name, len, false);

	if (near)
		return err_set(e, -EINVAL, "unknown flag --%.*s, did you mean --%s?", (int)len,
			       name, near);
	return err_set(e, -EINVAL, "unknown flag --%.*s, see --help", (int)len, name);
}

/* Parses one flag at argv[*i]; moves *i past its value. */
static int parse_flag(struct options *o, enum option_action *action, int argc, char *const argv[],
		      int *i, struct err *e)
{
	const char *flag = argv[*i], *name = flag + 2, *value;
	const struct option_def *d;
	size_t len;

	if (strcmp(flag, "-h") == 0 || strcmp(flag, "-V") == 0) {
		*action = flag[1] == 'h' ? ACTION_HELP : ACTION_VERSION;
		return 0;
	}
	if (strncmp(flag, "--", 2) != 0 || *name == '\0')
		return err_set(e, -EINVAL, "unexpected argument '%.80s', see --help", flag);
	len = strcspn(name, "=");
	value = name[len] == '=' ? name + len + 1 : NULL;
	d = option_find(name, len);
	if (!d || d->key_only)
		return options_unknown_flag(name, len, e);
	if (d->type == OPT_ACTION) {
		*action = (enum option_action)d->offset;
		return value ? err_set(e, -EINVAL, "--%s takes no value", d->name) : 0;
	}
	if (!value && d->type == OPT_BOOL)
		value = "true";
	if (!value && *i + 1 < argc)
		value = argv[++*i];
	if (!value)
		return err_set(e, -EINVAL, "--%s needs a value", d->name);
	return option_set(o, d, value, e) < 0 ? err_wrap(e, "--%s", d->name) : 0;
}

/* True if the configuration is on stdin. A running daemon reads its file again, so it needs a path.
 */
static bool is_stdin(const struct options *o)
{
	return strcmp(o->config, "-") == 0;
}

static int parse_argv(struct options *o, enum option_action *action, int argc, char *const argv[],
		      struct err *e)
{
	int r = 0;

	for (int i = 1; i < argc && r == 0; i++)
		r = parse_flag(o, action, argc, argv, &i, e);
	if (r == 0 && *action == ACTION_RUN && is_stdin(o))
		r = err_set(
			e, -EINVAL,
			"--config -: stdin is read with --check-config and --print-config only");
	return r;
}

bool options_has_flag(const char *name, int argc, char *const argv[])
{
	size_t len = strlen(name);

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, name, len) == 0 &&
		    (argv[i][2 + len] == '\0' || argv[i][2 + len] == '='))
			return true;
	return false;
}

/* --- all sources ------------------------------------------------------------------------------ */

/* Replaces "-" by "stdin", for messages. */
static void name_stdin(struct options *o)
{
	if (is_stdin(o))
		strcpy(o->config, "stdin");
}

static int load_file(struct options *o, const char *sysfs_flag, struct config_file *file,
		     bool must_exist, options_warn_fn *warn, void *arg, struct err *e)
{
	int r = file->text    ? 0
		: is_stdin(o) ? config_file_read_stdin(file, e)
			      : config_file_read(file, o->config, e);
	char beside[CONFIG_BESIDE_SIZE];

	if (r == -ENOENT && !must_exist)
		return 0;
	if (r == -ENOENT && config_beside(o, beside))
		return err_set(e, r, "%.200s", beside);
	name_stdin(o);
	return r < 0 ? r : options_read_file(o, sysfs_flag, file, warn, arg, e);
}

/* True if the action reads the file. --suggest-config works without a configuration, or with a
 * wrong one. */
static bool needs_file(enum option_action action)
{
	return action != ACTION_HELP && action != ACTION_VERSION &&
	       action != ACTION_SUGGEST_CONFIG && action != ACTION_PRINT_SCHEMA;
}

int options_of_flags(struct options *ret, enum option_action *ret_action, int argc,
		     char *const argv[], struct err *e)
{
	options_defaults(ret);
	*ret_action = ACTION_RUN;
	return parse_argv(ret, ret_action, argc, argv, e);
}

/* True for the length of a window of samples, which must not be 0. */
static bool is_window(const struct threshold_key *k)
{
	static const char end[] = "_seconds";
	size_t n = strlen(k->name);

	return k->least > 0 && n >= strlen(end) && strcmp(k->name + n - strlen(end), end) == 0;
}

/* Checks that windows have at least two samples: shorter configured values are errors, shorter
 * defaults are adapted. */
static int fit_windows(struct options *o, const struct config_file *file, struct err *e)
{
	double two_samples = 2 * o->sample_interval_ms / 1000.0;

	for (int i = 0; i < N_THRESHOLDS; i++) {
		const struct threshold_key *k = threshold_key((enum threshold)i);
		double *v = &o->diagnosis.value[i];
		double least = fmin(two_samples, k->greatest);

		if (!is_window(k) || *v >= least)
			continue;
		if (*v != k->fallback) {
			err_set(e, -EINVAL, "%.10g is less than twice the sample-interval", *v);
			return options_wrap_key(e, o->config, file, "diagnosis", k->name);
		}
		*v = least;
	}
	return 0;
}

/* file.text: read in place of the file. */
static int options_load_from(struct options *ret, enum option_action *ret_action,
			     struct config_file file, struct config_file *ret_file, int argc,
			     char *const argv[], options_warn_fn *warn, void *arg, struct err *e)
{
	enum option_action action = ACTION_RUN;
	struct options o;
	int r;

	options_defaults(&o);
	/* The first pass finds --config, and rejects wrong flags before the file is read. */
	r = parse_argv(&o, &action, argc, argv, e);
	if (r == 0 && needs_file(action)) {
		const struct options flags = o;
		bool has_sysfs = options_has_flag("sysfs-root", argc, argv);

		options_defaults(&o);
		memcpy(o.config, flags.config, sizeof(o.config));
		memcpy(o.group, flags.group, sizeof(o.group));
		r = load_file(&o, has_sysfs ? flags.sysfs_root : "", &file,
			      options_has_flag("config", argc, argv), warn, arg, e);
		if (r == 0)
			r = parse_argv(&o, &action, argc, argv, e);
		name_stdin(&o);
	}
	if (r == 0)
		r = fit_windows(&o, &file, e);
	/* A flag may name only one of the two files; http_wiring.c checks the pair later. */
	if (r == 0 && !options_has_flag("tls-cert", argc, argv) &&
	    !options_has_flag("tls-key", argc, argv))
		r = options_check_pair(&o, &file, e);
	o.finds_plugins = o.strict || action == ACTION_CHECK_CONFIG;
	if (r == 0) {
		*ret = o;
		*ret_action = action;
	}
	if (ret_file)
		*ret_file = file;
	else
		config_file_done(&file);
	return r;
}

int options_load(struct options *ret, enum option_action *ret_action, struct config_file *ret_file,
		 int argc, char *const argv[], options_warn_fn *warn, void *arg, struct err *e)
{
	return options_load_from(ret, ret_action, (struct config_file){0}, ret_file, argc, argv,
				 warn, arg, e);
}

int options_load_text(struct options *ret, enum option_action *ret_action, struct config_file *file,
		      int argc, char *const argv[], options_warn_fn *warn, void *arg, struct err *e)
{
	return options_load_from(ret, ret_action, *file, file, argc, argv, warn, arg, e);
}

bool options_keep_config(const struct options *o)
{
	struct options builtin;

	options_defaults(&builtin);
	return !options_change_nothing(o) && (strcmp(o->sysfs_root, builtin.sysfs_root) == 0 ||
					      strcmp(o->state_dir, builtin.state_dir) != 0);
}
