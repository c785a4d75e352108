/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_doc.h - docs/reference/diagnosis.md from the tables of daemon/diagnosis. */
#pragma once

#include <stdio.h>

void diagnosis_doc(FILE *);
