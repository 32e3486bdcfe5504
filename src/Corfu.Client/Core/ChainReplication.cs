using Corfu.Protocol;
using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>What others than an entry's writer do to the chain of a position: look, complete, fill, trim.</summary>
internal sealed class ChainReplication(UnitCalls units, ILogger logger)
{
    private readonly Lock _gate = new();

    private const int MaxBroughtPages = 65536;

    // Guarded by _gate: R5 is obeyed once, not at every read. How far each unit is known to be trimmed by prefix; which pages trimmed on
    // their own are known to be so in the whole chain, of the epoch _pagesEpoch.
    private readonly Dictionary<NodeId, LogPosition> _broughtTo = [];
    private readonly HashSet<LogPosition> _broughtPages = [];
    private Epoch _pagesEpoch;

    /// <summary>One page as one replica holds it. Trimmed pages are already brought to the whole chain (R5).</summary>
    public async ValueTask<Attempt<PageResult>> LookAsync(
        EpochView view, Chain chain, int replica, LogPosition position, ReadDetail detail, CancellationToken cancellationToken)
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

    /// <summary>
    /// The value of a position as its chain holds it: the head's or, where that is damaged, the same value further down, as far as it
    /// came. Trimmed pages are already brought to the whole chain.
    /// </summary>
    /// <returns>Corrupt if there is no good copy; else the page with the place of the replica that holds it.</returns>
    public async ValueTask<Attempt<(PageResult Page, int Replica)>> FindAsync(
        EpochView view, Chain chain, LogPosition position, CancellationToken cancellationToken)
    {
        PageResult damaged = default;
        for (var i = 0; i < chain.FullCount; i++)
        {
            var look = await LookAsync(view, chain, i, position, ReadDetail.Full, cancellationToken);
            if (!look.IsDone) return look.Status;
            var state = PageDecoder.Decode(look.Value, ReadDetail.Full).State;

            // Only the head's word counts for unwritten: behind a damaged page it means that the value has not come so far.
            if (state != PageState.Corrupt && (i == 0 || state != PageState.Unwritten)) return (look.Value, i);
            if (i == 0) damaged = look.Value with { State = PageState.Corrupt, Bytes = default };
        }

        return (damaged, 0);
    }

    /// <summary>
    /// Copies what a replica, the head unless that is damaged, holds to the replicas behind it, in chain order (CORFU 2.4). Trimmed there
    /// meanwhile is as good as done, once the trim is brought to all.
    /// </summary>
    /// <returns>Ok, Trimmed, or why it has to be tried again.</returns>
    public async ValueTask<Status> CompleteAsync(
        EpochView view, Chain chain, int holder, ReadOnlyMemory<byte> entry, CancellationToken cancellationToken)
    {
        var origin = EntryCodec.PeekOrigin(entry.Span);
        var request = new CompleteRequest(view.Epoch, entry);
        for (var i = holder + 1; i < chain.Replicas.Length; i++)
        {
            var response = await units.CallAsync(view, chain.Replicas[i].Unit, request, cancellationToken);
            if (response.IsOk) ClientTelemetry.Completed.Add(1);
            var status = await JudgeAsync(view, chain, i, EntryCodec.PeekPosition(entry.Span), origin, response, cancellationToken);
            if (status != Status.Ok) return status;
        }

        return Status.Ok;
    }

    /// <summary>
    /// Writes junk, head first. Ok: the position is junk everywhere now; AlreadyWritten: the head holds a value, which must be completed
    /// instead.
    /// </summary>
    public async ValueTask<Status> FillAsync(EpochView view, Chain chain, LogEntry junk, CancellationToken cancellationToken)
    {
        var request = new FillRequest(view.Epoch, EntryCodec.Encode(junk));
        for (var i = 0; i < chain.Replicas.Length; i++)
        {
#if PLANTED
            if (Planted.Is("fill-skips-head") && i == 0 && chain.Replicas.Length > 1) continue;
#endif
            var response = await units.CallAsync(view, chain.Replicas[i].Unit, request, cancellationToken);
            if (i == 0 && response.Status == Status.AlreadyWritten && response.StoredOrigin != junk.Origin) return Status.AlreadyWritten;

            // Damaged, but a value: the replicas behind may hold it, or must not hold another.
            if (i == 0 && response.Status == Status.Corrupt) return Status.AlreadyWritten;
            var status = await JudgeAsync(view, chain, i, junk.Position, junk.Origin, response, cancellationToken);
            if (status != Status.Ok) return status;
        }

        ClientTelemetry.Filled.Add(1);
        return Status.Ok;
    }

    private async ValueTask<Status> JudgeAsync(
        EpochView view, Chain chain, int replica, LogPosition position, EntryOrigin origin, WriteResponse response, CancellationToken cancellationToken)
    {
        switch (response.Status)
        {
            case Status.AlreadyWritten when response.StoredOrigin == origin:
                return Status.Ok;
            case Status.AlreadyWritten:
                ClientLog.Diverged(logger, position.ToString());
                throw new CorfuException($"The replicas of {position} hold different values.");
            case Status.Corrupt:
                // Written there once, so nothing is missing in the chain; mending it is the repairer's business.
                return Status.Ok;
            case Status.Trimmed:
                var look = await LookAsync(view, chain, replica, position, ReadDetail.Headers, cancellationToken);
                return look.IsDone ? Status.Trimmed : look.Status;
            default:
                return response.Status;
        }
    }

    /// <summary>R5: whoever meets a trimmed page brings the trim to every replica of the chain, joining ones too, before answering.</summary>
    public async ValueTask<Status> PropagateTrimAsync(EpochView view, Chain chain, PageResult page, CancellationToken cancellationToken)
    {
        if (!page.BelowMark && IsBrought(view.Epoch, page.Position)) return Status.Ok;
        foreach (var replica in chain.Replicas)
        {
            if (page.BelowMark && IsBrought(replica.Unit, page.Position)) continue;
#if PLANTED
            if (Planted.Is("trim-at-head-only") && replica.Unit != chain.Head) continue;
#endif
            AckResponse response = page.BelowMark
                ? await units.CallAsync(view, replica.Unit, new TrimPrefixRequest(view.Epoch, page.Position.Next), cancellationToken)
                : await units.CallAsync(view, replica.Unit, new TrimRequest(view.Epoch, page.Position, page.Bytes), cancellationToken);
            if (!response.IsOk) return response.Status;
            if (page.BelowMark) Brought(replica.Unit, page.Position.Next);
        }

        if (!page.BelowMark) Brought(view.Epoch, page.Position);
        return Status.Ok;
    }

    public void Brought(NodeId unit, LogPosition below)
    {
        lock (_gate)
        {
            if (!_broughtTo.TryGetValue(unit, out var known) || known < below) _broughtTo[unit] = below;
        }
    }

    private void Brought(Epoch epoch, LogPosition page)
    {
        lock (_gate)
        {
            if (_pagesEpoch != epoch || _broughtPages.Count >= MaxBroughtPages) _broughtPages.Clear();
            _pagesEpoch = epoch;
            _broughtPages.Add(page);
        }
    }

    private bool IsBrought(Epoch epoch, LogPosition page)
    {
        lock (_gate) return _pagesEpoch == epoch && _broughtPages.Contains(page);
    }

    private bool IsBrought(NodeId unit, LogPosition position)
    {
        lock (_gate) return _broughtTo.TryGetValue(unit, out var below) && position < below;
    }
}
