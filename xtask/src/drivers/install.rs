//! Installs and compiles the clients, each from its lock file, under `target/drivers/`.
//!
//! A stamp holds the lock file's text and is written last, so an installation is repeated exactly when the lock file
//! changed or the last one was cut short. Nothing is written to the repository, and nothing to the home folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::SCENARIO_LIMIT;
use super::suite::Suite;
use crate::run::{Failure, workspace};

/// The suites of these drivers, ready to run.
pub fn prepare(folder: &Path, drivers: &[&'static str]) -> Result<Vec<Suite>, Failure> {
    let logs = folder.join("logs");
    fs::create_dir_all(&logs).map_err(|error| io(&logs, &error))?;
    let mut suites = Vec::new();
    let mut python = None;
    for driver in drivers.iter().copied() {
        let mut suite = match driver {
            "tiberius" => tiberius(folder)?,
            "go-mssqldb" => go(folder)?,
            "tedious" => node(folder)?,
            "mssql-jdbc" => jdbc(folder)?,
            "sqlclient" => dotnet(folder)?,
            _ => {
                let program: &PathBuf = match &python {
                    Some(program) => program,
                    None => python.insert(install_python(folder)?),
                };
                let file = format!("suite_{}.py", driver.replace('-', "_"));
                let mut suite = suite(program, &source("python"));
                suite.arguments = vec!["-u".into(), "-B".into(), file];
                suite
            }
        };
        suite.driver = driver;
        suite.log = logs.join(format!("{driver}.log"));
        let _ = fs::remove_file(&suite.log);
        let scratch = folder.join("scratch").join(driver);
        fs::create_dir_all(&scratch).map_err(|error| io(&scratch, &error))?;
        suite.environment.push(("MILLRACE_SCRATCH".into(), text(&scratch)));
        suite.environment.push(("MILLRACE_DRIVER_TESTS".into(), text(&source(""))));
        suites.push(suite);
    }
    Ok(suites)
}

fn suite(program: &Path, directory: &Path) -> Suite {
    Suite {
        driver: "",
        program: program.to_owned(),
        arguments: Vec::new(),
        directory: directory.to_owned(),
        environment: Vec::new(),
        log: PathBuf::new(),
        limit: SCENARIO_LIMIT,
    }
}

/// The interpreter of the virtual environment that all Python clients share.
pub fn install_python(folder: &Path) -> Result<PathBuf, Failure> {
    let home = folder.join("python");
    let python = home.join("bin").join("python");
    let requirements = source("python").join("requirements.txt");
    once(folder, "python", &[&requirements], || {
        let _ = fs::remove_dir_all(&home);
        tool("python3", &["-m", "venv", &text(&home)], folder, &[])?;
        let file = text(&requirements);
        let line = ["-m", "pip", "install", "--quiet", "--no-deps", "--requirement", &file];
        let cache = text(&folder.join("pip-cache"));
        tool(&text(&python), &line, folder, &[("PIP_CACHE_DIR", &cache)])
    })?;
    Ok(python)
}

fn node(folder: &Path) -> Result<Suite, Failure> {
    let mut suite = suite(Path::new("node"), &install_node(folder)?);
    suite.arguments = vec!["suite.js".into()];
    Ok(suite)
}

/// The folder of the programs for Node.
pub fn install_node(folder: &Path) -> Result<PathBuf, Failure> {
    // Modules are looked for beside the file that imports them, so the programs are run from copies beside them.
    let home = folder.join("node");
    let from = source("node");
    fs::create_dir_all(&home).map_err(|error| io(&home, &error))?;
    copy_files(&from, &home)?;
    once(folder, "node", &[&from.join("package.json"), &from.join("package-lock.json")], || {
        let cache = text(&folder.join("npm-cache"));
        let line = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", &cache];
        tool("npm", &line, &home, &[])
    })?;
    Ok(home)
}

fn go(folder: &Path) -> Result<Suite, Failure> {
    Ok(suite(&build_go(folder, ".", "suite")?, &source("go")))
}

/// A program of the Go module in tests/drivers/go, built.
pub fn build_go(folder: &Path, package: &str, name: &str) -> Result<PathBuf, Failure> {
    let binary = folder.join("go").join(name);
    let (modules, cache) = (text(&folder.join("go/modules")), text(&folder.join("go/cache")));
    let environment = [
        ("GOMODCACHE", modules.as_str()),
        ("GOCACHE", cache.as_str()),
        ("GOFLAGS", "-mod=readonly -modcacherw"),
        ("CGO_ENABLED", "0"),
    ];
    tool("go", &["build", "-o", &text(&binary), package], &source("go"), &environment)?;
    Ok(binary)
}

fn jdbc(folder: &Path) -> Result<Suite, Failure> {
    let path = compile_java(folder)?;
    let mut suite = suite(Path::new("java"), &source("jdbc"));
    suite.arguments = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", &path, "Suite"]
        .map(String::from)
        .to_vec();
    Ok(suite)
}

/// The class path of the Java programs, compiled.
pub fn compile_java(folder: &Path) -> Result<String, Failure> {
    let from = source("jdbc");
    let (jars, classes) = (folder.join("jdbc/jars"), folder.join("jdbc/classes"));
    once(folder, "jdbc", &[&from.join("pom.xml")], || {
        let _ = fs::remove_dir_all(&jars);
        let repository = format!("-Dmaven.repo.local={}", folder.join("jdbc/repository").display());
        let output = format!("-DoutputDirectory={}", jars.display());
        let line = ["-q", "-B", "dependency:copy-dependencies", &repository, &output];
        tool("mvn", &line, &from, &[])
    })?;
    let path = format!("{}/*:{}", jars.display(), classes.display());
    let sources = files(&from, "java");
    once(
        folder,
        "jdbc-classes",
        &sources.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
        || {
            let mut line = vec!["-Xlint:all", "-encoding", "UTF-8", "-cp", &path, "-d"];
            let (out, named) =
                (text(&classes), sources.iter().map(|f| text(f)).collect::<Vec<_>>());
            line.push(&out);
            line.extend(named.iter().map(String::as_str));
            tool("javac", &line, &from, &[])
        },
    )?;
    Ok(path)
}

/// .NET Core and SqlClient; the suite is compiled against what the runtime has.
fn dotnet(folder: &Path) -> Result<Suite, Failure> {
    let from = source("dotnet");
    let home = folder.join("dotnet");
    let script = from.join("install.sh");
    let (install, place) = (text(&script), text(&home));
    once(folder, "dotnet", &[&script], || {
        let _ = fs::remove_file(folder.join("dotnet-suite.stamp"));
        tool("bash", &[&install, &place], folder, &[])
    })?;
    let sources = files(&from, "cs");
    let inputs: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    once(folder, "dotnet-suite", &inputs, || {
        let named: Vec<String> = sources.iter().map(|file| text(file)).collect();
        let mut line = vec![install.as_str(), &place, "compile"];
        line.extend(named.iter().map(String::as_str));
        tool("bash", &line, folder, &[])
    })?;
    // The runtime reads the trusted certificates from where its environment says at its start.
    let mut suite = suite(Path::new("/bin/sh"), &home);
    let start =
        "SSL_CERT_FILE=\"$MILLRACE_CERTIFICATE\" exec net/dotnetcore2/bin/dotnet app/Suite.dll";
    suite.arguments = vec!["-c".into(), start.into()];
    suite.environment = vec![
        ("LD_LIBRARY_PATH".into(), text(&home.join("root/usr/lib/x86_64-linux-gnu"))),
        ("HOME".into(), text(&home.join("user"))),
        ("DOTNET_CLI_TELEMETRY_OPTOUT".into(), "1".into()),
        ("COMPlus_EnableDiagnostics".into(), "0".into()),
    ];
    Ok(suite)
}

/// Outside the workspace: its 120 dependencies are not Millrace's.
fn tiberius(folder: &Path) -> Result<Suite, Failure> {
    let home = text(&folder.join("tiberius"));
    let from = source("tiberius");
    tool("cargo", &["build", "--quiet", "--locked"], &from, &[("CARGO_TARGET_DIR", &home)])?;
    Ok(suite(&folder.join("tiberius/debug/driver-tests-tiberius"), &from))
}

/// Does the work unless the stamp says that it was done for these very files.
fn once(
    folder: &Path,
    name: &str,
    inputs: &[&Path],
    work: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let stamp = folder.join(format!("{name}.stamp"));
    let mut wanted = String::new();
    for input in inputs {
        wanted.push_str(&text(input));
        wanted.push('\n');
        wanted.push_str(&fs::read_to_string(input).map_err(|error| io(input, &error))?);
    }
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    work()?;
    fs::write(&stamp, wanted).map_err(|error| io(&stamp, &error))
}

/// Runs an installer; its output is shown when it fails.
fn tool(
    program: &str,
    arguments: &[&str],
    directory: &Path,
    environment: &[(&str, &str)],
) -> Result<(), Failure> {
    let start = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .envs(environment.iter().copied())
        .output()
        .map_err(|error| {
            Failure(format!("{program}: {error}; .ci/run says what the driver tests need"))
        })?;
    if !output.status.success() {
        print!("{}", String::from_utf8_lossy(&output.stdout));
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        return Err(Failure(format!("{program} {}: {}", arguments.join(" "), output.status)));
    }
    if start.elapsed().as_secs() > 0 {
        let seconds = start.elapsed().as_secs_f64();
        println!("xtask: drivers: {program} {} in {seconds:.1} s", arguments[0]);
    }
    Ok(())
}

fn copy_files(from: &Path, to: &Path) -> Result<(), Failure> {
    for entry in fs::read_dir(from).map_err(|error| io(from, &error))?.flatten() {
        let path = entry.path();
        if path.is_file() {
            fs::copy(&path, to.join(entry.file_name())).map_err(|error| io(&path, &error))?;
        }
    }
    Ok(())
}

fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    found.sort();
    found
}

pub fn source(name: &str) -> PathBuf {
    workspace().join("tests").join("drivers").join(name)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn io(path: &Path, error: &std::io::Error) -> Failure {
    Failure(format!("{}: {error}", path.display()))
}
