/* SPDX-License-Identifier: Apache-2.0 */
/* own_programs.h - registry of this process's own BPF programs on netdevs, by kernel program id, so
 * that checks of attached programs can recognize them. Thread-safe. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Registers a program; call it before attaching. Returns the program's id, 0 if the kernel does not
 * report one: then the program is not registered. */
uint32_t own_program_add(int program_fd);
/* Removes a program from the registry; call it after detaching. id 0 does nothing. */
void own_program_remove(uint32_t id);
bool own_program_is(uint32_t id);
