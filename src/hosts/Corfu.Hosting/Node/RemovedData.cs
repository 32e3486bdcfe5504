using Corfu.Agent;
using Corfu.Client.Layout;

namespace Corfu.Hosting;

/// <summary>Data that removed identities have left on this node's disk. It is never served and no source of copies. It
/// is deleted when decided history shows that it is redundant (<see cref="Removal.IsRedundant"/>). After R14's override
/// it stays, for <c>corfu log salvage</c>.</summary>
internal sealed class RemovedData(LayoutClient layout, ILogger logger)
{
    // A new unit needs the space of the old one's data, and the space that a unit keeps free.
    private const long Reserve = 256L << 20;

    // Decided projections do not change: history is read once, and continued from there.
    private readonly Dictionary<NodeId, List<Projection>> _history = [];
    private readonly Dictionary<NodeId, Epoch> _never = [];

    /// <summary>The newest epoch that named an identity which <paramref name="newest"/> does not name; none if
    /// acceptors remember none.</summary>
    public async Task<Epoch> LastNamedAsync(NodeId id, Projection newest, CancellationToken cancellationToken) =>
        await HistoryAsync(id, newest, cancellationToken) is { } history ? history[0].Epoch : Epoch.None;

    /// <summary>Why a removed unit cannot have a new folder beside its old one now, or null.</summary>
    public async Task<string?> WhyWaitAsync(string folder, NodeId id, Projection newest,
        CancellationToken cancellationToken)
    {
        if (!Directory.Exists(folder)) return null;
        var needed = new DirectoryInfo(folder).EnumerateFiles("*", SearchOption.AllDirectories).Sum(file => file.Length)
            + Reserve;
        var free = new DriveInfo(folder).AvailableFreeSpace;
        if (free >= needed || await IsRedundantAsync(id, newest, cancellationToken)) return null;
        return $"removed; a new folder beside the old one waits for {needed >> 20} MiB, {free >> 20} MiB are free";
    }

    /// <summary>Deletes the folders of earlier identities whose data is redundant.</summary>
    public async Task DropAsync(string folder, NodeRole role, Projection newest, CancellationToken cancellationToken)
    {
        foreach (var kept in ReformatFiles.Kept(folder).ToList())
        {
            // Acceptors leave nothing behind that their successors do not hold (R12); without an identity it is the
            // rest of an interrupted deletion.
            if (role == NodeRole.Unit && RoleFolder.IdentityOf(kept) is { } id
                && !await IsRedundantAsync(new NodeId(id), newest, cancellationToken)) continue;

            Directory.Delete(kept, recursive: true);
            HostingLog.KeptDeleted(logger, kept);
        }
    }

    // An identity that is still named counts as a replica of what it had.
    private async Task<bool> IsRedundantAsync(NodeId id, Projection newest, CancellationToken cancellationToken) =>
        !Removal.Names(newest, id)
        && await HistoryAsync(id, newest, cancellationToken) is { } history && Removal.IsRedundant(history);

    /// <summary>From the last projection that named the identity to the newest; null if none did, or if a part of it is
    /// not remembered.</summary>
    private async Task<List<Projection>?> HistoryAsync(NodeId id, Projection newest,
        CancellationToken cancellationToken)
    {
        var known = _history.GetValueOrDefault(id);
        var floor = known?[^1].Epoch ?? _never.GetValueOrDefault(id);
        if (newest.Epoch <= floor) return known;
        List<Projection> added = [newest];
        while (added[0].Epoch.Value > floor.Value + 1 && !Removal.Names(added[0], id))
        {
            if (await layout.ReadHistoryAsync(newest, new Epoch(added[0].Epoch.Value - 1),
                cancellationToken) is not { } before) break;
            added.Insert(0, before);
        }

        var isWhole = added[0].Epoch.Value == floor.Value + 1 || Removal.Names(added[0], id);
        if (known is null && !Removal.Names(added[0], id))
        {
            // A spare is not looked for again in what is read, or pruned, already. No answer at all says nothing.
            if (added.Count > 1 || isWhole) _never[id] = newest.Epoch;
            return null;
        }

        if (!isWhole) return null;
        return _history[id] = [.. known ?? [], .. added];
    }
}
