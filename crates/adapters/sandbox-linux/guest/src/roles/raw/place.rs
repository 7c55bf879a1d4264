//! Everything of a process within two mebibytes.
//!
//! The kernel keeps a page of tables for each two mebibytes in which a process has anything, and more above those that lie
//! far from each other. A program with its stack and its buffers in the usual places takes eight such pages, and a slot that
//! waits has two processes. So a process from which all of a slot descend moves its stack beside the program, and gives
//! back what the kernel put elsewhere: the first stack, and the calls that need no kernel, which nothing here uses.

use core::arch::asm;
use core::sync::atomic::{AtomicUsize, Ordering};

use linux_raw_sys::general as sys;

use super::call;

/// Behind the program, which begins at the start of these two mebibytes.
const BUFFERS: usize = 0x24_0000;
/// A page between them and the stack stays empty.
const STACK: usize = 0x28_1000;
const TOP: usize = 0x40_0000;
/// Where the addresses of a process end.
const END: usize = 0x7fff_ffff_f000;
const PAGE: usize = 4096;

static NEXT: AtomicUsize = AtomicUsize::new(BUFFERS);

/// A place for so many bytes that is likely free; 0 for any.
pub(super) fn near(len: usize) -> usize {
    let len = len.next_multiple_of(PAGE);
    let fits = |at: usize| at.checked_add(len).filter(|end| *end < STACK);
    NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).unwrap_or(0)
}

/// Goes on in another function on a stack beside the program, where there is room for one; otherwise where it is.
pub fn go_on_in_a_small_place(go_on: extern "C" fn() -> !) -> ! {
    let protection = (sys::PROT_READ | sys::PROT_WRITE) as usize;
    let flags = (sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_FIXED_NOREPLACE) as usize;
    // SAFETY: a mapping where nothing else is.
    let stack = unsafe { call(sys::__NR_mmap, [STACK, TOP - STACK, protection, flags, usize::MAX]) };
    if stack != Ok(STACK) {
        go_on();
    }
    // SAFETY: the new stack is nobody's, and nothing on the old one is used once it is left: neither this function nor the
    // one that is called returns. What is unmapped is all that lies behind the new stack.
    unsafe {
        asm!(
            "mov rsp, {top}",
            "syscall",
            "call r12",
            "ud2",
            top = in(reg) TOP,
            in("r12") go_on,
            in("rax") sys::__NR_munmap as usize,
            in("rdi") TOP,
            in("rsi") END - TOP,
            options(noreturn),
        );
    }
}
