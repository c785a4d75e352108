/* The kubelet's side is tests/lib/fake_kubelet.h; real ones are judged elsewhere. */
#include "kubelet.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "deviceplugin.pb-c.h"
#include "fake_kubelet.h"
#include "faults.h"
#include "list_watch.h"
#include "loop_helpers.h"
#include "tmptree.h"
#include "uds.h"

#define RESOURCE "rocelet.dev/roce"
#define SOCKET	 "rocelet.dev_roce.sock"
#define SOON_MS	 5000

static const struct plugin_device two[] = {{"0000:03:00.1", true, 1}, {"0000:03:00.2", true, -1}};
static const struct plugin_device one_ill[] = {{"0000:03:00.1", false, 1},
					       {"0000:03:00.2", true, -1}};

/* How the hooks answer. */
enum answers { AT_ONCE, LATER, WITH_ERROR };

struct fixture {
	uv_loop_t loop;
	char *dir;
	struct kubelet *kubelet;
	struct kubelet_plugin *plugin;
	struct fake_kubelet fake;
	unsigned swept, allocations, gone, asked;
	enum answers answers;
	bool close_when_swept, withdraw_when_asked, withdraw_when_gone;
	struct plugin_answer *open; /* asked, not answered yet */
	char ids[256];		    /* of the last question */
	size_t size, must, available;
};

/* --- hooks ----------------------------------------------------------------------------------- */

static void on_swept(void *arg)
{
	struct fixture *f = arg;

	f->swept++;
	if (f->close_when_swept)
		kubelet_close(take_ptr(f->kubelet));
}

static void on_allocations(void *arg)
{
	((struct fixture *)arg)->allocations++;
}

static void note_ids(struct fixture *f, const struct id_list *containers, size_t n)
{
	f->ids[0] = '\0';
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < containers[i].n; j++)
			snprintf(f->ids + strlen(f->ids), sizeof(f->ids) - strlen(f->ids), "%s%s",
				 j ? "," : (i ? ";" : ""), containers[i].ids[j]);
	f->asked++;
}

static void grant(struct plugin_answer *a, size_t n)
{
	struct container_grant grants[8] = {0};

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(container_grant_env(&grants[i], "PCIDEVICE", "0000:03:00.1"), 0);
		assert_int_equal(container_grant_node(&grants[i], "/dev/infiniband/uverbs0",
						      "/dev/infiniband/uverbs0", "rw"),
				 0);
	}
	plugin_answer_allocate(a, grants, n);
	for (size_t i = 0; i < n; i++)
		container_grant_done(&grants[i]);
}

static void answer_error(struct plugin_answer *a)
{
	struct err e = {0};

	err_set(&e, -ENODEV, "0000:03:00.9 is no device of this pool");
	plugin_answer_error(a, &e);
}

static void on_allocate(struct plugin_answer *a, const struct id_list *containers, size_t n,
			void *arg)
{
	struct fixture *f = arg;

	note_ids(f, containers, n);
	if (f->withdraw_when_asked) {
		f->open = a;
		plugin_withdraw(f->plugin);
		return;
	}
	if (f->answers == LATER)
		f->open = a;
	else if (f->answers == WITH_ERROR)
		answer_error(a);
	else
		grant(a, n);
}

static void on_preferred(struct plugin_answer *a, const struct preference_request *containers,
			 size_t n, void *arg)
{
	struct fixture *f = arg;
	struct id_list chosen = {containers[0].available.ids, containers[0].size};

	assert_int_equal(n, 1);
	f->asked++;
	f->size = containers[0].size;
	f->must = containers[0].must_include.n;
	f->available = containers[0].available.n;
	plugin_answer_preferred(a, &chosen, 1);
}

static void on_pre_start(struct plugin_answer *a, const struct id_list *ids, void *arg)
{
	struct fixture *f = arg;

	note_ids(f, ids, 1);
	if (f->answers == WITH_ERROR)
		answer_error(a);
	else
		plugin_answer_started(a);
}

static void on_gone(struct plugin_answer *a, void *arg)
{
	struct fixture *f = arg;

	assert_ptr_equal(a, f->open);
	f->open = NULL;
	f->gone++;
	if (f->withdraw_when_gone)
		plugin_withdraw(f->plugin);
}

/* --- fixture --------------------------------------------------------------------------------- */

static void make_dir(struct fixture *f, const char *name)
{
	AUTO_FREE char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", f->dir, name) > 0);
	assert_int_equal(mkdir(path, 0755), 0);
}

static struct kubelet *open_kubelet(struct fixture *f, enum registration registration, bool zero)
{
	struct kubelet_opts opts = {
		.dir = f->dir, .registration = registration, .zero_on_close = zero};
	struct kubelet_hooks hooks = {
		.sockets_swept = on_swept, .allocations_changed = on_allocations, .arg = f};
	struct kubelet *k = NULL;
	struct err e = {0};

	assert_int_equal(kubelet_open(&k, &f->loop, &opts, &hooks, &e), 0);
	return k;
}

static struct kubelet_plugin *serve(struct fixture *f, struct kubelet *k)
{
	struct plugin_hooks hooks = {.allocate = on_allocate,
				     .preferred = on_preferred,
				     .pre_start = on_pre_start,
				     .gone = on_gone,
				     .arg = f};
	struct kubelet_plugin *p = NULL;
	struct err e = {0};

