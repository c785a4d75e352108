/* SPDX-License-Identifier: Apache-2.0 */
/* cni_install.h - installs the plugin into a host's folder of CNI plugins, where a runtime may
 * execute it at any time. */
#pragma once

#include "err.h"

#define CNI_INSTALL_NAME 64

/* Copies rocelet-cni from ../libexec/rocelet, or from the folder of this program, into dir
 * (written, then renamed), and creates a link to it for each name. -EEXIST, without any change, if
 * another plugin has one of these names. */
int cni_install(const char *dir, const char (*links)[CNI_INSTALL_NAME], size_t n, struct err *);
/* Removes the plugin, the links to it, and temporary files of an interrupted cni_install(). -EEXIST
 * if the file of that name is another plugin. */
int cni_uninstall(const char *dir, struct err *);
