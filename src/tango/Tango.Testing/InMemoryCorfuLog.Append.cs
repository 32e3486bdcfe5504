using System.Collections.Immutable;
using Corfu;

namespace Tango.Testing;

public sealed partial class InMemoryCorfuLog
{
    public ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfNotRaw(streams);
        return AppendAnyAsync(payload, streams, default, given: null, cancellationToken);
    }

    public ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken)
    {
        StreamRangeException.ThrowIfNotRaw(streams);
        return AppendAnyAsync(payload, streams, terms, given: null, cancellationToken);
    }

    public ValueTask<AppendResult> AppendToObjectsAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfRaw(streams);
        return AppendAnyAsync(payload, streams, default, given: null, cancellationToken);
    }

    public ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken)
    {
        StreamRangeException.ThrowIfRaw(streams);
        return AppendAnyAsync(payload, streams, terms, given: null, cancellationToken);
    }

    public ValueTask<ImmutableArray<AppendResult>> SettleAsync(ImmutableArray<EntryOrigin> origins, LogPosition from,
        LogPosition below, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            RequireTail(from);
            while (_pages.Count < below.Offset) Grant([]);
            var found = new Dictionary<EntryOrigin, LogPosition>();
            var isBlind = false;
            for (var offset = from.Offset; offset < below.Offset; offset++)
            {
                Close(offset);
                var page = _pages[(int)offset];
                if (page.Entry is { IsJunk: false } entry) found.TryAdd(entry.Origin, entry.Position);
                else isBlind |= page.State == PageState.Trimmed;
            }

            var absent = isBlind ? AppendOutcome.Unknown : AppendOutcome.NotAppended;
            return new ValueTask<ImmutableArray<AppendResult>>(
            [
                .. origins.Select(origin => found.TryGetValue(origin, out var position)
                    ? new AppendResult(AppendOutcome.Appended, position, origin)
                    : new AppendResult(absent, default, origin)),
            ]);
        }
    }

    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            if (unknown.Outcome != AppendOutcome.Unknown) return new ValueTask<AppendOutcome>(unknown.Outcome);

            // As the real log: a later epoch is not known here, and a position without one is no token of this epoch.
            if (unknown.Position.Epoch > OnlyEpoch) return new ValueTask<AppendOutcome>(AppendOutcome.Unknown);
            if (unknown.Position.Epoch == Epoch.None && unknown.Position.Offset >= _pages.Count)
                return new ValueTask<AppendOutcome>(AppendOutcome.NotAppended);
            RequireGranted(unknown.Position);
            Close(unknown.Position.Offset);
            var page = _pages[(int)unknown.Position.Offset];

            // A tombstone still says whose entry it was; of a trimmed prefix nothing is left.
            if (page.Entry is not { } entry) return new ValueTask<AppendOutcome>(AppendOutcome.Unknown);
            var isOwn = !entry.IsJunk && entry.Origin == unknown.Origin;
            return new ValueTask<AppendOutcome>(isOwn ? AppendOutcome.Appended : AppendOutcome.NotAppended);
        }
    }

    /// <param name="given">Instead of what the options ask for.</param>
    internal async ValueTask<AppendResult> AppendAnyAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, AppendTerms terms, AppendFault? given,
        CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Check(payload.Length, streams);
        if (_options.AroundAppend is { } before) await before(cancellationToken);
        if (_options.Yield) await Task.Yield();
        var result = Append(payload.ToArray(), streams, terms, given);
        if (_options.AroundAppend is not { } after) return result;
        try
        {
            await after(CancellationToken.None);
            return result;
        }
        catch (CorfuException)
        {
            // As when the answer is lost: it has its position.
            return result with { Outcome = AppendOutcome.Unknown };
        }
    }

    private void Check(int length, ImmutableArray<StreamId> streams)
    {
        if (length > MaxPayload) throw new EntryTooLargeException($"A payload of {length} bytes, limit {MaxPayload}");
        if (streams.Length > EntryLimits.MaxStreams)
            throw new EntryTooLargeException($"{streams.Length} streams, limit {EntryLimits.MaxStreams}");
        if (!StreamId.AreDistinct(streams.AsSpan()))
            throw new ArgumentException("A stream is named twice.", nameof(streams));
    }

    private AppendResult Append(
        byte[] payload, ImmutableArray<StreamId> streams, AppendTerms terms, AppendFault? given)
    {
        while (true)
        {
            var fault = given ?? _options.NextAppendFault();
            lock (_gate)
            {
                var origin = terms.Origin ?? new EntryOrigin(_writer, ++_sequence);
                if (At(_pages.Count) >= terms.Below)
                    return new AppendResult(AppendOutcome.NotAppended, At(_pages.Count), origin);
                var position = Grant(streams);
                if (fault is AppendFault.None or AppendFault.WrittenButUnknown) Write(position, origin, payload);
                var headers = _options.TellHeaders ? _pages[(int)position.Offset].Headers : default;
                if (fault is AppendFault.None)
                    return new AppendResult(AppendOutcome.Appended, position, origin) { Headers = headers };
                if (fault is not AppendFault.LeaveHole)
                    return new AppendResult(AppendOutcome.Unknown, position, origin) { Headers = headers };
            }
        }
    }

    private LogPosition Grant(ImmutableArray<StreamId> streams, bool isDeclared = false)
    {
        var position = At(_pages.Count);
        var headers = ImmutableArray.CreateBuilder<StreamHeader>(streams.Length);
        foreach (var stream in streams)
        {
            headers.Add(new StreamHeader(stream, Newest(stream)));
            if (!_streams.TryGetValue(stream, out var positions)) _streams[stream] = positions = [];
            positions.Add(position);
            if (!isDeclared) EnterWrite(new CellScope(stream, ScopeKind.Unit), position.Offset + 1);
        }

        _pages.Add(new Page(headers.MoveToImmutable()));
        return position;
    }

    private void Write(LogPosition position, EntryOrigin origin, byte[] payload)
    {
        var page = _pages[(int)position.Offset];
        page.State = PageState.Data;
        page.Entry = new LogEntry(position, origin, EntryKind.Data, _options.Time.GetUtcNow(), page.Headers, payload);
    }
}
