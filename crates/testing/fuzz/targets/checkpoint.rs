#![no_main]
#![allow(missing_docs, reason = "a program of one line")]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ambit_fuzz::checkpoint(input));
