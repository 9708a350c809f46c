//! Any bytes as a frame of a segment, and what is in it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((events, _)) = segue_log_file::fuzzing::frame(bytes) {
        for event in events {
            let _ = event.decode();
        }
    }
});
