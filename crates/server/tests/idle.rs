//! What idle connections cost. A measurement, run by hand:
//!
//! ```text
//! cargo test --release -p server --test idle -- --ignored --nocapture
//! ```

mod support;

use server::Limits;
use support::{Client, encrypted, login, serve, shake_hands};
use tds::prelogin::Encryption;
use types::Value;

const CONNECTIONS: usize = 5_000;

/// Of this process, in bytes: (server and clients live in it, so the clients' part is measured apart).
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: usize = text.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number");
    pages * 4096
}

#[test]
#[ignore = "a measurement"]
fn five_thousand_idle_sessions() {
    runtime::threads::raise_descriptor_limit();
    let served = serve(Limits::default());
    drop(served.client());
    let before = resident();
    // Only the sockets are kept of the clients.
    let mut plain: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = served.client();
            assert_eq!(client.query("SELECT 1").rows, [[Value::Int(1)]]);
            client.stream
        })
        .collect();
    let each = (resident() - before) / CONNECTIONS;
    println!("in the clear: {each} bytes each, {} MB in all", resident() >> 20);
    plain.clear();
    support::eventually("all are gone", || served.server.connections() == 0);

    let before = resident();
    let mut through_tls: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = Client::new(served.raw());
            client.prelogin(Encryption::On);
            let mut tls = served.tls(false);
            shake_hands(&mut client, &mut tls);
            let mut client = encrypted(client, tls);
            assert!(client.log_in(&login()).is_login());
            client.query("SELECT 1");
            client.stream.into_parts().1
        })
        .collect();
    println!(
        "through TLS: {} bytes each above what was there, {} MB in all",
        resident().saturating_sub(before) / CONNECTIONS,
        resident() >> 20
    );
    through_tls.clear();
    support::eventually("all are gone", || served.server.connections() == 0);
}
