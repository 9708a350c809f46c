//! Any text as the cursor of a search.
#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_thread::Cursor;

fuzz_target!(|text: &str| {
    if let Ok(cursor) = text.parse::<Cursor>() {
        assert_eq!(cursor.to_string().parse::<Cursor>().ok(), Some(cursor));
    }
});
