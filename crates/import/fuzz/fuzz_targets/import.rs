//! Any bytes as a transcript, in two steps if they are long enough: they come back byte for byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;

use segue_event::{AgentId, SourceKind, Timestamp};
use segue_import::{ImportOptions, import_path, original_bytes};
use segue_log::MemoryLog;
use tempfile::NamedTempFile;

fuzz_target!(|bytes: &[u8]| {
    // The first byte says where the source ended when it was met first.
    let Some((cut, source)) = bytes.split_first() else { return };
    let file = NamedTempFile::new().expect("a temporary file");
    for kind in [SourceKind::ClaudeCode, SourceKind::Pi] {
        let log = MemoryLog::new();
        let agent = AgentId::new("fuzz").expect("a good id");
        let options = ImportOptions { agent, now: Timestamp::default(), kind: Some(kind) };
        let begun = source.len() * usize::from(*cut) / 256;
        for part in [&source[..begun], source] {
            fs::write(file.path(), part).expect("a file that can be written");
            let imported = import_path(&log, file.path(), &options).expect("any bytes can be imported");
            let Some(report) = imported.report() else { continue };
            let mut back = Vec::new();
            original_bytes(&log, report.session, &mut back).expect("what was imported comes back");
            assert_eq!(back, part);
        }
    }
});
