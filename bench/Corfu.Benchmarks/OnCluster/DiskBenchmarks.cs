using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;
using Microsoft.Win32.SafeHandles;

namespace Corfu.Benchmarks;

/// <summary>Least cost of a durable write on this machine: write and fdatasync, one after the other, into a file whose
/// blocks were written before. An append waits for two of them, one replica after the other.</summary>
[HotPath]
public partial class DiskBenchmarks
{
    private const int Size = 128;
    private const int FileSize = 16 << 20;

    private readonly byte[] _data = new byte[Size];
    private string _folder = "";
    private SafeFileHandle? _file;
    private long _at;

    [GlobalSetup]
    public void CreateFile()
    {
        _folder = RunFolder.Create("disk");
        _file = File.OpenHandle(Path.Combine(_folder, "file"), FileMode.CreateNew, FileAccess.Write);
        // A write into blocks that were never written makes fdatasync write the journal too.
        RandomAccess.Write(_file, new byte[FileSize], 0);
        RandomAccess.FlushToDisk(_file);
    }

    [GlobalCleanup]
    public void DeleteFile()
    {
        _file!.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [Benchmark]
    public void WriteAndSync128Bytes()
    {
        RandomAccess.Write(_file!, _data, _at);
        _at = (_at + Size) % FileSize;
        if (DataSync(_file!) != 0) throw new IOException($"fdatasync failed (errno {Marshal.GetLastPInvokeError()}).");
    }

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    private static partial int DataSync(SafeFileHandle handle);
}
