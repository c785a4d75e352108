/* netns_sysctl.c - settings of one netdev in /proc/sys/net.
 *
 * The folder shows the namespace of the task that opens a file in it. Can fail by: a setting or
 * netdev that is not there (-ENOENT); /proc/sys read-only, as container runtimes mount it for all
 * but privileged containers (-EROFS). */
#include <fcntl.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "netns_ops.h"

struct sysctl_job {
	const char *ifname;
	const struct sysctl_setting *settings;
	size_t n;
	struct err *e;
};

static bool is_path_part(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static int write_value(const char *path, const char *value)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, value, strlen(value));

	return n < 0 ? -errno : n == (ssize_t)strlen(value) ? 0 : -EIO;
}

static int write_setting(const char *ifname, const struct sysctl_setting *s, struct err *e)
{
	const char *ip = s->family == AF_INET6 ? "ipv6" : "ipv4";
	char path[128];
	int r;

	if (!is_path_part(s->key) || strlen(s->key) > 64)
		return err_set(e, -EINVAL, "\"%s\" is no setting's name", s->key);
	snprintf(path, sizeof(path), "/proc/sys/net/%s/conf/%.15s/%.64s", ip, ifname, s->key);
	r = write_value(path, s->value);
	if (r == -EROFS)
		return err_set(e, r, "net.%s.conf.%s.%s: /proc/sys is mounted read-only here", ip,
			       ifname, s->key);
	return r < 0 ? err_set(e, r, "net.%s.conf.%s.%s = %s: %s", ip, ifname, s->key, s->value,
			       strerror(-r))
		     : 0;
}

static int write_settings(void *arg)
{
	const struct sysctl_job *job = arg;
	int r = 0;

	for (size_t i = 0; i < job->n && r == 0; i++)
		r = write_setting(job->ifname, &job->settings[i], job->e);
	return r;
}

int netns_sysctl(int netns_fd, const char *ifname, const struct sysctl_setting *settings, size_t n,
		 struct err *e)
{
	struct err inner = {0};
	struct sysctl_job job = {ifname, settings, n, &inner};
	int r;

	if (!is_path_part(ifname) || strlen(ifname) >= IFNAMSIZ)
		return err_set(e, -EINVAL, "\"%s\" is no netdev's name", ifname);
	r = netns_run(netns_fd, write_settings, &job);
	return r < 0 ? err_set(e, r, "%s", inner.code ? inner.msg : strerror(-r)) : 0;
}
