//! Reads a run back from `run.json`, or from the folder that holds it.

use lab::document::{FORMAT, Run};
use std::fmt;
use std::path::{Path, PathBuf};

/// The document's name in a run's folder.
pub(crate) const DOCUMENT: &str = "run.json";

/// Why there is no run to read. The message says what to do.
#[derive(Debug)]
pub enum ReadError {
    Io(PathBuf, std::io::Error),
    /// Not a document, or not all of it.
    Form(PathBuf, String),
    /// Of a later lab.
    Newer(PathBuf, u32),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(path, error) if error.kind() == std::io::ErrorKind::NotFound => write!(
                f,
                "there is no {}: give a folder that `lab run --out` wrote, or its {DOCUMENT}",
                path.display()
            ),
            ReadError::Io(path, error) => write!(f, "{} cannot be read: {error}", path.display()),
            ReadError::Form(path, why) => {
                write!(f, "{} is no run of the lab: {why}", path.display())
            }
            ReadError::Newer(path, format) => write!(
                f,
                "{} has form {format}, and this lab reads up to {FORMAT}: take the millrace that wrote it, or a newer one",
                path.display()
            ),
        }
    }
}

impl std::error::Error for ReadError {}

/// The run in `path`: a `run.json`, or its folder.
pub fn read(path: &Path) -> Result<Run, ReadError> {
    let file = if path.is_dir() { path.join(DOCUMENT) } else { path.to_owned() };
    let text = std::fs::read(&file).map_err(|error| ReadError::Io(file.clone(), error))?;
    let run: Run = serde_json::from_slice(&text)
        .map_err(|error| ReadError::Form(file.clone(), error.to_string()))?;
    // Every field may be missing, so any object can be read: a run at least names its form.
    match run.format {
        0 => Err(ReadError::Form(file, "it has no format number".to_owned())),
        format if format > FORMAT => Err(ReadError::Newer(file, format)),
        _ => Ok(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("lab-report-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_was_written_is_read_back() {
        let folder = folder("back");
        let run = Run { format: FORMAT, command: "x </script>".to_owned(), ..Run::default() };
        let report = crate::write(&folder, &run).unwrap();
        assert!(std::fs::read_to_string(report).unwrap().ends_with("</html>\n"));
        assert_eq!(read(&folder).unwrap(), run);
        assert_eq!(read(&folder.join(DOCUMENT)).unwrap(), run);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_no_run_is_refused_with_what_to_do() {
        let folder = folder("refused");
        let told = |text: &str| {
            std::fs::write(folder.join(DOCUMENT), text).unwrap();
            read(&folder).unwrap_err().to_string()
        };
        assert!(told("{\"format\":1,").contains("is no run of the lab"));
        assert!(told("{}").contains("no format number"));
        assert!(told("{\"format\":99}").contains("newer"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(read(&folder).unwrap_err().to_string().contains("lab run --out"));
    }
}
