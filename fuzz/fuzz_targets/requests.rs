//! A batch, a call or a transaction request is read or refused; what must hold is in `checks.rs`.
#![no_main]

#[allow(dead_code)] // The checks of the other targets.
#[path = "../../crates/tds/examples/fuzz_tds/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checks::requests(data);
});
