using Salus.Region.Body;

namespace Salus.Region.Recovery;

/// <summary>Brings a body to the end of a region's log, a record at a time.</summary>
internal sealed class LogReplay
{
    private readonly OpenedBody _opened;
    private readonly BatchHeader? _lastHeader;

    // Ascending. Batches that the body has accepted and no opening has voided; cuts and compactions whose turn comes
    // when all batches below are committed (S18).
    private readonly List<ReplayedRecord> _pending = [];

    /// <param name="lastHeader">The header of the body's last batch; null: no store shows it.</param>
    /// <param name="run">The highest run that the region has opened at, as far as Tango tells.</param>
    public LogReplay(OpenedBody opened, BatchHeader? lastHeader, long run)
    {
        (_opened, _lastHeader) = (opened, lastHeader);
        (Index, Chain, Last, Run) = (opened.Index, opened.Chain, opened.Last, Math.Max(run, opened.Last.Run));
    }

    public IRegionBody Body => _opened.Body;

    public long Index { get; private set; }

    public Hash128 Chain { get; private set; }

    /// <summary>The region's last batch that is not void.</summary>
    public BatchName Last { get; private set; }

    /// <summary>The highest run that the region has opened at.</summary>
    public long Run { get; private set; }

    /// <exception cref="IOException">The body cannot be read.</exception>
    /// <exception cref="MalformedDataException">The blocks below are not those that the batch was made for.</exception>
    public async ValueTask AddAsync(RegionRecord record, CancellationToken cancellationToken)
    {
        switch (record.Head.Kind)
        {
            case RegionRecordKind.Put:
                await AcceptAsync(record, cancellationToken);
                break;
            case RegionRecordKind.Open:
                var opening = Opening.Decode(record.Content);
                Run = Math.Max(Run, opening.Run);
                VoidWhile(batch => batch.Number > opening.Last.Number);
                break;
            default:
                _pending.Add(new ReplayedRecord(record, null, default));
                break;
        }

        (Index, Chain) = (record.Head.Index, record.Head.Chain);
    }

    /// <summary>Undoes what the decision of a run has voided, where the log does not say so itself (S24).</summary>
    public void Void(RunDecision? bar)
    {
        if (bar is null) return;
        Run = Math.Max(Run, bar.Run);
        VoidWhile(batch => bar.Voids(batch));
    }

    /// <summary>Commits what the proof covers, and begins the cuts among it.</summary>
    public RecoveredRegion Finish(CommitProof? committed)
    {
        var (last, done) = (_opened.Last, 0);
        var begun = ImmutableArray.CreateBuilder<BegunFile>();
        var header = _lastHeader;
        foreach (var (record, batch, _) in _pending)
        {
            if (batch is null)
            {
                begun.Add(new BegunFile(record, Begin(record, last)));
            }
            else
            {
                if (batch.Header.Number > committed?.Batch.Number || committed is null) break;
                Body.Commit(batch);
                (last, header) = (batch.Header.Name, batch.Header);
            }

            done++;
        }

        var left = _pending.Skip(done).ToList();
        return new RecoveredRegion(Body, Index, Chain, Run, committed, last, header,
        [
            .. left.Where(static pending => pending.Batch is not null)
                .Select(static pending => new LoggedBatch(pending.Record.Head.Index, pending.Batch!)),
        ])
        {
            Begun = begun.ToImmutable(),
            Cuts = [.. left.Where(static pending => pending.Batch is null).Select(static pending => pending.Record)],
        };
    }

    private async ValueTask AcceptAsync(RegionRecord record, CancellationToken cancellationToken)
    {
        var batch = SubBatch.Decode(record.Content, out _);
        await Body.LoadAsync(batch, cancellationToken);
        if (!Body.Accept(batch))
        {
            throw new MalformedDataException($"Record {record.Head.Index} of {record.Head.Region} makes another root "
                + "than its driver had: a checkpoint file of this store is not what the log is about.");
        }

        _pending.Add(new ReplayedRecord(record, batch, Last));
        Last = batch.Header.Name;
        Run = Math.Max(Run, Last.Run);
    }

    // Frozen here, and written beside what follows.
    private Task<CheckpointName> Begin(RegionRecord record, BatchName last)
    {
        var (index, chain) = (record.Head.Index, record.Head.Chain);
        return record.Head.Kind == RegionRecordKind.Cut
            ? Body.CutAsync(CutRecord.Decode(record.Content), index, chain, last)
            : Body.CompactAsync(CompactRecord.Decode(record.Content), index, chain, last);
    }

    private void VoidWhile(Func<BatchName, bool> isVoid)
    {
        for (var at = _pending.Count - 1; at >= 0; at--)
        {
            if (_pending[at].Batch is not { } batch) continue;
            if (!isVoid(batch.Header.Name)) break;
            Body.Undo();
            Last = _pending[at].Before;
            _pending.RemoveAt(at);
        }
    }

    // Before: of a batch, the region's last one below.
    private sealed record ReplayedRecord(RegionRecord Record, SubBatch? Batch, BatchName Before);
}
