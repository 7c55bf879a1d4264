use core::fmt;

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
        /// A step of a set-up, as failures name it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Step {
            $($(#[$doc])* $name),+
        }

        impl Step {
            const ALL: &[Self] = &[$(Self::$name),+];

            /// What was being done, in words.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text),+
                }
            }
        }
    };
}

steps! {
    /// Starting a process in its own namespaces.
    Namespaces = "the namespaces",
    /// Entering the control groups.
    ControlGroups = "the control groups",
    /// Mapping the user and the group.
    UserMap = "the user mapping",
    /// Becoming the sandbox's user.
    Identity = "the change of user",
    /// Ending with the process that started this one.
    ParentWatch = "the watch on the parent",
    /// Raising loopback and setting the network's switches.
    Network = "the network namespace",
    /// Naming the host.
    Hostname = "the host name",
    /// The empty root.
    Root = "the empty root",
    /// Making the new root the only one.
    Pivot = "the change of root",
    /// A fresh `/proc`.
    Proc = "a fresh /proc",
    /// Hiding parts of `/proc`.
    ProcMask = "the masks of /proc",
    /// The devices.
    Devices = "the devices",
    /// The image.
    Image = "the image",
    /// The directory with trees and fixtures.
    Share = "the staged files",
    /// Making the root read-only.
    ReadOnly = "the read-only root",
    /// Taking the host's root away.
    HostRoot = "the removal of the host's root",
    /// A control group namespace.
    CgroupNamespace = "the control group namespace",
    /// Refusing further user namespaces.
    NestedNamespaces = "the ban on nested user namespaces",
    /// Giving up the capabilities.
    Capabilities = "the removal of capabilities",
    /// The size-limited volumes.
    Volumes = "the volumes",
    /// The declared volumes.
    Declared = "the declared volumes",
    /// The writable view of the tree.
    Workspace = "the workspace",
    /// Fresh System V objects and message queues.
    Ipc = "the IPC namespace",
    /// Starting the launcher.
    Launcher = "the launcher",
    /// Landlock.
    Landlock = "the Landlock rules",
    /// The limits of single processes.
    ProcessLimits = "the limits of single processes",
    /// The system-call filter.
    Filter = "the system-call filter",
    /// The message itself.
    Message = "the message",
}

impl Step {
    /// The step of this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
