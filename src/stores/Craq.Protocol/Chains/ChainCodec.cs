namespace Craq.Protocol;

/// <summary>Bytes of configs, in messages and in the nodes' logs.</summary>
public static class ChainCodec
{
    private const int SmallestMember = 16 + 4;
    private const int SmallestEndpoint = 4 + 2;

    // Bits of a config's state.
    private const byte RecordedOpen = 1;
    private const byte Unopened = 2;
    private const byte HasNewcomer = 4;

    public static void Config(this ref WireWriter w, ChainConfig config)
    {
        w.Guid(config.Id.Value);
        w.Text(config.Name);
        w.Epoch(config.Epoch);
        w.Byte((byte)((config.IsRecordedOpen ? RecordedOpen : 0) | (config.IsUnopened ? Unopened : 0)
            | (config.Newcomer.IsNone ? 0 : HasNewcomer)));
        w.Array(config.Members, Write);
        w.Array(config.Base, Write);
        w.Int32(config.Kept);
        w.Placement(config.Placement);
        w.Options(config.Options);
        if (!config.Newcomer.IsNone) w.Guid(config.Newcomer.Value);
    }

    public static ChainConfig Config(this ref WireReader r)
    {
        var id = new ChainId(r.Guid());
        var name = r.Text(ChainConfig.MaxName);
        var epoch = r.Epoch();
        var state = r.Byte();
        var members = r.Array(SmallestMember, Member, ChainConfig.MaxMembers);
        var before = r.Array(SmallestMember, Member, ChainConfig.MaxMembers);
        var minimum = r.Int32();
        var placement = r.Placement();
        var options = r.Options();
        var newcomer = (state & HasNewcomer) != 0 ? new NodeId(r.Guid()) : NodeId.None;
        if (epoch.Value > ObjectVersion.MaxEpoch) throw new MalformedDataException("A chain's epoch is too great.");
        if (members.IsEmpty || members.Select(member => member.Node).Distinct().Count() != members.Length)
            throw new MalformedDataException("A chain's members are none, or one of them stands in it twice.");
        // An epoch that is recorded open ends both of the others.
        if (state > (HasNewcomer | Unopened) || ((state & RecordedOpen) != 0 && state != RecordedOpen))
            throw new MalformedDataException("The state of a chain's epoch is unknown: update this node.");
        if ((state & HasNewcomer) != 0 && (newcomer.IsNone || members.All(member => member.Node != newcomer)))
            throw new MalformedDataException("A chain's newest member is none of its members.");
        return new ChainConfig(id, name, epoch, members, before, minimum, placement, options)
        {
            IsRecordedOpen = (state & RecordedOpen) != 0,
            IsUnopened = (state & Unopened) != 0,
            Newcomer = newcomer,
        };
    }

    public static void View(this ref WireWriter w, ChainView view)
    {
        w.Config(view.Config);
        w.Array(view.Endpoints, static (ref w, endpoint) => w.Endpoint(endpoint));
    }

    public static ChainView View(this ref WireReader r)
    {
        var config = r.Config();
        var endpoints = r.Array(SmallestEndpoint, static (ref r) => r.Endpoint(), ChainConfig.MaxMembers);
        if (endpoints.Length != config.Members.Length)
            throw new MalformedDataException("A chain's members and endpoints differ in number.");
        return new ChainView(config, endpoints);
    }

    public static void Placement(this ref WireWriter w, Placement placement)
    {
        w.Array(placement.Groups, static (ref w, group) =>
        {
            w.Text(group.Datacenter);
            w.Int32(group.Size);
        });
        w.Int32(placement.Datacenters);
        w.Int32(placement.Size);
        w.Text(placement.Master ?? "");
        w.Int32(placement.MinMembers);
    }

    public static Placement Placement(this ref WireReader r)
    {
        var groups = r.Array(8, static (ref r) => new PlacementGroup(r.Text(ChainConfig.MaxName), r.Int32()),
            ChainConfig.MaxMembers);
        var (datacenters, size, master, minimum) =
            (r.Int32(), r.Int32(), r.Text(ChainConfig.MaxName), r.Int32());
        if (datacenters < 0 || size < 0 || minimum < 0 || groups.Any(group => group.Size < 0))
            throw new MalformedDataException("A placement has a negative size.");
        return new Placement(groups, datacenters, size, master.Length == 0 ? null : master, minimum);
    }

    public static void Options(this ref WireWriter w, ChainOptions options)
    {
        w.Byte((byte)options.Protocol);
        w.Byte((byte)options.Reads);
        w.Byte((byte)options.Values);
    }

    public static ChainOptions Options(this ref WireReader r) => new()
    {
        Protocol = Known((ChainProtocol)r.Byte(), ChainProtocol.Cr),
        Reads = Known((EpochProof)r.Byte(), EpochProof.Leased),
        Values = Known((ValuePath)r.Byte(), ValuePath.Relay),
    };

    private static void Write(ref WireWriter w, ChainMember member)
    {
        w.Guid(member.Node.Value);
        w.Text(member.Datacenter);
    }

    private static ChainMember Member(ref WireReader r) => new(new NodeId(r.Guid()), r.Text(ChainConfig.MaxName));

    private static T Known<T>(T value, T last)
        where T : struct, Enum => Comparer<T>.Default.Compare(value, last) <= 0
        ? value
        : throw new MalformedDataException($"A {typeof(T).Name} is unknown.");
}
