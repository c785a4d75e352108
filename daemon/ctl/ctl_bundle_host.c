// SPDX-License-Identifier: Apache-2.0
/* ctl_bundle_host.c - reads files, the kernel's log and sysfs of the node. Links that lead out of a
 * folder are not followed, because a pod may have created them. */
#include "ctl_bundle_host.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cleanup.h"
#include "ctl_bundle.h"
#include "json_text.h"
#include "search.h"
#include "sysfs.h"

#define CONFIG_MAX  ((size_t)1 << 20)
#define JOURNAL_MAX ((size_t)64 << 10)
#define RECORDS_MAX 4096
#define MODULES_MAX ((size_t)1 << 20)
#define KERNEL_MAX  ((size_t)512 << 10) /* bytes; the newest lines are kept */
#define KMSG_RECORD 8192		/* CONSOLE_EXT_LOG_MAX, linux/kernel/printk/internal.h */

/* --- files ------------------------------------------------------------------------------------ */

static int open_beneath(int dir, const char *path, int flags, uint64_t resolve)
{
	const struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC | O_NONBLOCK),
				     .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* Reads a file, at most its first max bytes, terminated; heap. -EINVAL: not a regular file. */
static int read_beneath(int dir, const char *path, uint64_t resolve, size_t max, char **ret,
			size_t *ret_len)
{
	AUTO_FD fd = open_beneath(dir, path, O_RDONLY, resolve);
	AUTO_FREE char *text = NULL;
	struct stat st;
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	text = malloc(max + 1);
	if (!text)
		return -ENOMEM;
	while (n > 0 && len < max) {
		n = read(fd, text + len, max - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		return -errno;
	text[len] = '\0';
	*ret = take_ptr(text);
	*ret_len = len;
	return 0;
}

static const char *because(int code)
{
	return code == -ELOOP || code == -EXDEV ? "a symbolic link; not followed"
	       : code == -EINVAL		? "not a regular file"
						: strerror(-code);
}

/* Opens the folder of a path; *ret_name: the rest of the path. */
static int open_folder_of(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";
	int fd;

	*ret_name = slash ? slash + 1 : path;
	if (slash && (size_t)(slash - path) >= sizeof(folder) - 1)
		return -ENAMETOOLONG;
	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash + 1 - path), path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void bundle_config_file(struct bundle *b, const char *path)
{
	const char *name;
	AUTO_FD dir = open_folder_of(path, &name);
	AUTO_FREE char *text = NULL;
	json_error_t where;
	json_t *config;
	size_t len = 0;
	int r = dir < 0 ? dir : read_beneath(dir, name, 0, CONFIG_MAX, &text, &len);

	if (r < 0) {
		bundle_miss(b, "%s: %s", path, because(r));
		return;
	}
	config = json_text_load(text, len, 0, &where);
	if (config)
		bundle_add_json(b, "config.json", config);
	else
		bundle_miss(b,
			    "%s: line %d is not valid JSON, so secrets in it cannot be recognized",
			    path, where.line);
}

/* --- the journal: two blocks, "rocelet-journal ...\n" and a record as JSON, see
 * daemon/attach/journal/journal.h */

static const char mark[] = "rocelet-journal ";

static json_t *block_read(const char *text, size_t len)
{
	const char *line = memchr(text, '\n', len);

	return line ? json_text_load(line + 1, len - (size_t)(line + 1 - text),
				     JSON_DISABLE_EOF_CHECK, NULL)
		    : NULL;
}

static json_t *blocks_read(const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	json_t *blocks = json_array();

	while ((at = memmem(at, (size_t)(end - at), mark, strlen(mark)))) {
		json_t *head = json_stringn_nocheck(at, strcspn(at, "\n"));

		json_array_append_new(blocks, json_pack("{soso?}", "head", head, "record",
							block_read(at, (size_t)(end - at))));
		at += strlen(mark);
	}
	return blocks;
}

static void record_add(struct bundle *b, int dir, const char *entry)
{
	AUTO_FREE char *text = NULL;
	char name[80], path[96];
	size_t len;
	int r = read_beneath(dir, entry, RESOLVE_NO_SYMLINKS, JOURNAL_MAX, &text, &len);

	snprintf(name, sizeof(name), "%.79s", entry);
	for (char *c = name; *c; c++)
		*c = isgraph((unsigned char)*c) ? *c : '_';
	if (r == 0 && !memmem(text, len, mark, strlen(mark)))
		bundle_miss(b, "journal/%s: no record", name);
	else if (r < 0)
		bundle_miss(b, "journal/%s: %s", name, because(r));
	else {
		snprintf(path, sizeof(path), "journal/%s.json", name);
		bundle_add_json(b, path, blocks_read(text, len));
	}
}

void bundle_journal(struct bundle *b, const char *state_dir)
{
	AUTO_FD state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD fd = state < 0 ? -errno
			       : open_beneath(state, "devices", O_RDONLY | O_DIRECTORY,
					      RESOLVE_NO_SYMLINKS);
	AUTO_DIR dir = fd < 0 ? NULL : fdopendir(dup(fd));
	struct dirent *entry;
	unsigned n = 0;

	if (!dir) {
		bundle_miss(b, "%s/devices: %s", state_dir, because(fd < 0 ? fd : -errno));
		return;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (++n > RECORDS_MAX) {
			bundle_miss(b, "%s/devices: more than %d files", state_dir, RECORDS_MAX);
			return;
		}
		record_add(b, fd, entry->d_name);
	}
}

/* --- the kernel's log ------------------------------------------------------------------------- */

static bool is_about_rdma(const char *line)
{
	static const char *const words[] = {
		"rdma",	 "roce",     "infiniband", "ib_",      "uverbs",  "rxe",      "mlx",
		"bnxt",	 "irdma",    "iwarp",	   "hns",      "ionic",	  "mana",     "efa",
		"erdma", "qed",	     "siw",	   "ice ",     "i40e",	  "iavf",     "igb",
		"ixgbe", "sr-iov",   "sriov",	   "virtfn",   "vfio",	  "pcieport", "aer:",
		"dpc:",	 "nic link", "link is",	   "watchdog", "rocelet", "bond",     "vf ",
		"team",	 "eth",	     "renamed",	   "oops",     "bug:",
	};

	return any_of(ARRAY_SIZE(words), i, strcasestr(line, words[i]));
}

/* Prints a record if it is about RDMA. Its format is "6,1234,5678901,-;text\n KEY=value\n":
 * dev-kmsg in linux/Documentation/ABI/testing. */
static void put_record(FILE *f, char *record)
{
	char *text = strchr(record, ';'), *at = record;
	unsigned long long us = 0;

	for (int i = 0; i < 2 && at; i++)
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	if (at)
		us = strtoull(at, NULL, 10);
	if (!text)
		return;
	text++;
	text[strcspn(text, "\n")] = '\0';
	if (is_about_rdma(text))
		fprintf(f, "[%5llu.%06llu] %s\n", us / 1000000, us % 1000000, text);
}

/* Prints the records of /dev/kmsg. Skips records that were overwritten meanwhile (EPIPE). */
static void read_kmsg(int fd, FILE *f)
{
	char record[KMSG_RECORD + 1];
	ssize_t n;

	for (;;) {
		n = read(fd, record, KMSG_RECORD);
		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n <= 0)
			return;
		record[n] = '\0';
		put_record(f, record);
	}
}

/* Keeps the newest lines, at most max bytes. */
static char *keep_end(char *text, size_t max)
{
	size_t len = strlen(text);
	const char *line = len > max ? strchr(text + len - max, '\n') : NULL;

	if (line)
		memmove(text, line + 1, strlen(line + 1) + 1);
	return text;
}

void bundle_kernel_log(struct bundle *b)
{
	AUTO_FD fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char *text = NULL;
	size_t len;
	FILE *f;

	if (fd < 0) {
		bundle_miss(b, "/dev/kmsg: %s", strerror(errno));
		return;
	}
	f = open_memstream(&text, &len);
	if (f) {
		read_kmsg(fd, f);
		fclose(f);
	}
	bundle_add_text(b, "kernel.log", text ? keep_end(text, KERNEL_MAX) : NULL);
}

/* --- the host --------------------------------------------------------------------------------- */

struct listing {
	FILE *f;
	const char *class;
};

__attribute__((format(printf, 3, 4))) static void put_attribute(FILE *f, int dir, const char *fmt,
								...)
{
	char path[SYSFS_PATH_MAX], value[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (sysfs_str(dir, value, sizeof(value), "%s", path) > 0)
		fprintf(f, "  %s: %s\n", path, value);
}

static int bundle_on_port(int ports, const char *name, void *arg)
{
	static const char *const files[] = {"state", "phys_state", "link_layer", "rate"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put_attribute(arg, ports, "%s/%s", name, files[i]);
	return 0;
}

static int bundle_on_class_device(int class, const char *name, void *arg)
{
	static const char *const files[] = {
		"fw_ver",  "board_id", "hca_type",	 "node_type", "operstate",
		"carrier", "mtu",      "phys_port_name", "flags",     "device/sriov_totalvfs"};
	struct listing *l = arg;
	char link[SYSFS_PATH_MAX], ports[SYSFS_PATH_MAX];

	fprintf(l->f, "%s %s\n", l->class, name);
	if (sysfs_link(class, link, sizeof(link), "%s/device", name) == 0)
		fprintf(l->f, "  device: %s\n", link);
	if (sysfs_link(class, link, sizeof(link), "%s/device/driver", name) == 0)
		fprintf(l->f, "  driver: %s\n", link);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put_attribute(l->f, class, "%s/%s", name, files[i]);
	snprintf(ports, sizeof(ports), "%s/ports", name);
	sysfs_list(class, ports, bundle_on_port, l->f);
	return 0;
}

static void put_class(struct bundle *b, FILE *f, const char *class)
{
	struct listing l = {f, class};
	AUTO_FD sys = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD dir = sys < 0 ? -errno : sysfs_open_dir(sys, "class/%s", class);

	if (dir < 0)
		bundle_miss(b, "/sys/class/%s: %s", class, strerror(-dir));
	else
		sysfs_list(dir, ".", bundle_on_class_device, &l);
}

static void put_modules(FILE *f, char *text)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (is_about_rdma(line))
			fprintf(f, "module %.*s\n", (int)strcspn(line, " "), line);
}

static void put_release(FILE *f, const char *text)
{
	const char *name = strstr(text, "PRETTY_NAME=");

	if (name)
		fprintf(f, "distribution %.*s\n", (int)strcspn(name + 12, "\n"), name + 12);
}

void bundle_host(struct bundle *b)
{
	AUTO_FD root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *release = NULL, *modules = NULL;
	char *text = NULL;
	struct utsname u;
	size_t size, len;
	FILE *f = open_memstream(&text, &size);
	int r;

	if (f) {
		if (uname(&u) == 0)
			fprintf(f, "kernel %s %s %s %s\n", u.sysname, u.release, u.version,
				u.machine);
		r = read_beneath(root, "usr/lib/os-release", 0, CONFIG_MAX, &release, &len);
		if (release)
			put_release(f, release);
		else
			bundle_miss(b, "/usr/lib/os-release: %s", because(r));
		r = read_beneath(root, "proc/modules", 0, MODULES_MAX, &modules, &len);
		if (modules)
			put_modules(f, modules);
		else
			bundle_miss(b, "/proc/modules: %s", because(r));
		put_class(b, f, "infiniband");
		put_class(b, f, "net");
		fclose(f);
	}
	bundle_add_text(b, "host.txt", text);
}