	assert_int_equal(kubelet_serve(&p, k, RESOURCE, &hooks, &e), 0);
	return p;
}

/* Watches see what others do in the folders above: not in /tmp, where compilers work. */
static char *quiet_dir(void)
{
	char *dir = strdup("/dev/shm/rocelet-test-XXXXXX");

	assert_non_null(dir);
	if (mkdtemp(dir))
		return dir;
	free(dir);
	return tmptree_new();
}

static void start_without_folders(struct fixture *f)
{
	*f = (struct fixture){.answers = AT_ONCE};
	f->dir = quiet_dir();
	assert_int_equal(uv_loop_init(&f->loop), 0);
	fake_kubelet_init(&f->fake, &f->loop, f->dir);
}

static void start(struct fixture *f, enum registration registration)
{
	start_without_folders(f);
	make_dir(f, "device-plugins");
	if (registration == REGISTRATION_REGISTRY)
		make_dir(f, "plugins_registry");
	f->kubelet = open_kubelet(f, registration, false);
	f->plugin = serve(f, f->kubelet);
	assert_int_equal(plugin_set_devices(f->plugin, two, 2), 0);
}

static void stop(struct fixture *f)
{
	if (f->fake.server)
		fake_kubelet_stop(&f->fake, false);
	else
		fake_kubelet_drop(&f->fake);
	kubelet_close(f->kubelet);
	assert_int_equal(loop_end(&f->loop), 0);
	assert_null(f->open);
	tmptree_free(f->dir);
}

static struct plugin_status status_of(const struct kubelet_plugin *p)
{
	struct plugin_status status;

	plugin_status(p, &status);
	return status;
}

