#include "eliza/inference.h"

#define ELIZA_TEXT_OF(number) #number
#define ELIZA_EXPANDED_TEXT_OF(number) ELIZA_TEXT_OF(number)

extern "C" const char * eliza_inference_abi_version(void) {
    return ELIZA_EXPANDED_TEXT_OF(ELIZA_INFERENCE_ABI_VERSION);
}
