using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>Counts for <see cref="RebuildProgress"/>. Any thread.</summary>
internal sealed class RebuildMeter(TimeProvider time)
{
    private readonly long _began = time.GetTimestamp();
    private long _total;
    private long _done;
    private long _copied;
    private long _bytes;
    private long _closed;
    private volatile string? _trouble;

    public void Expect(long positions) => Interlocked.Add(ref _total, positions);

    public void Did(long positions)
    {
        Interlocked.Add(ref _done, positions);
        _trouble = null;
    }

    public void Copied(int bytes)
    {
        Interlocked.Increment(ref _copied);
        Interlocked.Add(ref _bytes, bytes);
    }

    public void Closed(int holes) => Interlocked.Add(ref _closed, holes);

    public void Met(string trouble) => _trouble = trouble;

    public RebuildProgress ToProgress(ImmutableArray<NodeId> targets) => new(
        targets, Interlocked.Read(ref _total), Interlocked.Read(ref _done), Interlocked.Read(ref _copied),
        Interlocked.Read(ref _bytes),
        Interlocked.Read(ref _closed), time.GetElapsedTime(_began), _trouble);
}