/* cond: an expression about struct fixture *f. */
#define until(f, cond)                                                                             \
	do {                                                                                       \
		if (!loop_until(&(f)->loop, cond, (f), SOON_MS))                                   \
			fail_msg("%s did not come true", #cond);                                   \
	} while (0)

static bool is_registered(void *arg)
{
	struct fixture *f = arg;

	return f->fake.watching && f->fake.lists > 0 &&
	       status_of(f->plugin).state == PLUGIN_REGISTERED;
}

static bool is_waiting(void *arg)
{
	return status_of(((struct fixture *)arg)->plugin).state == PLUGIN_WAITING;
}

static bool is_refused(void *arg)
{
	return status_of(((struct fixture *)arg)->plugin).state == PLUGIN_REFUSED;
}

static bool is_asked(void *arg)
{
	return ((struct fixture *)arg)->asked > 0;
}

static bool is_gone(void *arg)
{
	return ((struct fixture *)arg)->gone > 0;
}

static bool is_swept(void *arg)
{
	return ((struct fixture *)arg)->swept > 0;
}

static bool has_failed(void *arg)
{
	return status_of(((struct fixture *)arg)->plugin).failures > 0;
}

static bool has_socket(void *arg)
{
	AUTO_FREE char *path = NULL;
	struct fixture *f = arg;

	assert_true(asprintf(&path, "%s/device-plugins/" SOCKET, f->dir) > 0);
	return access(path, F_OK) == 0;
}

static bool was_asked_to_register(void *arg)
{
	return ((struct fixture *)arg)->fake.registers > 0;
}

static void start_registered(struct fixture *f)
{
	start(f, REGISTRATION_LEGACY);
	fake_kubelet_start(&f->fake);
	until(f, is_registered);
}

/* --- registration, legacy -------------------------------------------------------------------- */

static void test_registers(void **state)
{
	struct plugin_status status;
	struct fixture f;

	(void)state;
	start_registered(&f);
	assert_string_equal(f.fake.version, "v1beta1");
	assert_string_equal(f.fake.endpoint, SOCKET);
	assert_string_equal(f.fake.resource, RESOURCE);
	assert_true(f.fake.pre_start);
	assert_true(f.fake.preferred);
	assert_int_equal(f.fake.n_devices, 2);
	assert_int_equal(f.fake.n_healthy, 2);
	assert_string_equal(f.fake.first_id, "0000:03:00.1");
	assert_int_equal(f.fake.first_numa, 1);
	status = status_of(f.plugin);
	assert_int_equal(status.registrations, 1);
	assert_int_equal(status.failures, 0);
	assert_int_equal(status.watchers, 1);
	assert_int_equal(status.lists, 1);
	assert_non_null(strstr(status.socket, "/device-plugins/" SOCKET));
	assert_string_equal(status.error, "");
	stop(&f);
}

static void test_nothing_is_told_before_there_is_a_list(void **state)
{
	struct fixture f;

	(void)state;
	start_without_folders(&f);
	make_dir(&f, "device-plugins");
	fake_kubelet_start(&f.fake);
	f.kubelet = open_kubelet(&f, REGISTRATION_LEGACY, false);
	f.plugin = serve(&f, f.kubelet);
	loop_wakeups(&f.loop, 60);
	assert_int_equal(f.fake.registers, 0);
	assert_int_equal(plugin_set_devices(f.plugin, NULL, 0), 0);
	until(&f, is_registered);
	assert_int_equal(f.fake.n_devices, 0);
	stop(&f);
}

static bool is_ill(void *arg)
{
	return ((struct fixture *)arg)->fake.n_healthy == 1;
}

static void test_a_list_is_sent_when_it_differs(void **state)
{
	struct fixture f;
	unsigned i;

	(void)state;
	start_registered(&f);
	for (i = 0; i < 10; i++)
		assert_int_equal(plugin_set_devices(f.plugin, two, 2), 0);
	assert_int_equal(plugin_set_devices(f.plugin, one_ill, 2), 0);
	until(&f, is_ill);
	assert_int_equal(f.fake.lists, 2);
	/* There and back again before anybody looked. */
	assert_int_equal(plugin_set_devices(f.plugin, two, 2), 0);
	assert_int_equal(plugin_set_devices(f.plugin, one_ill, 2), 0);
	loop_wakeups(&f.loop, 30);
	assert_int_equal(f.fake.lists, 2);
	assert_int_equal(status_of(f.plugin).lists, 2);
	stop(&f);
}

static bool has_big_list(void *arg)
{
	return ((struct fixture *)arg)->fake.n_devices > 2;
}

static void test_a_list_that_is_too_long_is_cut(void **state)
{
	enum { N = 100000 };
	struct plugin_device *devices = calloc(N, sizeof(*devices));
	struct fixture f;
	size_t i;

	(void)state;
	assert_non_null(devices);
	for (i = 0; i < N; i++) {
		snprintf(devices[i].id, sizeof(devices[i].id), "device-%055zu", i);
		devices[i].healthy = true;
		devices[i].numa = -1;
	}
	start_registered(&f);
	assert_int_equal(plugin_set_devices(f.plugin, devices, N), 0);
	until(&f, has_big_list);
	assert_true(f.fake.list_len <= LIST_WATCH_MAX);
	assert_true(f.fake.list_len > LIST_WATCH_MAX - 200);
	assert_string_equal(f.fake.first_id, devices[0].id);
	stop(&f);
	free(devices);
}

static void test_fifty_restarts(void **state)
{
	uint64_t began_ms, worst_ms = 0, took_ms;
	struct fixture f;
	int i;

	(void)state;
	start_registered(&f);
	for (i = 0; i < 50; i++) {
		fake_kubelet_stop(&f.fake, i % 2);
		f.fake.lists = 0;
		until(&f, is_waiting);
		fake_kubelet_start(&f.fake);
		began_ms = uv_now(&f.loop);
		until(&f, is_registered);
		took_ms = f.fake.list_ms - began_ms;
		worst_ms = took_ms > worst_ms ? took_ms : worst_ms;
	}
	print_message("worst of 50 restarts: list after %u ms\n", (unsigned)worst_ms);
	assert_true(status_of(f.plugin).registrations >= 51);
	assert_int_equal(status_of(f.plugin).failures, 0);
	assert_true(f.swept >= 50);
	stop(&f);
}

/* So fast that the old one's end is not even seen before the new one is there. */
static void test_restarts_without_a_pause(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	start_registered(&f);
	for (i = 0; i < 50; i++) {
		fake_kubelet_stop(&f.fake, false);
		f.fake.lists = 0;
		fake_kubelet_start(&f.fake);
		if (i % 5 == 0)
			until(&f, is_registered);
	}
	until(&f, is_registered);
	stop(&f);
}

static void test_a_dead_socket_costs_little(void **state)
{
	struct fixture f;
	unsigned wakeups;

	(void)state;
	start_registered(&f);
	fake_kubelet_stop(&f.fake, true);
	until(&f, is_waiting);
	wakeups = loop_wakeups(&f.loop, 1000);
	assert_true(wakeups < 150); /* about 25 tries; each connects, fails, and pauses */
	assert_string_equal(status_of(f.plugin).error, "");
	assert_int_equal(status_of(f.plugin).failures, 0);
	fake_kubelet_start(&f.fake);
	until(&f, is_registered);
	stop(&f);
}

/* The kubelet has bound its socket, but listens later. */
static void test_a_socket_that_does_not_listen_yet(void **state)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), peer = -1;
	uint64_t began_ms;
	struct fixture f;

	(void)state;
	start(&f, REGISTRATION_LEGACY);
	until(&f, has_socket);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/device-plugins/kubelet.sock", f.dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	loop_wakeups(&f.loop, 300);
	assert_int_equal(listen(fd, 8), 0);
	uv_update_time(&f.loop);
	began_ms = uv_now(&f.loop);
	while (peer < 0 && uv_now(&f.loop) - began_ms < SOON_MS) {
		uv_run(&f.loop, UV_RUN_ONCE);
		peer = accept(fd, NULL, NULL);
	}
	assert_true(peer >= 0);
	print_message("tried again after %u ms\n", (unsigned)(uv_now(&f.loop) - began_ms));
	close(peer);
	close(fd);
	stop(&f);
}

static void assert_sleeps(struct fixture *f)
{
	loop_wakeups(&f->loop, 50); /* what there is still to say */
	assert_true(loop_wakeups(&f->loop, 300) <= 2);
}

static void test_idle_costs_nothing(void **state)
{
	struct fixture f;

	(void)state;
	start_registered(&f);
	assert_sleeps(&f);
	stop(&f);
}

static void test_no_kubelet_costs_nothing(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, REGISTRATION_LEGACY);
	until(&f, has_socket);
	assert_sleeps(&f);
	stop(&f);
}

