namespace Tango.Playback;

/// <summary>The units that are open or being opened, each once. Openings do not wait for each other; callers who open
/// the same unit share one, which ends when all of them are cancelled.</summary>
/// <param name="opened">Called before those who open the unit are answered.</param>
internal sealed class UnitOpenings(
    Func<DirectoryEntry, HostedObject> host, Func<HostedUnit, UnitOpening> create, Action<HostedUnit> opened)
{
    private readonly Lock _gate = new();

    // Guarded by _gate; by first member.
    private readonly Dictionary<ObjectId, HostedUnit> _open = [];
    private readonly Dictionary<ObjectId, UnitOpening> _running = [];

    public ValueTask<HostedUnit> OpenAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        UnitOpening opening;
        lock (_gate)
        {
            if (_open.TryGetValue(members[0].Id, out var open)) return new ValueTask<HostedUnit>(open);
            if (!_running.TryGetValue(members[0].Id, out opening!))
                opening = Create(new HostedUnit([.. members.Select(host)]));
            opening.Waiters++;
        }

        return WaitAsync(opening, cancellationToken);
    }

    /// <summary>Plays an open unit anew from its checkpoint, or from the beginning: the result takes the place of what
    /// has stopped (R23).</summary>
    public async ValueTask RebuildAsync(HostedUnit unit, CancellationToken cancellationToken)
    {
        UnitOpening opening;
        lock (_gate)
        {
            if (!_running.TryGetValue(unit.Objects[0].Id, out opening!)) opening = Create(unit);
            opening.Waiters++;
        }

        await WaitAsync(opening, cancellationToken);
    }

    private UnitOpening Create(HostedUnit unit)
    {
        var opening = create(unit);
        _running.Add(unit.Objects[0].Id, opening);
        return opening;
    }

    private async ValueTask<HostedUnit> WaitAsync(UnitOpening opening, CancellationToken cancellationToken)
    {
        if (opening.TryStart()) _ = RunAsync(opening);
        try
        {
            await opening.Done.WaitOrCancelAsync(cancellationToken);
            return opening.Unit;
        }
        finally
        {
            Leave(opening);
        }
    }

    private void Leave(UnitOpening opening)
    {
        lock (_gate)
        {
            if (--opening.Waiters == 0 && opening.TryGiveUp()) Remove(opening);
        }
    }

    private async Task RunAsync(UnitOpening opening)
    {
        Exception? reason = null;
        try
        {
            await opening.RunAsync();
        }
        catch (Exception e)
        {
            reason = e;
        }

        lock (_gate)
        {
            Remove(opening);
            if (reason is null) _open[opening.Unit.Objects[0].Id] = opening.Unit;
        }

        if (reason is null) opened(opening.Unit);

        opening.End(reason);
    }

    private void Remove(UnitOpening opening)
    {
        var id = opening.Unit.Objects[0].Id;
        if (_running.GetValueOrDefault(id) == opening) _running.Remove(id);
    }
}
