//! The nodes of a port, changed while it serves. A program of its own: nodes are the process's.

mod support;

use server::Limits;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::{Client, serve_with};

const SET: &str = "ALTER SERVER CONFIGURATION SET";

/// The node that serves this connection, once it has become idle.
fn node(client: &mut Client<TcpStream>) -> i64 {
    let query = "SELECT node_affinity FROM sys.dm_exec_connections WHERE session_id = @@SPID";
    client.query(query).rows[0][0].as_i64().expect("a node")
}

fn comes_to(client: &mut Client<TcpStream>, wanted: i64) {
    let until = Instant::now() + Duration::from_secs(20);
    while node(client) != wanted {
        assert!(Instant::now() < until, "it stays on node {}", node(client));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_statement_says_which_nodes_serve_a_port() {
    let cpus = runtime::threads::process_affinity();
    let each = cpus.iter().map(|cpu| vec![*cpu]).collect();
    let served = serve_with(|config| config.soft_nodes = each, Limits::default());
    let last = cpus.len() as i64 - 1;
    if !(1..63).contains(&last) {
        return;
    }
    let mut client = served.client();
    let port = format!("{SET} LISTENER '{}' NUMANODE =", served.address());
    assert_eq!(client.query(&format!("{port} {last}")).errors(), [0; 0]);
    // Whoever comes, and who is there.
    for _ in 0..4 {
        assert_eq!(node(&mut served.client()), last);
    }
    comes_to(&mut client, last);

    // What cannot be changes nothing.
    let none = last + 1;
    let elsewhere = "LISTENER '127.0.0.1:1' NUMANODE = 0";
    for (wrong, number) in [
        (format!("{SET} {elsewhere}"), 15129),
        (format!("{port} {none}"), 5832),
        (format!("{port} 0, {none}"), 5832),
        (format!("{port} {:#x}", 1u64 << none | 1), 5832),
        (format!("{port} 0x0"), 5832),
        (format!("{port} 64"), 5832),
        (format!("{port} AUTO"), 102),
    ] {
        assert_eq!(client.query(&wrong).errors(), [number], "{wrong}");
        assert_eq!(node(&mut served.client()), last, "{wrong}");
    }

    // An open transaction stays where it is.
    assert_eq!(client.query("BEGIN TRANSACTION").errors(), [0; 0]);
    assert_eq!(served.client().query(&format!("{port} 0x1")).errors(), [0; 0]);
    assert_eq!(node(&mut served.client()), 0);
    assert_eq!((node(&mut client), node(&mut client)), (last, last));
    assert_eq!(client.query("COMMIT").errors(), [0; 0]);
    comes_to(&mut client, 0);

    // A node that is offline serves nobody.
    let affinity = |to: &str| {
        let set = format!("{SET} PROCESS AFFINITY {to}");
        assert_eq!(served.client().query(&set).errors(), [0; 0]);
    };
    affinity(&format!("NUMANODE = {last}"));
    comes_to(&mut client, last);
    assert_eq!(client.query(&format!("{port} 0")).errors(), [5832]);
    assert_eq!(client.query(&format!("{port} 0, {last}")).errors(), [0; 0]);
    affinity("CPU = AUTO");
    assert_eq!(client.query(&format!("{port} ALL")).errors(), [0; 0]);
    let mut clients: Vec<_> = cpus.iter().map(|_| served.client()).collect();
    assert!(clients.iter_mut().any(|client| node(client) != last));
}