static void test_refused_then_taken(void **state)
{
	struct plugin_status status;
	struct fixture f;

	(void)state;
	start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_REFUSING;
	fake_kubelet_start(&f.fake);
	until(&f, is_refused);
	status = status_of(f.plugin);
	assert_non_null(strstr(status.error, "INVALID_ARGUMENT"));
	assert_non_null(strstr(status.error, "unsupported"));
	assert_true(status.failures >= 1);
	f.fake.manner = MANNER_GOOD;
	until(&f, is_registered);
	assert_string_equal(status_of(f.plugin).error, "");
	stop(&f);
}

static void test_unavailable_then_taken(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_UNAVAILABLE;
	fake_kubelet_start(&f.fake);
	until(&f, has_failed);
	assert_non_null(strstr(status_of(f.plugin).error, "starting"));
	f.fake.manner = MANNER_GOOD;
	until(&f, is_registered);
	stop(&f);
}

/* The old one never answered; that must not keep the new one waiting. */
static void test_a_restart_in_the_middle_of_register(void **state)
{
	struct uds_server *hung;
	struct fixture f;

	(void)state;
	start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_SILENT;
	fake_kubelet_start(&f.fake);
	until(&f, was_asked_to_register);
	hung = f.fake.server; /* still there, with our connection */
	f.fake.manner = MANNER_GOOD;
	fake_kubelet_start(&f.fake);
	until(&f, is_registered);
	assert_int_equal(f.fake.registers, 2);
	assert_int_equal(status_of(f.plugin).registrations, 1);
	uds_server_close(hung);
	loop_wakeups(&f.loop, 30);
	assert_true(is_registered(&f));
	stop(&f);
}

static void test_dropped_by_a_kubelet_that_lives(void **state)
{
	struct fixture f;

	(void)state;
	start_registered(&f);
	f.fake.lists = 0;
	fake_kubelet_drop(&f.fake);
	until(&f, is_waiting);
	until(&f, is_registered);
	assert_int_equal(status_of(f.plugin).registrations, 2);
	stop(&f);
}

static void test_our_socket_is_deleted(void **state)
{
	struct fixture f;

	(void)state;
	start_registered(&f);
	f.fake.lists = 0;
	f.swept = 0;
	tmptree_remove(f.dir, "device-plugins/" SOCKET);
	until(&f, is_waiting);
	until(&f, is_registered);
	assert_true(has_socket(&f));
	assert_true(f.swept > 0);
	stop(&f);
}

static void test_hints_for_others(void **state)
{
	struct fixture f;

	(void)state;
	start_registered(&f);
	f.swept = 0;
	f.allocations = 0;
	tmptree_write(f.dir, "device-plugins/rocelet-metrics.sock", "not ours");
	tmptree_write(f.dir, "device-plugins/kubelet_internal_checkpoint", "{}");
	loop_wakeups(&f.loop, 30);
	assert_int_equal(f.swept, 0);
	assert_true(f.allocations > 0);
	tmptree_remove(f.dir, "device-plugins/rocelet-metrics.sock");
	until(&f, is_swept);
	assert_int_equal(f.fake.registers, 1);
	stop(&f);
}

/* --- folders --------------------------------------------------------------------------------- */

static void test_auto_waits_for_a_kubelet(void **state)
{
	struct fixture f;

	(void)state;
	start_without_folders(&f);
	f.kubelet = open_kubelet(&f, REGISTRATION_AUTO, false);
	f.plugin = serve(&f, f.kubelet);
	assert_int_equal(plugin_set_devices(f.plugin, two, 2), 0);
	loop_wakeups(&f.loop, 30);
	assert_null(status_of(f.plugin).socket);
	make_dir(&f, "device-plugins");
	until(&f, has_socket);
	fake_kubelet_start(&f.fake);
	until(&f, is_registered);
	make_dir(&f, "plugins_registry"); /* too late */
	loop_wakeups(&f.loop, 30);
	assert_int_equal(f.fake.registers, 1);
	stop(&f);
}

static void test_the_folder_is_replaced(void **state)
{
	AUTO_FREE char *old = NULL, *away = NULL;
	struct fixture f;

	(void)state;
	start_registered(&f);
	fake_kubelet_stop(&f.fake, false);
	f.fake.lists = 0;
	assert_true(asprintf(&old, "%s/device-plugins", f.dir) > 0);
	assert_true(asprintf(&away, "%s/away", f.dir) > 0);
	assert_int_equal(rename(old, away), 0);
	until(&f, has_failed); /* nowhere to serve */
	assert_non_null(strstr(status_of(f.plugin).error, SOCKET));
	make_dir(&f, "device-plugins");
	until(&f, has_socket);
	fake_kubelet_start(&f.fake);
	until(&f, is_registered);
	stop(&f);
}

static void assert_refused(struct fixture *f, const char *resource, int code)
{
	struct plugin_hooks hooks = {.allocate = on_allocate, .arg = f};
	struct kubelet_plugin *p = NULL;
	struct err e = {0};

	assert_int_equal(kubelet_serve(&p, f->kubelet, resource, &hooks, &e), code);
	assert_null(p);
	assert_non_null(strstr(e.msg, resource));
}

