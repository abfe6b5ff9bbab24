//! Scenarios: what each session does, as named steps, and the orders in which the steps may come.
//!
//! An order is a list of session numbers: whose turn it is. A session that is blocked keeps its further steps back;
//! one whose transaction was aborted drops them.

use crate::stage::{Actor, Answer, Level, Stage, Stepped};
use std::time::{Duration, Instant};

/// How long everybody may wait before it counts as a deadlock that nobody has found.
const DEADLOCK_PATIENCE: Duration = Duration::from_secs(30);

/// A step: its name and its batch.
pub type Step = (&'static str, &'static str);

/// A scenario over a table `test (id int primary key, value int)` with rows (1, 10) and (2, 20).
pub struct Scenario {
    pub name: &'static str,
    /// The steps of each session. BEGIN comes before the first; COMMIT is a step.
    pub sessions: &'static [&'static [Step]],
    /// The order in which the anomaly shows where it can: session numbers from 1.
    pub order: &'static str,
    /// Whether what happened is the anomaly.
    pub anomaly: fn(&Run) -> bool,
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Answers by session, named as the steps.
    pub answers: Vec<Vec<(&'static str, Answer)>>,
    /// Steps that blocked at first.
    pub blocked: Vec<&'static str>,
    /// The table at the end.
    pub end: Vec<(i64, i64)>,
}

impl Run {
    /// The rows that a step of a session has read; nothing when it did not come to that or failed.
    pub fn read(&self, session: usize, step: &str) -> Vec<(i64, i64)> {
        let of = self.answers[session - 1].iter().find(|(name, _)| *name == step);
        of.filter(|(_, a)| a.errors.is_empty()).map(|(_, a)| a.pairs()).unwrap_or_default()
    }

    /// Whether a session has read this.
    pub fn saw(&self, session: usize, step: &str, id: i64, value: i64) -> bool {
        self.read(session, step).contains(&(id, value))
    }

    /// Whether a session has committed.
    pub fn committed(&self, session: usize) -> bool {
        let mut all = self.answers[session - 1].iter();
        let clean = self.answers[session - 1].iter().all(|(_, a)| a.errors.is_empty());
        clean && all.any(|(name, _)| *name == "commit")
    }
}

/// Runs a scenario with its steps in `order`.
pub fn run(stage: &Stage, scenario: &Scenario, level: Level, order: &[usize]) -> Run {
    let database = level.database();
    stage.direct(&format!(
        "USE {database};
         IF OBJECT_ID('test') IS NOT NULL DROP TABLE test;
         CREATE TABLE test (id int PRIMARY KEY, value int);
         INSERT INTO test VALUES (1, 10), (2, 20)"
    ));
    let mut actors: Vec<Actor> = Vec::new();
    for _ in scenario.sessions {
        let mut actor = stage.actor(database);
        let begin = format!("SET TRANSACTION ISOLATION LEVEL {}; BEGIN TRANSACTION", level.sql());
        stage.step(&mut actor, &begin).answer();
        actors.push(actor);
    }
    let mut play = Play {
        stage,
        scenario,
        next: vec![0; actors.len()],
        over: vec![false; actors.len()],
        run: Run { answers: vec![Vec::new(); actors.len()], ..Run::default() },
        actors,
    };
    for &session in order {
        play.step(session);
    }
    // A wait is listed a moment before its waiter has looked for a cycle and chosen a victim: that everybody waits is an
    // error only when it lasts.
    let mut stuck_since: Option<Instant> = None;
    while play.left() {
        let before = play.next.clone();
        (0..play.actors.len()).for_each(|session| play.step(session));
        play.settle();
        if play.next != before || play.actors.iter().any(|a| !a.is_busy()) {
            stuck_since = None;
            continue;
        }
        let since = *stuck_since.get_or_insert_with(Instant::now);
        let lasts = since.elapsed() > DEADLOCK_PATIENCE;
        assert!(!lasts, "{} {level:?} {order:?}: everybody waits", scenario.name);
        std::thread::yield_now();
    }
    let Play { actors, mut run, .. } = play;
    drop(actors);
    run.end = stage.direct(&format!("USE {database}; SELECT id, value FROM test")).pairs();
    run
}

struct Play<'a> {
    stage: &'a Stage,
    scenario: &'a Scenario,
    actors: Vec<Actor>,
    /// The next step of each session.
    next: Vec<usize>,
    /// Its transaction has been aborted.
    over: Vec<bool>,
    run: Run,
}

impl Play<'_> {
    fn left(&self) -> bool {
        let steps = self.scenario.sessions;
        let more = |s: usize| !self.over[s] && self.next[s] < steps[s].len();
        (0..steps.len()).any(|s| more(s) || self.actors[s].is_busy())
    }

    fn step(&mut self, session: usize) {
        let steps = self.scenario.sessions[session];
        let at = self.next[session];
        if self.actors[session].is_busy() || self.over[session] || at == steps.len() {
            return;
        }
        self.next[session] += 1;
        let (name, batch) = steps[at];
        match self.stage.step(&mut self.actors[session], batch) {
            Stepped::Done(answer) => self.answered(session, name, answer),
            Stepped::Blocked => self.run.blocked.push(name),
        }
        self.settle();
    }

    /// Whoever waited and was let go comes to its next wait or its end.
    fn settle(&mut self) {
        loop {
            let mut moved = false;
            for session in 0..self.actors.len() {
                if !self.actors[session].is_busy() {
                    continue;
                }
                if let Stepped::Done(answer) = self.stage.settle(&mut self.actors[session]) {
                    let name = self.scenario.sessions[session][self.next[session] - 1].0;
                    self.answered(session, name, answer);
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }

    fn answered(&mut self, session: usize, name: &'static str, answer: Answer) {
        self.over[session] |= answer.aborted();
        self.run.answers[session].push((name, answer));
    }
}

/// The order that a scenario names.
pub fn named_order(scenario: &Scenario) -> Vec<usize> {
    scenario.order.split_whitespace().map(|n| n.parse::<usize>().expect("a number") - 1).collect()
}

/// Every order of the steps, or `max` of them chosen by `seed` when there are more.
pub fn orders(scenario: &Scenario, max: usize, seed: u64) -> Vec<Vec<usize>> {
    let counts: Vec<usize> = scenario.sessions.iter().map(|s| s.len()).collect();
    let mut all = Vec::new();
    fill(&mut counts.clone(), &mut Vec::new(), &mut all, 20_000);
    let mut rng = stdx::Prng::new(seed);
    while all.len() > max {
        let at = rng.below(all.len() as u64) as usize;
        all.swap_remove(at);
    }
    all
}

fn fill(left: &mut [usize], order: &mut Vec<usize>, all: &mut Vec<Vec<usize>>, max: usize) {
    if left.iter().all(|n| *n == 0) {
        all.push(order.clone());
        return;
    }
    for session in 0..left.len() {
        if left[session] > 0 && all.len() < max {
            left[session] -= 1;
            order.push(session);
            fill(left, order, all, max);
            order.pop();
            left[session] += 1;
        }
    }
}
