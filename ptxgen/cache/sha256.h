/* SHA-256 (FIPS 180-4), which names what the cache holds: nobody knows two texts of one sum. */
#ifndef PTXGEN_CACHE_SHA256_H
#define PTXGEN_CACHE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    unsigned char block[64];
} Sha256;

void sha256_init(Sha256 *h);
void sha256_put(Sha256 *h, const void *data, size_t n); /* data may be NULL where n is 0 */
void sha256_end(Sha256 *h, unsigned char sum[SHA256_BYTES]);

#endif
