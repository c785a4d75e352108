#include "observation.h"

#include <math.h>
#include <string.h>

void port_observation_init(struct port_observation *o)
{
	memset(o, 0, sizeof(*o));
	o->visible = true;
	o->port = 1;
	for (int i = 0; i < N_SERIES; i++)
		o->value[i] = (double)NAN;
}
