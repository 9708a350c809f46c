//! Any bytes as the footer of a sealed segment.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = segue_log_file::fuzzing::footer(bytes);
});
