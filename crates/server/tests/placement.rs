//! Which CPUs and nodes serve whom: asked of the machine once, whoever asks, and kept by ports.

mod support;

use server::{Config, Endpoint, Limits, Server, StartError};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::{Client, Served, login, serve};
use tds::prelogin::Encryption;
use types::Value;

fn start(served: &Served, listen: &[&str]) -> Result<Server, StartError> {
    let listen = listen.iter().map(|text| text.parse::<Endpoint>().expect("well formed")).collect();
    let config = Config { listen, certificate: None, limits: Limits::default(), admin: None };
    Server::start(&served.instance, config)
}

fn int(value: &Value) -> i64 {
    value.as_i64().expect("a number")
}

/// Schedulers are bound to one CPU each, and every one of them tells of the whole machine.
#[test]
fn every_scheduler_sees_the_whole_machine() {
    let served = serve(Limits::default());
    let cpus = runtime::threads::process_affinity();
    // Connections are spread over the schedulers.
    let mut clients: Vec<_> = (0..cpus.len() * 2).map(|_| served.client()).collect();
    for client in &mut clients {
        let told = client.query("SELECT cpu_count FROM sys.dm_os_sys_info").rows;
        assert_eq!(int(&told[0][0]), cpus.len() as i64);
        for cpu in cpus {
            let set = "ALTER SERVER CONFIGURATION SET";
            let place = format!("{set} MILLRACE (LOG_WRITER_PLACE = 'CPU {cpu}')");
            assert_eq!(client.query(&place).errors(), [0; 0], "{place}");
        }
        let node = "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY NUMANODE = 0";
        assert_eq!(client.query(node).errors(), [0; 0]);
    }
}

#[test]
fn an_affinity_that_somebody_chose_is_manual() {
    let served = serve(Limits::default());
    let mut client = served.client();
    let mut told = |set: &str| {
        assert_eq!(client.query(set).errors(), [0; 0], "{set}");
        client.query("SELECT affinity_type_desc FROM sys.dm_os_sys_info").rows[0][0].clone()
    };
    let cpu = runtime::threads::process_affinity()[0];
    let desc = |text: &str| Value::str(text);
    assert_eq!(told("SELECT 1"), desc("AUTO"));
    let set = "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU =";
    assert_eq!(told(&format!("{set} {cpu}")), desc("MANUAL"));
    assert_eq!(told(&format!("{set} AUTO")), desc("AUTO"));
}

#[test]
fn a_port_is_served_by_its_nodes() {
    let served = serve(Limits::default());
    let server = start(&served, &["127.0.0.1:0[0x1]"]).expect("node 0 is everywhere");
    let address = server.addresses()[0];
    let stream = TcpStream::connect(address).expect("connected");
    let mut client = Client::new(stream);
    client.prelogin(Encryption::NotSupported);
    assert!(client.log_in(&login()).is_login());
    let told = client.query(
        "SELECT node_affinity, local_tcp_port FROM sys.dm_exec_connections WHERE session_id = @@SPID",
    );
    assert_eq!(told.rows.len(), 1);
    assert_eq!((int(&told.rows[0][0]), int(&told.rows[0][1])), (0, i64::from(address.port())));
    drop(client);
    assert!(server.stop(10_000_000_000));
}

/// Who takes connections sits where they are served: now, and after the next one when that has changed.
#[test]
fn listeners_are_on_schedulers_that_may_serve() {
    let served = serve(Limits::default());
    let &[first, .., last] = runtime::threads::process_affinity() else { return };
    let set = |cpu: usize| {
        let set = format!("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = {cpu}");
        assert_eq!(served.client().query(&set).errors(), [0; 0]);
    };
    // Those that the client's own connection is not among.
    let sockets = |cpu: usize| {
        let stats = served.instance.schedulers().stats();
        stats.iter().find(|stats| stats.cpu == Some(cpu)).expect("it has a scheduler").sockets
    };
    let reach = |cpu: usize, wanted: usize| {
        let until = Instant::now() + Duration::from_secs(20);
        while sockets(cpu) != wanted {
            assert!(Instant::now() < until, "{} sockets, not {wanted}", sockets(cpu));
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    set(last);
    // The listener of `served` itself has moved, and its connection is gone.
    drop(served.client());
    reach(first, 0);
    reach(last, 1);
    let server = start(&served, &["127.0.0.1:0", "127.0.0.1:0[0x1]", "127.0.0.1:0"]);
    let server = server.expect("started");
    assert_eq!((sockets(first), sockets(last)), (0, 4));
    set(first);
    for address in server.addresses() {
        drop(served.raw_client(address));
    }
    drop(served.client());
    reach(last, 0);
    reach(first, 4);
    assert!(server.stop(10_000_000_000));
}

#[test]
fn a_mapping_that_cannot_be_is_refused() {
    let served = serve(Limits::default());
    for listen in [&["127.0.0.1:0[0x8000000000000000]"][..], &["127.0.0.1:4", "127.0.0.1:4[1]"]] {
        match start(&served, listen) {
            Err(StartError::Mapping { .. }) => {}
            Err(other) => panic!("{listen:?}: {other}"),
            Ok(_) => panic!("{listen:?} is served"),
        }
    }
    // Two that are one, of this server itself; the first is had before.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("its number").port();
    drop(free);
    let told = start(&served, &[&format!("127.0.0.1:{port}"), &format!("0.0.0.0:{port}")]).err();
    assert!(
        matches!(told, Some(StartError::NotSafe { .. } | StartError::Twice { .. })),
        "{told:?}"
    );
    let listen = vec![format!("127.0.0.1:{port}").parse().expect("well formed")];
    let admin = Some(listen[0]).map(|endpoint: Endpoint| endpoint.address);
    let config = Config { listen, certificate: None, limits: Limits::default(), admin };
    let told = Server::start(&served.instance, config).err();
    assert!(matches!(told, Some(StartError::Twice { .. })), "{told:?}");
    // Nothing has changed.
    assert_eq!(served.client().query("SELECT 1").errors(), [0; 0]);
}