static void test_names_that_cannot_be_served(void **state)
{
	struct fixture f;
	char longest[200];

	(void)state;
	start(&f, REGISTRATION_LEGACY);
	assert_refused(&f, RESOURCE, -EEXIST);
	assert_refused(&f, "", -EINVAL);
	assert_refused(&f, "roce", -EINVAL);
	assert_refused(&f, "rocelet.dev/", -EINVAL);
	assert_refused(&f, "/roce", -EINVAL);
	assert_refused(&f, "a/b/c", -EINVAL);
	assert_refused(&f, "../x", -EINVAL);
	assert_refused(&f, "a/..", -EINVAL);
	assert_refused(&f, "a/b c", -EINVAL);
	memset(longest, 'a', sizeof(longest));
	longest[120] = '/';
	longest[130] = '\0';
	assert_refused(&f, longest, -ENAMETOOLONG);
	stop(&f);
}

/* During an update two daemons serve one resource: the newer one wins, and nobody fights. */
static void test_a_successor_takes_over(void **state)
{
	struct kubelet_plugin *first, *second;
	struct kubelet *successor;
	struct fixture f;
	unsigned n;

	(void)state;
	start_registered(&f);
	first = f.plugin;
	f.fake.lists = 0;
	successor = open_kubelet(&f, REGISTRATION_LEGACY, false);
	second = serve(&f, successor);
	assert_int_equal(plugin_set_devices(second, one_ill, 2), 0);
	f.plugin = second;
	until(&f, is_registered);
	f.plugin = first;
	until(&f, has_failed);
	assert_non_null(strstr(status_of(first).error, "another process"));
	n = f.fake.registers;
	loop_wakeups(&f.loop, 200);
	assert_int_equal(status_of(second).state, PLUGIN_REGISTERED);
	assert_int_equal(f.fake.registers, n);

	kubelet_close(successor);
	until(&f, is_registered);
	stop(&f);
}

/* --- registry -------------------------------------------------------------------------------- */

static const char *registry_socket(struct fixture *f, char *path, size_t size)
{
	snprintf(path, size, "%s/plugins_registry/" SOCKET, f->dir);
	return path;
}

static bool has_registry_socket(void *arg)
{
	char path[256];

	return access(registry_socket(arg, path, sizeof(path)), F_OK) == 0;
}

static void test_registry(void **state)
{
	char path[256];
	struct fixture f;

	(void)state;
	start(&f, REGISTRATION_REGISTRY);
	until(&f, has_registry_socket);
	fake_kubelet_start(&f.fake);
	fake_kubelet_find(&f.fake, registry_socket(&f, path, sizeof(path)), NULL);
	until(&f, is_registered);
	assert_string_equal(f.fake.version, "v1beta1");
	assert_string_equal(f.fake.resource, RESOURCE);
	assert_string_equal(f.fake.endpoint, "");
	assert_int_equal(status_of(f.plugin).registrations, 1);
	assert_string_equal(status_of(f.plugin).socket, path);
	assert_int_equal(f.fake.registers, 0);

	/* Its restart leaves our socket alone, and so do we. */
	fake_kubelet_stop(&f.fake, true);
	f.swept = 0;
	f.fake.lists = 0;
	until(&f, is_waiting);
	fake_kubelet_start(&f.fake);
	until(&f, is_swept);
	assert_true(has_registry_socket(&f));
	fake_kubelet_find(&f.fake, path, NULL);
	until(&f, is_registered);

	tmptree_remove(f.dir, "plugins_registry/" SOCKET);
	until(&f, has_registry_socket);
	stop(&f);
	(void)has_socket;
}

static void test_registry_is_what_auto_prefers(void **state)
{
	struct fixture f;

	(void)state;
	start_without_folders(&f);
	make_dir(&f, "device-plugins");
	make_dir(&f, "plugins_registry");
	f.kubelet = open_kubelet(&f, REGISTRATION_AUTO, false);
	f.plugin = serve(&f, f.kubelet);
	loop_wakeups(&f.loop, 30);
	assert_false(has_registry_socket(&f)); /* which would tell the kubelet */
	assert_int_equal(plugin_set_devices(f.plugin, two, 2), 0);
	until(&f, has_registry_socket);
	assert_false(has_socket(&f));
	stop(&f);
}

static void test_registry_refusal(void **state)
{
	char path[256];
	struct fixture f;

	(void)state;
	start(&f, REGISTRATION_REGISTRY);
	until(&f, has_registry_socket);
	fake_kubelet_find(&f.fake, registry_socket(&f, path, sizeof(path)), "no handler");
	until(&f, is_refused);
	assert_string_equal(status_of(f.plugin).error, "no handler");
	fake_kubelet_find(&f.fake, path, NULL);
	until(&f, is_registered);
	stop(&f);
}

/* --- leaving --------------------------------------------------------------------------------- */

static bool watch_has_ended(void *arg)
{
	return !((struct fixture *)arg)->fake.watching;
}

static bool socket_is_gone(void *arg)
{
	return !has_socket(arg);
}

static void leave(struct fixture *f, bool zero)
{
	start_without_folders(f);
	make_dir(f, "device-plugins");
	f->kubelet = open_kubelet(f, REGISTRATION_LEGACY, zero);
	f->plugin = serve(f, f->kubelet);
	assert_int_equal(plugin_set_devices(f->plugin, two, 2), 0);
	fake_kubelet_start(&f->fake);
	until(f, is_registered);
	kubelet_close(take_ptr(f->kubelet));
	until(f, watch_has_ended);
	until(f, socket_is_gone);
}

