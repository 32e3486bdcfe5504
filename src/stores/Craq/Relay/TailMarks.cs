namespace Craq.Relay;

/// <summary>The members that a tail tells its mark, beside the chain's answers (CRAQ 4.2): the head answers its clients
/// sooner, and objects are clean sooner. A lost mark is not repeated. Under the node's lock.</summary>
internal sealed class TailMarks
{
    private readonly ImmutableArray<Member> _members;

    private TailMarks(ImmutableArray<Member> members) => _members = members;

    public static TailMarks None { get; } = new([]);

    /// <summary>All members but the tail and its predecessor, which has the mark by the answer to its records. None
    /// where the way back is short: in one datacenter, unless the chain relays.</summary>
    public static TailMarks Of(ChainView view)
    {
        var config = view.Config;
        var isFar = config.Members.Any(member => member.Datacenter != config.Tail.Datacenter);
        if (config.Members.Length < 3 || (!isFar && config.Options.Values != ValuePath.Relay)) return None;
        return new TailMarks(
            [.. Enumerable.Range(0, config.Members.Length - 2).Select(place => new Member(view.Address(place)))]);
    }

    /// <summary>The members to send that mark to. At most one is under way to each: marks that rise meanwhile are one
    /// message.</summary>
    public IEnumerable<NodeAddress> Next(ObjectVersion mark)
    {
        foreach (var member in _members)
        {
            if (member.IsUnderWay || member.Sent >= mark) continue;
            (member.IsUnderWay, member.Sent) = (true, mark);
            yield return member.Address;
        }
    }

    /// <summary>The member has its mark, or did not answer.</summary>
    public void Ended(NodeId node)
    {
        foreach (var member in _members)
        {
            if (member.Address.Id == node) member.IsUnderWay = false;
        }
    }

    private sealed class Member(NodeAddress address)
    {
        public NodeAddress Address => address;

        public ObjectVersion Sent { get; set; }

        public bool IsUnderWay { get; set; }
    }
}
