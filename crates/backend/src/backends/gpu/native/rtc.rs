//! Run-time compilers: libraries that compile a text. NVRTC and hiprtc have the same functions under
//! other names. Called only in workers.

#![allow(unsafe_code)]

use libloading::os::unix::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// The input of a compilation.
pub(crate) struct Compilation<'a> {
    pub(crate) source: &'a str,
    /// The source's name in messages.
    pub(crate) name: &'a str,
    pub(crate) options: &'a [String],
    /// Expressions whose mangled names are requested.
    pub(crate) names: &'a [String],
}

/// The output of a compilation.
pub(crate) struct Binary {
    pub(crate) image: Vec<u8>,
    /// The mangled names, in the order of [`Compilation::names`].
    pub(crate) names: Vec<String>,
    /// Warnings, and what options report.
    pub(crate) log: String,
}

/// A program of the library.
type ProgramHandle = *mut c_void;

/// Zero, or the number of an error.
type Status = c_int;

/// A function that returns a size. Another function then returns that many bytes.
type SizeOf = unsafe extern "C" fn(ProgramHandle, *mut usize) -> Status;
type BytesOf = unsafe extern "C" fn(ProgramHandle, *mut c_char) -> Status;

/// The two functions that return the compiled code.
pub(crate) struct ImageFunctions {
    size: SizeOf,
    bytes: BytesOf,
}

/// Declares the functions, and a function that finds them in a library.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Finds all functions. Their names begin with `prefix`. The error is the name of a
            /// missing one.
            fn find(library: &Library, prefix: &str) -> Result<Self, String> {
                Ok(Self {
                    // SAFETY: NVRTC and hiprtc document the function with this signature.
                    $($field: unsafe { symbol(library, &format!("{prefix}{}", $symbol)) }?,)*
                })
            }
        }
    };
}

functions! {
    version = "Version": fn(*mut c_int, *mut c_int) -> Status;
    error_text = "GetErrorString": fn(Status) -> *const c_char;
    create = "CreateProgram": fn(
        *mut ProgramHandle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> Status;
    destroy = "DestroyProgram": fn(*mut ProgramHandle) -> Status;
    add_name = "AddNameExpression": fn(ProgramHandle, *const c_char) -> Status;
    lowered_name = "GetLoweredName": fn(ProgramHandle, *const c_char, *mut *const c_char) -> Status;
    compile = "CompileProgram": fn(ProgramHandle, c_int, *const *const c_char) -> Status;
    log_size = "GetProgramLogSize": fn(ProgramHandle, *mut usize) -> Status;
    log = "GetProgramLog": fn(ProgramHandle, *mut c_char) -> Status;
}

/// Finds a function. The error is its name.
///
/// # Safety
/// The library has the symbol with the type `T`, which is a pointer to a function, or lacks it.
unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: as the caller promises.
    unsafe { library.get::<T>(name.as_bytes()) }.map(|symbol| *symbol).map_err(|_| name.to_owned())
}

/// A run-time compiler.
pub(crate) struct Rtc {
    functions: Functions,
    /// Keeps the functions valid.
    library: Library,
}

impl Rtc {
    /// Finds the functions of a library, whose names begin with `prefix`. The error is the name of
    /// a missing one.
    pub(crate) fn find(library: Library, prefix: &str) -> Result<Self, String> {
        Ok(Self { functions: Functions::find(&library, prefix)?, library })
    }

    /// Finds the functions that return compiled code. The error is the name of a missing one.
    pub(crate) fn image_functions(&self, size: &str, bytes: &str) -> Result<ImageFunctions, String> {
        // SAFETY: both compilers document their functions that return code with these signatures.
        unsafe { Ok(ImageFunctions { size: symbol(&self.library, size)?, bytes: symbol(&self.library, bytes)? }) }
    }

    /// Returns the library itself, for the functions that not every compiler has.
    pub(crate) fn library(&self) -> &Library {
        &self.library
    }

    /// Returns the major and the minor version.
    pub(crate) fn version(&self) -> Result<(i32, i32), String> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the pointers are of live integers.
        self.done(unsafe { (self.functions.version)(&mut major, &mut minor) })?;
        Ok((major, minor))
    }

    /// Returns an error unless a call succeeded. The error is the library's name of it.
    pub(crate) fn done(&self, status: Status) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the function returns a text of the library's own for every number.
        let text = unsafe { (self.functions.error_text)(status) };
        if text.is_null() {
            return Err(format!("error {status}"));
        }
        // SAFETY: as above. It ends with a zero and is never freed.
        Err(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// Compiles. The error is the compiler's log, or its name of the error.
    pub(crate) fn compile(&self, wanted: &Compilation<'_>, image: &ImageFunctions) -> Result<Binary, String> {
        let source = terminated(wanted.source)?;
        let name = terminated(wanted.name)?;
        let program = self.program(&source, &name)?;
        let names = wanted.names.iter().map(|name| terminated(name)).collect::<Result<Vec<_>, _>>()?;
        for name in &names {
            // SAFETY: the program lives, and the library copies the text.
            self.done(unsafe { (self.functions.add_name)(program.handle, name.as_ptr()) })?;
        }
        let options = wanted.options.iter().map(|option| terminated(option)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: as many texts as the count says, which live until the call returns.
        let status = unsafe { (self.functions.compile)(program.handle, pointers.len() as c_int, pointers.as_ptr()) };
        self.done(status).map_err(|error| match program.bytes(self.functions.log_size, self.functions.log) {
            Ok(log) if log.len() > 1 => text(&log),
            _ => error,
        })?;
        let image = program.bytes(image.size, image.bytes)?;
        let names = names.iter().map(|name| program.lowered(name)).collect::<Result<_, _>>()?;
        let log = program.bytes(self.functions.log_size, self.functions.log).map(|log| text(&log)).unwrap_or_default();
        Ok(Binary { image, names, log })
    }

    /// Creates a program from two texts, which outlive it.
    fn program<'a>(&'a self, source: &'a CStr, name: &'a CStr) -> Result<Program<'a>, String> {
        let mut handle = ptr::null_mut();
        // SAFETY: both texts live as long as the program, and there are no headers.
        let status = unsafe {
            (self.functions.create)(&mut handle, source.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null())
        };
        self.done(status)?;
        Ok(Program { compiler: self, handle })
    }
}

/// A program that lives in the library.
struct Program<'a> {
    compiler: &'a Rtc,
    handle: ProgramHandle,
}

impl Program<'_> {
    fn bytes(&self, size: SizeOf, bytes: BytesOf) -> Result<Vec<u8>, String> {
        let mut length = 0;
        // SAFETY: the program lives, and the buffer is as long as the library says.
        unsafe {
            self.compiler.done(size(self.handle, &mut length))?;
            let mut buffer = vec![0_u8; length];
            self.compiler.done(bytes(self.handle, buffer.as_mut_ptr().cast()))?;
            Ok(buffer)
        }
    }

    /// Returns the mangled name of an expression that was added.
    fn lowered(&self, name: &CStr) -> Result<String, String> {
        let mut lowered = ptr::null();
        // SAFETY: the program lives, and owns the text that it returns.
        unsafe {
            let found = (self.compiler.functions.lowered_name)(self.handle, name.as_ptr(), &mut lowered);
            self.compiler.done(found)?;
            Ok(CStr::from_ptr(lowered).to_string_lossy().into_owned())
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this library and not destroyed before.
        unsafe { (self.compiler.functions.destroy)(&mut self.handle) };
    }
}

fn terminated(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("a program cannot contain a zero byte: {text:?}"))
}

/// Converts bytes up to the final zero to a text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()
}
