/* rocectl.c - what people see and order of the daemon. */
#include "ctl.h"

int main(int argc, char *argv[])
{
	return (int)ctl_run(argc, argv, stdout, stderr);
}
