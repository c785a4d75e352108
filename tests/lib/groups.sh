#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# groups.sh - prints a line "PROGRAM GROUP" for every group of the unit tests.
#
#   groups.sh FOLDER [COMMAND..]    FOLDER: has the programs, such as build/tests; COMMAND: starts a program, such as an emulator
folder=$1
shift
for source in "$(dirname "$0")"/../unit/*/; do
	program=$(basename "$source")
	"$@" "$folder/$program" --list | sed "s/^/$program /"
done
