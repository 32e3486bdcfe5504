using System.Net;
using System.Net.Sockets;

namespace Corfu.Hosting;

/// <summary>The parts of a new cluster.</summary>
public sealed record ClusterShape
{
    // Below the range from which operating systems take the ports of outgoing connections: a kept port is not lost to
    // one of those while its node is down.
    private const int FirstPort = 20_000;
    private const int LastPort = 31_999;

    private const int MaxSequencers = 16;

    public int Units { get; init; } = 3;

    public int Replicas { get; init; } = 2;

    /// <summary>Units that run without being in a chain.</summary>
    public int Spares { get; init; }

    /// <summary>Sequencers: one serves, the others stand by.</summary>
    public int Sequencers { get; init; } = 1;

    /// <summary>A new cluster's sequencers run in the processes of its units, one in each from the first on; those
    /// above the number of units have processes of their own. Default false.</summary>
    public bool Colocate { get; init; }

    /// <inheritdoc cref="NodeOptions.Automatic"/>
    public bool Automatic { get; init; } = true;

    /// <summary>The address of all nodes.</summary>
    public string Host { get; init; } = "127.0.0.1";

    /// <summary>The first of consecutive ports; null looks for free ones.</summary>
    public int? Port { get; init; }

    /// <summary>Encrypts connections: the folder gets an authority, which issues certificates to the nodes, an
    /// administrator and a client. A cluster that has certificates keeps them.</summary>
    public bool Tls { get; init; }

    /// <inheritdoc cref="NodeOptions.Insecure"/>
    public bool Insecure { get; init; }

    /// <summary>Front ends that every node gets, each at a port of its own. Nodes keep those that they
    /// have.</summary>
    public ImmutableArray<FrontEndShape> FrontEnds { get; init; } = [];

    /// <summary>Every fault, or empty.</summary>
    public IReadOnlyList<string> Faults()
    {
        var faults = new List<string>();
        if (ClusterPlacement.Fault(Units, Replicas) is { } fault) faults.Add(fault);
        if (Spares is < 0 or > ClusterPlacement.MaxUnits)
            faults.Add($"The number of spares must be between 0 and {ClusterPlacement.MaxUnits}, not {Spares}.");
        if (Sequencers is < 1 or > MaxSequencers)
            faults.Add($"The number of sequencers must be between 1 and {MaxSequencers}, not {Sequencers}.");
        var ports = (Units + Spares + Sequencers - SequencersInUnits) * (1 + FrontEnds.Length);
        if (Port is < 1 || Port + ports - 1 > 65_535)
            faults.Add($"The first port must leave room for {ports} ports between 1 and 65535, not {Port}.");
        var address = NodeOptionsValidator.AddressOf(Host);
        if (address is null) faults.Add($"'{Host}' is neither an IP address nor 'localhost'.");
        else if (NodeOptionsValidator.IsUnspecified(address))
            faults.Add($"{Host} is no address that clients could reach a node under.");
        else if (!IPAddress.IsLoopback(address) && !Insecure && !Tls)
            faults.Add($"{Host} is not a loopback address: ask for TLS (--tls), or for connections that anyone on the "
                + "network can read and make (--insecure).");
        if (Tls && Insecure) faults.Add("TLS and --insecure exclude each other.");
        return faults;
    }

    /// <summary>Whether units that wait are taken into the chains until as many as <see cref="Units"/> take
    /// entries.</summary>
    public bool TakeUnitsIn { get; init; }

    private int SequencersInUnits => Colocate ? Math.Min(Units, Sequencers) : 0;

    internal ClusterManifest NewManifest(IEntropy entropy)
    {
        if (Faults() is { Count: > 0 } faults) throw new NodeStartException(string.Join('\n', faults));
        var empty = new ClusterManifest(ClusterManifest.CurrentFormat, entropy.NewGuid(), false, Replicas, []);
        return Extend(empty, entropy);
    }

