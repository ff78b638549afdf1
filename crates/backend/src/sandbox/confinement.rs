//! Who may write where.

use crate::wire_path;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::data::SHARED_MEMORY;

/// The device node of NVIDIA's driver.
const NVIDIA: &str = "/dev/nvidiactl";

/// The sandbox of this user: what must not be read, and what drivers must write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// The files and folders with keys and passwords. Nothing in the sandbox reads them.
    pub private: Vec<PathBuf>,
    /// The folders in which drivers and tools keep compiled code. Kernels in C do not write them.
    pub caches: Vec<PathBuf>,
}

/// The places of keys and passwords, from the user's home folder.
const SECRETS: &[&str] = &[
    ".aws",
    ".azure",
    ".bash_history",
    ".cargo/credentials.toml",
    ".config/chromium",
    ".config/gcloud",
    ".config/gh",
    ".config/google-chrome",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".vault-token",
    ".zsh_history",
];

/// The places of compiled code, from the user's home folder. The cache folder is another one.
const CACHES: &[&str] = &[".ccache", ".nv"];

impl Sandbox {
    /// Returns the sandbox of the user with this home folder and this folder for caches.
    pub fn of_user(home: Option<&Path>, cache: Option<&Path>) -> Self {
        let beneath = |names: &[&str]| -> Vec<PathBuf> {
            home.into_iter().flat_map(|home| names.iter().map(|name| home.join(name))).collect()
        };
        // What only root can read anyway is a secret where the tuner runs as root.
        let system = ["/etc/shadow", "/etc/gshadow"].map(PathBuf::from);
        let private = beneath(SECRETS).into_iter().chain(system).collect();
        let caches = cache.map(Path::to_owned).into_iter().chain(beneath(CACHES)).collect();
        Self { private, caches }
    }
}

/// The task of a process, which decides the rules for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Runs functions in C in a process of their own.
    Kernel,
    /// Runs a driver, which compiles, keeps what it compiled, and opens devices.
    Driver,
    /// Is a program that the user names: a compiler, a build step, a command.
    Program,
}

impl Role {
    /// Returns true if the process may use the network. Programs may, because `mpirun` and `ssh`
    /// need it.
    pub(crate) fn may_connect(self) -> bool {
        self == Self::Program
    }
}

/// The sandbox of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The run's folder.
    #[serde(with = "wire_path")]
    folder: PathBuf,
    /// The folder for temporary files (`TMPDIR`).
    #[serde(with = "wire_path")]
    pub temporary: PathBuf,
    /// The folders of a command, which it may write.
    #[serde(with = "wire_path::list")]
    own: Vec<PathBuf>,
    #[serde(with = "wire_path::list")]
    caches: Vec<PathBuf>,
    #[serde(with = "wire_path::list")]
    pub(super) private: Vec<PathBuf>,
    /// True if kernels in C may write shared memory (`/dev/shm`).
    shared_memory: bool,
}

impl Confinement {
    /// Returns the sandbox of a run that works in `folder`, if the user wants one and the system has
    /// it. Makes the folder for temporary files.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn of_run(sandbox: Option<&Sandbox>, folder: &Path) -> Result<Option<Self>, DeviceError> {
        let Some(sandbox) = sandbox.filter(|_| Sandbox::support().is_ok()) else { return Ok(None) };
        let temporary = folder.join("tmp");
        std::fs::create_dir_all(&temporary).map_err(|error| DeviceError::Worker {
            problem: format!("has no folder for temporary files: {}: {error}", temporary.display()),
        })?;
        Ok(Some(Self::new(sandbox, folder.to_owned(), temporary)))
    }

    /// Returns the sandbox of a run that works in `folder`.
    pub(super) fn new(sandbox: &Sandbox, folder: PathBuf, temporary: PathBuf) -> Self {
        let Sandbox { private, caches } = sandbox.clone();
        Self { folder, temporary, own: Vec::new(), caches, private, shared_memory: false }
    }

    /// Gives a process and what it starts a folder for temporary files of their own.
    pub(crate) fn with_temporary(self, temporary: &Path) -> Self {
        Self { temporary: temporary.to_owned(), ..self }
    }

    /// Allows a command to write its own folder.
    pub(crate) fn with_own_folder(self, own: &Path) -> Self {
        Self { own: vec![own.to_owned()], ..self }
    }

    /// Allows kernels in C to write shared memory. LLVM's OpenMP registers itself there, and ends
    /// the process if it cannot.
    pub(crate) fn with_shared_memory(self, shared_memory: bool) -> Self {
        Self { shared_memory, ..self }
    }

    /// Returns the folders that a process may write.
    pub(super) fn writable(&self, role: Role) -> Vec<PathBuf> {
        let shared = || PathBuf::from(SHARED_MEMORY);
        let mut paths = vec![self.temporary.clone()];
        match role {
            // Outputs go into a file that is open already.
            Role::Kernel => paths.extend(self.shared_memory.then(shared)),
            Role::Driver => {
                paths.extend([self.folder.clone(), shared()]);
                paths.extend(self.caches.iter().cloned());
            }
            Role::Program => {
                paths.extend([self.folder.clone(), shared(), "/tmp".into(), "/var/tmp".into(), std::env::temp_dir()]);
                paths.extend(self.caches.iter().chain(&self.own).cloned());
            }
        }
        paths
    }

    /// Returns the folders of `/proc` whose files a process may overwrite. CUDA's driver names its threads
    /// there, and does not start if it cannot.
    pub(super) fn of_threads(role: Role) -> Option<&'static str> {
        match role {
            Role::Kernel => None,
            Role::Driver => Some("/proc/self/task"),
            // The rule binds to a process, and a program starts others.
            Role::Program => Path::new(NVIDIA).exists().then_some("/proc"),
        }
    }

    /// Returns the device nodes that a process may use.
    pub(super) fn devices(role: Role) -> Vec<PathBuf> {
        let is_allowed = |name: &str| {
            let always = ["null", "zero", "full", "random", "urandom"].contains(&name);
            let drivers = ["nvidia", "dri", "kfd", "accel", "mali", "kgsl", "udmabuf", "xclmgmt"];
            let of_driver = role != Role::Kernel && drivers.iter().any(|prefix| name.starts_with(prefix));
            let of_program = role == Role::Program && ["tty", "ptmx", "pts"].contains(&name);
            always || of_driver || of_program
        };
        let nodes = std::fs::read_dir("/dev").into_iter().flatten().flatten();
        nodes.filter(|node| is_allowed(&node.file_name().to_string_lossy())).map(|node| node.path()).collect()
    }
}
