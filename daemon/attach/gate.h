/* gate.h - containers that wait for their devices. */
#pragma once

#include "engine_state.h"

/* While any does, everybody who may know more is asked, now and then. */
void gates_ask(struct attach_engine *);
