// Forced into the runtime's grammar source, which writes its complaints straight to stderr. They go where its other
// complaints go: into the error of the call.
#pragma once

#include "llama-impl.h"

#include <cstdio>

#define fprintf(stream, ...)                                                                                           \
    ((stream) == stderr ? (void)LLAMA_LOG_ERROR(__VA_ARGS__) : (void)(fprintf)((stream), __VA_ARGS__))
