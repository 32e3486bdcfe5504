using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>Reads (CORFU 2.4; R11). One request per unit serves all its positions of a call.</summary>
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
    ReadRepair repair, Retry retry, ClientClock clock, CorfuClientOptions options, ILogger logger)
{
    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail, ReadMode mode, CancellationToken cancellationToken)
    {
        if (positions.IsEmpty) return [];
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.read");
        activity?.SetTag("corfu.positions", positions.Length);
        var began = clock.GetTimestamp();
        var call = new ReadCall(positions, detail, mode, cancellationToken);
        await retry.RunAsync("A read", view => TryAsync(view, call), cancellationToken);
        ClientTelemetry.ReadPositions.Add(positions.Length);
        ClientTelemetry.ReadTime.Record(clock.GetElapsedTime(began).TotalSeconds);
        return [.. call.Items.Select(i => i.Result!.Value)];
    }

    /// <summary>Passes over the open positions until only unwritten ones are left. Final results stay, whatever becomes
    /// of the rest.</summary>
    private async ValueTask<Status> TryAsync(EpochView view, ReadCall call)
    {
        foreach (var item in call.Items) item.Reset();
        while (true)
        {
            // 1.
            var groups = Plan(view, call);
            if (groups.Count == 0) return Status.Ok;

            // 2.
            var answers = groups.Count == 1
                ? [await AskAsync(view, call, groups[0])]
                : await Task.WhenAll(groups.Select(g => AskAsync(view, call, g)));
            var trouble = answers.FirstOrDefault(a => a.Status != Status.Ok).Status;
            var silent = answers.FirstOrDefault(a => a.Silent is not null).Silent;

            // 3. Answers are settled even if other units fail.
            var open = Array.FindAll(call.Items, i => i.Result is null);
            foreach (var item in open)
            {
                var status = await SettleAsync(view, call, item);
                if (trouble == Status.Ok) trouble = status;
            }

            if (trouble != Status.Ok) return trouble;
            if (silent is not null) throw silent;

            // 4.
            open = Array.FindAll(open, i => i.Result is null);
            if (open.Length == 0) return Status.Ok;
            if (Array.TrueForAll(open, i => i.IsUnwritten)) return await FinishUnwrittenAsync(view, call, open);
        }
    }

    private async ValueTask<Status> FinishUnwrittenAsync(EpochView view, ReadCall call, ReadItem[] unwritten)
    {
        if (call.Mode == ReadMode.CloseHoles)
        {
            var closed = await closer.CloseAsync(
                view, [.. unwritten.Select(i => i.Position).Distinct()], true, call.CancellationToken);
            if (!closed.IsDone) return closed.Status;
            foreach (var item in unwritten)
            {
                if (closed.Value.TryGetValue(item.Position, out var result)) item.Result = result.At(call.Detail);
            }

            unwritten = Array.FindAll(unwritten, i => i.Result is null);
            if (unwritten.Length == 0) return Status.Ok;
        }

        var confirmed = await confirmer.ConfirmAsync(view, call.CancellationToken);
        if (confirmed != Status.Ok) return confirmed;
        foreach (var item in unwritten) item.Result = new LogReadResult(item.Position, PageState.Unwritten, null);
        return Status.Ok;
    }
}

/// <summary>A position that an append returned, or a chain's tail had, is unwritten at every replica.</summary>
public sealed class DataLossException(LogPosition position)
    : CorfuException($"{position} was committed and is unwritten at every replica of its chain.")
{
    public LogPosition Position { get; } = position;
}
