// SPDX-License-Identifier: Apache-2.0
/* kubelet.c - the kubelet's folders, and the plugins in them.
 *
 * A watch on a folder only gives hints; the actual state is read after each. kubelet.sock is
 * identified by device, inode and time of creation: another file with this name means another
 * kubelet.
 *
 * `auto` is decided when the first of the two folders exists: the kubelet creates plugins_registry/
 * before device-plugins/ (setupDataDirs before the device manager's Start in pkg/kubelet), so a
 * kubelet with a registry is always recognised. If the kubelet has the folder but ignores it, we
 * switch to legacy permanently. */
#include "kubelet.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "array.h"
#include "cleanup.h"
#include "dir_watch.h"
#include "kubelet_plugin.h"
#include "log.h"

#define KUBELET_SOCK "kubelet.sock"
#define CHECKPOINT   "kubelet_internal_checkpoint"
/* Used if the kernel has no inotify watches left. */
#define POLL_MS	     1000
/* Time after which unused sockets of a predecessor are closed. A resource is usually served again
 * within a second, on a slow machine within several. */
#define UNCLAIMED_MS 30000

struct kubelet {
	struct kubelet_place place;
	struct kubelet_hooks hooks;
	enum registration registration;
	bool zero_on_close, closing;
	char *plugins_dir, *registry_dir, *sock;
	struct dir_watch *plugins_watch, *registry_watch;
	struct kubelet_plugin *plugins;
	unsigned n_plugins;	/* including those that are leaving */
	struct timer poll;	/* used while a folder cannot be watched */
	struct timer unclaimed; /* closes unused sockets of a predecessor */
};

/* --- scanning --------------------------------------------------------------------------------- */

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Chooses one of the folders, as soon as that is possible. */
static void choose_folder(struct kubelet *k)
{
	struct kubelet_place *place = &k->place;

	if (place->folder)
		return;
	if (k->registration == REGISTRATION_REGISTRY ||
	    (k->registration == REGISTRATION_AUTO && is_dir(k->registry_dir))) {
		place->registry = true;
		place->may_leave_registry = k->registration == REGISTRATION_AUTO;
		place->folder = k->registry_dir;
		place->other_folder = k->plugins_dir;
	} else if (k->registration == REGISTRATION_LEGACY || is_dir(k->plugins_dir)) {
		place->folder = k->plugins_dir;
		place->other_folder = k->registry_dir;
	} else {
		return;
	}
	log_info("kubelet", 0, "serving resources in %s", place->folder);
}

/* Returns whether kubelet.sock is another file than before. */
static bool check_sock(struct kubelet *k)
{
	struct file_id id = file_id_of_socket(k->sock);
	bool is_new;

	k->place.kubelet_there = file_id_is_there(&id);
	if (!k->place.kubelet_there)
		return false;
	is_new = !file_id_equal(&id, &k->place.kubelet_id);
	k->place.kubelet_id = id;
	return is_new;
}

/* Reads the state of both folders before acting on it, because a starting kubelet deletes our
 * sockets and creates its own almost at once. Returns whether there is a new kubelet. */
static bool scan_folders(struct kubelet *k)
{
	bool is_new = check_sock(k);

	choose_folder(k);
	for (struct kubelet_plugin *p = k->plugins; p; p = p->next)
		kubelet_plugin_check(p, is_new);
	for (struct kubelet_plugin *p = k->plugins; p; p = p->next)
		plugin_run(p);
	return is_new;
}

/* Returns the plugin with that socket name; NULL: not one of our sockets. */
static struct kubelet_plugin *plugin_by_socket(const struct kubelet *k, const char *name)
{
	struct kubelet_plugin *p = k->plugins;

	while (p && strcmp(p->name, name) != 0)
		p = p->next;
	return p;
}

/* True if the name is that of a socket that was removed. Names with a leading dot are temporary. */
static bool is_swept(const struct kubelet *k, const char *name)
{
	AUTO_FREE char *path = NULL;
	size_t len = strlen(name);
	struct stat st;

	if (name[0] == '.' || len < 5 || strcmp(name + len - 5, ".sock") != 0)
		return false;
	if (asprintf(&path, "%s/%s", k->plugins_dir, name) < 0) {
		path = NULL;
		return true; /* an unnecessary hint is harmless */
	}
	return lstat(path, &st) < 0;
}

/* Calls the hook sockets_swept, unless the owner has closed us in an earlier hook. */
static void notify_swept(struct kubelet *k)
{
	k->place.swept = false;
	if (!k->closing && k->hooks.sockets_swept)
		k->hooks.sockets_swept(k->hooks.arg);
}

static void notify_allocations(const struct kubelet *k)
{
	if (!k->closing && k->hooks.allocations_changed)
		k->hooks.allocations_changed(k->hooks.arg);
}

static void kubelet_scan_all(struct kubelet *k)
{
	scan_folders(k);
	notify_swept(k);
	notify_allocations(k);
}

