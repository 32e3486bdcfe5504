namespace Corfu.Backup;

/// <summary>Copies batches to a mirror. Everything below <see cref="Frontier"/> is at all replicas, and at most one
/// window (<see cref="CopyWriter.MaxWindow"/>) beyond it is under way.</summary>
internal sealed class LogCopier
{
    private readonly CorfuClient _target;
    private readonly CopyWriter _writer;

    // TrimAsync has ended once in this run.
    private bool _hasTrimmed;

    private LogCopier(CorfuClient target, CopyWriter writer, LogPosition frontier, LogPosition mark)
    {
        _target = target;
        _writer = writer;
        Frontier = frontier;
        Mark = mark;
    }

    public LogPosition Frontier { get; private set; }

    /// <summary>The mirror's trim mark, as far as it is known here.</summary>
    public LogPosition Mark { get; private set; }

    /// <summary>Goes on one window below the mirror's end: an earlier copier may have left gaps there. Entries that are
    /// there already are compared with the source.</summary>
    public static async ValueTask<LogCopier> ResumeAsync(CorfuClient target, ClusterId source,
        CancellationToken cancellationToken)
    {
        var extent = await target.Cluster.FindExtentAsync(cancellationToken);
        var from = new LogPosition(Math.Max(extent.TrimMark.Offset, extent.End.Offset - CopyWriter.MaxWindow));
        return new LogCopier(target, target.Cluster.CopyWriter(source), from, extent.TrimMark);
    }

    /// <summary>The source is trimmed below the mark. The mirror's own frontier may lie below it.</summary>
    /// <param name="streams">The source's stream tails below the mark. Asked for when the mark covers entries that were
    /// not copied, and the first time: an earlier copier may have brought the mark alone, and perhaps to some units
    /// only.</param>
    public async ValueTask TrimAsync(LogPosition mark, Func<LogPosition, ValueTask<ImmutableArray<StreamTail>>> streams,
        CancellationToken cancellationToken)
    {
        if (mark > Mark || !_hasTrimmed)
        {
            Mark = LogPosition.Max(Mark, mark);
            if (Mark > LogPosition.Zero) await _writer.PutTrimMarkAsync(Mark, cancellationToken);
        }

        if (Mark == LogPosition.Zero || (_hasTrimmed && Mark <= Frontier)) return;
        await PutStreamsAsync(await streams(Mark), cancellationToken);

        // From the beginning: the sequencer may not know yet that the tail is at the mark.
        await _writer.AdvanceAsync(LogPosition.Zero, Mark, [], cancellationToken);
        Frontier = LogPosition.Max(Frontier, Mark);
        _hasTrimmed = true;
    }

    // This epoch's sequencer may hold that there are no such streams. The next epoch begins above the mark, and its
    // sequencer asks the units.
    private async ValueTask PutStreamsAsync(ImmutableArray<StreamTail> tails, CancellationToken cancellationToken)
    {
        var known = await _target.Cluster.ListTrimmedStreamsAsync(Mark, cancellationToken);
        ImmutableArray<StreamTail> news = [.. tails.Except(known)];
        if (tails.IsEmpty || (news.IsEmpty && _target.Projection.Start >= Mark)) return;
        await _writer.PutTrimmedStreamsAsync(news, cancellationToken);
        var current = _target.Projection;
        await _target.Cluster.ReconfigureAsync(
            p => p.Epoch == current.Epoch && p.MirrorOf == current.MirrorOf ? Membership.Of(p) : null,
            $"streams trimmed below {Mark.Offset} are known", cancellationToken);
    }

    /// <summary>Reports the frontier again, to a sequencer that waits for it since its epoch began.</summary>
    public ValueTask ConfirmAsync(CancellationToken cancellationToken) => AdvanceAsync(Frontier, [], cancellationToken);

    /// <summary>The batch begins at the frontier, or below where the mirror is trimmed further than that.</summary>
    public async ValueTask CopyAsync(CopyBatch batch, CancellationToken cancellationToken)
    {
        if (batch.From > Frontier)
            throw new BackupException($"The copy would leave a gap from {Frontier.Offset} to {batch.From.Offset}.");
        var at = batch.From;
        var window = new List<CopiedPage>();
        foreach (var page in batch.Pages)
        {
            // A run of trimmed positions may be longer than any window.
            for (var next = page.Position; next < page.Until;)
            {
                var count = Math.Min(page.Until - next, CopyWriter.MaxWindow - (next - at));
                window.Add(page with { Position = next, Count = count });
                next += count;
                if (next - at < CopyWriter.MaxWindow) continue;
                await CopyAsync(window, next, cancellationToken);
                at = next;
            }
        }

        if (window.Count > 0) await CopyAsync(window, batch.To, cancellationToken);
    }

    private async ValueTask CopyAsync(List<CopiedPage> window, LogPosition to, CancellationToken cancellationToken)
    {
        var puts = new List<Task>(window.Count);
        var entries = ImmutableArray.CreateBuilder<AdvancedEntry>();
        foreach (var page in window)
        {
            for (long i = 0; i < page.Count; i++) puts.Add(PutAsync(page, page.Position + i, cancellationToken));
            if (page is { Entry: { IsJunk: false, Streams.IsEmpty: false } entry } && page.Position >= Frontier)
                entries.Add(new AdvancedEntry(page.Position, [.. entry.Streams.Select(s => s.Stream)]));
        }

        // All of them: none may be under way when the caller tries again after a failure.
        await Task.WhenAll(puts);
        window.Clear();
        await AdvanceAsync(to, entries.DrainToImmutable(), cancellationToken);
    }

    private async ValueTask AdvanceAsync(LogPosition to, ImmutableArray<AdvancedEntry> entries,
        CancellationToken cancellationToken)
    {
        if (to < Frontier) return;
        await _writer.AdvanceAsync(Frontier, to, entries, cancellationToken);
        Frontier = to;
    }

    private Task PutAsync(CopiedPage page, LogPosition position, CancellationToken cancellationToken) =>
        page.Kind switch
        {
            _ when position < Mark => Task.CompletedTask,
            CopiedKind.Entry => _writer.PutAsync(page.Entry!, cancellationToken).AsTask(),
            CopiedKind.Tombstone => _writer.PutTrimAsync(position, page.Entry, cancellationToken).AsTask(),
            _ => _writer.PutTrimAsync(position, null, cancellationToken).AsTask(),
        };
}
