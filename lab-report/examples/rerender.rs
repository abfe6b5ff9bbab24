//! Writes a run's report again, and its comparison with itself: `rerender RUN.JSON FOLDER`. For work on the page.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(document), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: rerender RUN.JSON FOLDER".into());
    };
    let (run, folder) = (lab_report::read(Path::new(&document))?, Path::new(&folder));
    lab_report::write(&folder.join("real"), &run)?;
    let compared = lab_report::compare::compare(&document, &run, &document, &run);
    lab_report::write_comparison(&folder.join("itself/compare.html"), &run, &run, &compared)?;
    Ok(())
}
