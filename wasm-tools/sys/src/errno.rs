//! Error numbers and their GNU messages.
//!
//! The kernel's errors are WASI's numbers, which are wasi-libc's errno too. std turns a number into text through
//! libc's `strerror_r`, whose texts are musl's ("I/O error"); scripts and people know the GNU C library's
//! ("Input/output error"). This module therefore defines the two libc functions itself: every message of a program
//! that links this crate is GNU's, wherever it is made.

use std::ffi::{c_char, c_int};
use std::{fmt, io};

/// An error number of the kernel; never 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

macro_rules! errnos {
    ($($name:ident = $number:literal $text:literal;)*) => {
        #[allow(missing_docs, reason = "the names are POSIX's")]
        impl Errno {
            $(pub const $name: Errno = Errno($number);)*
        }

        /// POSIX's name of an error number, "ENOENT"; `None` for an unknown one.
        fn name_of(number: i32) -> Option<&'static str> {
            match number {
                $($number => Some(stringify!($name)),)*
                _ => None,
            }
        }

        /// The text with its closing NUL, which libc's callers want.
        fn text_of(number: i32) -> Option<&'static str> {
            match number {
                0 => Some("Success\0"),
                $($number => Some(concat!($text, "\0")),)*
                _ => None,
            }
        }
    };
}

errnos! {
    E2BIG = 1 "Argument list too long";
    EACCES = 2 "Permission denied";
    EADDRINUSE = 3 "Address already in use";
    EADDRNOTAVAIL = 4 "Cannot assign requested address";
    EAFNOSUPPORT = 5 "Address family not supported by protocol";
    EAGAIN = 6 "Resource temporarily unavailable";
    EALREADY = 7 "Operation already in progress";
    EBADF = 8 "Bad file descriptor";
    EBADMSG = 9 "Bad message";
    EBUSY = 10 "Device or resource busy";
    ECANCELED = 11 "Operation canceled";
    ECHILD = 12 "No child processes";
    ECONNABORTED = 13 "Software caused connection abort";
    ECONNREFUSED = 14 "Connection refused";
    ECONNRESET = 15 "Connection reset by peer";
    EDEADLK = 16 "Resource deadlock avoided";
    EDESTADDRREQ = 17 "Destination address required";
    EDOM = 18 "Numerical argument out of domain";
    EDQUOT = 19 "Disk quota exceeded";
    EEXIST = 20 "File exists";
    EFAULT = 21 "Bad address";
    EFBIG = 22 "File too large";
    EHOSTUNREACH = 23 "No route to host";
    EIDRM = 24 "Identifier removed";
    EILSEQ = 25 "Invalid or incomplete multibyte or wide character";
    EINPROGRESS = 26 "Operation now in progress";
    EINTR = 27 "Interrupted system call";
    EINVAL = 28 "Invalid argument";
    EIO = 29 "Input/output error";
    EISCONN = 30 "Transport endpoint is already connected";
    EISDIR = 31 "Is a directory";
    ELOOP = 32 "Too many levels of symbolic links";
    EMFILE = 33 "Too many open files";
    EMLINK = 34 "Too many links";
    EMSGSIZE = 35 "Message too long";
    EMULTIHOP = 36 "Multihop attempted";
    ENAMETOOLONG = 37 "File name too long";
    ENETDOWN = 38 "Network is down";
    ENETRESET = 39 "Network dropped connection on reset";
    ENETUNREACH = 40 "Network is unreachable";
    ENFILE = 41 "Too many open files in system";
    ENOBUFS = 42 "No buffer space available";
    ENODEV = 43 "No such device";
    ENOENT = 44 "No such file or directory";
    ENOEXEC = 45 "Exec format error";
    ENOLCK = 46 "No locks available";
    ENOLINK = 47 "Link has been severed";
    ENOMEM = 48 "Cannot allocate memory";
    ENOMSG = 49 "No message of desired type";
    ENOPROTOOPT = 50 "Protocol not available";
    ENOSPC = 51 "No space left on device";
    ENOSYS = 52 "Function not implemented";
    ENOTCONN = 53 "Transport endpoint is not connected";
    ENOTDIR = 54 "Not a directory";
    ENOTEMPTY = 55 "Directory not empty";
    ENOTRECOVERABLE = 56 "State not recoverable";
    ENOTSOCK = 57 "Socket operation on non-socket";
    ENOTSUP = 58 "Operation not supported";
    ENOTTY = 59 "Inappropriate ioctl for device";
    ENXIO = 60 "No such device or address";
    EOVERFLOW = 61 "Value too large for defined data type";
    EOWNERDEAD = 62 "Owner died";
    EPERM = 63 "Operation not permitted";
    EPIPE = 64 "Broken pipe";
    EPROTO = 65 "Protocol error";
    EPROTONOSUPPORT = 66 "Protocol not supported";
    EPROTOTYPE = 67 "Protocol wrong type for socket";
    ERANGE = 68 "Numerical result out of range";
    EROFS = 69 "Read-only file system";
    ESPIPE = 70 "Illegal seek";
    ESRCH = 71 "No such process";
    ESTALE = 72 "Stale file handle";
    ETIMEDOUT = 73 "Connection timed out";
    ETXTBSY = 74 "Text file busy";
    EXDEV = 75 "Invalid cross-device link";
    ENOTCAPABLE = 76 "Permission denied";
}

impl Errno {
    /// The GNU C library's text, "No such file or directory".
    pub fn message(self) -> &'static str {
        text_of(self.0).map_or("Unknown error", |text| text.trim_end_matches('\0'))
    }

    /// POSIX's name, "ENOENT"; "?" for a number that has none.
    pub fn name(self) -> &'static str {
        name_of(self.0).unwrap_or("?")
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Errno {}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        io::Error::from_raw_os_error(errno.0)
    }
}

/// The result of a kernel call.
pub type Result<T> = std::result::Result<T, Errno>;

/// Turns a call's answer into a result.
pub(crate) fn check(errno: i32) -> Result<()> {
    if errno == 0 { Ok(()) } else { Err(Errno(errno)) }
}

/// The message of an error as GNU programs print it: without std's "(os error 44)".
pub fn message(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => Errno(number).message().to_owned(),
        None => error.to_string(),
    }
}

/// libc's `strerror`, with GNU texts.
#[unsafe(no_mangle)]
extern "C" fn strerror(number: c_int) -> *const c_char {
    text_of(number).unwrap_or("Unknown error\0").as_ptr().cast()
}

/// libc's `strerror_r` (the POSIX one: 0, or an error number), with GNU texts.
///
/// # Safety
/// `buf` must be writable for `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn strerror_r(number: c_int, buf: *mut c_char, len: usize) -> c_int {
    let text = text_of(number).unwrap_or("Unknown error\0").as_bytes();
    let fits = text.len().min(len);
    if fits == 0 {
        return Errno::ERANGE.0;
    }
    // SAFETY: `fits` bytes are within the text, and within the caller's buffer as it promises.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buf, fits);
        *buf.add(fits - 1) = 0;
    }
    if fits < text.len() { Errno::ERANGE.0 } else { 0 }
}

/// The weak alias that libc keeps beside `strerror_r`; both must be ours, or the linker takes libc's object too.
///
/// # Safety
/// As `strerror_r`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __xpg_strerror_r(number: c_int, buf: *mut c_char, len: usize) -> c_int {
    // SAFETY: the caller's promise is handed on.
    unsafe { strerror_r(number, buf, len) }
}
