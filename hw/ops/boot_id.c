/* boot_id.c - one small file. */
#include "boot_id.h"

#include <string.h>

#include "sysfs.h"

void boot_id_read(const struct hw *hw, char ret[BOOT_ID_SIZE])
{
	char text[BOOT_ID_SIZE];

	ret[0] = '\0';
	if (hw->proc_fd >= 0 && sysfs_str(hw->proc_fd, text, sizeof(text),
					  "sys/kernel/random/boot_id") == BOOT_ID_SIZE - 1)
		memcpy(ret, text, BOOT_ID_SIZE);
}
