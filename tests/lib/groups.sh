#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# groups.sh - prints every group of the unit tests, a line "PROGRAM GROUP" each.
#
#   groups.sh FOLDER [COMMAND..]    FOLDER: of the programs, as build/tests; COMMAND: what starts one, as an emulator
folder=$1
shift
for source in "$(dirname "$0")"/../unit/*/; do
	program=$(basename "$source")
	"$@" "$folder/$program" --list | sed "s/^/$program /"
done