static void test_closing_keeps_the_devices(void **state)
{
	struct fixture f;

	(void)state;
	leave(&f, false);
	assert_int_equal(f.fake.lists, 1);
	assert_int_equal(f.fake.n_devices, 2);
	stop(&f);
}

static void test_closing_with_zero(void **state)
{
	struct fixture f;

	(void)state;
	leave(&f, true);
	assert_int_equal(f.fake.lists, 2);
	assert_int_equal(f.fake.n_devices, 0);
	stop(&f);
}

static void test_withdrawn_and_served_again(void **state)
{
	struct fixture f;

	(void)state;
	start_registered(&f);
	plugin_withdraw(f.plugin);
	until(&f, watch_has_ended);
	assert_int_equal(f.fake.n_devices, 0);
	f.fake.lists = 0;
	f.plugin = serve(&f, f.kubelet);
	assert_int_equal(plugin_set_devices(f.plugin, two, 2), 0);
	until(&f, is_registered);
	assert_int_equal(f.fake.n_devices, 2);
	plugin_withdraw(NULL);
	kubelet_close(NULL);
	stop(&f);
}

static void test_closed_before_anything_happened(void **state)
{
	struct fixture f;

	(void)state;
	start_without_folders(&f);
	f.kubelet = open_kubelet(&f, REGISTRATION_AUTO, true);
	f.plugin = serve(&f, f.kubelet);
	stop(&f);

	start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_SILENT;
	fake_kubelet_start(&f.fake);
	until(&f, was_asked_to_register);
	stop(&f);
}

static void test_everything_may_be_done_in_hooks(void **state)
{
	struct fixture f;

	(void)state;
	start_registered(&f);
	f.close_when_swept = true;
	tmptree_remove(f.dir, "device-plugins/" SOCKET);
	until(&f, is_swept);
	until(&f, watch_has_ended);
	stop(&f);
}

/* The kubelet's watch failed before our service saw it; it is looked into after 10 s. */
static bool is_registered_or_lost(void *arg)
{
	struct fixture *f = arg;

	return is_registered(f) || (f->fake.watch_ends > 0 && !f->fake.watching);
}

/* Whichever allocation fails: nothing leaks, nothing is lost for good, and in the end it works. */
static void test_out_of_memory(void **state)
{
	struct fixture f;
	bool failed;
	long n = 0;

	(void)state;
	do {
		start(&f, REGISTRATION_LEGACY);
		fake_kubelet_start(&f.fake);
		faults_alloc(n++);
		until(&f, is_registered_or_lost);
		failed = faults_end();
		if (!is_registered(&f)) {
			fake_kubelet_stop(&f.fake, false);
			fake_kubelet_start(&f.fake);
		}
		until(&f, is_registered);
		stop(&f);
	} while (failed && n < 1000);
	print_message("%ld allocations failed, one at a time\n", n - 1);
	assert_true(n > 20 && n < 1000);
}

/* --- questions ------------------------------------------------------------------------------- */

static const char allocate_path[] = "/v1beta1.DevicePlugin/Allocate";

/* Containers as "a,b;c"; the packed AllocateRequest. */
static size_t pack_allocate(const char *text, uint8_t *bytes, size_t size)
{
	V1beta1__ContainerAllocateRequest containers[4], *pointers[4];
	V1beta1__AllocateRequest q = V1BETA1__ALLOCATE_REQUEST__INIT;
	AUTO_FREE char *copy = strdup(text);
	char *ids[16], *container, *id, *outer, *inner, *rest;
	size_t n = 0;

	assert_non_null(copy);
	q.container_requests = pointers;
	for (rest = copy; (container = strtok_r(rest, ";", &outer)); rest = NULL) {
		pointers[q.n_container_requests] = &containers[q.n_container_requests];
		v1beta1__container_allocate_request__init(&containers[q.n_container_requests]);
		containers[q.n_container_requests].devices_ids = &ids[n];
		for (; (id = strtok_r(container, ",", &inner)); container = NULL) {
			ids[n++] = id;
			containers[q.n_container_requests].n_devices_ids++;
		}
		q.n_container_requests++;
	}
	assert_true(v1beta1__allocate_request__get_packed_size(&q) <= size);
	return v1beta1__allocate_request__pack(&q, bytes);
}

static void allocate(struct fixture *f, const char *text, struct fake_answer *a)
{
	uint8_t bytes[1024];

	fake_call(&f->fake, allocate_path, bytes, pack_allocate(text, bytes, sizeof(bytes)), a);
}

static void test_allocate(void **state)
{
	V1beta1__AllocateResponse *got;
	struct fake_answer a;
	struct fixture f;

	(void)state;
	start_registered(&f);
	allocate(&f, "0000:03:00.1,0000:03:00.2;\xc3\xa4", &a);
	assert_int_equal(a.status, GRPC_OK);
	assert_string_equal(f.ids, "0000:03:00.1,0000:03:00.2;\xc3\xa4");
	got = v1beta1__allocate_response__unpack(NULL, a.len, a.message);
	assert_non_null(got);
	assert_int_equal(got->n_container_responses, 2);
	assert_string_equal(got->container_responses[1]->envs[0]->key, "PCIDEVICE");
	assert_string_equal(got->container_responses[1]->devices[0]->permissions, "rw");
	v1beta1__allocate_response__free_unpacked(got, NULL);
	free(a.message);

	f.answers = WITH_ERROR;
	allocate(&f, "0000:03:00.9", &a);
	assert_int_equal(a.status, GRPC_NOT_FOUND);
	assert_string_equal(a.text, "0000:03:00.9 is no device of this pool");
	assert_null(a.message);
	stop(&f);
}

