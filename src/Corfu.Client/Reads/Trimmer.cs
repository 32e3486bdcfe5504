using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>Trims (TOCS 2.6). Only granted positions are trimmed: the caller's tail may stem from an epoch that has ended (R10).</summary>
internal sealed class Trimmer(ClientCore core, ChainWorker chains)
{
    public async ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken)
    {
        await core.RetryAsync($"Trimming {position}", view => TryTrimAsync(view, position, cancellationToken), cancellationToken);
    }

    public async ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken)
    {
        await core.RetryAsync($"Trimming below {below}", view => TryTrimPrefixAsync(view, below, cancellationToken), cancellationToken);
    }

    private async ValueTask<Attempt<bool>> TryTrimAsync(EpochView view, LogPosition position, CancellationToken cancellationToken)
    {
        var status = await RequireGrantedAsync(view, position.Next, cancellationToken);
        if (status != Status.Ok) return status;
        if (!view.Projection.TryChainOf(position, out var chain)) return true;
        var look = await chains.LookAsync(view, chain, 0, position, ReadDetail.Headers, cancellationToken);
        if (!look.IsDone) return look.Status;
        var page = look.Value;
        if (page.State == PageState.Trimmed) return true;

        // The headers go along, so that replicas which have not got the page keep its place in the streams too.
        var tombstone = page.State is PageState.Data or PageState.Junk ? page.Bytes : default;
        status = await chains.BringTrimAsync(view, chain, page with { State = PageState.Trimmed, BelowMark = false, Bytes = tombstone }, cancellationToken);
        return status == Status.Ok ? true : status;
    }

    private async ValueTask<Attempt<bool>> TryTrimPrefixAsync(EpochView view, LogPosition below, CancellationToken cancellationToken)
    {
        var status = await RequireGrantedAsync(view, below, cancellationToken);
        if (status != Status.Ok) return status;
        var units = new List<NodeId>();
        foreach (var segment in view.Projection.Segments)
        {
            if (segment.From >= below) break;
            foreach (var chain in segment.Chains)
            {
                foreach (var replica in chain.Replicas)
                {
                    if (!units.Contains(replica.Unit)) units.Add(replica.Unit);
                }
            }
        }

        var request = new TrimPrefixRequest(view.Epoch, below);
        var calls = units.ConvertAll(unit => core.CallUnitAsync(view, unit, request, cancellationToken).AsTask());
        var answers = await Task.WhenAll(calls);
        for (var i = 0; i < answers.Length; i++)
        {
            if (!answers[i].IsOk) return answers[i].Status;
            chains.Brought(units[i], below);
        }

        return true;
    }

    private async ValueTask<Status> RequireGrantedAsync(EpochView view, LogPosition below, CancellationToken cancellationToken)
    {
        if (below <= view.Projection.Start || below.Offset <= view.Grants.Tail) return Status.Ok;
        var tail = await core.CallSequencerAsync(view, new TailRequest(view.Epoch, []), cancellationToken);
        if (!tail.IsOk) return tail.Status;
        view.Saw(tail, core.Time.GetTimestamp());
        ArgumentOutOfRangeException.ThrowIfGreaterThan(below, tail.Tail);
        return Status.Ok;
    }
}
