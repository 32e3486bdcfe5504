using System.Diagnostics;

namespace Corfu.Integration.Tests.Support;

/// <summary>A real file system of a few MiB.</summary>
internal sealed class SmallDisk : IDisposable
{
    private readonly string _path;

    private SmallDisk(string path) => _path = path;

    /// <summary>Null where mounts are not allowed.</summary>
    public static SmallDisk? TryMount(string path, int mebibytes)
    {
        if (!OperatingSystem.IsLinux() || Environment.UserName != "root") return null;
        Directory.CreateDirectory(path);
        return Run("mount", "-t", "tmpfs", "-o", $"size={mebibytes}m", "tmpfs", path) ? new SmallDisk(path) : null;
    }

    public void Dispose() => Run("umount", "-l", _path);

    private static bool Run(string program, params string[] arguments)
    {
        using var process = Process.Start(program, arguments);
        process.WaitForExit();
        return process.ExitCode == 0;
    }
}
