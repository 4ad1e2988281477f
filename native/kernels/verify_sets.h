// The vector versions of the kernels against the scalar references.
#pragma once

// Prints "<name>: N/N PASS", or that this set needs other hardware. Returns 1 when one of its checks fails.
int verify_set(const char * name);
