namespace Tango.Playback;

/// <summary>The units that are open or being opened, each once. Openings do not wait for each other; callers who open
/// the same unit share one, which ends when all of them are cancelled.</summary>
/// <param name="create">Makes the opening of a unit with these members.</param>
internal sealed class UnitOpenings(Func<IReadOnlyList<DirectoryEntry>, UnitOpening> create)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. By first member; one that failed or was given up is not in it.
    private readonly Dictionary<ObjectId, UnitOpening> _units = [];

    public async ValueTask<HostedUnit> OpenAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var opening = Enter(members, out var isNew);
        if (isNew) _ = RunAsync(opening);
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

    private UnitOpening Enter(IReadOnlyList<DirectoryEntry> members, out bool isNew)
    {
        lock (_gate)
        {
            isNew = !_units.TryGetValue(members[0].Id, out var opening);
            if (isNew) _units.Add(members[0].Id, opening = create(members));
            opening!.Waiters++;
            return opening;
        }
    }

    private void Leave(UnitOpening opening)
    {
        lock (_gate)
        {
            if (--opening.Waiters > 0 || !opening.TryGiveUp()) return;
            Remove(opening);
        }
    }

    private async Task RunAsync(UnitOpening opening)
    {
        await opening.RunAsync();
        if (opening.Done.IsCompletedSuccessfully) return;
        lock (_gate) Remove(opening);
    }

    private void Remove(UnitOpening opening)
    {
        var id = opening.Unit.Objects[0].Id;
        if (_units.TryGetValue(id, out var known) && known == opening) _units.Remove(id);
    }
}
