// SPDX-License-Identifier: Apache-2.0
/* rocectl.c - main() of the command line tool. */
#include "ctl.h"
#include "output.h"

int main(int argc, char *argv[])
{
	output_begin();
	return output_end("rocectl", stdout, stderr, (int)ctl_run(argc, argv, stdout, stderr));
}
