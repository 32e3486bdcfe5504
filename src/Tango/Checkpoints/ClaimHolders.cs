using System.Collections.Immutable;
using Corfu.Client;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Playback;
using Tango.Records;

namespace Tango.Checkpoints;

/// <summary>
/// R20: decides commit records that hold a unit's claim on history because nothing else will decide them: the client is
/// gone, and no runtime hosts all that they read. A runtime that is blocked by such a record decides it. A record that
/// writes only to objects which are not open anywhere blocks no runtime.
/// </summary>
internal sealed class ClaimHolders(PlaybackContext context, CancellationToken lifetime)
{
    private int _isRunning;

    /// <summary>A checkpoint met commit records without decisions.</summary>
    /// <param name="find">Those that have none after a while.</param>
    public void Start(Func<CancellationToken, ValueTask<IEnumerable<AwaitedDecision>>> find)
    {
        if (Interlocked.Exchange(ref _isRunning, 1) == 0) context.Loops.Start(() => RunAsync(find));
    }

    private async Task RunAsync(Func<CancellationToken, ValueTask<IEnumerable<AwaitedDecision>>> find)
    {
        try
        {
            // As long as runtimes wait that are blocked: the client, or a host of all that was read, comes first.
            await Task.Delay(2 * context.Options.OrphanTimeout, context.Time, lifetime);
            foreach (var held in (await find(lifetime)).ToImmutableArray()) await DecideAsync(held.Commit);
        }
        catch (Exception e)
        {
            if (!lifetime.IsCancellationRequested)
                context.Logger.LogWarning(e, "An undecided commit record holds history; it is tried again");
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }

    private async ValueTask DecideAsync(RecordVersion commit)
    {
        var page = (await context.Log.ReadManyAsync([commit.Position], cancellationToken: lifetime))[0];
        if (!page.IsData) throw new TangoFormatException($"Commit record {commit} is {page.State}");
        context.Logger.LogWarning("No host has decided {Commit}, which holds history: playing its read set", commit);
        var decided = await DecisionProbe.RunAsync(page.Entry!, commit, context, lifetime);
        context.Calls.Send(new DecisionCall(
            DecisionFormat.Encode(commit, decided.Aborted), decided.Streams, static () => { }));
    }
}
