//! NVRTC, NVIDIA's run-time compiler. Called only in workers.

#![allow(unsafe_code)]

use crate::backends::Absent;
use crate::backends::cuda::native::libraries;
use cudarc::nvrtc::sys::{nvrtcProgram, nvrtcResult};
use libloading::os::unix::Library;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;

/// Explains how to get a compiler that is missing for this reason.
pub(super) fn missing_compiler(reason: &str) -> Absent {
    let remedy = "install the CUDA toolkit 12 or 13, or unpack the Python package `nvidia-cuda-nvrtc` into a folder and \
                  set TUNESMITH_NVIDIA to it";
    Absent { reason: reason.to_owned(), remedy: remedy.to_owned() }
}

/// The versions to search for by name, newest first.
const VERSIONS: [&str; 3] = ["13", "12", "11.2"];

/// The compiler's library.
pub(crate) struct Nvrtc {
    functions: Functions,
    /// The major and minor version.
    pub(crate) version: (i32, i32),
    /// The architectures that it compiles for: 90 is sm_90.
    pub(crate) architectures: Vec<u32>,
    /// A folder with CUDA's own headers, such as `cuda_fp16.h`, if there is one beside the library.
    pub(crate) headers: Option<PathBuf>,
}

/// The input of a compilation.
pub(crate) struct Compilation<'a> {
    pub(crate) source: &'a str,
    /// The source's name in messages.
    pub(crate) name: &'a str,
    pub(crate) options: &'a [String],
    /// Expressions whose mangled names are requested.
    pub(crate) names: &'a [String],
    /// True if PTX is requested instead of a cubin.
    pub(crate) ptx: bool,
}

/// The output of a compilation.
pub(crate) struct Binary {
    pub(crate) image: Vec<u8>,
    /// The mangled names, in the order of [`Compilation::names`].
    pub(crate) names: Vec<String>,
}

/// Declares the library's functions, and a function that finds them.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*);)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> nvrtcResult,)*
            /// Keeps the functions valid.
            _library: Library,
        }

        impl Functions {
            /// Finds all functions. The error is the name of a missing one.
            fn find(library: Library) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: NVRTC documents the function with this signature.
                    $($field: *unsafe { library.get($symbol.as_bytes()) }.map_err(|_| $symbol)?,)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    version = "nvrtcVersion": fn(*mut c_int, *mut c_int);
    architecture_count = "nvrtcGetNumSupportedArchs": fn(*mut c_int);
    architectures = "nvrtcGetSupportedArchs": fn(*mut c_int);
    create = "nvrtcCreateProgram": fn(
        *mut nvrtcProgram, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    );
    destroy = "nvrtcDestroyProgram": fn(*mut nvrtcProgram);
    add_name = "nvrtcAddNameExpression": fn(nvrtcProgram, *const c_char);
    lowered_name = "nvrtcGetLoweredName": fn(nvrtcProgram, *const c_char, *mut *const c_char);
    compile = "nvrtcCompileProgram": fn(nvrtcProgram, c_int, *const *const c_char);
    log_size = "nvrtcGetProgramLogSize": fn(nvrtcProgram, *mut usize);
    log = "nvrtcGetProgramLog": fn(nvrtcProgram, *mut c_char);
    cubin_size = "nvrtcGetCUBINSize": fn(nvrtcProgram, *mut usize);
    cubin = "nvrtcGetCUBIN": fn(nvrtcProgram, *mut c_char);
    ptx_size = "nvrtcGetPTXSize": fn(nvrtcProgram, *mut usize);
    ptx = "nvrtcGetPTX": fn(nvrtcProgram, *mut c_char);
}

/// A function that returns a size. Another function then returns that many bytes.
type SizeOf = unsafe extern "C" fn(nvrtcProgram, *mut usize) -> nvrtcResult;
type BytesOf = unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> nvrtcResult;

