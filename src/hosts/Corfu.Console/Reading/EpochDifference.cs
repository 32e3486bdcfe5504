namespace Corfu.WebConsole.Reading;

/// <summary>The changes of an epoch, in words.</summary>
internal static class EpochDifference
{
    public static ImmutableArray<string> Of(Projection before, Projection after)
    {
        var changes = ImmutableArray.CreateBuilder<string>();
        if (before.Sequencer.Id != after.Sequencer.Id)
            changes.Add(before.Sequencer.Endpoint == after.Sequencer.Endpoint
                ? $"{after.Sequencer.Endpoint} grants anew"
                : $"{after.Sequencer.Endpoint} grants instead of {before.Sequencer.Endpoint}");
        AddUnits(before, after, changes);
        AddAcceptors(before.Acceptors, after.Acceptors, changes);
        var closed = after.Segments.Length - before.Segments.Length;
        if (closed > 0) changes.Add($"new chains from position {after.Active.From.Offset} on");
        else if (closed < 0) changes.Add($"ranges merged: {after.Segments.Length} instead of {before.Segments.Length}");
        if (before.MirrorOf != after.MirrorOf)
            changes.Add(after.MirrorOf.IsNone ? "the mirror takes appends" : $"a mirror of {after.MirrorOf}");
        return changes.DrainToImmutable();
    }

    private static void AddUnits(Projection before, Projection after, ImmutableArray<string>.Builder changes)
    {
        var (wereJoining, areJoining) = (Joining(before), Joining(after));
        foreach (var unit in after.Units.Where(unit => !before.HasUnit(unit.Id)))
            changes.Add($"{unit.Endpoint} {(areJoining.Contains(unit.Id) ? "joins" : "serves")}");
        foreach (var unit in before.Units.Where(unit => !after.HasUnit(unit.Id)))
            changes.Add($"{unit.Endpoint} is out");
        foreach (var unit in after.Units.Where(
            unit => wereJoining.Contains(unit.Id) && !areJoining.Contains(unit.Id)))
            changes.Add($"{unit.Endpoint} holds everything");
        foreach (var unit in after.Units.Where(unit => before.HasUnit(unit.Id)
            && before.AddressOf(unit.Id).Endpoint != unit.Endpoint))
            changes.Add($"{before.AddressOf(unit.Id).Endpoint} is at {unit.Endpoint}");
        var (were, are) = (Active(before), Active(after));
        foreach (var unit in after.Units.Where(unit => before.HasUnit(unit.Id)))
        {
            if (were.Contains(unit.Id) && !are.Contains(unit.Id))
                changes.Add($"{unit.Endpoint} gets nothing new");
        }
    }

    private static void AddAcceptors(ImmutableArray<NodeAddress> before, ImmutableArray<NodeAddress> after,
        ImmutableArray<string>.Builder changes)
    {
        foreach (var added in after.Where(node => before.All(known => known.Id != node.Id)))
            changes.Add($"{added.Endpoint} votes");
        foreach (var gone in before.Where(node => after.All(known => known.Id != node.Id)))
            changes.Add($"{gone.Endpoint} votes no more");
    }

    private static HashSet<NodeId> Joining(Projection projection) =>
    [
        .. projection.Segments.SelectMany(static segment => segment.Chains)
            .SelectMany(static chain => chain.Replicas).Where(static replica => replica.Joining)
            .Select(static replica => replica.Unit),
    ];

    private static HashSet<NodeId> Active(Projection projection) =>
    [
        .. projection.Active.Chains.SelectMany(static chain => chain.Replicas)
            .Select(static replica => replica.Unit),
    ];
}