static void assert_invalid(struct fixture *f, const char *text)
{
	struct fake_answer a;

	f->asked = 0;
	allocate(f, text, &a);
	assert_int_equal(a.status, GRPC_INVALID_ARGUMENT);
	assert_int_equal(f->asked, 0);
	assert_non_null(strstr(a.text, "device ID"));
	free(a.message);
}

static void test_questions_that_are_not_asked_further(void **state)
{
	char long_id[65];
	struct fake_answer a;
	struct fixture f;
	uint8_t *many;
	size_t n = 0;

	(void)state;
	start_registered(&f);
	memset(long_id, 'x', sizeof(long_id));
	long_id[64] = '\0';
	assert_invalid(&f, long_id);
	long_id[63] = '\0';
	allocate(&f, long_id, &a);
	assert_int_equal(a.status, GRPC_OK);
	free(a.message);

	many = malloc(5000 * 3 + 8);
	assert_non_null(many);
	many[n++] = 0x0a; /* one container ... */
	many[n++] = 0x80 | (15000 & 0x7f);
	many[n++] = 0x80 | ((15000 >> 7) & 0x7f);
	many[n++] = 15000 >> 14;
	for (int i = 0; i < 5000; i++, n += 3) /* ... of 5000 devices "x" */
		memcpy(many + n, "\x0a\x01x", 3);
	fake_call(&f.fake, allocate_path, many, n, &a);
	assert_int_equal(a.status, GRPC_INVALID_ARGUMENT);
	free(many);

	f.asked = 0;
	fake_call(&f.fake, allocate_path, "\xff\xff\xff", 3, &a);
	assert_int_not_equal(a.status, GRPC_OK);
	fake_call(&f.fake, "/v1beta1.DevicePlugin/Frobnicate", "", 0, &a);
	assert_int_equal(a.status, GRPC_UNIMPLEMENTED);
	assert_non_null(strstr(a.text, "/v1beta1.DevicePlugin/Frobnicate"));
	fake_call(&f.fake, "/pluginregistration.Registration/GetInfo", "", 0, &a);
	assert_int_equal(a.status, GRPC_UNIMPLEMENTED); /* that is the registry's */
	assert_int_equal(f.asked, 0);
	assert_true(is_registered(&f));
	stop(&f);
}

static void test_preferred(void **state)
{
	/* available "a", "bb"; must include "a"; size 1, then 3 */
	static const uint8_t one[] = "\x0a\x0c\x0a\x01"
				     "a\x0a\x02"
				     "bb\x12\x01"
				     "a\x18\x01";
	uint8_t bytes[sizeof(one) - 1];
	V1beta1__PreferredAllocationResponse *got;
	struct fake_answer a;
	struct fixture f;

	(void)state;
	start_registered(&f);
	memcpy(bytes, one, sizeof(bytes));
	fake_call(&f.fake, "/v1beta1.DevicePlugin/GetPreferredAllocation", bytes, sizeof(bytes),
		  &a);
	assert_int_equal(a.status, GRPC_OK);
	assert_int_equal(f.size, 1);
	assert_int_equal(f.must, 1);
	assert_int_equal(f.available, 2);
	got = v1beta1__preferred_allocation_response__unpack(NULL, a.len, a.message);
	assert_non_null(got);
	assert_int_equal(got->n_container_responses, 1);
	assert_string_equal(got->container_responses[0]->deviceids[0], "a");
	v1beta1__preferred_allocation_response__free_unpacked(got, NULL);
	free(a.message);

	bytes[sizeof(bytes) - 1] = 3;
	fake_call(&f.fake, "/v1beta1.DevicePlugin/GetPreferredAllocation", bytes, sizeof(bytes),
		  &a);
	assert_int_equal(a.status, GRPC_INVALID_ARGUMENT);
	assert_non_null(strstr(a.text, "3 of 2"));
	stop(&f);
}

static void test_pre_start(void **state)
{
	struct fake_answer a;
	struct fixture f;

	(void)state;
	start_registered(&f);
	fake_call(&f.fake, "/v1beta1.DevicePlugin/PreStartContainer", "\x0a\x01y", 3, &a);
	assert_int_equal(a.status, GRPC_OK);
	assert_non_null(a.message);
	assert_int_equal(a.len, 0);
	assert_string_equal(f.ids, "y");
	free(a.message);
	f.answers = WITH_ERROR;
	fake_call(&f.fake, "/v1beta1.DevicePlugin/PreStartContainer", "\x0a\x01y", 3, &a);
	assert_int_equal(a.status, GRPC_NOT_FOUND);
	stop(&f);
}

/* A call that is answered when the test says so. */
static void on_end(struct grpc_call *call, enum grpc_status status, const char *text, void *arg)
{
	struct fake_answer *a = arg;

	(void)call;
	a->ended = true;
	a->status = status;
	snprintf(a->text, sizeof(a->text), "%s", text ? text : "");
}

