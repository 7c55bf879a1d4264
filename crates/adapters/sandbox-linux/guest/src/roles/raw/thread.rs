//! A second thread, for the prober only: nothing else of this program has one.

use core::arch::asm;

use linux_raw_sys::general as sys;

use super::{Result, allocate, call};

const STACK_BYTES: usize = 64 << 10;

/// Ends the first thread of this process and goes on in a second one.
///
/// # Errors
/// Where there can be none.
pub fn go_on_in_a_thread(go_on: extern "C" fn() -> !) -> Result<()> {
    const FLAGS: u32 =
        sys::CLONE_VM | sys::CLONE_FS | sys::CLONE_FILES | sys::CLONE_SIGHAND | sys::CLONE_THREAD;
    let top = core::ptr::from_mut(allocate::<[u8; STACK_BYTES]>()?) as usize + STACK_BYTES;
    // SAFETY: the new thread starts on a stack of its own, which nothing else refers to, and calls a function that never
    // returns. In the old one only the registers that are named change.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "call r12",
            "ud2",
            "2:",
            inlateout("rax") sys::__NR_clone as usize => _,
            in("rdi") FLAGS as usize,
            in("rsi") top,
            in("rdx") 0_usize,
            in("r10") 0_usize,
            in("r8") 0_usize,
            in("r12") go_on,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    // SAFETY: takes no pointer. Without the group, only this thread ends.
    unsafe { call(sys::__NR_exit, [0; 5]) }.map(drop)
}
