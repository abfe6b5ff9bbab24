//! Good inputs of each target.

use crate::checks::file;
use backup::{LOG_PAYLOAD_BYTES, PAGE_BYTES, SetEnd, SetHeader, SetKind, Writer};
use buffer_pool::PageId;
use device::{FileSystem, OpenOptions};
use mvcc::Stamp;
use std::path::Path;
use std::sync::Arc;
use storage::{LogRow, OpHeader, PageOp, TreeId};
use telemetry::WaitType;

/// Good inputs of a target.
pub fn of(name: &str) -> Vec<Vec<u8>> {
    let texts = |all: &[&str]| all.iter().map(|text| text.as_bytes().to_vec()).collect();
    match name {
        "xml" => texts(&[
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><a xmlns:p=\"u\" p:b=\"&lt;&#x41;\"><p:c/>d &amp; <![CDATA[e]]></a>",
            "<a xml:space=\"preserve\"> <b>x</b> <!-- c --> <?d e?> </a><f/>text",
            "<!DOCTYPE r [<!ENTITY e \"f\">]><r/>",
        ]),
        "xquery" => texts(&[
            "for $b in /r/b let $c := $b/@c where $b/text() = \"3\" order by $b descending return <o p=\"{$c}\">{$b/d}</o>",
            "count(//b[position() < last()]) + sum(/r/b) * 2 div 3 idiv 1 mod 7",
            "declare namespace n = \"u\"; if (exists(/n:r)) then (1, 2.5, \"x\") else /r/b[1]/text()",
            "some $x in (1, 2) satisfies $x cast as xs:int? = 2 and not(contains(string(/r), \"z\"))",
        ]),
        "json" => texts(&[
            "{\"a\":[1,-2.5e3,\"\\u00e9\\n\",true,null,{\"b\":{}}]}\0$.a[5].b",
            "[[[1],{\"x y\":\"z\"}],2]\0lax $[0][1].\"x y\"",
            "{\"a\":1,\"a\":2}\0append strict $.a",
        ]),
        "bulk" => texts(&[
            "\u{0}1\tann\r\n2\tben\r\n",
            "\u{1}1,\"a \"\"b\"\", c\"\n2,\n",
            "\u{2}\u{1}\0a\u{2}\0\0\0\0\0\0\0bc",
            "\u{4}\u{2}xy|",
        ]),
        "format" => texts(&[
            "14.0\n2\n1  SQLCHAR  0  12  \"\\t\"  1  id  \"\"\n2  SQLCHAR  0  100  \"\\r\\n\"  2  name  Latin1_General_CI_AS\n",
            "9.0\n1\n1 SQLNCHAR 2 40 \"\" 1 a Latin1_General_CI_AS\n",
        ]),
        "backup" => vec![backup_file(false), backup_file(true)],
        "log" => records(),
        _ => vec![certificate()],
    }
}

fn backup_file(compressed: bool) -> Vec<u8> {
    let fs: Arc<dyn FileSystem> = file(&[]);
    let place = Path::new("/f/b");
    let mut writer = Writer::create(&fs, place, true).expect("a backup");
    let header = SetHeader { compressed, ..SetHeader::new(SetKind::Database, "d") };
    writer.begin(&header).expect("begun");
    for id in [3, 4, 9] {
        writer.page(id, &[id as u8; PAGE_BYTES]).expect("a page");
    }
    writer.log_block(7, 1, &[7; LOG_PAYLOAD_BYTES]).expect("a block");
    let end = SetEnd {
        last_lsn: 9,
        finished_us: 1,
        pages: 0,
        blocks: 0,
        raw_bytes: 0,
        files: Vec::new(),
        boot: String::new(),
    };
    writer.end(end).expect("ended");
    let file = fs.open(place, OpenOptions::read_only()).expect("the file");
    let mut bytes = vec![0; file.len().expect("its length") as usize];
    file.read_exact_at(0, &mut bytes, WaitType::IoCompletion).expect("read");
    bytes
}

/// Records whose bodies are changes of pages, in the envelope of a transaction and in that of the system.
fn records() -> Vec<Vec<u8>> {
    let (tree, page) = (TreeId(PageId(9)), PageId(5));
    let ops = [
        PageOp::Insert { tree, page, key: b"key", row: LogRow::whole(b"a row") },
        PageOp::Ghost { tree, page, key: b"key", old_stamp: Stamp(7), row: &[] },
    ];
    let mut all = Vec::new();
    for op in &ops {
        let mut header = OpHeader::new();
        let body: Vec<u8> = op.encode(&mut header).concat();
        for kind in 0..=16u8 {
            let mut record = vec![kind, 1, 0, 0, 0, 0, 0, 0];
            record.extend([1; 16]);
            record.extend(&body);
            all.push(record);
        }
    }
    all
}

/// As much of a certificate as says from when until when.
fn certificate() -> Vec<u8> {
    let element = |tag: u8, contents: &[u8]| {
        let mut bytes = vec![tag, contents.len() as u8];
        bytes.extend(contents);
        bytes
    };
    let times = [element(0x17, b"200101000000Z"), element(0x18, b"20500101000000Z")].concat();
    let body = [
        element(0xA0, &element(2, &[2])),
        element(2, &[5]),
        element(0x30, &[]),
        element(0x30, &[]),
        element(0x30, &times),
    ]
    .concat();
    element(0x30, &element(0x30, &body))
}
