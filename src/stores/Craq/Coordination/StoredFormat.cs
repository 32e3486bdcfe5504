using Tango.Formatting;

namespace Craq.Coordination;

/// <summary>Bytes of the protocol's types in the directory's records and checkpoints: those of the wire, in one binary
/// value each. They are stored: a change of them is another version here, and needs a new type in the log.</summary>
internal static class StoredFormat
{
    private const int Format = 1;

    /// <summary>Makes the formatters known. Called once, before the directory is first opened.</summary>
    public static void Register()
    {
        var node = new NodeId(new Guid(1, 2, 3, [4, 5, 6, 7, 8, 9, 10, 11]));
        var member = new ChainMember(node, "dc");
        var config = new ChainConfig(ChainId.FromName("c"), "c", new Epoch(2), [member], [member], 1,
            Placement.Explicit(2, "dc"), new ChainOptions { Reads = EpochProof.Leased })
        {
            IsRecordedOpen = true,
        };
        Add("craq.chain-id", (ref w, id) => w.Guid(id.Value), static (ref r) => new ChainId(r.Guid()), config.Id);
        Add("craq.node-id", (ref w, id) => w.Guid(id.Value), static (ref r) => new NodeId(r.Guid()), node);
        Add("craq.epoch", (ref w, epoch) => w.Epoch(epoch), static (ref r) => r.Epoch(), new Epoch(3));
        Add("craq.chain-config", (ref w, value) => w.Config(value), static (ref r) => r.Config(), config);
        Add("craq.placement", (ref w, value) => w.Placement(value), static (ref r) => r.Placement(), config.Placement);
        Add("craq.options", (ref w, value) => w.Options(value), static (ref r) => r.Options(), config.Options);
        Add("craq.node", WriteNode, ReadNode, new DirectoryNode(
            node, "dc", new NodeEndpoint("host", 1), DirectoryNodeState.Draining));
        Add("craq.change", ChangeFormat.Write, ChangeFormat.Read,
            new ChainChange.Remove([node], Destroyed: true));
        Add("craq.decision", WriteDecision, ReadDecision, new TransactionDecision(
            TransactionOutcome.Committed, [new PartId(config.Id, new ObjectVersion(1))]));
    }

    private static void WriteDecision(ref WireWriter w, TransactionDecision decision)
    {
        w.Byte((byte)decision.Outcome);
        w.Array(decision.Parts, PartId.Write);
    }

    private static TransactionDecision ReadDecision(ref WireReader r)
    {
        var outcome = (TransactionOutcome)r.Byte();
        return outcome is TransactionOutcome.Committed or TransactionOutcome.Aborted
            ? new TransactionDecision(outcome, r.Array(PartId.Size, PartId.Read, TransactRequest.MaxParts))
            : throw new MalformedDataException("The outcome of a transaction is unknown: update this node.");
    }

    private static void WriteNode(ref WireWriter w, DirectoryNode node)
    {
        w.Guid(node.Id.Value);
        w.Text(node.Datacenter);
        w.Endpoint(node.Endpoint);
        w.Byte((byte)node.State);
    }

    private static DirectoryNode ReadNode(ref WireReader r)
    {
        var node = new DirectoryNode(new NodeId(r.Guid()), r.Text(ChainConfig.MaxName), r.Endpoint(),
            (DirectoryNodeState)r.Byte());
        return node.State <= DirectoryNodeState.Gone
            ? node
            : throw new MalformedDataException("The state of a node is unknown: update this node.");
    }

    private static void Add<T>(string name, WriteElement<T> write, ReadElement<T> read, T sample) =>
        TangoFormatters.Register(new WireFormatter<T>(write, read), name, Format, sample);
}
