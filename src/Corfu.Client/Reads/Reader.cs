using System.Collections.Immutable;
using System.Runtime.InteropServices;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>
/// Reads (CORFU 2.4; R11). One request per unit serves all its positions of a call.
/// </summary>
/// <remarks>
/// 1. Plan: a position known committed goes to any full replica, any other one to the tail of its chain.
/// 2. Ask the units. A replica of a committed page that fails, or is silent for
/// <see cref="CorfuClientOptions.ReadTimeout"/>, is left for another.
/// 3. Settle each answer: data, junk and trimmed are final. A lost or damaged page is read elsewhere, and repaired.
/// Back to step 1 for the rest.
/// 4. Unwritten at the tail: holes are closed if the caller wants that. Unwritten is answered only under a confirmed
/// epoch.
/// </remarks>
internal sealed partial class Reader(
    UnitCalls units, ChainReplication chains, HoleCloser closer, EpochConfirmer confirmer, CommittedSet committed,
    ReadRepair repair,
    Retry retry, ClientClock clock, CorfuClientOptions options, ILogger logger)
{
    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail, ReadMode mode, CancellationToken cancellationToken)
    {
        if (positions.IsEmpty) return [];
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.read");
        activity?.SetTag("corfu.positions", positions.Length);
        var began = clock.GetTimestamp();
        var call = new ReadCall(positions, detail, mode, cancellationToken);
        for (var i = 0; i < positions.Length; i++) call.Open.Add(i);
        await retry.RunAsync("A read", view => TryAsync(view, call), cancellationToken);
        ClientTelemetry.ReadPositions.Add(positions.Length);
        ClientTelemetry.ReadTime.Record(clock.GetElapsedTime(began).TotalSeconds);
        return ImmutableCollectionsMarshal.AsImmutableArray(call.Results);
    }

    /// <summary>
    /// Passes over what is open until only unwritten positions are left; results that are final stay, whatever becomes
    /// of the rest.
    /// </summary>
    private async ValueTask<Attempt<bool>> TryAsync(EpochView view, ReadCall call)
    {
        call.Reset();
        while (true)
        {
            // 1.
            var groups = Plan(view, call);
            if (groups.Count == 0) return true;

            // 2.
            var trouble = Status.Ok;
            Exception? silent = null;
            var answers = groups.Count == 1
                ? [await AskAsync(view, call, groups[0])]
                : await Task.WhenAll(groups.Select(g => AskAsync(view, call, g)));
            foreach (var (status, failure) in answers)
            {
                if (trouble == Status.Ok) trouble = status;
                silent ??= failure;
            }

            // 3. What has come is settled even if the rest is in trouble.
            List<int> open = [], unwritten = [];
            foreach (var index in call.Open)
            {
                var settled = await SettleAsync(view, call, index);
                if (settled is { IsDone: true, Value: Settled.Final }) continue;
                if (!settled.IsDone && trouble == Status.Ok) trouble = settled.Status;
                (settled is { IsDone: true, Value: Settled.Unwritten } ? unwritten : open).Add(index);
            }

            call.Open = [.. open, .. unwritten];
            call.Open.Sort();
            if (trouble != Status.Ok) return trouble;
            if (silent is not null) throw silent;

            // 4.
            if (open.Count == 0) return unwritten.Count == 0 ? true : await FinishUnwrittenAsync(view, call, unwritten);
        }
    }

    private async ValueTask<Attempt<bool>> FinishUnwrittenAsync(EpochView view, ReadCall call, List<int> unwritten)
    {
        if (call.Mode == ReadMode.CloseHoles)
        {
            var closed = await closer.CloseAsync(
                view, [.. unwritten.Select(i => call.Positions[i]).Distinct()], true, call.CancellationToken);
            if (!closed.IsDone) return closed.Status;
            unwritten = unwritten.FindAll(i => !TakeClosed(call, i, closed.Value));
            if (unwritten.Count == 0) return true;
        }

        var confirmed = await confirmer.ConfirmAsync(view, call.CancellationToken);
        if (confirmed != Status.Ok) return confirmed;
        foreach (var index in unwritten)
            call.Results[index] = new LogReadResult(call.Positions[index], PageState.Unwritten, null);
        return true;
    }

    private static bool TakeClosed(ReadCall call, int index, Dictionary<LogPosition, LogReadResult> closed)
    {
        if (!closed.TryGetValue(call.Positions[index], out var result)) return false;
        call.Results[index] = result with
        {
            Entry = call.Detail switch
            {
                ReadDetail.State => null,
                ReadDetail.Full => result.Entry,
                _ => result.Entry is { } entry ? entry with { Payload = default } : null,
            },
        };
        call.Open.Remove(index);
        return true;
    }
}

/// <summary>
/// A committed position (an append returned it, or a chain's tail had it) is unwritten at every replica.
/// </summary>
public sealed class DataLossException(LogPosition position)
    : CorfuException($"{position} was committed and is unwritten at every replica of its chain.")
{
    public LogPosition Position { get; } = position;
}
