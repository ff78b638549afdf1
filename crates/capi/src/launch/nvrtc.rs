//! NVIDIA's compiler for sources of CUDA, loaded when the first launcher needs it.

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

type Program = *mut c_void;
type Status = c_int;

const SUCCESS: Status = 0;

/// Names under which the compiler is installed, the newest first.
const NAMES: [&str; 4] = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"];

type Size = unsafe extern "C" fn(Program, *mut usize) -> Status;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> Status;

/// The functions of the compiler that a launch needs.
pub(super) struct Nvrtc {
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    add_name: unsafe extern "C" fn(Program, *const c_char) -> Status,
    lowered_name: unsafe extern "C" fn(Program, *const c_char, *mut *const c_char) -> Status,
    log_size: Size,
    log: Text,
    cubin_size: Size,
    cubin: Text,
    ptx_size: Size,
    ptx: Text,
    count_architectures: unsafe extern "C" fn(*mut c_int) -> Status,
    architectures: unsafe extern "C" fn(*mut c_int) -> Status,
    error: unsafe extern "C" fn(Status) -> *const c_char,
    /// Keeps the functions loaded.
    _library: Library,
}

/// A compiled kernel.
pub(super) struct Image {
    /// Machine code, or text of PTX with its final zero.
    pub(super) code: Vec<u8>,
    /// The name of the kernel in the code.
    pub(super) name: CString,
}

impl Nvrtc {
    pub(super) fn load() -> Result<Self, String> {
        let cannot =
            |error| format!("NVRTC cannot be loaded: {error}; put the folder of libnvrtc.so into LD_LIBRARY_PATH");
        unsafe {
            let [newest, older @ ..] = NAMES;
            let library = older.iter().fold(Library::new(newest), |found, name| found.or_else(|_| Library::new(*name)));
            let library = library.map_err(cannot)?;
            macro_rules! function {
                ($name:literal) => {
                    *library.get($name).map_err(cannot)?
                };
            }
            Ok(Self {
                create: function!(c"nvrtcCreateProgram"),
                destroy: function!(c"nvrtcDestroyProgram"),
                compile: function!(c"nvrtcCompileProgram"),
                add_name: function!(c"nvrtcAddNameExpression"),
                lowered_name: function!(c"nvrtcGetLoweredName"),
                log_size: function!(c"nvrtcGetProgramLogSize"),
                log: function!(c"nvrtcGetProgramLog"),
                cubin_size: function!(c"nvrtcGetCUBINSize"),
                cubin: function!(c"nvrtcGetCUBIN"),
                ptx_size: function!(c"nvrtcGetPTXSize"),
                ptx: function!(c"nvrtcGetPTX"),
                count_architectures: function!(c"nvrtcGetNumSupportedArchs"),
                architectures: function!(c"nvrtcGetSupportedArchs"),
                error: function!(c"nvrtcGetErrorString"),
                _library: library,
            })
        }
    }

    /// Compiles the kernel `name` of `source` for a device of compute capability `capability`, as in 90.
    pub(super) fn compile(
        &self,
        source: &CStr,
        name: &CStr,
        options: &[String],
        capability: i32,
    ) -> Result<Image, String> {
        let Architecture { option, is_machine_code } = self.architecture(capability)?;
        let options = options.iter().chain([&option]).map(|option| CString::new(option.as_str()));
        let options: Vec<CString> = options.collect::<Result<_, _>>().map_err(|_| "an option has a zero in it")?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program = null_mut();
        unsafe {
            let created = (self.create)(&mut program, source.as_ptr(), null(), 0, null(), null());
            self.checked(created, "the source is refused")?;
            let program = Open { nvrtc: self, program };
            self.checked((self.add_name)(program.program, name.as_ptr()), "the name of the kernel is refused")?;
            let compiled = (self.compile)(program.program, pointers.len() as c_int, pointers.as_ptr());
            self.checked(compiled, "the kernel does not compile")
                .map_err(|error| format!("{error}\n{}", program.log()))?;
            program.image(name, is_machine_code)
        }
    }

    /// Returns the architecture to compile for: the device's own, or the newest that the compiler
    /// knows below it, whose PTX the driver translates.
    fn architecture(&self, capability: i32) -> Result<Architecture, String> {
        let mut count = 0;
        unsafe { self.checked((self.count_architectures)(&mut count), "it knows no architectures")? };
        let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
        unsafe { self.checked((self.architectures)(known.as_mut_ptr()), "it knows no architectures")? };
        let newest = known.into_iter().filter(|known| *known <= capability).max();
        let newest = newest.ok_or_else(|| {
            format!("this NVRTC is too new for the device, whose compute capability is {capability}; load an older one")
        })?;
        let is_machine_code = newest == capability;
        let kind = if is_machine_code { "sm" } else { "compute" };
        Ok(Architecture { option: format!("--gpu-architecture={kind}_{newest}"), is_machine_code })
    }

    fn checked(&self, status: Status, what: &str) -> Result<(), String> {
        if status == SUCCESS {
            return Ok(());
        }
        let reason = unsafe { CStr::from_ptr((self.error)(status)) };
        Err(format!("{what}: {}", reason.to_string_lossy()))
    }
}

struct Architecture {
    option: String,
    is_machine_code: bool,
}

/// A program that is destroyed with its scope.
struct Open<'a> {
    nvrtc: &'a Nvrtc,
    program: Program,
}

impl Open<'_> {
    /// Returns the bytes of `get`, which writes as many as `size` says.
    unsafe fn bytes(&self, size: Size, get: Text) -> Result<Vec<u8>, String> {
        let mut length = 0;
        unsafe {
            self.nvrtc.checked(size(self.program, &mut length), "the result cannot be read")?;
            let mut bytes = vec![0_u8; length];
            self.nvrtc.checked(get(self.program, bytes.as_mut_ptr().cast()), "the result cannot be read")?;
            Ok(bytes)
        }
    }

    /// Returns the log of the compiler.
    fn log(&self) -> String {
        let bytes = unsafe { self.bytes(self.nvrtc.log_size, self.nvrtc.log) }.unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_string()
    }

    unsafe fn image(&self, name: &CStr, is_machine_code: bool) -> Result<Image, String> {
        let Nvrtc { cubin_size, cubin, ptx_size, ptx, lowered_name, .. } = *self.nvrtc;
        let (size, get) = if is_machine_code { (cubin_size, cubin) } else { (ptx_size, ptx) };
        unsafe {
            let code = self.bytes(size, get)?;
            let mut lowered = null();
            let found = lowered_name(self.program, name.as_ptr(), &mut lowered);
            self.nvrtc.checked(found, &format!("the source has no kernel `{}`", name.to_string_lossy()))?;
            Ok(Image { code, name: CStr::from_ptr(lowered).to_owned() })
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        unsafe { (self.nvrtc.destroy)(&mut self.program) };
    }
}
