//! The whole server on one thread, from one seed: sockets in memory, files in memory, TLS off.

mod support;

use device::SimFs;
use runtime::net::{Stream, Waiting};
use scheduler::sim;
use server::{Config, Limits, Server};
use session::{Instance, InstanceConfig};
use std::io::{self, Read, Write};
use std::sync::Arc;
use support::{Client, PASSWORD, login};
use tds::prelogin::Encryption;
use types::Value;

/// A simulated stream as std's traits have it.
struct Wire(Waiting);

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn client(server: &Server) -> Client<Wire> {
    let stream = Stream::connect(server.addresses()[0]).expect("connected");
    let mut client = Client::new(Wire(Waiting::new(stream).expect("on a scheduler")));
    client.prelogin(Encryption::NotSupported);
    assert!(client.log_in(&login()).is_login());
    client
}

#[test]
fn sessions_meet_on_one_thread() {
    for seed in 0..4 {
        sim::run(seed, move |sim| {
            let mut config = InstanceConfig::new("/data", SimFs::new(seed));
            config.buffer_pool_bytes = 16 << 20;
            let instance = Instance::open(config).expect("an instance");
            let given = |name: &str| (name == "MILLRACE_SA_PASSWORD").then(|| PASSWORD.to_owned());
            instance.security().first_start(&given).expect("a password");
            let config = Config {
                listen: vec![std::net::SocketAddr::from(([127, 0, 0, 1], 1433)).into()],
                certificate: None,
                limits: Limits::default(),
                admin: None,
            };
            let server = Arc::new(Server::start(&instance, config).expect("a server"));
            let mut first = client(&server);
            first.query("CREATE DATABASE d");
            first.query("USE d");
            assert_eq!(first.query("CREATE TABLE t (a int PRIMARY KEY)").errors(), [0; 0]);
            let inserters: Vec<_> = (0..3)
                .map(|n| {
                    let server = server.clone();
                    sim.spawn("client", move || {
                        let mut client = client(&server);
                        client.query("USE d");
                        for i in 0..5 {
                            let batch = format!("INSERT t VALUES ({})", n * 100 + i);
                            assert_eq!(client.query(&batch).errors(), [0; 0]);
                        }
                    })
                })
                .collect();
            for inserter in inserters {
                inserter.join().expect("no panic");
            }
            let count = first.query("SELECT COUNT(*) FROM t");
            assert_eq!(count.rows, [[Value::Int(15)]]);
            first.writer.batch("WAITFOR DELAY '01:00:00'");
            first.send();
            runtime::task::sleep_ns(1_000_000, telemetry::WaitType::Misc);
            let began = runtime::clock::now_ns();
            first.writer.attention();
            first.send();
            first.stopped();
            assert!(runtime::clock::now_ns() - began < 100_000_000);
            drop(first);
            assert!(server.stop(10_000_000_000));
            instance.shutdown().expect("closed");
        });
    }
}
