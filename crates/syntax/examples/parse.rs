//! Prints the tree of a script, or its first mistake: `cargo run -p syntax --example parse -- FILE`.

use syntax::{LexOptions, parse_batch, split_batches};

fn main() {
    let path = std::env::args().nth(1).expect("a file name");
    let script = std::fs::read_to_string(path).expect("a text file");
    for batch in split_batches(&script) {
        match parse_batch(batch.text, &LexOptions::default()) {
            Ok(tree) => println!("{tree:#?}"),
            Err(errors) => {
                for error in errors {
                    println!("(batch at line {}) {error}", batch.line);
                }
            }
        }
    }
}
