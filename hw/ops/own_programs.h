/* own_programs.h - which BPF programs on netdevs are this process's own, by the kernel's number for
 * them. For those who attach them and those who look at what is attached; from any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Before it is attached. Returns its number; 0: the kernel does not say, it is not remembered. */
uint32_t own_program_add(int program_fd);
/* After it was detached; 0: nothing. */
void own_program_remove(uint32_t id);
bool own_program_is(uint32_t id);
