//! Several importers of one source at once.

use std::thread;

use segue_import::{Imported, import_path};

use crate::desk::{Desk, claude_said};

#[test]
fn each_line_is_written_by_one_importer() {
    for round in 0..5 {
        let desk = Desk::new();
        let text: String = (0..3_000).map(|number| claude_said(&format!("m{number}"), "again")).collect();
        let path = desk.write("source.jsonl", text.as_bytes());
        let reports: Vec<_> = thread::scope(|scope| {
            let import = || import_path(&desk.log, &path, &desk.options).unwrap();
            let importers: Vec<_> = (0..3).map(|_| scope.spawn(import)).collect();
            importers.into_iter().map(|importer| importer.join().unwrap()).collect()
        });
        let reports: Vec<_> = reports.iter().filter_map(Imported::report).collect();
        let session = reports[0].session;
        assert_eq!(desk.exported(session), text.as_bytes(), "round {round}");
        let written: u64 = reports.iter().map(|report| report.events).sum();
        assert_eq!(written, desk.events(session).len() as u64);
        desk.assert_sound();
    }
}
