namespace Salus.Coordination;

/// <summary>Which suspicions count. Pure.</summary>
/// <remarks>A wrong answer counts at once: the driver that compared it is trusted. A stall names the region and guesses
/// at the member, so all members are probed: those that do not answer are the ones. Where all of them answer, a second
/// stall within a minute counts against the member that it names: it may answer the agent and be cut off from its
/// neighbours.</remarks>
internal sealed class Accusations(SalusAgentOptions options)
{
    // Whether a member has answered the probe that a stall of its region caused.
    private readonly Dictionary<(VolumeId Volume, Suspicion Stall, Incarnation Member), bool> _answered = [];

    /// <summary>Members of the region's newest generation that are accused with reason.</summary>
    public HashSet<Incarnation> Proven(VolumeState volume, int region)
    {
        Suspicion[] all = [.. Of(volume, region)];
        var stalls = all.Where(static suspicion => suspicion.Kind == SuspicionKind.Stall).ToArray();
        var proven = all.Except(stalls).Select(static suspicion => suspicion.Member).ToHashSet();
        Incarnation[] mute = [.. volume.Regions[region].Current.Members.Select(static member => member.Incarnation)
            .Where(member => stalls.Any(stall =>
                _answered.TryGetValue((volume.Head.Id, stall, member), out var answers) && !answers))];
        proven.UnionWith(mute.Length > 0
            ? mute
            : stalls.Where(stall => IsSecond(stall, stalls)).Select(static stall => stall.Member));
        return proven;
    }

    /// <summary>Members that a stall of the region lets the agent probe.</summary>
    public IEnumerable<(Suspicion Stall, RegionMember Member)> Unproven(VolumeState volume, int region) =>
        from stall in Of(volume, region)
        where stall.Kind == SuspicionKind.Stall
        from member in volume.Regions[region].Current.Members
        where !_answered.ContainsKey((volume.Head.Id, stall, member.Incarnation))
        select (stall, member);

    public void Record(VolumeId volume, Suspicion stall, Incarnation member, bool answers) =>
        _answered[(volume, stall, member)] = answers;

    /// <summary>Stores that any volume has accused lately, rightly or not.</summary>
    public HashSet<StoreId> Lately(MapView view, long unixMilliseconds)
    {
        var stores = new HashSet<StoreId>();
        foreach (var volume in view.Volumes.Values)
        {
            foreach (var suspicion in volume.Head.Suspicions)
            {
                if (unixMilliseconds - suspicion.UnixMilliseconds <= options.AccusedFor.TotalMilliseconds
                    && StoreOf(volume, suspicion) is { } store) stores.Add(store);
            }
        }

        return stores;
    }

    /// <summary>Drops what is known of suspicions that are over.</summary>
    public void Forget(MapView view)
    {
        foreach (var known in _answered.Keys.Where(known =>
            !view.Volumes.TryGetValue(known.Volume, out var volume) || !volume.Head.Suspicions.Contains(known.Stall))
            .ToArray()) _answered.Remove(known);
    }

    // A suspicion is of a generation: behind the next Replace it says nothing of the region any more. Two equal ones
    // are one that was sent twice.
    private static IEnumerable<Suspicion> Of(VolumeState volume, int region)
    {
        var current = volume.Regions[region].Current;
        return volume.Head.Suspicions.Where(suspicion => suspicion.Region == region
            && suspicion.Generation == current.Number && current.Find(suspicion.Member) is not null).Distinct();
    }

    private static StoreId? StoreOf(VolumeState volume, Suspicion suspicion) =>
        volume.Regions.TryGetValue(suspicion.Region, out var region)
            ? region.Generations.FirstOrDefault(generation => generation.Number == suspicion.Generation)
                ?.Find(suspicion.Member)?.Store
            : null;

    private bool IsSecond(Suspicion stall, Suspicion[] stalls) => stalls.Any(other => other != stall
        && other.Member == stall.Member && other.UnixMilliseconds <= stall.UnixMilliseconds
        && stall.UnixMilliseconds - other.UnixMilliseconds <= options.StallWindow.TotalMilliseconds);
}
