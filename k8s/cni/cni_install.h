/* SPDX-License-Identifier: Apache-2.0 */
/* cni_install.h - installs rocelet-cni into a host's folder of CNI plugins, where a runtime may
 * execute it at any time. */
#pragma once

#include <stdbool.h>

#include "err.h"

#define CNI_INSTALL_NAME 64

/* Copies rocelet-cni from ../libexec/rocelet, or from the folder of this program, into dir (under a
 * temporary name, which is then renamed), and creates a link to it for each name. -EEXIST, without
 * any change, if another plugin has one of these names; with sets_aside that plugin is renamed to
 * NAME.before-rocelet, and -EEXIST only means that this name is not free either. */
int cni_install(const char *dir, const char (*links)[CNI_INSTALL_NAME], size_t n, bool sets_aside,
		struct err *);
/* Removes the plugin, the links to it, and temporary files of an interrupted cni_install(), and
 * gives plugins that it has renamed their names back. -EEXIST if the file of the plugin's name is
 * another one. */
int cni_uninstall(const char *dir, struct err *);
