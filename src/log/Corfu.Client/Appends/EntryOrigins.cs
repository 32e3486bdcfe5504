namespace Corfu.Client;

/// <summary>R9: the origins of this client's entries: a random writer id and a sequence number.</summary>
internal sealed class EntryOrigins(IEntropy entropy, TimeProvider time)
{
    private readonly WriterId _writer = new(entropy.NewGuid());
    private long _sequence;

    public EntryOrigin Next() => new(_writer, Interlocked.Increment(ref _sequence));

    public bool IsOwn(EntryOrigin origin) => origin.Writer == _writer;

    /// <summary>Junk that fills a position in the view's epoch.</summary>
    public LogEntry NewJunk(EpochView view, LogPosition position, ImmutableArray<StreamHeader> streams) =>
        new(new LogPosition(position.Offset, view.Epoch), Next(), EntryKind.Junk, time.GetUtcNow(), streams, default);
}
