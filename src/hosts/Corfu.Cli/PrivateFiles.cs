using System.Runtime.InteropServices;

namespace Corfu.Cli;

/// <summary>The tool's files hold data of the log, or name it: units, backups, configurations, log files. Only their
/// user may read them, whatever the shell's mask says.</summary>
internal static partial class PrivateFiles
{
    private const uint OthersNothing = 0b_000_111_111;

    /// <summary>Files and folders that this process and its children make are their user's alone.</summary>
    public static void Begin()
    {
        if (!OperatingSystem.IsWindows()) _ = Mask(OthersNothing);
    }

    [LibraryImport("libc", EntryPoint = "umask")]
    private static partial uint Mask(uint mask);
}
