/* setup.h - what the fuzz targets share: the entry points, and an app with its tables set up. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/service.h"

extern struct service service;
extern struct arena forever; /* lives as long as the process */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
