#include "eliza/inference.h"

extern "C" const char * eliza_inference_abi_version(void) {
    return ELIZA_INFERENCE_ABI_VERSION_STRING;
}
