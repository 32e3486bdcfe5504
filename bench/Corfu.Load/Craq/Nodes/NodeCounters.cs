using System.Diagnostics.Metrics;
using System.IO.MemoryMappedFiles;

namespace Corfu.Load;

/// <summary>Counts of a CRAQ node since its folder was made.</summary>
/// <param name="Reads">Reads that clients asked of it.</param>
/// <param name="Dirty">Strong reads among them that met an uncommitted version.</param>
/// <param name="Writes">Records that it has made as a head.</param>
/// <param name="Queries">Questions of other members for its epoch and mark: at a tail, the version queries.</param>
internal readonly record struct NodeCounts(long Reads, long Dirty, long Writes, long Queries)
{
    public static NodeCounts operator -(in NodeCounts left, in NodeCounts right) => new(left.Reads - right.Reads,
        left.Dirty - right.Dirty, left.Writes - right.Writes, left.Queries - right.Queries);
}

/// <summary>The node's instruments in a file that the measuring process maps too: a count costs the node an addition,
/// and is seen at once.</summary>
internal sealed unsafe class NodeCounters : IDisposable
{
    private const string Meter = "Craq";
    private const string FileName = "counters";
    private const int Size = 4096;

    private static readonly string[] s_names =
        ["craq.node.read", "craq.node.read.dirty", "craq.node.write", "craq.node.confirmation"];

    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private readonly MeterListener _listener = new();
    private readonly long* _counts;

    /// <summary>Counts go on where an earlier process of the node ended.</summary>
    public NodeCounters(string folder)
    {
        _file = MemoryMappedFile.CreateFromFile(Path.Combine(folder, FileName), FileMode.OpenOrCreate, null, Size);
        _view = _file.CreateViewAccessor();
        byte* pointer = null;
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref pointer);
        _counts = (long*)pointer;
        _listener.InstrumentPublished = static (instrument, listener) =>
        {
            var index = Array.IndexOf(s_names, instrument.Name);
            if (instrument.Meter.Name == Meter && index >= 0) listener.EnableMeasurementEvents(instrument, index);
        };
        _listener.SetMeasurementEventCallback<long>(
            (_, value, _, index) => Interlocked.Add(ref _counts[(int)index!], value));
        _listener.Start();
    }

    public static NodeCounts Read(string folder)
    {
        Span<byte> bytes = stackalloc byte[s_names.Length * sizeof(long)];
        using var file = File.OpenHandle(
            Path.Combine(folder, FileName), share: FileShare.ReadWrite | FileShare.Delete);
        if (RandomAccess.Read(file, bytes, 0) < bytes.Length)
            throw new IOException($"The node in {folder} has no counters.");
        return new NodeCounts(At(bytes, 0), At(bytes, 1), At(bytes, 2), At(bytes, 3));

        static long At(ReadOnlySpan<byte> bytes, int index) =>
            BitConverter.ToInt64(bytes[(index * sizeof(long))..]);
    }

    public void Dispose()
    {
        _listener.Dispose();
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }
}