    /// <summary>With a node for each unit, spare and sequencer that is asked for and not there; the same manifest where
    /// there is none.</summary>
    internal ClusterManifest Extend(ClusterManifest manifest, IEntropy entropy)
    {
        var (units, spares, sequencers) = manifest.Counts();
        var isNew = manifest.Nodes.IsEmpty;
        // Nodes that there are keep their roles.
        var inUnits = isNew ? SequencersInUnits : 0;
        var count = Math.Max(0, Units - units) + Math.Max(0, Spares - spares)
            + Math.Max(0, Sequencers - sequencers - inUnits);
        if (count == 0) return manifest;
        var acceptors = isNew ? ClusterPlacement.AcceptorCount(Units) : 0;
        var shape = isNew ? this : this with { Host = manifest.Nodes[0].Host, Port = null };
        var ports = new Queue<int>(shape.Ports(count, entropy, [.. manifest.Nodes.Select(n => n.Port)]));
        var added = new List<ManifestNode>();
        for (var i = units; i < Units; i++)
        {
            var unit = shape.NewUnit(FreeName("unit"), ports.Dequeue(), false, i < acceptors, entropy);
            added.Add(i < inUnits ? unit with { Roles = unit.Roles.Add(SequencerRole) } : unit);
        }

        for (var i = spares; i < Spares; i++)
            added.Add(shape.NewUnit(FreeName("spare"), ports.Dequeue(), true, true, entropy));
        for (var i = sequencers + inUnits; i < Sequencers; i++) added.Add(shape.NewSequencer(i, ports.Dequeue()));
        return manifest with { Nodes = [.. manifest.Nodes, .. added.Select(node => node with { Forming = !isNew })] };

        string FreeName(string kind) =>
            Enumerable.Range(0, int.MaxValue).Select(i => $"{kind}-{i}")
                .First(name => manifest.Nodes.Concat(added).All(n => n.Name != name));
    }

    private static NodeConfigRole SequencerRole => new(NodeRoles.Sequencer.Name, Guid.Empty, null);

    private ManifestNode NewUnit(string name, int port, bool spare, bool hasAcceptor, IEntropy entropy)
    {
        var roles = ImmutableArray.Create(new NodeConfigRole(NodeRoles.Unit.Name, entropy.NewGuid(), "unit"));
        if (hasAcceptor) roles = roles.Add(new NodeConfigRole(NodeRoles.Acceptor.Name, entropy.NewGuid(), "acceptor"));
        return new ManifestNode(name, Host, port, spare, roles);
    }

    private ManifestNode NewSequencer(int index, int port) => new(index == 0 ? "sequencer" : $"sequencer-{index}", Host,
        port, index > 0, [SequencerRole]);

    /// <inheritdoc cref="Ports"/>
    public int[] FreePorts(int count, ImmutableArray<int> taken) => Ports(count, SystemEntropy.Instance, taken);

    /// <summary>Free ports: from <see cref="Port"/> on, or any.</summary>
    /// <exception cref="NodeStartException">The ports are occupied.</exception>
    internal int[] Ports(int count, IEntropy entropy, ImmutableArray<int> taken)
    {
        if (Port is { } first)
        {
            int[] wanted = [.. Enumerable.Range(first, count)];
            // Before the cluster is made, since it keeps its ports.
            var occupied = wanted.Where(port => !IsFree(port)).ToArray();
            if (occupied.Length > 0)
                throw new NodeStartException(
                    $"Occupied by other processes on {Host}: port {string.Join(", ", occupied)}.");
            return wanted;
        }

        // From a random start, so that clusters made at the same moment rarely look at the same ports.
        var ports = new List<int>(count);
        var span = LastPort - FirstPort + 1;
        var start = (int)(entropy.NextDouble() * span);
        for (var i = 0; i < span && ports.Count < count; i++)
        {
            var port = FirstPort + (start + i) % span;
            if (IsFree(port) && !taken.Contains(port)) ports.Add(port);
        }

        return ports.Count == count
            ? [.. ports]
            : throw new NodeStartException($"There are no {count} free ports between {FirstPort} and {LastPort}.");
    }

    private bool IsFree(int port)
    {
        var address = NodeOptionsValidator.AddressOf(Host)!;
        using var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(new IPEndPoint(address, port));
            socket.Listen(1);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
