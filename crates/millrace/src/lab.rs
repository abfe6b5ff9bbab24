//! `millrace lab`: the command line of the experiments.
//!
//! Progress goes to standard error; figures, and nothing else, to standard output.

mod compare;
mod ledger;
mod rivals;
mod run;
mod terminal;

use ::lab::EXPERIMENTS;
use std::io::Write;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// The experiments there are, with what each shows and takes.
    List,
    /// Run one.
    Run(Box<run::Args>),
    /// What a model of the engine's contention points says of another machine, its parameters measured on this one.
    Predict(run::Prediction),
    /// Compare two runs: a ratio for each figure of cells with the same settings, with intervals.
    Compare(compare::Args),
    /// The load of the kill test: durable transactions, told line by line, until the process is killed.
    #[command(hide = true)]
    Ledger(ledger::Args),
}

pub fn run(args: Args) -> ExitCode {
    match args.command {
        Command::List => {
            // A reader that has gone away wants no more.
            let _ = std::io::stdout().lock().write_all(list().as_bytes());
            ExitCode::SUCCESS
        }
        Command::Run(args) => run::run(&args),
        Command::Predict(args) => run::run(&args.into()),
        Command::Compare(args) => compare::run(&args),
        Command::Ledger(args) => ledger::run(&args),
    }
}

/// A paragraph for each experiment.
fn list() -> String {
    let mut out = String::new();
    for experiment in EXPERIMENTS {
        let posts: Vec<String> = experiment.posts().iter().map(u8::to_string).collect();
        let posts = match posts.len() {
            0 => String::new(),
            1 => format!(" (post {})", posts[0]),
            _ => format!(" (posts {})", posts.join(", ")),
        };
        out.push_str(&format!("{}{posts}\n", experiment.name()));
        out.push_str(&wrapped(experiment.what(), 4, 100));
        let flags: Vec<String> = experiment.takes().iter().map(|flag| shown(flag)).collect();
        out.push_str(&wrapped(&format!("Takes {}.", flags.join(", ")), 4, 100));
        for option in experiment.own_options() {
            let text = format!(
                "--set {}={}: {} [default: {}]",
                option.name, option.values, option.what, option.default
            );
            out.push_str(&wrapped(&text, 4, 100));
        }
        out.push('\n');
    }
    out.push_str("Every experiment takes --seconds, --warmup, --data, --out, --json, --keep, --cpus and --profile.\n");
    out
}

/// A flag of [`run::FLAGS`] as it is typed.
fn shown(flag: &str) -> String {
    match flag {
        "switches" => "every switch (--log-reserve and so on)".to_owned(),
        flag => format!("--{flag}"),
    }
}

/// Lines of at most `width`, each begun with `indent` blanks.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = vec![" ".repeat(indent)];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].len() > indent && lines[last].len() + 1 + word.len() > width {
            lines.push(format!("{}{word}", " ".repeat(indent)));
        } else {
            if lines[last].len() > indent {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_and_none_is_lost() {
        assert_eq!(wrapped("one two three", 2, 9), "  one two\n  three\n");
        assert_eq!(wrapped("unbreakable", 0, 3), "unbreakable\n");
    }

    #[test]
    fn the_list_names_every_experiment_and_only_flags_there_are() {
        let text = list();
        assert!(EXPERIMENTS.iter().all(|e| text.contains(e.name()) && !e.what().is_empty()));
        for flag in EXPERIMENTS.iter().flat_map(|e| e.takes()) {
            assert!(run::FLAGS.contains(flag), "{flag}");
        }
    }
}
