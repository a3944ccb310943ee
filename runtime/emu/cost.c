/* cost.c - what one warp instruction costs: wavefronts of shared memory, sectors of global memory.
 *
 * Measured on an H200 with Nsight Compute; tests/emu/test_cost.c has the patterns. Shared memory
 * serves groups of lanes that together ask for 128 bytes: 32 lanes of 4 bytes, 16 of 8, 8 of 16; a
 * group costs the largest number of distinct words asked of one of the 32 banks.
 */
#include "emu.h"
#include <string.h>

enum { BANKS = 32 };

static uint64_t bank_cost(uint32_t lanes, const uint64_t addr[EMU_WARP], unsigned bytes) {
  unsigned words = bytes < 4 ? 1 : bytes / 4;
  uint64_t least = UINT64_MAX, most = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    uint64_t word = addr[__builtin_ctz(m)] >> 2;
    if (word < least) least = word;
    if (word > most) most = word;
  }
  if (most + words - least <= BANKS) return 1; /* a window of 32 words meets each bank once */

  uint64_t seen[BANKS][EMU_WARP];
  unsigned count[BANKS], worst = 0;
  memset(count, 0, sizeof count);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    uint64_t word = addr[__builtin_ctz(m)] >> 2;
    for (unsigned k = 0; k < words; k++, word++) {
      unsigned bank = (unsigned)(word % BANKS), i = 0;
      while (i < count[bank] && seen[bank][i] != word)
        i++;
      if (i < count[bank]) continue;
      seen[bank][count[bank]++] = word;
      if (count[bank] > worst) worst = count[bank];
    }
  }
  return worst;
}

/* Lanes l and l ^ 1, or l and l ^ 2, ask for the same address throughout: then loads of two groups
 * are served as one. */
static int paired(uint32_t lanes, const uint64_t addr[EMU_WARP]) {
  for (uint32_t x = 1; x <= 2; x++) {
    int same = 1;
    for (uint32_t m = lanes; m != 0 && same; m &= m - 1) {
      uint32_t l = (uint32_t)__builtin_ctz(m);
      if ((lanes >> (l ^ x) & 1) != 0 && addr[l] != addr[l ^ x]) same = 0;
    }
    if (same) return 1;
  }
  return 0;
}

static void add_group(emu_cost *c, uint32_t lanes, const uint64_t addr[EMU_WARP], unsigned bytes) {
  if (lanes == 0) return;
  c->cost += bank_cost(lanes, addr, bytes);
  c->ideal++;
}

emu_cost ggi_emu_cost_shared(uint32_t mask, const uint64_t addr[EMU_WARP], unsigned bytes,
                             int load) {
  emu_cost c = {0, 0};
  if (bytes <= 4) {
    add_group(&c, mask, addr, bytes);
    return c;
  }
  /* Two groups that may merge: the halves of the warp, or of each half warp. */
  unsigned pair = bytes == 8 ? 32 : 16;
  for (unsigned first = 0; first < EMU_WARP; first += pair) {
    uint32_t whole = pair == 32 ? ~0u : 0xffffu << first;
    uint32_t half = (pair == 32 ? 0xffffu : 0xffu) << first;
    if (load && paired(mask & whole, addr)) {
      add_group(&c, mask & whole, addr, bytes);
    } else {
      add_group(&c, mask & half, addr, bytes);
      add_group(&c, mask & whole & ~half, addr, bytes);
    }
  }
  return c;
}

/* 1 if value is new in list[0..n). */
static int is_new(const uint64_t *list, unsigned n, uint64_t value) {
  for (unsigned i = 0; i < n; i++)
    if (list[i] == value) return 0;
  return 1;
}

/* 16 bytes (.cg): one wavefront per distinct (global 128-byte line, shared 128-byte line, part);
 * part is the whole where both halves of a global sector land in one shared sector, else the first
 * or the second half. */
static emu_cost copy_16(uint32_t mask, const uint64_t addr[EMU_WARP],
                        const uint64_t source[EMU_WARP]) {
  emu_cost c = {0, (uint64_t)(__builtin_popcount(mask) + 7) / 8};
  uint64_t from[EMU_WARP], to[EMU_WARP];
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(m);
    uint64_t part = 0;
    for (uint32_t n = source[l] != 0 ? mask & ~(1u << l) : 0; n != 0; n &= n - 1) {
      uint32_t o = (uint32_t)__builtin_ctz(n);
      if (source[o] == (source[l] ^ 16) && addr[o] >> 5 != addr[l] >> 5)
        part = (source[l] & 16) != 0 ? 2 : 1;
    }
    uint64_t f = source[l] != 0 ? source[l] >> 7 : UINT64_MAX, t = (addr[l] >> 7) * 4 + part;
    unsigned i = 0;
    while (i < c.cost && (from[i] != f || to[i] != t))
      i++;
    if (i < c.cost) continue;
    from[c.cost] = f;
    to[c.cost++] = t;
  }
  return c;
}

/* 4 and 8 bytes (.ca): bank cost, and one more for each further global line. 8 was not measured. */
static emu_cost copy_small(uint32_t mask, const uint64_t addr[EMU_WARP],
                           const uint64_t source[EMU_WARP], unsigned bytes) {
  emu_cost c = {0, 0};
  unsigned group = bytes == 4 ? 32 : 16;
  for (unsigned first = 0; first < EMU_WARP; first += group) {
    uint32_t lanes = mask & (group == 32 ? ~0u : 0xffffu << first);
    uint64_t lines[EMU_WARP];
    unsigned n = 0;
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      uint64_t s = source[__builtin_ctz(m)];
      if (s != 0 && is_new(lines, n, s >> 7)) lines[n++] = s >> 7;
    }
    add_group(&c, lanes, addr, bytes);
    if (n > 1) c.cost += n - 1;
  }
  return c;
}

emu_cost ggi_emu_cost_copy(uint32_t mask, const uint64_t addr[EMU_WARP],
                           const uint64_t source[EMU_WARP], unsigned bytes) {
  return bytes == 16 ? copy_16(mask, addr, source) : copy_small(mask, addr, source, bytes);
}

/* Ideal: as if the distinct words asked for stood side by side. */
emu_cost ggi_emu_cost_global(uint32_t mask, const uint64_t addr[EMU_WARP],
                             const uint8_t bytes[EMU_WARP]) {
  uint64_t sector[EMU_WARP * 2], highest = 0;
  uint32_t used[EMU_WARP * 2]; /* bytes of the sector */
  unsigned n = 0, last = 0, distinct = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(m);
    uint64_t at = addr[l], end = at + bytes[l];
    while (at < end) {
      uint64_t s = at >> 5, stop = (s + 1) << 5 < end ? (s + 1) << 5 : end;
      uint32_t span = stop - at == 32 ? ~0u : ((1u << (stop - at)) - 1) << (at & 31);
      if (n == 0 || s > highest) {
        last = n;
        sector[n] = s;
        used[n++] = 0;
        highest = s;
      } else if (sector[last] != s) {
        for (last = 0; last < n && sector[last] != s; last++) {
        }
        if (last == n) {
          sector[n] = s;
          used[n++] = 0;
        }
      }
      used[last] |= span;
      at = stop;
    }
  }
  for (unsigned i = 0; i < n; i++)
    distinct += (unsigned)__builtin_popcount(used[i]);
  return (emu_cost){n, (distinct + 31) / 32};
}
