/* fiber.c - context switches: six or twenty registers and a stack pointer.
 *
 * Invariant: the host thread that made a fiber is the one that runs it, so the pair of a switch can
 * stand in thread-local variables until the other side has arrived.
 */
#include "fiber.h"
#include <stdint.h>
#include <stdlib.h>

#if GGI_EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

static __thread ggi_emu_fiber *coming_from;
static __thread ggi_emu_fiber *going_to;

/* -- Told to the address sanitizer -- */

static void before_switch(ggi_emu_fiber *from, ggi_emu_fiber *to, int for_good) {
  coming_from = from;
  going_to = to;
#if GGI_EMU_ASAN
  __sanitizer_start_switch_fiber(for_good ? NULL : &from->fake_stack, to->bottom, to->size);
#else
  (void)for_good;
#endif
}

static void after_switch(void *fake_stack) {
#if GGI_EMU_ASAN
  /* The bounds of the stack we came from: this is how the host's own become known. */
  __sanitizer_finish_switch_fiber(fake_stack, &coming_from->bottom, &coming_from->size);
#else
  (void)fake_stack;
#endif
}

static void start(void) {
  after_switch(NULL);
  going_to->entry();
  abort(); /* an entry leaves, it does not return */
}

/* -- The switch itself -- */

#if GGI_EMU_FIBER_ASM

void ggi_emu_fiber_swap(void **save, void *load);

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl ggi_emu_fiber_swap\n"
        ".hidden ggi_emu_fiber_swap\n"
        ".type ggi_emu_fiber_swap, @function\n"
        "ggi_emu_fiber_swap:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n"
        ".size ggi_emu_fiber_swap, . - ggi_emu_fiber_swap\n");

static void *first_frame(char *top) {
  uintptr_t *p = (uintptr_t *)(void *)top;
  *--p = 0;                /* where start() would return to */
  *--p = (uintptr_t)start; /* popped by ret, leaving the stack as after a call */
  for (int i = 0; i < 6; i++)
    *--p = 0;
  return p;
}
#else
__asm__(".text\n"
        ".globl ggi_emu_fiber_swap\n"
        ".hidden ggi_emu_fiber_swap\n"
        ".type ggi_emu_fiber_swap, %function\n"
        "ggi_emu_fiber_swap:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n"
        "  stp x21, x22, [sp, #16]\n"
        "  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n"
        "  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n"
        "  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x2, sp\n"
        "  str x2, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n"
        "  ldp x21, x22, [sp, #16]\n"
        "  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n"
        "  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n"
        "  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size ggi_emu_fiber_swap, . - ggi_emu_fiber_swap\n");

static void *first_frame(char *top) {
  uintptr_t *p = (uintptr_t *)(void *)(top - 160);
  for (int i = 0; i < 20; i++)
    p[i] = 0;
  p[11] = (uintptr_t)start; /* x30 */
  return p;
}
#endif

static void prepare(ggi_emu_fiber *f, void *stack, size_t size) {
  uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
  f->sp = first_frame((char *)top);
}

static void change(ggi_emu_fiber *from, ggi_emu_fiber *to) {
  ggi_emu_fiber_swap(&from->sp, to->sp);
}

#else

static void prepare(ggi_emu_fiber *f, void *stack, size_t size) {
  if (getcontext(&f->context) != 0) abort();
  f->context.uc_stack.ss_sp = stack;
  f->context.uc_stack.ss_size = size;
  f->context.uc_link = NULL;
  makecontext(&f->context, start, 0);
}

static void change(ggi_emu_fiber *from, ggi_emu_fiber *to) {
  if (swapcontext(&from->context, &to->context) != 0) abort();
}

#endif

void ggi_emu_fiber_make(ggi_emu_fiber *f, void *stack, size_t size, void (*entry)(void)) {
#if GGI_EMU_ASAN
  __asan_unpoison_memory_region(stack, size);
  f->fake_stack = NULL;
  f->bottom = stack;
  f->size = size;
#endif
  f->entry = entry;
  prepare(f, stack, size);
}

void ggi_emu_fiber_switch(ggi_emu_fiber *from, ggi_emu_fiber *to) {
  before_switch(from, to, 0);
  change(from, to);
#if GGI_EMU_ASAN
  after_switch(from->fake_stack);
#else
  after_switch(NULL);
#endif
}

void ggi_emu_fiber_leave(ggi_emu_fiber *from, ggi_emu_fiber *to) {
  before_switch(from, to, 1);
  change(from, to);
  abort();
}
