/// A system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number.
    pub number: u32,
    constant: &'static str,
}

impl Call {
    /// The call of this number, which the kernel's headers give to this constant.
    pub(crate) const fn of(number: u32, constant: &'static str) -> Self {
        Self { number, constant }
    }

    /// Its name, as profiles spell it (`openat`).
    #[must_use]
    pub fn name(self) -> &'static str {
        self.constant.strip_prefix("__NR_").unwrap_or(self.constant)
    }
}

/// One call, by the constant of its number.
macro_rules! call {
    ($name:ident) => {
        $crate::call::Call::of(linux_raw_sys::general::$name, stringify!($name))
    };
}

/// A group of calls.
macro_rules! calls {
    ($($name:ident)+) => { &[$($crate::call::call!($name)),+] };
}

pub(crate) use {call, calls};
