using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Model;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// Opens one cohort, or rebuilds one that has stopped (R23). Its history is played beside the player, which goes on
/// serving the objects that are open (R20: as by a host of this cohort alone). Once it is near the tail, the cohort
/// joins the player at one position. Until then nothing of it is to be seen, and an opening that fails or is cancelled
/// leaves nothing behind.
/// </summary>
internal sealed class CohortOpening
{
    // Largest number of entries that are played within a cycle of the player, while readers wait.
    private const int NearEnough = 32;

    private const int New = 0;
    private const int Running = 1;
    private const int Joined = 2;
    private const int GivenUp = 3;

    private readonly Cohort _anew;
    private readonly CancellationTokenSource _cancel = new();
    private readonly CancellationToken _lifetime;
    private readonly PlaybackContext _context;
    private readonly CohortReplay _replay;
    private int _state;

    public CohortOpening(Cohort cohort, PlaybackContext context, CancellationToken lifetime)
    {
        (Cohort, _anew) = (cohort, cohort.Anew());
        (_context, _lifetime) = (context, lifetime);
        _replay = new CohortReplay(context, Done.WaitAsync, null, _cancel.Token);
    }

    public Cohort Cohort { get; }

    /// <summary>Ends when the cohort is open.</summary>
    public Completion Done { get; } = new();

    /// <summary>Guarded by the lock of <see cref="HostedCohorts"/>: callers that wait for it.</summary>
    public int Waiters { get; set; }

    private Playback Playback => _replay.Playback;

    /// <summary>Everything below is applied to the cohort. Not while <see cref="RunAsync"/> plays.</summary>
    public LogPosition PlayedTo => Playback.Hosted.Applied;

    /// <summary>Once it has ended: what the player takes over with the cohort.</summary>
    public ImmutableArray<AwaitedDecision> Awaited => Playback.Commits.HandOver();

    /// <summary>True for one of its callers, which then calls <see cref="RunAsync"/>.</summary>
    public bool TryStart() => Interlocked.CompareExchange(ref _state, Running, New) == New;

    public async Task RunAsync(Player player)
    {
        using var registration = _lifetime.UnsafeRegister(
            static cancel => ((CancellationTokenSource)cancel!).Cancel(), _cancel);
        try
        {
            await StartAsync();
            while (Volatile.Read(ref _state) == Running)
            {
                await CatchUpAsync();
                await player.HostAsync(this);
            }

            _cancel.Token.ThrowIfCancellationRequested();
        }
        finally
        {
            _cancel.Cancel();
        }
    }

    /// <summary>Answers the callers, after <see cref="RunAsync"/>.</summary>
    /// <param name="reason">Null: the cohort is open.</param>
    public void End(Exception? reason)
    {
        if (reason is null)
        {
            Done.End(null);
            return;
        }

        var typed = reason is LogTrimmedException ? new TangoTrimmedException(reason) : reason;
        if (_lifetime.IsCancellationRequested) typed = RuntimeLifetime.Ended();
        Done.End(typed);
        if (typed is not (ObjectDisposedException or OperationCanceledException))
            _context.Logger.LogWarning(reason, "Opening {Name} failed", Cohort.Objects[0].Name);
    }

    /// <returns>False: the cohort is open, or the opening has failed.</returns>
    public bool TryGiveUp()
    {
        if (Interlocked.CompareExchange(ref _state, GivenUp, Running) != Running) return false;
        _cancel.Cancel();
        return true;
    }

    /// <summary>Within a cycle of the player: plays up to its position and ends there.</summary>
    /// <returns>False: not now. The opening goes on beside the player, where it meets the reason again.</returns>
    public async ValueTask<bool> TryEndAsync(LogPosition end)
    {
        try
        {
            if (!await Playback.TryPlayToAsync(end)) return false;
        }
        catch (Exception e)
        {
            _context.Logger.LogDebug(e, "{Name} does not join at {Position}", Cohort.Objects[0].Name, end);
            return false;
        }

        if (Interlocked.CompareExchange(ref _state, Joined, Running) != Running) return false;
        Cohort.TakeOver(_anew, end);
        return true;
    }

    private async ValueTask StartAsync()
    {
        await _replay.LoadAsync(_anew, null);
        Playback.Hosted.AdvanceTo(_anew.Start);
        Playback.Add(_anew);
    }

    /// <summary>Plays in rounds, until one is short or no shorter than the one before: updates come as fast as they are
    /// played.</summary>
    private async ValueTask CatchUpAsync()
    {
        for (var (before, played) = (long.MaxValue, 0L); ; (before, played) = (played, 0))
        {
            await Playback.SyncAsync(ReadConsistency.Session);
            while (await Playback.PlayNextAsync()) played++;
            if (played <= NearEnough || played >= before) return;
        }
    }
}
