using System.ComponentModel;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Corfu.FaultRuns.Machine;

/// <summary>A small ext4 in a file, mounted for one node: it can be filled, aborted, and lose its power.</summary>
internal sealed partial class LoopDisk
{
    private const uint ShutdownRequest = 0x8004587d;
    private const uint NoLogFlush = 2;

    private readonly string _image;

    private LoopDisk(string image, string mount)
    {
        _image = image;
        Mount = mount;
    }

    public string Mount { get; }

    public static async Task<LoopDisk> CreateAsync(UndoList undo, string mount, int megabytes)
    {
        var disk = new LoopDisk(mount + ".ext4", mount);
        Directory.CreateDirectory(mount);
        await Shell.RequireAsync(
            $"truncate -s {megabytes}M {disk._image} && mkfs.ext4 -q -F -m 0 -E lazy_itable_init=1 {disk._image}");
        undo.Add($"umount -l {mount}");
        await disk.MountAsync();
        return disk;
    }

    public static async Task<bool> IsPossibleAsync(UndoList undo)
    {
        try
        {
            var disk = await CreateAsync(undo, Path.Combine(undo.Folder, "probe"), 16);
            await disk.UnmountAsync();
            return true;
        }
        catch (RunException)
        {
            return false;
        }
    }

    public Task MountAsync() => Shell.RequireAsync($"mount -o loop,nodiscard {_image} {Mount}");

    /// <summary>Unmounts the disk of a node that has ended.</summary>
    public Task UnmountAsync() =>
        Shell.RequireAsync($"for i in 1 2 3 4 5 6 7 8 9 10; do umount {Mount} && exit 0; sleep 0.2; done; exit 1");

    /// <summary>Drops bytes that were not flushed, with the journal's memory of them: the closest to a power cut for a
    /// real process.</summary>
    public void CutPower()
    {
        using var directory = Open(Mount, 0x10000);
        var flags = NoLogFlush;
        if (directory.IsInvalid || Control(directory, ShutdownRequest, ref flags) != 0)
            throw new RunException(
                $"The shutdown of {Mount} failed: {new Win32Exception(Marshal.GetLastPInvokeError()).Message}");
    }

    /// <summary>As after an error of the device: everything fails with EROFS from now on, fsync too.</summary>
    public Task AbortAsync() => Shell.RequireAsync($"mount -o remount,abort {Mount}");

    /// <summary>Takes all the space there is.</summary>
    public Task FillAsync() => Shell.LineAsync($"cat /dev/zero > {Mount}/ballast 2>/dev/null; true");

    public Task EmptyAsync() => Shell.RequireAsync($"rm -f {Mount}/ballast");

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial SafeFileHandle Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    private static partial int Control(SafeFileHandle file, nuint request, ref uint argument);
}
