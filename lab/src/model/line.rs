//! A cache line that many want to write: it serves one at a time, and goes from core to core.

use super::machine::Machine;

/// Where the line is, and until when it is taken.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The CPU that had it last.
    owner: usize,
    free_ns: f64,
}

impl Line {
    pub fn new(owner: usize) -> Line {
        Line { owner, free_ns: 0.0 }
    }

    #[cfg(test)]
    pub fn owner(&self) -> usize {
        self.owner
    }

    /// Nanoseconds that the line takes to `cpu`, which has it then.
    pub fn come(&mut self, machine: &Machine, line_ns: f64, cpu: usize) -> f64 {
        machine.distance(std::mem::replace(&mut self.owner, cpu), cpu) * line_ns
    }

    /// When `cpu`, which wants it at `now`, has it and has done its change of `ns`: after those who came before.
    pub fn serve(&mut self, now: f64, ns: f64) -> f64 {
        self.free_ns = self.free_ns.max(now) + ns;
        self.free_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Prng;

    /// M/D/1: with random arrivals and a constant service the mean wait is rho / (2 (1 - rho)) services.
    #[test]
    fn random_arrivals_wait_as_pollaczek_and_khinchine_say() {
        for rho in [0.3, 0.5, 0.8] {
            let (mut line, mut chance) = (Line::new(0), Prng::new(7));
            let (service, mut now, mut waited) = (100.0, 0.0, 0.0);
            let n = 400_000;
            for _ in 0..n {
                let uniform = (chance.below(1 << 52) + 1) as f64 / (1u64 << 52) as f64;
                now += -uniform.ln() * service / rho;
                waited += line.serve(now, service) - now - service;
            }
            let mean = waited / f64::from(n);
            let wanted = rho / (2.0 * (1.0 - rho)) * service;
            assert!((mean / wanted - 1.0).abs() < 0.05, "rho {rho}: {mean} and not {wanted}");
        }
    }

    #[test]
    fn a_line_costs_its_way_once() {
        let machine = Machine::parse("2x2").expect("a machine");
        let mut line = Line::new(0);
        assert_eq!(line.come(&machine, 50.0, 0), 0.0);
        assert_eq!(line.come(&machine, 50.0, 1), 50.0);
        let far = line.come(&machine, 50.0, 2);
        assert!(far > 100.0);
        assert_eq!((line.owner(), line.come(&machine, 50.0, 2)), (2, 0.0));
    }
}