static uint64_t ask(struct fixture *f, struct fake_answer *a, uint32_t timeout_ms)
{
	struct grpc_reply reply = {.end = on_end, .arg = a};
	uint8_t bytes[64];
	uint64_t id = 0;

	*a = (struct fake_answer){.ended = false};
	f->answers = LATER;
	f->asked = 0;
	f->gone = 0;
	assert_int_equal(uds_client_call(f->fake.plugin, allocate_path, bytes,
					 pack_allocate("x", bytes, sizeof(bytes)), timeout_ms,
					 &reply, &id),
			 0);
	until(f, is_asked);
	return id;
}

static bool has_ended(void *arg)
{
	return ((struct fake_answer *)arg)->ended;
}

static void test_answers_that_come_later(void **state)
{
	struct fake_answer a;
	struct fixture f;
	uint64_t id;

	(void)state;
	start_registered(&f);
	ask(&f, &a, 0);
	loop_wakeups(&f.loop, 20);
	assert_false(a.ended);
	grant(take_ptr(f.open), 1);
	assert_true(loop_until(&f.loop, has_ended, &a, SOON_MS));
	assert_int_equal(a.status, GRPC_OK);

	ask(&f, &a, 0);
	answer_error(take_ptr(f.open));
	assert_true(loop_until(&f.loop, has_ended, &a, SOON_MS));
	assert_int_equal(a.status, GRPC_NOT_FOUND);

	ask(&f, &a, 0);
	grant(take_ptr(f.open), 2); /* for one container */
	assert_true(loop_until(&f.loop, has_ended, &a, SOON_MS));
	assert_int_equal(a.status, GRPC_INTERNAL);

	id = ask(&f, &a, 0);
	uds_client_cancel(f.fake.plugin, id);
	until(&f, is_gone);
	ask(&f, &a, 30); /* its time passes */
	until(&f, is_gone);
	ask(&f, &a, 0);
	fake_kubelet_drop(&f.fake);
	until(&f, is_gone);
	stop(&f);
}

static void test_withdrawn_while_it_is_asked(void **state)
{
	struct fake_answer a;
	struct fixture f;

	(void)state;
	start_registered(&f);
	f.withdraw_when_asked = true;
	allocate(&f, "x", &a);
	assert_int_equal(a.status, GRPC_UNAVAILABLE);
	assert_int_equal(f.gone, 1);
	until(&f, watch_has_ended);
	stop(&f);
}

/* The socket is being made anew at that moment. */
static void test_withdrawn_when_a_question_is_gone(void **state)
{
	struct fake_answer a;
	struct fixture f;

	(void)state;
	start_registered(&f);
	ask(&f, &a, 0);
	f.withdraw_when_gone = true;
	tmptree_remove(f.dir, "device-plugins/" SOCKET);
	until(&f, is_gone);
	until(&f, socket_is_gone);
	loop_wakeups(&f.loop, 50);
	assert_false(has_socket(&f));
	stop(&f);
}

static void test_questions_that_are_open_when_we_leave(void **state)
{
	struct fake_answer a;
	struct fixture f;

	(void)state;
	start_registered(&f);
	ask(&f, &a, 0);
	plugin_withdraw(f.plugin);
	assert_int_equal(f.gone, 1);
	assert_true(loop_until(&f.loop, has_ended, &a, SOON_MS));
	assert_int_equal(a.status, GRPC_UNAVAILABLE);
	assert_non_null(strstr(a.text, "withdrawn"));
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_nothing_is_told_before_there_is_a_list),
		cmocka_unit_test(test_a_list_is_sent_when_it_differs),
		cmocka_unit_test(test_a_list_that_is_too_long_is_cut),
		cmocka_unit_test(test_fifty_restarts),
		cmocka_unit_test(test_restarts_without_a_pause),
		cmocka_unit_test(test_a_dead_socket_costs_little),
		cmocka_unit_test(test_a_socket_that_does_not_listen_yet),
		cmocka_unit_test(test_idle_costs_nothing),
		cmocka_unit_test(test_no_kubelet_costs_nothing),
		cmocka_unit_test(test_refused_then_taken),
		cmocka_unit_test(test_unavailable_then_taken),
		cmocka_unit_test(test_a_restart_in_the_middle_of_register),
		cmocka_unit_test(test_dropped_by_a_kubelet_that_lives),
		cmocka_unit_test(test_our_socket_is_deleted),
		cmocka_unit_test(test_hints_for_others),
		cmocka_unit_test(test_auto_waits_for_a_kubelet),
		cmocka_unit_test(test_the_folder_is_replaced),
		cmocka_unit_test(test_names_that_cannot_be_served),
		cmocka_unit_test(test_a_successor_takes_over),
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_registry_is_what_auto_prefers),
		cmocka_unit_test(test_registry_refusal),
		cmocka_unit_test(test_closing_keeps_the_devices),
		cmocka_unit_test(test_closing_with_zero),
		cmocka_unit_test(test_withdrawn_and_served_again),
		cmocka_unit_test(test_closed_before_anything_happened),
		cmocka_unit_test(test_allocate),
		cmocka_unit_test(test_questions_that_are_not_asked_further),
		cmocka_unit_test(test_preferred),
		cmocka_unit_test(test_pre_start),
		cmocka_unit_test(test_answers_that_come_later),
		cmocka_unit_test(test_questions_that_are_open_when_we_leave),
		cmocka_unit_test(test_withdrawn_while_it_is_asked),
		cmocka_unit_test(test_withdrawn_when_a_question_is_gone),
		cmocka_unit_test(test_everything_may_be_done_in_hooks),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
