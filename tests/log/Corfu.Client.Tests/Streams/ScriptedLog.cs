using System.Collections.Immutable;
using System.Text;
using Corfu.Protocol;

namespace Corfu.Client.Tests.Streams;

/// <summary>A log in memory whose holes, junk, trims and epochs the test arranges by hand.</summary>
internal sealed class ScriptedLog : ICorfuLog
{
    private readonly Dictionary<long, LogReadResult> _pages = [];
    private readonly Dictionary<long, ImmutableArray<StreamHeader>> _grants = [];
    private readonly SortedDictionary<ulong, List<LogPosition>> _streams = [];
    private long _tail;
    private long _mark;
    private Epoch _epoch = Epoch.First;

    public bool BareJunk { get; set; }

    /// <summary>Reads wait for it, and see the log as it is afterwards.</summary>
    public TaskCompletionSource? Gate { get; set; }

    public int Reads { get; private set; }

    public int PositionsRead { get; private set; }

    /// <summary>How many streams each check asked about.</summary>
    public List<int> Asked { get; } = [];

    public int MaxPayload => 1 << 20;

    public LogPosition Tail => new(_tail, _epoch);

    /// <summary>Takes a position without writing it.</summary>
    public LogPosition Grant(params ulong[] streams)
    {
        var position = new LogPosition(_tail++, _epoch);
        var headers = ImmutableArray.CreateBuilder<StreamHeader>();
        foreach (var id in streams)
        {
            if (!_streams.TryGetValue(id, out var list)) _streams[id] = list = [];
            headers.Add(new StreamHeader(new StreamId(id),
                [.. list.AsEnumerable().Reverse().Take(StreamHeader.MaxBackpointers)]));
            list.Add(position);
        }

        _grants[position.Offset] = headers.DrainToImmutable();
        return position;
    }

    public LogPosition Write(LogPosition position, string text)
    {
        _pages[position.Offset] = Page(position, EntryKind.Data, _grants[position.Offset], text);
        return position;
    }

    public LogPosition Append(string text, params ulong[] streams) => Write(Grant(streams), text);

    public void Junk(LogPosition position, bool bare) =>
        _pages[position.Offset] = Page(position, EntryKind.Junk, bare ? [] : _grants[position.Offset], "");

    public void TrimBelow(LogPosition mark) => _mark = mark.Offset;

    /// <summary>The sequencer is replaced: what was granted at or above the start is void.</summary>
    public void NewEpoch(LogPosition start)
    {
        _epoch = _epoch.Next;
        _tail = start.Offset;
        foreach (var list in _streams.Values) list.RemoveAll(p => p >= start);
    }

    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail, ReadMode mode, CancellationToken cancellationToken)
    {
        Reads++;
        PositionsRead += positions.Length;
        if (Gate is not null) await Gate.Task;
        return [.. positions.Select(p => Read(p, detail, mode))];
    }

    public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams, ReadConsistency consistency,
        CancellationToken cancellationToken)
    {
        Asked.Add(streams.Length);
        var tails = streams.Select(s => new StreamTail(s, _streams.TryGetValue(s.Value, out var list)
            ? [.. list.AsEnumerable().Reverse().Take(StreamHeader.MaxBackpointers)]
            : []));
        return new(new LogCheck(Tail, [.. tails]));
    }

    public ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken) =>
        new(new AppendResult(AppendOutcome.Appended,
            Append(Encoding.UTF8.GetString(payload.Span), [.. streams.Select(s => s.Value)]), default));

    public ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken) =>
        new(new AppendResult(AppendOutcome.Appended,
            Append(Encoding.UTF8.GetString(payload.Span), [.. streams.Select(s => s.Value)]), default));

    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    private LogReadResult Read(LogPosition position, ReadDetail detail, ReadMode mode)
    {
        if (position.Offset < _mark) return new LogReadResult(position, PageState.Trimmed, null);
        if (!_pages.ContainsKey(position.Offset) && mode == ReadMode.CloseHoles && position < Tail)
            Junk(position, BareJunk);
        if (!_pages.TryGetValue(position.Offset, out var page))
            return new LogReadResult(position, PageState.Unwritten, null);
        return detail == ReadDetail.Full ? page : page with { Entry = page.Entry! with { Payload = default } };
    }

    private LogReadResult Page(LogPosition position, EntryKind kind, ImmutableArray<StreamHeader> headers, string text)
    {
        var at = new LogPosition(position.Offset, _epoch);
        var entry = new LogEntry(at, default, kind, DateTimeOffset.UnixEpoch, headers, Encoding.UTF8.GetBytes(text));
        return new LogReadResult(at, kind == EntryKind.Junk ? PageState.Junk : PageState.Data, entry);
    }
}
