namespace Craq;

/// <summary>The places wished for a chain's replicas (CRAQ 3.1). Node lists and datacenters are the
/// directory's.</summary>
/// <param name="Groups">Parts of the chain in order, a datacenter each. Empty: <paramref name="Datacenters"/> of all,
/// chosen by hash, with <paramref name="Size"/> replicas each.</param>
/// <param name="Datacenters">Implicit placement: their count. 0: all.</param>
/// <param name="Size">Replicas in each datacenter of implicit placement. 0: all nodes.</param>
/// <param name="Master">The datacenter whose members alone count for <paramref name="MinMembers"/>; null: all
/// do.</param>
/// <param name="MinMembers">The least counting members that a chain may be cut down to. 0: the majority of
/// <see cref="CountedSize"/>, or of the counting members where that is 0; 1 below three.</param>
public sealed record Placement(ImmutableArray<PlacementGroup> Groups, int Datacenters = 1, int Size = 3,
    string? Master = null, int MinMembers = 0)
{
    /// <summary>Three replicas in one datacenter, chosen by hash.</summary>
    public static Placement Default { get; } = new([]);

    /// <summary>Replicas that count for <see cref="MinMembers"/> in a chain of full size; 0: as many as there are
    /// nodes.</summary>
    public int CountedSize
    {
        get
        {
            if (Groups.IsEmpty) return AtMost(Master is null ? (long)Size * Datacenters : Size);
            var (sum, master) = (0L, Master);
            foreach (var group in Groups)
            {
                if (master is not null && group.Datacenter != master) continue;
                if (group.Size == 0) return 0;
                sum += group.Size;
            }

            return AtMost(sum);
        }
    }

    /// <summary>Datacenters chosen by hash, with the same number of replicas each.</summary>
    public static Placement Implicit(int datacenters, int size) => new([], datacenters, size);

    /// <summary>Datacenters by name, in this order, with the same number of replicas each.</summary>
    public static Placement Explicit(int size, params ReadOnlySpan<string> datacenters)
    {
        var groups = ImmutableArray.CreateBuilder<PlacementGroup>(datacenters.Length);
        foreach (var name in datacenters) groups.Add(new PlacementGroup(name, size));
        return new Placement(groups.MoveToImmutable(), 0, size);
    }

    /// <summary>Datacenters by name, in this order, with a number of replicas each.</summary>
    public static Placement Sized(params ReadOnlySpan<PlacementGroup> groups) => new([.. groups], 0, 0);

    private static int AtMost(long size) => (int)Math.Min(size, ChainConfig.MaxMembers);
}

/// <summary>The replicas of a chain in one datacenter.</summary>
/// <param name="Size">0: all nodes of the datacenter.</param>
public readonly record struct PlacementGroup(string Datacenter, int Size);
