//! What must hold for any bytes at all.
//!
//! No panic; what is read and written again is read as the same; no part is longer than the whole that it is of.

#[path = "../../../crates/server/src/validity.rs"]
mod validity;

use backup::{Media, Part};
use bulk_file::{Csv, Field, Row, Rows, Step, Storage, Window, read_format};
use device::{FileSystem, OpenOptions, SimFs};
use std::path::Path;
use std::sync::Arc;
use storage::PageOp;
use telemetry::WaitType;
use transaction::Envelope;
use xml::{Encoding, NodeRef, Options, Query};

/// True when the bytes were read without an error.
pub type Check = fn(&[u8]) -> bool;

/// The checks by name.
pub const CHECKS: &[(&str, Check)] = &[
    ("xml", xml_document),
    ("xquery", xquery),
    ("json", json_text),
    ("bulk", bulk),
    ("format", format_file),
    ("backup", backup_file),
    ("log", log_record),
    ("certificate", certificate),
];

/// Where a file of a check lies.
const PLACE: &str = "/f/x";

/// A file in memory with these bytes.
pub fn file(bytes: &[u8]) -> Arc<dyn FileSystem> {
    let fs: Arc<dyn FileSystem> = SimFs::new(1);
    fs.create_dir_all(Path::new("/f")).expect("a folder");
    let file = fs.open(Path::new(PLACE), OpenOptions::create()).expect("a file");
    if !bytes.is_empty() {
        file.write_all_at(0, bytes, false, WaitType::IoCompletion).expect("written");
    }
    fs
}

/// What is parsed is written, and parsed again written the same.
fn xml_document(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let options = Options { preserve: data.len().is_multiple_of(2), encoding: Encoding::Known };
    let Ok(document) = xml::parse(&text, options) else { return false };
    let written = document.write(0);
    let kept = Options { preserve: true, encoding: Encoding::Known };
    let again = match xml::parse(&written, kept) {
        Ok(again) => again,
        Err(error) => panic!("{written:?} is not read again: {}", error.text()),
    };
    assert_eq!(again.write(0), written);
    true
}

/// A query over a small document; what it makes is written.
fn xquery(data: &[u8]) -> bool {
    const DOCUMENT: &str = "<r a=\"1\"><b>2</b><b c=\"x\">3<d/>four</b><!--e--><?f g?></r>";
    let text = String::from_utf8_lossy(data);
    let Ok(query) = Query::compile(&text, &[]) else { return false };
    // Loops within each other take as long as the language makes them.
    if text.matches(" in ").count() > 3 || text.contains(" to ") {
        return true;
    }
    let options = Options { preserve: false, encoding: Encoding::Known };
    let document = xml::parse(DOCUMENT, options).expect("a document");
    let root = NodeRef::root(Arc::new(document));
    let externals = vec![None; query.externals().len()];
    query.document(&root, &externals).map(|made| made.write(0)).is_ok()
}

/// A text and a path, parted by the first zero byte.
fn json_text(data: &[u8]) -> bool {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let path = String::from_utf8_lossy(parts.next().unwrap_or(b"$")).into_owned();
    let checked = json::check(&text);
    let Ok(path) = json::Path::parse(&path, data.len().is_multiple_of(2)) else { return false };
    if let Ok(Some(node)) = json::find(&text, &path) {
        assert!(node.raw().len() <= text.len());
        for (_, member) in node.members().unwrap_or_default() {
            assert!(member.raw().len() <= node.raw().len());
            member.scalar();
        }
    }
    if let (Ok(_), Ok(changed)) = (&checked, json::modify(&text, &path, Some("1"))) {
        assert!(json::check(&changed).is_ok(), "{text:?} became {changed:?}");
    }
    checked.is_ok()
}

/// The first byte says what the fields are like.
fn bulk(data: &[u8]) -> bool {
    let Some((kind, rest)) = data.split_first() else { return false };
    let field = |terminator: &[u8], prefix: u8, storage: Storage| Field {
        storage,
        prefix,
        length: 0,
        is_line: terminator == b"\n",
        terminator: terminator.to_vec(),
        max: 8_000,
    };
    let csv = kind & 1 != 0;
    let fields = match kind & 6 {
        _ if csv => vec![field(b",", 0, Storage::Char), field(b"\n", 0, Storage::Char)],
        0 => vec![field(b"\t", 0, Storage::Char), field(b"\r\n", 0, Storage::Char)],
        2 => vec![field(b"", 2, Storage::Char), field(b"", 8, Storage::Char)],
        _ => vec![field(b"", 1, Storage::Char), field(b"|", 0, Storage::Char)],
    };
    let csv = csv.then(|| Csv { quote: b"\"".to_vec(), escape: None, unit: 1 });
    let fs = file(rest);
    let opened = fs.open(Path::new(PLACE), OpenOptions::existing()).expect("a file");
    let mut rows = Rows::new(Window::new(opened).expect("a window"), fields, csv);
    let mut row = Row::default();
    loop {
        match rows.next(&mut row) {
            Ok(Step::Row) => {
                for i in 0..2 {
                    assert!(row.field(i).is_none_or(|field| field.len() <= rest.len()));
                }
                assert!(rows.number() <= rest.len() as u64, "rows without bytes");
            }
            Ok(Step::End) => return true,
            Err(_) => return false,
        }
    }
}

fn format_file(data: &[u8]) -> bool {
    match read_format(&String::from_utf8_lossy(data), 8_000) {
        Ok(fields) => {
            assert!(fields.len() <= data.len());
            true
        }
        Err(_) => false,
    }
}

/// Every set that is named is read to its end.
fn backup_file(data: &[u8]) -> bool {
    let fs = file(data);
    let Ok(media) = Media::open(&*fs, Path::new(PLACE)) else { return false };
    let Ok(sets) = media.sets() else { return false };
    let mut whole = !sets.is_empty();
    for set in sets {
        // One that was cut short ends where its next block would have been.
        assert!(set.end.is_none() || set.offset + set.bytes <= data.len() as u64);
        let Ok(mut reader) = media.set(set.position) else {
            whole = false;
            continue;
        };
        loop {
            match reader.next_part() {
                Ok(None) => break,
                Ok(Some(Part::Pages { bytes, .. })) => {
                    assert_eq!(bytes.len() % backup::PAGE_BYTES, 0);
                }
                Ok(Some(_)) => {}
                Err(_) => {
                    whole = false;
                    break;
                }
            }
        }
    }
    whole
}

/// A record's envelope, and its body as a change of a page.
fn log_record(data: &[u8]) -> bool {
    let Some(envelope) = Envelope::decode(data) else { return false };
    assert!(envelope.body.len() <= data.len());
    envelope.tree();
    match PageOp::decode(envelope.body) {
        // As it is written it says the same, whatever padding came behind it.
        Some(op) => {
            assert!(op.encoded_len() <= envelope.body.len() + 64, "{op:?}");
            true
        }
        None => false,
    }
}

fn certificate(data: &[u8]) -> bool {
    validity::Validity::of(data).is_some_and(|validity| validity.from_s <= validity.until_s)
}
