namespace Corfu.Agent;

/// <summary>How far a rebuild has got.</summary>
/// <param name="Targets">The units that are rebuilt.</param>
/// <param name="Total">Positions of all closed ranges that have joining replicas, or had when the run began.</param>
/// <param name="Done">The positions of Total that are decided on every joining replica.</param>
/// <param name="Copied">Entries sent to joining replicas, without those that they had already.</param>
/// <param name="Trouble">The reason why the rebuild does not go on; null: it does.</param>
public sealed record RebuildProgress(ImmutableArray<NodeId> Targets, long Total, long Done, long Copied,
    long CopiedBytes, TimeSpan Elapsed, string? Trouble)
{
    /// <summary>At the speed so far; null while nothing is done.</summary>
    public TimeSpan? Remaining => Done == 0 ? null : Elapsed * ((double)(Total - Done) / Done);
}

/// <summary>Counts for <see cref="RebuildProgress"/>. Any thread.</summary>
internal sealed class RebuildMeter(TimeProvider time)
{
    private readonly long _began = time.GetTimestamp();
    private long _total;
    private long _done;
    private long _copied;
    private long _bytes;
    private volatile string? _trouble;

    public long Done => Interlocked.Read(ref _done);

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

    public void Met(string trouble) => _trouble = trouble;

    public RebuildProgress ToProgress(ImmutableArray<NodeId> targets) => new(targets, Interlocked.Read(ref _total),
        Done, Interlocked.Read(ref _copied), Interlocked.Read(ref _bytes), time.GetElapsedTime(_began), _trouble);
}