impl Nvrtc {
    /// Opens the compiler's library in `folder`, or else in the system's places.
    ///
    /// # Errors
    /// The library is missing or too old.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Self, Absent> {
        let place = folder.map(|folder| format!(" in {}", folder.display())).unwrap_or_default();
        let missing = || missing_compiler(&format!("there is no NVRTC (libnvrtc.so.13 or .12){place}"));
        let (library, found) =
            libraries::open(folder, "libnvrtc", &VERSIONS, &["libnvrtc-builtins"]).ok_or_else(missing)?;
        let old = |symbol| missing_compiler(&format!("NVRTC{place} has no `{symbol}`: it is too old"));
        let functions = Functions::find(library).map_err(old)?;
        let fails = |error: nvrtcResult| missing_compiler(&format!("NVRTC{place} does not work: {error:?}"));
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: the pointers are of live integers, and the array is as long as the library says.
        let architectures = unsafe {
            done((functions.version)(&mut major, &mut minor)).map_err(fails)?;
            done((functions.architecture_count)(&mut count)).map_err(fails)?;
            let mut architectures = vec![0; usize::try_from(count).unwrap_or_default()];
            done((functions.architectures)(architectures.as_mut_ptr())).map_err(fails)?;
            architectures
        };
        let architectures = architectures.into_iter().map(c_int::unsigned_abs).collect();
        Ok(Self { functions, version: (major, minor), architectures, headers: headers(found.as_deref()) })
    }

    /// Compiles. The error is the compiler's log, or its name of the error.
    pub(crate) fn compile(&self, wanted: &Compilation<'_>) -> Result<Binary, String> {
        let source = terminated(wanted.source)?;
        let name = terminated(wanted.name)?;
        let program = self.program(&source, &name)?;
        let names = wanted.names.iter().map(|name| terminated(name)).collect::<Result<Vec<_>, _>>()?;
        for name in &names {
            // SAFETY: the program lives, and the library copies the text.
            done(unsafe { (self.functions.add_name)(program.handle, name.as_ptr()) }).map_err(words)?;
        }
        let options = wanted.options.iter().map(|option| terminated(option)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: as many texts as the count says, which live until the call returns.
        let result =
            done(unsafe { (self.functions.compile)(program.handle, pointers.len() as c_int, pointers.as_ptr()) });
        result.map_err(|error| match program.bytes(self.functions.log_size, self.functions.log) {
            Ok(log) if log.len() > 1 => text(&log),
            _ => words(error),
        })?;
        let image = match wanted.ptx {
            true => program.bytes(self.functions.ptx_size, self.functions.ptx)?,
            false => program.bytes(self.functions.cubin_size, self.functions.cubin)?,
        };
        let names = names.iter().map(|name| program.lowered(name)).collect::<Result<_, _>>()?;
        Ok(Binary { image, names })
    }

    /// Creates a program from two texts, which outlive it.
    fn program<'a>(&'a self, source: &'a CStr, name: &'a CStr) -> Result<Program<'a>, String> {
        let mut handle = ptr::null_mut();
        // SAFETY: both texts live as long as the program, and there are no headers.
        let result = unsafe {
            (self.functions.create)(&mut handle, source.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null())
        };
        done(result).map_err(words)?;
        Ok(Program { functions: &self.functions, handle })
    }
}

/// A program of the library.
struct Program<'a> {
    functions: &'a Functions,
    handle: nvrtcProgram,
}

impl Program<'_> {
    fn bytes(&self, size: SizeOf, bytes: BytesOf) -> Result<Vec<u8>, String> {
        let mut length = 0;
        // SAFETY: the program lives, and the buffer is as long as the library says.
        unsafe {
            done(size(self.handle, &mut length)).map_err(words)?;
            let mut buffer = vec![0_u8; length];
            done(bytes(self.handle, buffer.as_mut_ptr().cast())).map_err(words)?;
            Ok(buffer)
        }
    }

    /// Returns the mangled name of an expression that was added.
    fn lowered(&self, name: &CStr) -> Result<String, String> {
        let mut lowered = ptr::null();
        // SAFETY: the program lives, and owns the text that it returns.
        unsafe {
            done((self.functions.lowered_name)(self.handle, name.as_ptr(), &mut lowered)).map_err(words)?;
            Ok(CStr::from_ptr(lowered).to_string_lossy().into_owned())
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this library and not destroyed before.
        unsafe { (self.functions.destroy)(&mut self.handle) };
    }
}

fn done(result: nvrtcResult) -> Result<(), nvrtcResult> {
    if result == nvrtcResult::NVRTC_SUCCESS { Ok(()) } else { Err(result) }
}

fn words(error: nvrtcResult) -> String {
    format!("{error:?}")
}

fn terminated(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("a program cannot contain a zero byte: {text:?}"))
}

/// Converts bytes up to the final zero to a text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()
}

/// Returns the folder of CUDA's headers: beside the libraries, or in the usual place of toolkits.
fn headers(libraries: Option<&Path>) -> Option<PathBuf> {
    let beside = libraries.and_then(Path::parent).map(|folder| folder.join("include"));
    let usual = ["/usr/local/cuda/include", "/opt/cuda/include"].map(PathBuf::from);
    beside.into_iter().chain(usual).find(|folder| folder.join("cuda_fp16.h").is_file())
}
