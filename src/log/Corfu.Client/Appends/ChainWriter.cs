using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>The writer's way down the chain of its position, head to tail (CORFU 2.4).</summary>
/// <remarks>
/// 1. Within its epoch the writer repeats a request at a replica, with the pauses of <see cref="Retry"/>: a replica
/// that has the entry says so by its origin.
/// 2. After its epoch it never sends the entry again (R9). What the replicas leave open is then resolved.
/// </remarks>
internal sealed class ChainWriter(
    UnitCalls units, Resolver resolver, Retry retry, ProjectionHolder projections, ILogger logger)
{
    /// <returns>NotAppended: the position holds another value, and this entry is not in the log, for good.</returns>
    /// <exception cref="CorfuException">The head refuses the entry: it is nowhere, and its position a hole.</exception>
    /// <exception cref="LogUnavailableException">The time is up; the entry may be anywhere.</exception>
    public async ValueTask<AppendOutcome> WriteAsync(EpochView view, byte[] entry, CancellationToken cancellationToken)
    {
        var request = new WriteRequest(view.Epoch, entry);
        var replicas = view.Projection.ChainOf(EntryCodec.PeekPosition(entry)).Replicas;
        RetryBudget? budget = null;
        for (var next = 0; next < replicas.Length;)
        {
            // 2.
            if (projections.Current != view) return await ResolveAsync(entry, cancellationToken);

            // 1.
            WriteResponse? response = null;
            TransportException? silent = null;
            try
            {
                response = await units.CallAsync(view, replicas[next].Unit, request, cancellationToken);
            }
            catch (TransportException e)
            {
                silent = e;
            }

            var mayBeThere = next > 0 || budget is not null;
            switch (response?.Status)
            {
                case Status.Ok:
                    if (Planted.Is("ack-at-head")) return AppendOutcome.Appended;
                    next++;
                    break;
                case Status.AlreadyWritten when IsOwn(entry, response.StoredOrigin):
                    next++;
                    break;
                case Status.Denied when Planted.Is("denied-is-done"):
                    next++;
                    break;
                case Status.AlreadyWritten when next == 0:
                    return AppendOutcome.NotAppended;
                case Status.AlreadyWritten:
                    // The head took this entry, so no client can have put another behind it in this epoch.
                    ClientLog.Diverged(logger, EntryCodec.PeekPosition(entry).ToString());
                    return AppendOutcome.Unknown;
                case Status.Trimmed or Status.Corrupt:
                    // R5: the resolver propagates a trim, and finds good copies of a damaged page.
                    return await ResolveAsync(entry, cancellationToken);
                case null or Status.Sealed or Status.NotInstalled or Status.Failed or Status.Overloaded:
                case Status.NoSpace when mayBeThere:
                    budget ??= retry.Budget("An append");
                    await retry.AfterAsync(response?.Status, silent, view, budget, cancellationToken);
                    break;
                case { } status:
                    if (mayBeThere) return AppendOutcome.Unknown;
                    throw CorfuStatusException.Create(status, $"Writing {EntryCodec.PeekPosition(entry)}");
            }
        }

        return AppendOutcome.Appended;
    }

    private static bool IsOwn(byte[] entry, EntryOrigin stored) =>
        Planted.Is("already-written-is-mine") || stored == EntryCodec.PeekOrigin(entry);

    private ValueTask<AppendOutcome> ResolveAsync(byte[] entry, CancellationToken cancellationToken)
    {
        if (Planted.Is("retry-without-resolving")) return ValueTask.FromResult(AppendOutcome.NotAppended);
        return resolver.ResolveAsync(
            EntryCodec.PeekPosition(entry), EntryCodec.PeekOrigin(entry), cancellationToken);
    }
}
