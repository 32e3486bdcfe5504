namespace Salus.Coordination;

/// <summary>A step that an agent takes.</summary>
internal abstract record AgentAction
{
    /// <summary>Steps with the same subject are taken one after another.</summary>
    public abstract object Subject { get; }

    /// <summary>Makes the object of a volume.</summary>
    internal sealed record Make(VolumeEntry Entry) : AgentAction
    {
        public override object Subject => Entry.Id;
    }

    /// <summary>Gives the next regions of a new volume their members.</summary>
    internal sealed record Place(VolumeId Volume, int First, PlacedRegions Regions) : AgentAction
    {
        public override object Subject => Volume;
    }

    /// <summary>All regions have members.</summary>
    internal sealed record MarkReady(string Name, VolumeEntry Entry) : AgentAction
    {
        public override object Subject => Entry.Id;
    }

    /// <summary>Asks the stores what they hold of a deleted volume; once that is nothing, frees the name.</summary>
    internal sealed record Clear(string Name, VolumeEntry Entry, ImmutableArray<BookedNode> Stores) : AgentAction
    {
        public override object Subject => Entry.Id;
    }

    /// <summary>Begins the next generation of a region.</summary>
    internal sealed record Replace(
        RegionKey Region, Epoch Generation, ImmutableArray<RegionMember> Members, string Why) : AgentAction
    {
        public override object Subject => Region;
    }

    /// <summary>Refuses the renewals of a process, so that its lease ends (S8).</summary>
    internal sealed record Expel(BookedNode Node, string Why) : AgentAction
    {
        public override object Subject => Node.Incarnation;
    }

    /// <summary>Asks the region server of a member whether it answers.</summary>
    /// <param name="Accusation">The stall that is looked into; null: the generation does not open.</param>
    internal sealed record ProbeMember(
        RegionKey Region, Epoch Generation, BookedNode Node, Suspicion? Accusation) : AgentAction
    {
        public override object Subject => (Region, Generation, Node.Incarnation);
    }

    /// <summary>Seals the region at a store for a generation that is recorded, as its recovery does too.</summary>
    internal sealed record ProbeSeal(RegionKey Region, Epoch Generation, BookedNode Node) : AgentAction
    {
        public override object Subject => (Region, Generation, Node.Store);
    }
}
