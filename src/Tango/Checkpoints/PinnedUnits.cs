using Corfu.Protocol;
using Microsoft.Extensions.Logging;

namespace Tango.Checkpoints;

/// <summary>
/// Checkpoints units that hold the trim point and that are not open here, beside playback and one at a time. Usually no
/// runtime has them open; a host that does not get to it is no different.
/// </summary>
/// <param name="find">The unit that holds the trim point too far below a position, if it can be loaded here.</param>
/// <param name="checkpoint">Loads it, and lets go of it.</param>
/// <param name="trim">Trims what no claim needs any more.</param>
internal sealed class PinnedUnits(
    Func<LogPosition, IReadOnlyList<DirectoryEntry>?> find,
    Func<IReadOnlyList<DirectoryEntry>, CancellationToken, ValueTask> checkpoint,
    Func<CancellationToken, ValueTask> trim, LoopContext loops, ILogger logger, CancellationToken lifetime)
{
    // So many checkpoints at most follow one trim.
    private const int MaxAtOnce = 256;

    // A claim rises to the last checkpoint but one.
    private const int MaxOfOne = 2;

    private int _isRunning;

    /// <summary>The trim point has risen as far as the units that are open here let it.</summary>
    /// <param name="end">What is played here.</param>
    public void Start(LogPosition end)
    {
        if (Interlocked.Exchange(ref _isRunning, 1) == 0) loops.Start(() => RunAsync(end));
    }

    private async Task RunAsync(LogPosition end)
    {
        IReadOnlyList<DirectoryEntry>? members = null;
        try
        {
            ObjectId? last = null;
            var (made, ofOne) = (0, 0);
            while (made < MaxAtOnce && (members = find(end)) is not null)
            {
                ofOne = members[0].Id == last ? ofOne + 1 : 1;
                // It did not help: an undecided record holds the claim.
                if (ofOne > MaxOfOne) break;
                last = members[0].Id;
                await checkpoint(members, lifetime);
                made++;
            }

            if (made > 0) await trim(lifetime);
        }
        catch (Exception e)
        {
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "{Name} holds the log and was not checkpointed; it is tried again",
                    members?[0].Name);
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }
}
