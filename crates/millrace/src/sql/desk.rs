//! Where the reading thread and the session's task meet: one batch lies on the desk at a time.
//!
//! The task sleeps while the desk is empty; its scheduler goes on with other work.

use super::Runs;
use super::print::Printer;
use runtime::task::{self, Waker};
use scheduler::JoinHandle;
use session::{Instance, Session};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use telemetry::WaitType;

/// The reading thread's side.
pub struct Desk {
    tray: Arc<Mutex<Tray>>,
    task: Option<JoinHandle<()>>,
    waker: Waker,
    replies: Receiver<Done>,
}

/// What lies there. Held for a moment only, never while anything waits.
#[derive(Default)]
struct Tray {
    order: Option<Order>,
    closed: bool,
}

struct Order {
    text: String,
    count: u32,
    /// Script and line on which the batch begins.
    place: Option<(String, u32)>,
}

/// How a batch went.
pub struct Done {
    /// An error of severity 11 or more.
    pub failed: bool,
    /// An error of severity 20 or more: the session is over.
    pub ended: bool,
}

impl Desk {
    /// Starts a session.
    pub fn open(instance: &Arc<Instance>) -> Desk {
        let tray = Arc::new(Mutex::new(Tray::default()));
        let (reply, replies) = channel();
        let (introduce, introduced) = channel();
        let theirs = tray.clone();
        let task = instance.spawn_session("sql", move |session| {
            let _ = introduce.send(task::current_waker());
            serve(session, &theirs, &reply);
        });
        let waker = introduced.recv().expect("the session's task begins");
        Desk { tray, task: Some(task), waker, replies }
    }

    /// Waits for the task's end; why it ended, when it should not have.
    fn join(&mut self) -> Option<String> {
        let panic = self.task.take()?.join().err()?;
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Some(format!("the session broke: {}", text.unwrap_or_else(|| "no reason given".into())))
    }
}

impl Runs for Desk {
    fn run(
        &mut self,
        text: &str,
        count: u32,
        place: Option<(String, u32)>,
    ) -> Result<Done, String> {
        lock(&self.tray).order = Some(Order { text: text.to_owned(), count, place });
        self.waker.wake();
        self.replies.recv().map_err(|_| self.join().unwrap_or_else(|| "the session is gone".into()))
    }

    fn close(mut self) -> Result<(), String> {
        lock(&self.tray).closed = true;
        self.waker.wake();
        self.join().map_or(Ok(()), Err)
    }
}

fn lock(tray: &Mutex<Tray>) -> std::sync::MutexGuard<'_, Tray> {
    tray.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(session: &mut Session, tray: &Mutex<Tray>, reply: &Sender<Done>) {
    loop {
        let (order, closed) = {
            let mut tray = lock(tray);
            (tray.order.take(), tray.closed)
        };
        let Some(order) = order else {
            if closed {
                return;
            }
            task::park(WaitType::AsyncNetworkIo, None);
            continue;
        };
        let mut printer = Printer::new(order.place);
        for _ in 0..order.count {
            let _ = session.execute(&order.text, &mut printer);
            if printer.ended() {
                break;
            }
        }
        printer.finish();
        let done = Done { failed: printer.failed(), ended: printer.ended() };
        if reply.send(done).is_err() {
            return;
        }
    }
}
