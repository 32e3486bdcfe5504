using System.Collections.Immutable;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Chores;
using Tango.Playback;
using Tango.Records;

namespace Tango.Upkeep;

/// <summary>
/// R20: decides commit records that hold a cohort's claim on history because nothing else will decide them: the client
/// is gone, and no runtime hosts all that they read. A runtime that is blocked by such a record decides it. A record
/// that writes only to objects which are not open anywhere blocks no runtime.
/// </summary>
internal sealed class ClaimHolders(PlaybackContext context, CancellationToken lifetime) : IChore
{
    private readonly Lock _gate = new();

    // Guarded by _gate, by cohort: how to find its records that have no decision yet.
    private Dictionary<ObjectId, Func<CancellationToken, ValueTask<IEnumerable<AwaitedDecision>>>> _found = [];

    /// <summary>A checkpoint of the cohort met commit records without decisions.</summary>
    /// <param name="find">Finds the records that have no decision after a while.</param>
    public void Start(ObjectId cohort, Func<CancellationToken, ValueTask<IEnumerable<AwaitedDecision>>> find)
    {
        lock (_gate) _found[cohort] = find;
        // As long as runtimes wait that are blocked: the client, or a host of all that was read, comes first.
        context.Chores.Schedule(this, 2 * context.Options.OrphanTimeout);
    }

    public async Task<TimeSpan?> RunAsync()
    {
        Dictionary<ObjectId, Func<CancellationToken, ValueTask<IEnumerable<AwaitedDecision>>>> found;
        lock (_gate) (found, _found) = (_found, []);
        foreach (var find in found.Values)
        {
            try
            {
                foreach (var held in (await find(lifetime)).ToImmutableArray()) await TryDecideAsync(held.Commit);
            }
            catch (Exception e)
            {
                Report(e);
            }
        }

        return null;
    }

    private async ValueTask TryDecideAsync(RecordVersion commit)
    {
        try
        {
            await DecideAsync(commit);
        }
        catch (Exception e)
        {
            // The others may be decided.
            Report(e);
        }
    }

    private void Report(Exception reason)
    {
        if (!lifetime.IsCancellationRequested)
            context.Logger.LogWarning(
                reason, "An undecided commit record holds history; it is tried again after the next checkpoint");
    }

    private async ValueTask DecideAsync(RecordVersion commit)
    {
        var page = (await context.Log.ReadManyAsync([commit.Position], cancellationToken: lifetime))[0];
        if (!page.IsData) throw new TangoFormatException($"Commit record {commit} is {page.State}");
        context.Logger.LogWarning("No host has decided {Commit}, which holds history: playing its read set", commit);
        var decided = await DecisionProbe.RunAsync(page.Entry!, commit, context, lifetime);
        context.Calls.Send(new DecisionCall(decided, static () => { }));
    }
}
