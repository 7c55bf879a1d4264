//! The freestanding program around the roles: entry, panic and the functions that the compiler calls by name.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "a program without libc has its own entry point and memory functions")]

use core::arch::{asm, naked_asm};
use core::ffi::{CStr, c_char};
use core::panic::PanicInfo;

use ambit_sandbox_guest::{first, keeper, prober, raw, rootless, spawner};

/// Where the kernel starts the program: the stack pointer is at the number of arguments.
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    naked_asm!("mov rdi, rsp", "and rsp, -16", "call {enter}", "ud2", enter = sym enter)
}

/// # Safety
/// `stack` is what the kernel passed: the number of arguments, then that many pointers to texts.
unsafe extern "C" fn enter(stack: *const usize) -> ! {
    // SAFETY: the first word is the number, and the pointers follow it.
    let arguments = unsafe { core::slice::from_raw_parts(stack.add(1).cast::<*const c_char>(), *stack) };
    let argument = |index: usize| {
        // SAFETY: each pointer is to a text with a NUL, which lives as long as the program.
        arguments.get(index).map(|text| unsafe { CStr::from_ptr::<'static>(*text) })
    };
    let role = argument(1).unwrap_or(c"").to_bytes();
    raw::exit(match role {
        b"spawner" => raw::go_on_in_a_small_place(spawn),
        b"keeper" => keeper::run(argument),
        b"rootless" => rootless::run(argument),
        b"first" => first::run(argument),
        _ => prober::run(argument),
    })
}

extern "C" fn spawn() -> ! {
    raw::exit(u8::from(spawner::run(raw::standard_stream(0)).is_err()))
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    raw::exit(101)
}

#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    // SAFETY: the caller vouches for both regions.
    unsafe {
        asm!("rep movsb", inout("rcx") len => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    to
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    if (to as usize).wrapping_sub(from as usize) >= len {
        // SAFETY: copying upwards never overwrites what is still to be read.
        return unsafe { memcpy(to, from, len) };
    }
    // SAFETY: the caller vouches for both regions; copying downwards from their last bytes.
    unsafe {
        asm!("std", "rep movsb", "cld", inout("rcx") len => _,
            inout("rdi") to.wrapping_add(len).wrapping_sub(1) => _,
            inout("rsi") from.wrapping_add(len).wrapping_sub(1) => _, options(nostack));
    }
    to
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, len: usize) -> *mut u8 {
    // SAFETY: the caller vouches for the region.
    unsafe {
        asm!("rep stosb", inout("rcx") len => _, inout("rdi") to => _, in("al") byte as u8,
            options(nostack, preserves_flags));
    }
    to
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, len: usize) -> i32 {
    let mut index = 0;
    while index < len {
        // SAFETY: the caller vouches for both regions. A volatile read keeps this loop from becoming a call of itself.
        let (left, right) = unsafe { (left.add(index).read_volatile(), right.add(index).read_volatile()) };
        if left != right {
            return i32::from(left) - i32::from(right);
        }
        index += 1;
    }
    0
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, len: usize) -> i32 {
    // SAFETY: the caller vouches for both regions.
    unsafe { memcmp(left, right, len) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut len = 0;
    // SAFETY: the caller vouches that the text ends with a NUL.
    while unsafe { text.add(len).read_volatile() } != 0 {
        len += 1;
    }
    len
}
