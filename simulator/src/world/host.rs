//! The machine of a world: its disk, and one life of the server after another.

use super::client::{ADDRESS, DATABASE, PASSWORD};
use device::{FileSystem, SimFs};
use engine::LogConfig;
use runtime::task::sleep_ns;
use scheduler::{Schedulers, TaskInfo, sim};
use server::{Config, Limits, Server};
use session::{Instance, InstanceConfig};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use stdx::Prng;
use telemetry::WaitType;

/// How long the server may take to end (simulated nanoseconds): its clients' requests are stopped.
const STOP_NS: u64 = 60_000_000_000;
/// How long what was left of it may take to end by itself.
const REST_NS: u64 = 20_000_000_000;

/// A disk on which an instance with the database of the world was closed.
pub struct Template {
    fs: Arc<SimFs>,
}

impl Template {
    /// Makes it, in a world of its own.
    ///
    /// # Panics
    /// When the server does not start on an empty disk that never fails.
    pub fn make() -> Arc<Template> {
        sim::run(1, |sim| {
            let host = Host {
                fs: Mutex::new(SimFs::new(1)),
                life: Mutex::default(),
                schedulers: sim.schedulers().clone(),
                pool_bytes: 4 << 20,
            };
            host.start_with(true).expect("a server on an empty disk");
            host.stop().expect("a server that ends");
            let fs = host.fs();
            // Nothing is volatile: the template is the same whatever is done with it.
            Arc::new(Template { fs })
        })
    }
}

/// A server that runs.
struct Life {
    instance: Arc<Instance>,
    server: Server,
}

/// See the file's page.
pub struct Host {
    fs: Mutex<Arc<SimFs>>,
    life: Mutex<Option<Life>>,
    schedulers: Arc<Schedulers>,
    pool_bytes: u64,
}

impl Host {
    pub fn new(template: &Template, schedulers: Arc<Schedulers>, rng: &mut Prng) -> Host {
        Host {
            fs: Mutex::new(template.fs.copy(rng.next_u64())),
            life: Mutex::default(),
            schedulers,
            // A small pool writes pages back and reads them again; some worlds have none of it.
            pool_bytes: [2 << 20, 4 << 20, 16 << 20][rng.below(3) as usize],
        }
    }

    pub fn fs(&self) -> Arc<SimFs> {
        self.fs.lock().unwrap().clone()
    }

    /// The tasks of the server and of everybody else.
    pub fn tasks(&self) -> Vec<TaskInfo> {
        self.schedulers.tasks()
    }

    pub fn start(&self) -> Result<(), String> {
        self.start_with(false)
    }

    fn start_with(&self, fresh: bool) -> Result<(), String> {
        let fs: Arc<dyn FileSystem> = self.fs();
        let mut config = InstanceConfig::new("/data", fs);
        config.buffer_pool_bytes = self.pool_bytes;
        config.log =
            LogConfig { ring_bytes: 1 << 20, vlf_bytes: 256 << 10, ..LogConfig::default() };
        config.checkpoint_log_bytes = 256 << 10;
        let instance = Instance::open(config).map_err(|error| error.to_string())?;
        if fresh {
            let given = |name: &str| (name == "MILLRACE_SA_PASSWORD").then(|| PASSWORD.to_owned());
            instance.security().first_start(&given).map_err(|error| format!("{error:?}"))?;
            let made = instance.spawn_session("set-up", |session| {
                let mut said = session::Collected::default();
                let done = session.execute(&format!("CREATE DATABASE {DATABASE}"), &mut said);
                done.map_err(|()| format!("{:?}", said.messages))
            });
            made.join().map_err(|_| "the set-up panicked".to_owned())??;
        }
        let config = Config {
            listen: vec![SocketAddr::from(ADDRESS).into()],
            certificate: None,
            limits: Limits::default(),
            admin: None,
        };
        match Server::start(&instance, config) {
            Ok(server) => {
                *self.life.lock().unwrap() = Some(Life { instance, server });
                Ok(())
            }
            Err(error) => {
                let _ = instance.shutdown();
                Err(error.to_string())
            }
        }
    }

    /// Whether the database of the world is open.
    pub fn has_database(&self) -> bool {
        let life = self.life.lock().unwrap();
        life.as_ref().is_some_and(|life| life.instance.database(DATABASE).is_some())
    }

    /// Ends the server; `Ok` holds what closing its databases said. `Err`: it does not end.
    pub fn stop(&self) -> Result<Option<String>, String> {
        let Some(Life { instance, server }) = self.life.lock().unwrap().take() else {
            return Ok(None);
        };
        if !server.stop(STOP_NS) {
            return Err(format!(
                "the server does not end: {} connections are left: {:#?}",
                server.connections(),
                self.tasks()
            ));
        }
        drop(server);
        let said = instance.shutdown().err().map(|error| error.to_string());
        let left = Arc::strong_count(&instance) - 1;
        drop(instance);
        // Tasks that were told to end may take a turn or two.
        let until = runtime::clock::now_ns() + REST_NS;
        loop {
            let of_ours = |task: &TaskInfo| matches!(&*task.name, "main" | "worker");
            let rest: Vec<_> = self.tasks().into_iter().filter(|task| !of_ours(task)).collect();
            if rest.is_empty() {
                break;
            }
            if runtime::clock::now_ns() > until {
                return Err(format!(
                    "the server has ended and left tasks behind ({left} hold the instance): {rest:#?}"
                ));
            }
            sleep_ns(5_000_000, WaitType::SleepTask);
        }
        Ok(said)
    }

    /// The disk after a loss of power, which has come: everything fails until this is called.
    pub fn power_on(&self, seed: u64) -> u64 {
        let mut fs = self.fs.lock().unwrap();
        *fs = fs.crash(seed);
        fs.image_hash()
    }
}
