using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Chores;
using Tango.Model;
using Tango.Playback;

namespace Tango.Upkeep;

/// <summary>Expires the leases of the open objects whose owners are silent. Each runtime does: any one that lives is
/// enough, and Apply ends a lease once. A round serves all objects, with one check of the log.</summary>
/// <param name="runtime">The runtime's number: runtimes that find the same leases silent begin at different ones.
/// </param>
/// <param name="newHandle">Makes a handle of a hosted object, by the user's constructor.</param>
internal sealed class LeaseWatch(
    ulong runtime, Player player, Func<HostedObject, ITangoLeased> newHandle, TimeProvider time,
    ChoreLoop chores, ILogger logger, CancellationToken lifetime) : IChore
{
    private const int MaxExpiriesAtOnce = 64;

    private readonly Lock _gate = new();

    // Guarded by _gate: the open objects that may have leases.
    private readonly SortedDictionary<ObjectId, Watched> _watched = [];

    // Used by RunAsync alone: when the newest round began. Null: no object had leases.
    private long? _round;

    /// <summary>The cohort is open, or has got a member.</summary>
    public void Watch(Cohort cohort)
    {
        foreach (var member in cohort.Objects)
        {
            if (member.Type is not { IsLeased: true }) continue;
            lock (_gate) _watched.TryAdd(member.Id, new Watched(member, new SilentLeases(time)));
        }

        FindFirst();
    }

    /// <summary>The cohort is not hosted any more.</summary>
    public void Unwatch(Cohort cohort)
    {
        foreach (var member in cohort.Objects)
        {
            lock (_gate) _watched.Remove(member.Id);
        }
    }

    /// <summary>At the end of a cycle, which serves all objects: it does not throw, and takes no time for each lease.
    /// The first lease of an object starts its clock.</summary>
    public void OnPlayed(LogPosition end) => FindFirst();

    private void FindFirst()
    {
        var found = false;
        lock (_gate)
        {
            foreach (var watched in _watched.Values)
            {
                if (!watched.HasLeases) found |= watched.HasLeases = TellsLeases(watched);
            }
        }

        // How long the first pause is takes a look at each lease.
        if (found) chores.Schedule(this, TimeSpan.Zero);
    }

    public async Task<TimeSpan?> RunAsync()
    {
        Watched[] leased;
        lock (_gate) leased = [.. _watched.Values.Where(static watched => watched.HasLeases)];
        if (leased.Length == 0)
        {
            _round = null;
            return null;
        }

        _round ??= time.GetTimestamp();
        foreach (var watched in leased)
        {
            if (!watched.Leases.Any) Look(watched);
        }

        // From round to round: first leases of other objects may shorten a pause, and never begin it again.
        var left = leased.Min(static watched => watched.Leases.Pause) - time.GetElapsedTime(_round.Value);
        if (left > TimeSpan.Zero) return left;
        _round = time.GetTimestamp();
        try
        {
            await player.CatchUpAsync();
            foreach (var watched in leased) await ExpireSilentAsync(watched);
        }
        catch (Exception e) when (!lifetime.IsCancellationRequested)
        {
            // The player has logged it. The next round tries again.
            logger.LogDebug(e, "Leases could not be looked at");
        }

        return TimeSpan.Zero;
    }

    /// <summary>Many at once, but few after a look: other runtimes expire the same leases.</summary>
    private async ValueTask ExpireSilentAsync(Watched watched)
    {
        Look(watched);
        if (watched.Leases.FindSilent() is not { Length: > 0 } found || FindHandle(watched) is not { } handle) return;
        var first = (int)(runtime % (ulong)found.Length);
        try
        {
            foreach (var some in found.Skip(first).Concat(found.Take(first)).Chunk(MaxExpiriesAtOnce))
            {
                var silent = some.Where(watched.Leases.Has).ToArray();
                if (silent.Length == 0) continue;
                await Task.WhenAll(silent.Select(
                    lease => handle.ExpireAsync(lease.Id, lease.Version, lifetime).AsTask()));
                await player.CatchUpAsync();
                Look(watched);
            }
        }
        catch (Exception e) when (!lifetime.IsCancellationRequested)
        {
            // The next round tries again with what is still there.
            logger.LogDebug(e, "Leases of {Name} could not be expired", watched.Object.Name);
        }
    }

    private ITangoLeased? FindHandle(Watched watched)
    {
        try
        {
            return watched.Handle ??= newHandle(watched.Object);
        }
        catch (Exception e)
        {
            Fail(watched, e);
            return null;
        }
    }

    /// <summary>By the loop alone, and without the lock: it takes time for each lease.</summary>
    private void Look(Watched watched)
    {
        try
        {
            watched.Leases.Look(player.Published.Of(watched.Object));
        }
        catch (Exception e)
        {
            Fail(watched, e);
        }

        if (watched.Leases.Any) return;
        // A cycle that ended since may have shown a lease, and passed over an object that seemed to have some.
        lock (_gate) watched.HasLeases = TellsLeases(watched);
    }

    private bool TellsLeases(Watched watched)
    {
        if (watched.HasFailed) return false;
        try
        {
            var published = player.Published.Of(watched.Object);
            if (SilentLeases.Of(published) is not { } leases || published.LastWriteEnd == watched.EmptyAt) return false;
            if (leases.Any()) return true;
            watched.EmptyAt = published.LastWriteEnd;
        }
        catch (Exception e)
        {
            Fail(watched, e);
        }

        return false;
    }

    /// <summary>The user's code tells the leases, and makes the handle. Where that fails, the object is not watched
    /// any more.</summary>
    private void Fail(Watched watched, Exception e)
    {
        lock (_gate) (watched.HasFailed, watched.HasLeases) = (true, false);
        logger.LogError(e, "Leases of {Name} are not watched here any more", watched.Object.Name);
    }

    private sealed class Watched(HostedObject hosted, SilentLeases leases)
    {
        public HostedObject Object => hosted;

        // Used by the loop alone, as the handle.
        public SilentLeases Leases => leases;

        public ITangoLeased? Handle { get; set; }

        // Written under the watch's gate, as the next two. A cohort with leases does not leave.
        public bool HasLeases
        {
            get => hosted.HasLeases;
            set => hosted.HasLeases = value;
        }

        /// <summary>The object's last write after which it had no leases.</summary>
        public LogPosition? EmptyAt { get; set; }

        public bool HasFailed { get; set; }
    }
}
