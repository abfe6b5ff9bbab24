//! Prints what a comparison and a sort key cost under collations of several kinds.

use std::hint::black_box;
use std::time::Instant;
use types::Collation;
use types::collation::compare_by;

const WORDS: [&str; 5] =
    ["Straßenbahn", "Strassenbahnen", "łódź i woda", "plain ascii text", "Ölförderung"];
const ROUNDS: u32 = 200_000;

fn main() {
    for name in [
        "SQL_Latin1_General_CP1_CI_AS",
        "Latin1_General_CS_AS",
        "Polish_CI_AS",
        "Polish_CS_AS",
        "Japanese_CI_AS_KS_WS",
    ] {
        let Some(collation) = Collation::of_name(name) else { continue };
        let rule = collation.rule();
        let start = Instant::now();
        for _ in 0..ROUNDS {
            for (a, b) in WORDS.iter().zip(WORDS.iter().cycle().skip(1)) {
                black_box(compare_by(rule, black_box(a), black_box(b)));
            }
        }
        let compared = start.elapsed() / (ROUNDS * WORDS.len() as u32);
        let start = Instant::now();
        let mut key = Vec::new();
        for _ in 0..ROUNDS {
            for word in WORDS {
                key.clear();
                rule.sort_key_into(black_box(word), &mut key);
            }
        }
        let keyed = start.elapsed() / (ROUNDS * WORDS.len() as u32);
        println!("{name}: {compared:?} a comparison, {keyed:?} a key");
    }
}
