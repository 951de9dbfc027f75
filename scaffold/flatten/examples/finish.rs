//! Finishes the JavaScript image: `finish COMPONENT OUTPUT`.

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (component, output) = arguments.next().zip(arguments.next()).context("usage: finish COMPONENT OUTPUT")?;
    let image = flatten::flatten(&std::fs::read(component)?, |_| Ok(()))?;
    Ok(std::fs::write(output, flatten::pack(&image)?)?)
}
