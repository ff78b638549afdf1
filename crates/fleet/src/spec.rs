//! The text of `--fleet`.

use crate::FleetError;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The workers of a fleet as a user names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetSpec {
    /// This many workers on this host.
    Local(usize),
    /// Workers that someone else starts, which connect to this address.
    Listen(String),
    /// A worker on every host that a file names, by `ssh`.
    Ssh(PathBuf),
    /// The tasks of a job step, by `srun` with these words.
    Slurm(Vec<String>),
    /// Tasks of HyperQueue, by `hq submit` with these words.
    HyperQueue(Vec<String>),
}

/// Maximum number of workers on this host.
const MOST_LOCAL: usize = 1024;

const FORMS: &str = "fleets are local:N, listen:PORT, listen:ADDRESS:PORT, ssh:FILE, slurm:\"OPTIONS OF SRUN\", \
                     hq:\"OPTIONS OF HQ SUBMIT\"";

impl FromStr for FleetSpec {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Self, FleetError> {
        let wrong = |reason: &str| FleetError::Spec { text: text.to_string(), reason: reason.to_string() };
        let (kind, rest) = text.split_once(':').ok_or_else(|| wrong(FORMS))?;
        let words = || shlex::split(rest).ok_or_else(|| wrong("a quotation mark has no end"));
        match kind {
            "local" => match rest.parse() {
                Ok(count @ 1..=MOST_LOCAL) => Ok(Self::Local(count)),
                _ => Err(wrong("N is a number from 1 to 1024")),
            },
            "listen" => {
                let port = rest.rsplit(':').next().unwrap_or(rest);
                port.parse::<u16>().map_err(|_| wrong("PORT is a number from 0 to 65535"))?;
                Ok(Self::Listen(if port == rest { format!("[::]:{port}") } else { rest.to_string() }))
            }
            "ssh" if !rest.is_empty() => Ok(Self::Ssh(PathBuf::from(rest))),
            "slurm" => Ok(Self::Slurm(words()?)),
            "hq" => Ok(Self::HyperQueue(words()?)),
            _ => Err(wrong(FORMS)),
        }
    }
}

impl fmt::Display for FleetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(count) => write!(f, "local:{count}"),
            Self::Listen(address) => write!(f, "listen:{address}"),
            Self::Ssh(file) => write!(f, "ssh:{}", file.display()),
            Self::Slurm(words) => write!(f, "slurm:{}", words.join(" ")),
            Self::HyperQueue(words) => write!(f, "hq:{}", words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_is_read_as_it_is_written() {
        let parsed = |text: &str| text.parse::<FleetSpec>().map_err(|error| error.to_string());
        assert_eq!(parsed("local:2"), Ok(FleetSpec::Local(2)));
        assert_eq!(parsed("listen:7000"), Ok(FleetSpec::Listen("[::]:7000".to_string())));
        assert_eq!(parsed("listen:10.0.0.1:0"), Ok(FleetSpec::Listen("10.0.0.1:0".to_string())));
        assert_eq!(parsed("ssh:hosts.txt"), Ok(FleetSpec::Ssh("hosts.txt".into())));
        let words = ["-p", "gpu", "--comment=a b"].map(str::to_string).to_vec();
        assert_eq!(parsed("slurm:-p gpu '--comment=a b'"), Ok(FleetSpec::Slurm(words)));
        assert_eq!(parsed("hq:"), Ok(FleetSpec::HyperQueue(Vec::new())));
        for wrong in ["local", "local:0", "local:x", "listen:", "listen:99999", "ssh:", "pbs:x", "slurm:'"] {
            assert!(
                parsed(wrong).is_err_and(|error| error.starts_with(&format!("`{wrong}` names no fleet: "))),
                "{wrong}"
            );
        }
    }
}
