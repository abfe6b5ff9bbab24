//! Any text is read or refused; nothing panics, statements lie within the text in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use syntax::{LexOptions, parse_batch, parse_expression, split_batches};

fuzz_target!(|text: &str| {
    for batch in split_batches(text) {
        for quoted_identifier in [true, false] {
            let options = LexOptions { quoted_identifier };
            let _ = parse_expression(batch.text, &options);
            if let Ok(tree) = parse_batch(batch.text, &options) {
                let mut last = 0;
                for statement in &tree.statements {
                    assert!(statement.span.start >= last && statement.span.end > statement.span.start);
                    last = statement.span.end;
                }
            }
        }
    }
});
