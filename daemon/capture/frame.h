/* frame.h - a captured packet as the decoder takes it, whatever link it was captured on. Pure.
 * Sources: tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html, LINKTYPE_LINUX_SLL2.html. */
#pragma once

#include "capture_file.h"
#include "roce_decode.h"

bool link_is_known(uint32_t link);
/* What the type of a link that is not known here is called (tcpdump.org/linktypes.html), without
 * LINKTYPE_; "" for one that hardly anybody captures. */
const char *link_name(uint32_t link);
/* False: a link of another kind, or not even its header is here. *ret borrows the packet's bytes;
 * *ret_bytes: as many as an Ethernet frame with the same payload has. */
bool frame_of(struct roce_frame *ret, uint32_t *ret_bytes, const struct capture_packet *);
