using System.Globalization;

namespace Salus.Coordination;

/// <summary>How a volume is, for people. Numbers rise with the trouble.</summary>
public enum VolumeHealth
{
    /// <summary>All regions have opened, with members that are there.</summary>
    Ready = 0,

    Creating = 1,

    Deleting = 2,

    /// <summary>Requests to some regions wait for their recovery.</summary>
    Recovering = 3,

    /// <summary>Something is missing that a process, a store or an operator must bring.</summary>
    Waiting = 4,

    /// <summary>No store of a region is known any more.</summary>
    Lost = 5,
}

/// <summary>A volume's condition, and a sentence for each thing that a user or operator should know. Pure.</summary>
/// <param name="Notes">Most urgent first; what the volume has lost for ever at the end.</param>
public sealed record VolumeCondition(string Name, VolumeEntry Entry, VolumeHealth Health, ImmutableArray<string> Notes)
{
    /// <summary>Null: the name leads to no volume.</summary>
    public static VolumeCondition? Of(string name, MapView view)
    {
        ArgumentNullException.ThrowIfNull(view);
        if (!view.Entries.TryGetValue(name, out var entry)) return null;
        var notes = new List<(VolumeHealth Health, string Text)>();
        var state = view.Volumes.GetValueOrDefault(entry.Id) ?? VolumeState.Empty;
        if (entry.Stage == VolumeStage.Creating) notes.Add((VolumeHealth.Creating, Creation(entry, state, view.Nodes)));
        if (entry.Stage == VolumeStage.Deleting) notes.Add((VolumeHealth.Deleting, Deletion(view.Nodes)));
        else notes.AddRange(Grouped(RegionsOf(state, view.Nodes)).Concat(ShortfallOf(state, view.Nodes)));
        var health = notes.Count == 0 ? VolumeHealth.Ready : notes.Max(static note => note.Health);
        return new VolumeCondition(name, entry, health,
        [
            .. notes.OrderByDescending(static note => note.Health).Select(static note => note.Text),
            .. SnapshotsOf(state), .. state.Head.Losses.Select(LossOf),
        ]);
    }

    private static string Creation(VolumeEntry entry, VolumeState state, NodeBookView nodes)
    {
        var placed = $"{state.Regions.Count} of {entry.Geometry.Regions} regions are placed";
        return LiveOf(nodes) < entry.Geometry.Copies ? $"{placed}: {TooFew(entry.Geometry.Copies, nodes)}" : placed;
    }

    private static string Deletion(NodeBookView nodes)
    {
        StoreId[] away = [.. nodes.Stores.Values.Where(static node => node.State != BookedState.Live)
            .Select(static node => node.Store)];
        return away.Length == 0
            ? "the stores free what they hold of it"
            : $"it waits for store {string.Join(", store ", away)}, away at present, which may hold some of it: start "
                + "the process, or forget the store if it never returns";
    }

    // A store that ends is the same news for many regions: one sentence.
    private static IEnumerable<(VolumeHealth Health, string Text)> Grouped(
        IEnumerable<(VolumeHealth Health, int Region, string Text)> notes) => notes
        .GroupBy(static note => (note.Health, note.Text), static note => note.Region)
        .Select(static group => (group.Key.Health, $"{Names([.. group])}: {group.Key.Text}"));

    // "regions 0 to 7, 9": runs of neighbours by their ends.
    private static string Names(int[] regions)
    {
        var runs = new List<(int First, int Last)>();
        foreach (var region in regions)
        {
            if (runs.Count > 0 && runs[^1].Last == region - 1) runs[^1] = (runs[^1].First, region);
            else runs.Add((region, region));
        }

        var names = runs.Select(static run =>
            run.First == run.Last ? $"{run.First}" : $"{run.First} to {run.Last}");
        return (regions.Length == 1 ? "region " : "regions ") + string.Join(", ", names);
    }

    private static IEnumerable<(VolumeHealth Health, int Region, string Text)> RegionsOf(
        VolumeState state, NodeBookView nodes)
    {
        foreach (var (region, known) in state.Regions)
        {
            var current = known.Current;
            if (known.Generations.All(generation => generation.Members.All(member => nodes.Find(member.Store) is null)))
            {
                yield return (VolumeHealth.Lost, region,
                    "all stores that had blocks were forgotten; they cannot be read");
                continue;
            }

            var gone = current.Members.Where(member => !nodes.IsLive(member)).ToArray();
            if (gone.Length > 0 && LiveOf(nodes) < current.Members.Length)
            {
                yield return (VolumeHealth.Waiting, region, "the process of store "
                    + $"{string.Join(", store ", gone.Select(static member => member.Store))} has ended: "
                    + TooFew(current.Members.Length, nodes));
            }
            else if (current.Opening is null && !known.Informed.Any(store => IsLive(nodes, store)))
            {
                var booked = known.Informed.Where(store => nodes.Find(store) is not null);
                yield return (VolumeHealth.Waiting, region,
                    $"store {string.Join(" or store ", booked)} had it and is away: start the "
                    + "process, or forget the stores if they never return");
            }
            else if (gone.Length > 0 || current.Opening is null)
            {
                yield return (VolumeHealth.Recovering, region,
                    $"recovery to generation {current.Number.Value + (gone.Length > 0 ? 1 : 0)}");
            }
        }
    }

    private static IEnumerable<(VolumeHealth Health, string Text)> ShortfallOf(VolumeState state, NodeBookView nodes)
    {
        if (state.Head.Phase != RunPhase.Waiting || state.Head.Shortfall is not { } shortfall) yield break;
        // Roots alone do not show which of the regions it is.
        IEnumerable<ImmutableArray<int>> groups = shortfall.Prefix is null
            ? shortfall.Regions.Select(static region => ImmutableArray.Create(region))
            : [shortfall.Regions];
        foreach (var group in groups)
        {
            StoreId[] missing = [.. group.SelectMany(region => state.Regions[region].Generations)
                .SelectMany(static generation => generation.Members).Select(static member => member.Store).Distinct()
                .Where(store => !IsLive(nodes, store))];
            var regions = string.Join(" or ", group);
            var proven = $"{shortfall.Proven.Number} is proven committed, {shortfall.Shown} is there";
            yield return (VolumeHealth.Waiting, missing.Length > 0
                ? $"region {regions} needs store {string.Join(" or store ", missing)}: {proven}"
                : $"region {regions}: {proven}, and no store that had it is missing: accept the loss of the tail");
        }
    }

    private static IEnumerable<string> SnapshotsOf(VolumeState state) => state.Head.Snapshots
        .Where(static snapshot => snapshot.State == SnapshotState.Diverged)
        .Select(static snapshot => $"snapshot {snapshot.Name} cannot be read, its regions differ: delete it");

    private static string LossOf(VolumeLoss loss)
    {
        var time = DateTimeOffset.FromUnixTimeMilliseconds(loss.UnixMilliseconds);
        return string.Create(CultureInfo.InvariantCulture,
            $"batches {loss.Kept.Number + 1} to {loss.Proven.Number} were given up by {loss.By} at "
            + $"{time:yyyy-MM-dd HH:mm:ss} UTC");
    }

    private static bool IsLive(NodeBookView nodes, StoreId store) =>
        nodes.Find(store) is { State: BookedState.Live };

    private static int LiveOf(NodeBookView nodes) =>
        nodes.Stores.Values.Count(static node => node.State == BookedState.Live);

    private static string TooFew(int copies, NodeBookView nodes) =>
        $"{copies} processes are needed and {LiveOf(nodes)} live: start another";
}