static void on_plugins_hint(const char *name, void *arg)
{
	struct kubelet *k = arg;
	bool is_ours, is_new = false;

	if (!name) {
		kubelet_scan_all(k);
		return;
	}
	if (strcmp(name, CHECKPOINT) == 0) {
		notify_allocations(k);
		return;
	}
	is_ours = strcmp(name, KUBELET_SOCK) == 0 || plugin_by_socket(k, name);
	if (is_ours)
		is_new = scan_folders(k);
	/* After an earlier hint, our socket may have been created again already. */
	if (is_new || k->place.swept || is_swept(k, name))
		notify_swept(k);
}

static void on_registry_hint(const char *name, void *arg)
{
	struct kubelet *k = arg;

	if (!name || (k->place.registry && plugin_by_socket(k, name)))
		scan_folders(k);
}

static void kubelet_on_poll(void *arg)
{
	struct kubelet *k = arg;

	timer_in(&k->poll, POLL_MS);
	kubelet_scan_all(k);
}

static struct dir_watch *kubelet_watch_folder(struct kubelet *k, const char *dir,
					      dir_watch_fn *hint)
{
	struct dir_watch *w = NULL;
	struct err e = {0};

	if (dir_watch_open(&w, k->place.loop, dir, hint, k, &e) == 0)
		return w;
	log_warn("kubelet", 0, "%s, scanning once a second instead", e.msg);
	timer_in(&k->poll, POLL_MS);
	return NULL;
}

/* --- resources ------------------------------------------------------------------------------- */

static size_t label_len(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || (n > 0 && strchr("-_.", s[n]) && s[n] != '\0'))
		n++;
	return n;
}

/* Checks that the resource is "prefix/name" without characters that are special in a path. */
static int check_resource(const char *resource, struct err *e)
{
	size_t prefix = label_len(resource);
	size_t name = resource[prefix] == '/' ? label_len(resource + prefix + 1) : 0;

	if (prefix > 0 && prefix <= 253 && name > 0 && name <= 63 &&
	    resource[prefix + 1 + name] == '\0')
		return 0;
	return err_set(e, -EINVAL, "\"%s\" is not a resource name of the form prefix/name",
		       resource);
}

/* Makes the name of the resource's socket, which is the same in either folder. */
static int make_name(const struct kubelet *k, const char *resource, char **ret, struct err *e)
{
	const char *folder = k->registration == REGISTRATION_LEGACY ? k->plugins_dir
								    : k->registry_dir;
	const size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
		     used = strlen(folder) + 1;
	AUTO_FREE char *name = plugin_socket_name(resource, most > used ? most - used : 0);

	if (!name)
		return err_set(e, -ENOMEM, "out of memory");
	if (used + strlen(name) > most)
		return err_set(e, -ENAMETOOLONG,
			       "%s: the path of a socket in %s would have %zu bytes, more than %zu",
			       resource, folder, used + strlen(name), most);
	if (plugin_by_socket(k, name))
		return err_set(e, -EEXIST, "%s is served already", resource);
	*ret = take_ptr(name);
	return 0;
}

static void kubelet_free(void *arg)
{
	struct kubelet *k = arg;

	free(k->plugins_dir);
	free(k->registry_dir);
	free(k->sock);
	free(k);
}

static void kubelet_on_poll_closed(void *arg)
{
	struct kubelet *k = arg;

	timer_close(&k->unclaimed, kubelet_free);
}

static void end_if_empty(struct kubelet *k)
{
	if (k->closing && k->n_plugins == 0)
		timer_close(&k->poll, kubelet_on_poll_closed);
}

static void on_plugin_closed(void *arg)
{
	struct kubelet *k = arg;

	k->n_plugins--;
	end_if_empty(k);
}

int kubelet_serve(struct kubelet_plugin **ret, struct kubelet *k, const char *resource,
		  const struct plugin_hooks *hooks, struct err *e)
{
	struct kubelet_plugin *p;
	char *name = NULL;
	int r;

	if ((r = check_resource(resource, e)) < 0 || (r = make_name(k, resource, &name, e)) < 0 ||
	    (r = plugin_new(&p, &k->place, resource, name, hooks, e)) < 0)
		return r;
	p->gone = on_plugin_closed;
	p->gone_arg = k;
	p->kubelet = k;
	p->next = k->plugins;
	k->plugins = p;
	k->n_plugins++;
	registration_kubelet(&p->registration, k->place.kubelet_there, true, uv_now(k->place.loop));
	*ret = p;
	return 0;
}

static void unlink_plugin(struct kubelet *k, const struct kubelet_plugin *p)
{
	struct kubelet_plugin **at = &k->plugins;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
}

static void leave_kubelet(struct kubelet *k, struct kubelet_plugin *p, bool zero)
{
	unlink_plugin(k, p);
	plugin_leave(p, zero);
}

