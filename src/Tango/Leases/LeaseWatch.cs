using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Tango.Playback;

namespace Tango.Leases;

/// <summary>Expires the leases of the open objects whose owners are silent. Each runtime does: any one that lives is
/// enough, and Apply ends a lease once.</summary>
/// <param name="newHandle">Of a hosted object.</param>
internal sealed class LeaseWatch(
    Func<Player> player, Func<HostedObject, ITangoLeased> newHandle, TimeProvider time, LoopContext loops,
    ILogger logger, CancellationToken lifetime)
{
    private readonly Lock _gate = new();

    // Guarded by _gate, as what it holds: the open objects that may have leases.
    private readonly SortedDictionary<ObjectId, Watched> _watched = [];

    /// <summary>The unit is open, or has got a member.</summary>
    public void Watch(HostedUnit unit)
    {
        foreach (var member in unit.Objects)
        {
            if (member.Type is not { IsLeased: true }) continue;
            lock (_gate) _watched.TryAdd(member.Id, new Watched(member, new SilentLeases(time)));
        }

        OnPlayed();
    }

    /// <summary>The unit is not hosted any more.</summary>
    public void Unwatch(HostedUnit unit)
    {
        foreach (var member in unit.Objects)
        {
            lock (_gate) _watched.Remove(member.Id);
        }
    }

    /// <summary>Whether the unit has leases, as of the last cycle.</summary>
    public bool HasLeases(HostedUnit unit)
    {
        lock (_gate)
        {
            foreach (var member in unit.Objects)
            {
                if (_watched.TryGetValue(member.Id, out var watched) && watched.IsRunning) return true;
            }

            return false;
        }
    }

    /// <summary>At the end of a cycle, which serves all objects: it does not throw. The first lease of an object starts
    /// its clock.</summary>
    public void OnPlayed()
    {
        lock (_gate)
        {
            foreach (var watched in _watched.Values)
            {
                if (watched.IsRunning || !TryLook(watched)) continue;
                watched.IsRunning = true;
                loops.Start(() => RunAsync(watched));
            }
        }
    }

    private async Task RunAsync(Watched watched)
    {
        var handle = newHandle(watched.Object);
        while (!lifetime.IsCancellationRequested)
        {
            try
            {
                await Task.Delay(watched.Leases.Pause, time, lifetime);
                await player().CatchUpAsync();
                if (!LookOrEnd(watched)) return;
                foreach (var silent in watched.Leases.FindSilent())
                    await handle.ExpireAsync(silent.Id, silent.Version, lifetime);
            }
            catch (Exception e) when (!lifetime.IsCancellationRequested)
            {
                // What is still there is tried again.
                logger.LogDebug(e, "Leases of {Name} could not be expired", watched.Object.Name);
            }
            catch (Exception)
            {
                return;
            }
        }
    }

    /// <summary>The leases are told by the user's code. Where that fails, the object is not watched any more.</summary>
    private bool TryLook(Watched watched)
    {
        if (watched.HasFailed) return false;
        try
        {
            return watched.Leases.Look(player().Published.Of(watched.Object));
        }
        catch (Exception e)
        {
            watched.HasFailed = true;
            logger.LogError(e, "Leases of {Name} are not watched here any more", watched.Object.Name);
            return false;
        }
    }

    private bool LookOrEnd(Watched watched)
    {
        lock (_gate)
        {
            watched.IsRunning = TryLook(watched) && _watched.GetValueOrDefault(watched.Object.Id) == watched;
            return watched.IsRunning;
        }
    }

    private sealed class Watched(HostedObject hosted, SilentLeases leases)
    {
        public HostedObject Object => hosted;

        public SilentLeases Leases => leases;

        public bool IsRunning { get; set; }

        public bool HasFailed { get; set; }
    }
}
