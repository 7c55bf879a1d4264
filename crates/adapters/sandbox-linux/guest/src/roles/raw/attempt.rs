//! Any system call, for whoever wants to see it refused.

use core::arch::asm;

use super::{Result, call, checked};

/// Beside the number of a call of the 32-bit family: it is made by that family's instruction, without arguments.
pub const OLD_FAMILY: u32 = 1 << 31;

/// Makes any system call.
pub fn attempt(number: u32, arguments: [usize; 5]) -> Result<usize> {
    if number & OLD_FAMILY != 0 {
        return attempt_in_the_old_family(number & !OLD_FAMILY);
    }
    // SAFETY: the prober passes small numbers, and addresses only of texts that live as long as the program. What the
    // call does to the process is what is being probed.
    unsafe { call(number, arguments) }
}

fn attempt_in_the_old_family(number: u32) -> Result<usize> {
    let answer: isize;
    // SAFETY: as above; older kernels leave the upper registers as they like.
    unsafe {
        asm!(
            "int 0x80",
            inlateout("rax") number as usize => answer,
            lateout("r8") _,
            lateout("r9") _,
            lateout("r10") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    checked(answer)
}
