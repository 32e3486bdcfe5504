using System.Collections.Immutable;
using Corfu;

namespace Tango.Testing;

public sealed partial class InMemoryCorfuLog
{
    // Guarded by _gate. Each is right behind the newest grant that may write so much, and never forgotten.
    private readonly Dictionary<StreamId, (long Written, long Whole, long Unit)> _writes = [];
    private readonly Dictionary<(StreamId Stream, ulong Cell), long> _cells = [];

    public ValueTask<DecidedAppend> AppendDecidedAsync(ImmutableArray<StreamId> streams, Declaration declaration,
        int largest, Func<Ruling?, ReadOnlyMemory<byte>?> payload, ImmutableArray<StreamId> followed,
        CancellationToken cancellationToken = default) =>
        AppendDecidedAsync(streams, declaration, largest, payload, given: null, cancellationToken);

    /// <param name="given">Instead of what the options ask for.</param>
    internal async ValueTask<DecidedAppend> AppendDecidedAsync(ImmutableArray<StreamId> streams,
        Declaration declaration, int largest, Func<Ruling?, ReadOnlyMemory<byte>?> payload, AppendFault? given,
        CancellationToken cancellationToken)
    {
        StreamRangeException.ThrowIfRaw(streams);
        cancellationToken.ThrowIfCancellationRequested();
        Check(largest, streams);
        if (declaration.IsTooLarge)
            throw new ArgumentException("An entry declares more than a request may.", nameof(declaration));
        if (declaration.Records.Any(r => r.Writes.IsEmpty || r.Writes.Any(write => !streams.Contains(write.Stream))))
            throw new ArgumentException("A record writes streams of its entry.", nameof(declaration));
        if (_options.AroundAppend is { } before) await before(cancellationToken);
        if (_options.Yield) await Task.Yield();
        var appended = AppendDecided(streams, declaration, payload, given);
        if (_options.AroundAppend is not { } after || appended.Append is not { } append) return appended;
        try
        {
            await after(CancellationToken.None);
            return appended;
        }
        catch (CorfuException)
        {
            // As when the answer is lost: it has its position.
            return appended with
            {
                Append = new FollowedAppend(append.Result with { Outcome = AppendOutcome.Unknown }, null),
            };
        }
    }

    private DecidedAppend AppendDecided(ImmutableArray<StreamId> streams, Declaration declaration,
        Func<Ruling?, ReadOnlyMemory<byte>?> payload, AppendFault? given)
    {
        while (true)
        {
            var fault = given ?? _options.NextAppendFault();
            lock (_gate)
            {
                Ruling? ruling = _options.Decide ? Decide(streams, declaration) : null;
                if (ruling is { IsGranted: false }) return new DecidedAppend(ruling, null);
                var position = Grant(streams, isDeclared: ruling is not null);
                if (payload(ruling) is not { } bytes) return new DecidedAppend(ruling, null);
                var origin = new EntryOrigin(_writer, ++_sequence);
                if (fault is AppendFault.None or AppendFault.WrittenButUnknown)
                    Write(position, origin, bytes.ToArray());
                if (fault is AppendFault.LeaveHole && !declaration.IsDecided) continue;
                var outcome = fault switch
                {
                    AppendFault.None => AppendOutcome.Appended,
                    AppendFault.LeaveHole => AppendOutcome.NotAppended,
                    _ => AppendOutcome.Unknown,
                };
                var headers = _options.TellHeaders ? _pages[(int)position.Offset].Headers : default;
                var result = new AppendResult(outcome, position, origin) { Headers = headers };
                return new DecidedAppend(ruling, new FollowedAppend(result, null));
            }
        }
    }

    // As the sequencer: in order, and what is granted counts as written.
    private Ruling Decide(ImmutableArray<StreamId> streams, Declaration declaration)
    {
        var named = declaration.Records.SelectMany(r => r.Writes).Select(write => write.Stream).ToHashSet();
        var refused = ImmutableArray.CreateBuilder<Refusal>();
        var next = _pages.Count;
        for (var i = 0; i < declaration.Records.Length; i++)
        {
            if (Find(declaration.Records[i], streams, named) is { } refusal) refused.Add(refusal with { Record = i });
            else foreach (var write in declaration.Records[i].Writes) EnterWrite(write, next + 1);
        }

        if (refused.Count > 0 && refused.Count == declaration.Records.Length)
            return new Ruling(false, refused.ToImmutable());
        foreach (var stream in streams)
        {
            if (!named.Contains(stream)) EnterWrite(new CellScope(stream, ScopeKind.Unit), next + 1);
        }

        return refused.Count == 0 ? Ruling.Granted : new Ruling(true, refused.ToImmutable());
    }

    private Refusal? Find(DeclaredRecord record, ImmutableArray<StreamId> streams, HashSet<StreamId> named)
    {
        if (record.Since is not { } since) return null;
        if (since.Epoch != OnlyEpoch || since.Offset > _pages.Count)
            return new Refusal(0, RefusalReason.TooOld, default, At(0));
        foreach (var read in record.Reads)
        {
            var end = streams.Contains(read.Stream) && !named.Contains(read.Stream) ? _pages.Count + 1 : EndOf(read);
            if (end > since.Offset) return new Refusal(0, RefusalReason.Written, read, At(end - 1));
        }

        return null;
    }

    private long EndOf(in CellScope read)
    {
        var (written, whole, unit) = _writes.GetValueOrDefault(read.Stream);
        return read.Kind switch
        {
            ScopeKind.Unit => unit,
            ScopeKind.Keyed => Math.Max(whole, _cells.GetValueOrDefault((read.Stream, read.Cell))),
            _ => written,
        };
    }

    private void EnterWrite(in CellScope write, long end)
    {
        if (write.Kind == ScopeKind.None) return;
        var (_, whole, unit) = _writes.GetValueOrDefault(write.Stream);
        _writes[write.Stream] = write.Kind switch
        {
            ScopeKind.Keyed => (end, whole, unit),
            ScopeKind.Whole => (end, end, unit),
            _ => (end, end, end),
        };
        if (write.Kind == ScopeKind.Keyed) _cells[(write.Stream, write.Cell)] = end;
    }
}
