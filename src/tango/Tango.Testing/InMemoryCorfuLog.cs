using System.Collections.Immutable;
using Corfu;

namespace Tango.Testing;

/// <summary>
/// An <see cref="ICorfuLog"/> in this process' memory, for unit tests of services and objects: same rules, no cluster,
/// nothing durable. Several runtimes may share one instance, as several processes share one cluster. Safe for
/// concurrent use.
/// </summary>
public sealed partial class InMemoryCorfuLog : IDelegatedLog
{
    private static readonly Epoch OnlyEpoch = Epoch.First;

    private readonly Lock _gate = new();
    private readonly InMemoryLogOptions _options;
    private readonly WriterId _writer;

    // Guarded by _gate. Index = position. A page is Unwritten until it is written or filled, and then only ever trimmed
    // (write-once).
    private readonly List<Page> _pages = [];
    private readonly Dictionary<StreamId, List<LogPosition>> _streams = [];
    private long _sequence;

    public InMemoryCorfuLog(InMemoryLogOptions? options = null, IEntropy? entropy = null)
    {
        _options = options ?? new InMemoryLogOptions();
        _writer = new WriterId((entropy ?? SystemEntropy.Instance).NewGuid());
    }

    public int MaxPayload => _options.MaxPayload;

    /// <summary>A cursor over this log, positioned at its beginning.</summary>
    public IStreamCursor OpenCursor() => new StreamCursor(this);

    public async ValueTask<LogCheck> CheckAsync(
        ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable,
        CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_options.BeforeCheck is { } before) await before(cancellationToken);
        if (_options.Yield) await Task.Yield();
        lock (_gate)
        {
            var tails = ImmutableArray.CreateBuilder<StreamTail>(streams.Length);
            foreach (var stream in streams) tails.Add(new StreamTail(stream, Newest(stream)));
            return new LogCheck(At(_pages.Count), tails.MoveToImmutable());
        }
    }

    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions,
        ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles,
        CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_options.Yield) await Task.Yield();
        lock (_gate)
        {
            var results = ImmutableArray.CreateBuilder<LogReadResult>(positions.Length);
            foreach (var position in positions)
            {
                if (mode == ReadMode.CloseHoles && position.Offset < _pages.Count) Close(position.Offset);
                results.Add(Result(position.Offset, detail));
            }

            return results.MoveToImmutable();
        }
    }

    public async ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_options.Yield) await Task.Yield();
        lock (_gate)
        {
            RequireGranted(position);
            Close(position.Offset);
            return Result(position.Offset, ReadDetail.Full);
        }
    }

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            RequireGranted(position);
            var page = _pages[(int)position.Offset];
            page.State = PageState.Trimmed;
            page.Entry = page.Entry is { } entry ? entry with { Payload = default } : null;
        }

        return ValueTask.CompletedTask;
    }

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            RequireTail(below);
            for (var offset = 0L; offset < below.Offset; offset++)
            {
                _pages[(int)offset].State = PageState.Trimmed;
                _pages[(int)offset].Entry = null;
            }
        }

        return ValueTask.CompletedTask;
    }

    private static LogPosition At(long offset) => new(offset, OnlyEpoch);

    private ImmutableArray<LogPosition> Newest(StreamId stream)
    {
        if (!_streams.TryGetValue(stream, out var positions)) return [];
        var count = Math.Min(positions.Count, StreamHeader.MaxBackpointers);
        var newest = ImmutableArray.CreateBuilder<LogPosition>(count);
        for (var i = 1; i <= count; i++) newest.Add(positions[^i]);
        return newest.MoveToImmutable();
    }

    private void Close(long offset)
    {
        var page = _pages[(int)offset];
        if (page.State != PageState.Unwritten) return;
        page.State = PageState.Junk;
        page.Entry = new LogEntry(
            At(offset), default, EntryKind.Junk, _options.Time.GetUtcNow(), page.Headers, default);
    }

    private LogReadResult Result(long offset, ReadDetail detail)
    {
        if (offset >= _pages.Count) return new LogReadResult(At(offset), PageState.Unwritten, null);
        var page = _pages[(int)offset];
        var entry = detail switch
        {
            ReadDetail.State => null,
            ReadDetail.Full => page.Entry,
            _ => page.Entry is { } full ? full with { Payload = default } : null,
        };
        return new LogReadResult(At(offset), page.State, entry);
    }

    private void RequireGranted(LogPosition position) => RequireTail(position.Next);

    private void RequireTail(LogPosition tail)
    {
        if (tail > At(_pages.Count))
            throw new PositionNotGrantedException($"The log ends at {At(_pages.Count)}, below {tail}.");
    }

    private sealed class Page(ImmutableArray<StreamHeader> headers)
    {
        public ImmutableArray<StreamHeader> Headers { get; } = headers;

        public PageState State { get; set; }

        public LogEntry? Entry { get; set; }
    }
}
