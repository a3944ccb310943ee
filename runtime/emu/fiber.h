/* fiber.h - a second stack to run on, switched without a system call. */
#ifndef GGI_EMU_FIBER_H
#define GGI_EMU_FIBER_H

#include <stddef.h>

/* Assembly where we have it; -DGG_EMU_UCONTEXT forces the slow, portable way. */
#if !defined(GG_EMU_UCONTEXT) && defined(__ELF__) && (defined(__x86_64__) || defined(__aarch64__))
#define GGI_EMU_FIBER_ASM 1
#else
#define GGI_EMU_FIBER_ASM 0
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define GGI_EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GGI_EMU_ASAN 1
#endif
#endif
#ifndef GGI_EMU_ASAN
#define GGI_EMU_ASAN 0
#endif

typedef struct ggi_emu_fiber {
#if GGI_EMU_FIBER_ASM
  void *sp;
#else
  ucontext_t context;
#endif
  void (*entry)(void);
#if GGI_EMU_ASAN
  void *fake_stack;
  const void *bottom;
  size_t size;
#endif
} ggi_emu_fiber;

/* The next switch to f calls entry() on this stack; entry never returns, it leaves. The stack may
 * hold frames of an earlier fiber, which are forgotten. */
void ggi_emu_fiber_make(ggi_emu_fiber *f, void *stack, size_t size, void (*entry)(void));
/* Saves this context in `from` and continues `to`. Both belong to the calling host thread. */
void ggi_emu_fiber_switch(ggi_emu_fiber *from, ggi_emu_fiber *to);
/* Continues `to`; `from` is over and may only be made anew. */
void ggi_emu_fiber_leave(ggi_emu_fiber *from, ggi_emu_fiber *to);

#endif
