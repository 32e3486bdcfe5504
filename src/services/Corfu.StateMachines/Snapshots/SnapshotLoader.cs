using Corfu.StateMachines.State;

namespace Corfu.StateMachines.Snapshots;

/// <summary>Makes a machine's state from the newest snapshot that can be read.</summary>
internal sealed class SnapshotLoader(SnapshotStore store, Func<IStateMachine> create)
{
    /// <summary>The state of the newest snapshot above a position; null: none can be read.</summary>
    /// <param name="above">The caller has played so far, so an older snapshot helps nothing.</param>
    /// <exception cref="CorfuException">The log cannot be reached.</exception>
    // Invariant: a part that is trimmed under the loader means that newer snapshots were complete and read back before.
    // The loader therefore asks anew, and takes the newest again. A damaged one is passed over for the one before (M5).
    public async Task<MachineState?> LoadAsync(LogPosition above, CancellationToken cancellationToken)
    {
        var tried = LogPosition.Zero;
        while (true)
        {
            var newest = LogPosition.Zero;
            foreach (var snapshot in await store.NewestAsync(cancellationToken))
            {
                newest = LogPosition.Max(newest, snapshot.End);
                if (snapshot.End <= above) continue;
                if (await TryLoadAsync(snapshot, cancellationToken) is { } state) return state;
            }

            // Another round helps only if another snapshot was written meanwhile.
            if (newest <= tried) return null;
            tried = newest;
        }
    }

    private async Task<MachineState?> TryLoadAsync(SnapshotRecord snapshot, CancellationToken cancellationToken)
    {
        SavedState saved;
        MemoryStream content;
        try
        {
            content = await store.ReadAsync(snapshot, cancellationToken);
            saved = await SnapshotStore.ReadHeadAsync(content, cancellationToken);
            if (saved.End != snapshot.End || saved.Digest != snapshot.Digest)
                throw new MachineFormatException($"The snapshot below {snapshot.End} has another state than it says");
        }
        catch (CorfuException e) when (e is LogTrimmedException or MachineFormatException)
        {
            return null;
        }

        var machine = create();
        await using var rest = new MemoryStream(
            content.GetBuffer(), (int)content.Position, (int)(content.Length - content.Position),
            writable: false);
        await machine.RestoreAsync(rest, cancellationToken);
        return new MachineState(machine, saved);
    }
}
