// The published cuckoo filter, asked by a hash that the caller has made. Compiled where CUCKOOFILTER names its checkout, see build.rs.

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cuckoofilter.h"

namespace {
struct Given {
    uint64_t operator()(uint64_t hash) const { return hash; }
};
}

typedef cuckoofilter::CuckooFilter<uint64_t, 12, cuckoofilter::SingleTable, Given> Filter;

extern "C" void *published_new(size_t names) { return new Filter(names); }
extern "C" void published_free(void *filter) { delete static_cast<Filter *>(filter); }
extern "C" bool published_add(void *filter, uint64_t hash) { return static_cast<Filter *>(filter)->Add(hash) == cuckoofilter::Ok; }
extern "C" bool published_has(const void *filter, uint64_t hash) {
    return static_cast<const Filter *>(filter)->Contain(hash) == cuckoofilter::Ok;
}
