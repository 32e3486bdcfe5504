using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>Steps in a chain by clients other than the entry's writer (CORFU 2.4).</summary>
internal sealed class ChainReplication(UnitCalls units, ILogger logger)
{
    private const int MaxKnownTrims = 65536;

    private readonly Lock _gate = new();

    // Guarded by _gate: a trim is propagated once, not at every read. _marks: how far each unit is known to be trimmed
    // by prefix. _trimmedPages: pages trimmed on their own at every replica of their chain, in the epoch _pagesEpoch.
    private readonly Dictionary<NodeId, LogPosition> _marks = [];
    private readonly HashSet<LogPosition> _trimmedPages = [];
    private Epoch _pagesEpoch;

    /// <summary>Reads a page at one replica. If the page is trimmed, the whole chain is already (R5).</summary>
    public async ValueTask<Attempt<PageResult>> LookAsync(EpochView view, Chain chain, int replica,
        LogPosition position, ReadDetail detail, CancellationToken cancellationToken)
    {
        var response = await units.CallAsync(
            view, chain.Replicas[replica].Unit, new ReadRequest(view.Epoch, [position], detail), cancellationToken);
        if (!response.IsOk) return response.Status;
        var page = response.Pages[0];
        if (page.State == PageState.Trimmed)
        {
            var status = await PropagateTrimAsync(view, chain, page, cancellationToken);
            if (status != Status.Ok) return status;
        }

        return page;
    }

    /// <summary>The value of a position: the head's or, where that is damaged, the same value further down the chain. A
    /// trim that it meets is already propagated to the whole chain.</summary>
    /// <returns>The page with the index of the replica that holds it; Corrupt if there is no good copy.</returns>
    public async ValueTask<Attempt<(PageResult Page, int Replica)>> FindAsync(
        EpochView view, Chain chain, LogPosition position, CancellationToken cancellationToken)
    {
        PageResult damaged = default;
        for (var i = 0; i < chain.FullCount; i++)
        {
            var look = await LookAsync(view, chain, i, position, ReadDetail.Full, cancellationToken);
            if (!look.IsDone) return look.Status;
            var state = PageDecoder.Decode(look.Value, ReadDetail.Full).State;

            // Only the head decides that a position is unwritten: behind a damaged page the value may yet arrive.
            if (state != PageState.Corrupt && (i == 0 || state != PageState.Unwritten)) return (look.Value, i);
            if (i == 0) damaged = look.Value with { State = PageState.Corrupt, Bytes = default };
        }

        return (damaged, 0);
    }

    /// <summary>Copies what a replica, the head unless that is damaged, holds to the replicas behind it, in chain order
    /// (CORFU 2.4). A trim met on the way ends the copy, once it is propagated.</summary>
    /// <returns>Ok, Trimmed, or why it has to be repeated.</returns>
    public async ValueTask<Status> CompleteAsync(
        EpochView view, Chain chain, int holder, ReadOnlyMemory<byte> entry, CancellationToken cancellationToken)
    {
        var position = EntryCodec.PeekPosition(entry.Span);
        var origin = EntryCodec.PeekOrigin(entry.Span);
        var request = new CompleteRequest(view.Epoch, entry);
        for (var i = holder + 1; i < chain.Replicas.Length; i++)
        {
            var response = await units.CallAsync(view, chain.Replicas[i].Unit, request, cancellationToken);
            if (response.IsOk) ClientTelemetry.Completed.Add(1);
            var status = await JudgeAsync(view, chain, i, position, origin, response, cancellationToken);
            if (status != Status.Ok) return status;
        }

        return Status.Ok;
    }

    /// <summary>Writes junk, head first. Ok: the position is junk everywhere now; AlreadyWritten: the head holds a
    /// value, which must be completed instead.</summary>
    public async ValueTask<Status> FillAsync(
        EpochView view, Chain chain, LogEntry junk, CancellationToken cancellationToken)
    {
        var request = new FillRequest(view.Epoch, EntryCodec.Encode(junk));
        for (var i = 0; i < chain.Replicas.Length; i++)
        {
            if (Planted.Is("fill-skips-head") && i == 0 && chain.Replicas.Length > 1) continue;
            var response = await units.CallAsync(view, chain.Replicas[i].Unit, request, cancellationToken);
            if (i == 0 && response.Status == Status.AlreadyWritten && response.StoredOrigin != junk.Origin)
                return Status.AlreadyWritten;

            // A damaged value is a value: the replicas behind may hold it, and must not hold another.
            if (i == 0 && response.Status == Status.Corrupt) return Status.AlreadyWritten;
            var status = await JudgeAsync(view, chain, i, junk.Position, junk.Origin, response, cancellationToken);
            if (status != Status.Ok) return status;
        }

        ClientTelemetry.Filled.Add(1);
        return Status.Ok;
    }

    private async ValueTask<Status> JudgeAsync(EpochView view, Chain chain, int replica, LogPosition position,
        EntryOrigin origin, WriteResponse response, CancellationToken cancellationToken)
    {
        switch (response.Status)
        {
            case Status.AlreadyWritten when response.StoredOrigin == origin:
                return Status.Ok;
            case Status.AlreadyWritten:
                ClientLog.Diverged(logger, position.ToString());
                throw new CorfuException($"The replicas of {position} hold different values.");
            case Status.Corrupt:
                // The replica has had a value, so the chain has no gap. Read repair mends the page.
                return Status.Ok;
            case Status.Trimmed:
                var look = await LookAsync(view, chain, replica, position, ReadDetail.Headers, cancellationToken);
                return look.IsDone ? Status.Trimmed : look.Status;
            default:
                return response.Status;
        }
    }

    /// <summary>A client that meets a trim sends it to all replicas, joining ones too, before it answers
    /// (R5).</summary>
    public async ValueTask<Status> PropagateTrimAsync(
        EpochView view, Chain chain, PageResult page, CancellationToken cancellationToken)
    {
        if (!page.BelowMark && IsPropagated(view.Epoch, page.Position)) return Status.Ok;
        foreach (var replica in chain.Replicas)
        {
            if (page.BelowMark && IsPropagated(replica.Unit, page.Position)) continue;
            if (Planted.Is("trim-at-head-only") && replica.Unit != chain.Head) continue;
            AckRequest request = page.BelowMark
                ? new TrimPrefixRequest(view.Epoch, page.Position.Next)
                : new TrimRequest(view.Epoch, page.Position, page.Bytes);
            var response = await units.CallAsync(view, replica.Unit, request, cancellationToken);
            if (!response.IsOk) return response.Status;
            if (page.BelowMark) Propagated(replica.Unit, page.Position.Next);
        }

        if (!page.BelowMark) Propagated(view.Epoch, page.Position);
        return Status.Ok;
    }

    public void Propagated(NodeId unit, LogPosition below)
    {
        lock (_gate)
        {
            if (!_marks.TryGetValue(unit, out var known) || known < below) _marks[unit] = below;
        }
    }

    private void Propagated(Epoch epoch, LogPosition page)
    {
        lock (_gate)
        {
            if (_pagesEpoch != epoch || _trimmedPages.Count >= MaxKnownTrims) _trimmedPages.Clear();
            _pagesEpoch = epoch;
            _trimmedPages.Add(page);
        }
    }

    private bool IsPropagated(Epoch epoch, LogPosition page)
    {
        lock (_gate) return _pagesEpoch == epoch && _trimmedPages.Contains(page);
    }

    private bool IsPropagated(NodeId unit, LogPosition position)
    {
        lock (_gate) return _marks.TryGetValue(unit, out var below) && position < below;
    }
}
