/* rocectl.c - what people see and order of the daemon. */
#include "ctl.h"
#include "output.h"

int main(int argc, char *argv[])
{
	output_begin();
	return output_end("rocectl", stdout, stderr, (int)ctl_run(argc, argv, stdout, stderr));
}