void plugin_withdraw(struct kubelet_plugin *p)
{
	if (p)
		leave_kubelet(p->kubelet, p, true);
}

/* --- life ------------------------------------------------------------------------------------ */

static int make_paths(struct kubelet *k, const char *dir)
{
	if (asprintf(&k->plugins_dir, "%s/device-plugins", dir) < 0)
		k->plugins_dir = NULL;
	if (asprintf(&k->registry_dir, "%s/plugins_registry", dir) < 0)
		k->registry_dir = NULL;
	if (asprintf(&k->sock, "%s/device-plugins/" KUBELET_SOCK, dir) < 0)
		k->sock = NULL;
	k->place.kubelet_sock = k->sock;
	return k->plugins_dir && k->registry_dir && k->sock ? 0 : -ENOMEM;
}

static void on_unclaimed(void *arg)
{
	struct kubelet *k = arg;
	struct kubelet_sockets *sockets = &k->place.received;

	while (sockets->n > 0) {
		if (!k->closing)
			log_info(
				"kubelet", 0,
				"%s: removing this socket of the predecessor, which no process serves",
				sockets->items[0].resource);
		kubelet_socket_close(sockets, &sockets->items[0]);
	}
	free(sockets->items);
	*sockets = (struct kubelet_sockets){0};
}

/* True if the predecessor used legacy: with `auto`, it found that the kubelet ignores the registry.
 */
static bool was_legacy(const struct kubelet *k, const struct kubelet_sockets *sockets)
{
	const size_t len = strlen(k->plugins_dir);

	return sockets->n > 0 && strncmp(sockets->items[0].path, k->plugins_dir, len) == 0 &&
	       sockets->items[0].path[len] == '/';
}

void kubelet_take_over(struct kubelet *k, struct kubelet_sockets *take)
{
	if (k->place.may_leave_registry && k->place.registry && was_legacy(k, take))
		kubelet_place_leave_registry(&k->place);
	k->place.received = *take;
	*take = (struct kubelet_sockets){0};
	timer_in(&k->unclaimed, UNCLAIMED_MS);
}

void kubelet_sockets_done(struct kubelet_sockets *sockets)
{
	for (size_t i = 0; i < sockets->n; i++)
		uds_sockets_done(&sockets->items[i].sockets);
	free(sockets->items);
	*sockets = (struct kubelet_sockets){0};
}

int kubelet_open(struct kubelet **ret, struct uv_loop_s *loop, const struct kubelet_opts *opts,
		 const struct kubelet_hooks *hooks, struct err *e)
{
	struct kubelet *k = calloc(1, sizeof(*k));

	if (!k)
		return err_set(e, -ENOMEM, "out of memory");
	k->place.loop = loop;
	k->hooks = *hooks;
	k->place.hooks = &k->hooks;
	k->registration = opts->registration;
	k->zero_on_close = opts->zero_on_close;
	if (make_paths(k, opts->dir) < 0) {
		kubelet_free(k);
		return err_set(e, -ENOMEM, "out of memory");
	}
	timer_init(&k->poll, loop, kubelet_on_poll, k);
	timer_init(&k->unclaimed, loop, on_unclaimed, k);
	k->plugins_watch = kubelet_watch_folder(k, k->plugins_dir, on_plugins_hint);
	if (k->registration != REGISTRATION_LEGACY)
		k->registry_watch = kubelet_watch_folder(k, k->registry_dir, on_registry_hint);
	choose_folder(k);
	check_sock(k);
	if (!k->place.folder)
		log_info("kubelet", 0, "neither %s nor %s exists, waiting for a kubelet",
			 k->registry_dir, k->plugins_dir);
	*ret = k;
	return 0;
}

static void stop_watching(struct kubelet *k)
{
	k->closing = true;
	dir_watch_close(k->plugins_watch);
	dir_watch_close(k->registry_watch);
	timer_at(&k->poll, TIMER_NEVER);
	timer_at(&k->unclaimed, TIMER_NEVER);
}

void kubelet_close(struct kubelet *k)
{
	if (!k)
		return;
	stop_watching(k);
	while (k->plugins)
		leave_kubelet(k, k->plugins, k->zero_on_close);
	on_unclaimed(k);
	end_if_empty(k);
}

void kubelet_hand_over(struct kubelet *k, struct kubelet_sockets *ret)
{
	struct kubelet_socket *b;

	if (!k)
		return;
	stop_watching(k);
	while (k->plugins) {
		struct kubelet_plugin *p = k->plugins;

		unlink_plugin(k, p);
		plugin_hand_over(p, ret);
	}
	for (struct kubelet_sockets *left = &k->place.received; left->n > 0; left->n--) {
		b = array_push(ret->items, ret->n);
		if (!b)
			break;
		*b = left->items[left->n - 1];
	}
	on_unclaimed(k);
	end_if_empty(k);
}
