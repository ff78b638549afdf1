//! Writes the problems of the command `init`.

use crate::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use tunesmith_space::did_you_mean;

/// A commented problem with its kernel and reference.
#[derive(Clone, Copy, Debug)]
pub struct Starter {
    /// Names and contents of its files; the problem is the first.
    pub files: &'static [(&'static str, &'static str)],
}

const C: Starter = Starter {
    files: &[
        ("problem.toml", include_str!("../starter/problem.toml")),
        ("kernel.c", include_str!("../starter/kernel.c")),
        ("reference.c", include_str!("../starter/reference.c")),
    ],
};

const COMMAND: Starter = Starter {
    files: &[
        ("problem.toml", include_str!("../starter/command/problem.toml")),
        ("sieve.c", include_str!("../starter/command/sieve.c")),
    ],
};

const OPENCL: Starter = Starter {
    files: &[
        ("problem.toml", include_str!("../starter/opencl/problem.toml")),
        ("kernel.cl", include_str!("../starter/opencl/kernel.cl")),
        ("reference.c", include_str!("../starter/opencl/reference.c")),
    ],
};

const CUDA: Starter = Starter {
    files: &[
        ("problem.toml", include_str!("../starter/cuda/problem.toml")),
        ("kernel.cu", include_str!("../starter/cuda/kernel.cu")),
        ("reference.c", include_str!("../starter/cuda/reference.c")),
    ],
};

/// HIP's kernel is CUDA's: the languages share its words.
const HIP: Starter = Starter {
    files: &[
        ("problem.toml", include_str!("../starter/hip/problem.toml")),
        ("kernel.hip", include_str!("../starter/cuda/kernel.cu")),
        ("reference.c", include_str!("../starter/cuda/reference.c")),
    ],
};

/// The backends that have a starter.
const NAMES: [&str; 5] = ["c", "command", "cuda", "hip", "opencl"];

/// Returns the starter for a backend.
///
/// # Errors
/// This version does not have the backend.
pub fn starter(backend: &str) -> Result<Starter, Error> {
    match backend {
        "c" => Ok(C),
        "command" => Ok(COMMAND),
        "cuda" => Ok(CUDA),
        "hip" => Ok(HIP),
        "opencl" => Ok(OPENCL),
        other => {
            let all = || format!("there are starters for {}", NAMES.join(", "));
            let remedy = did_you_mean(other, NAMES).unwrap_or_else(all);
            Err(Error::request(format!("there is no starter for the backend `{other}`"), Some(remedy)))
        }
    }
}

impl Starter {
    /// Writes the files into `folder`, which is created if it is missing. Returns their paths.
    ///
    /// # Errors
    /// A file exists already. Then nothing is written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let path = |name: &str| folder.join(name);
        if let Some((name, _)) = self.files.iter().find(|(name, _)| path(name).exists()) {
            let remedy = Some("name an empty folder with --out".to_string());
            return Err(Error::request(format!("`{}` exists already", path(name).display()), remedy));
        }
        std::fs::create_dir_all(folder).map_err(Error::write(folder))?;
        for (name, contents) in self.files {
            let path = path(name);
            let file = OpenOptions::new().write(true).create_new(true).open(&path);
            file.and_then(|mut file| file.write_all(contents.as_bytes())).map_err(Error::write(&path))?;
        }
        Ok(self.files.iter().map(|(name, _)| path(name)).collect())
    }
}
