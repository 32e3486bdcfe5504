namespace Corfu.Hosting;

/// <summary>Gives nodes a port for each front end. <c>node.json</c> keeps it, so clients find it there after every
/// restart.</summary>
internal static class FrontEndPorts
{
    /// <summary>Gives a port to every node that has none and does not run, for what the shape asks for and what other
    /// nodes of the cluster serve.</summary>
    /// <returns>The obstacles at the other nodes.</returns>
    public static ImmutableArray<string> Give(ClusterFolder folder, ClusterShape shape, IEntropy entropy)
    {
        var served = folder.Manifest.Nodes.SelectMany(node => node.FrontEnds).Select(own => own.Kind);
        var wanted = shape.FrontEnds.Concat(served.Select(kind => new FrontEndShape(kind))).DistinctBy(own => own.Kind);
        var obstacles = ImmutableArray.CreateBuilder<string>();
        foreach (var frontEnd in wanted)
        {
            // The ports of the kind before are read back.
            var running = Give(folder.WithPresent(), frontEnd, shape, entropy);
            if (!shape.FrontEnds.Contains(frontEnd)) continue;
            obstacles.AddRange(running.Select(node =>
                $"{node.Name}: it runs without {frontEnd.Kind} and was left alone.{Environment.NewLine}"
                + $"  Run 'corfu cluster down --dir {folder.Path}', then 'corfu cluster up --dir {folder.Path} "
                + $"--{frontEnd.Kind}'."));
        }

        return obstacles.DrainToImmutable();
    }

    // Returns the nodes that run without it.
    private static IEnumerable<ManifestNode> Give(
        ClusterFolder folder, FrontEndShape frontEnd, ClusterShape shape, IEntropy entropy)
    {
        var nodes = folder.Manifest.Nodes;
        // A running node reads its configuration at the start, and may write it.
        var without = nodes.Where(node => node.FrontEnds.All(own => own.Kind != frontEnd.Kind))
            .ToLookup(node => IsRunning(folder, node));
        ImmutableArray<int> taken =
        [
            .. nodes.Select(node => node.Port),
            .. nodes.SelectMany(node => node.FrontEnds).Select(own => own.Endpoint.Port),
        ];
        var isNew = without.Sum(nodes => nodes.Count()) == nodes.Length && shape.Port == nodes[0].Port;
        var ports = shape with { Host = nodes[0].Host, Port = isNew ? shape.Port + taken.Length : null };
        var free = new Queue<int>(ports.Ports(without[false].Count(), entropy, taken));
        foreach (var node in without[false])
        {
            var listen = new NodeEndpoint(node.Host, free.Dequeue()).ToString();
            Configure(folder.NodePath(node), new FrontEndOptions(frontEnd.Kind, listen)
            {
                Allow = frontEnd.Allow.IsEmpty ? null : frontEnd.Allow,
            });
        }

        return without[true];
    }

    private static void Configure(string path, FrontEndOptions frontEnd)
    {
        try
        {
            using var stopped = StoppedNode.Open(path);
            stopped.Save(stopped.Config with { FrontEnds = stopped.Config.FrontEndsOrNone.Add(frontEnd) });
        }
        catch (NodeStartException)
        {
            // A node without a configuration, or with a damaged one, says so when it is started.
        }
    }

    private static bool IsRunning(ClusterFolder folder, ManifestNode node) =>
        FolderLock.OwnerOf(folder.NodePath(node)) is not null;
}
