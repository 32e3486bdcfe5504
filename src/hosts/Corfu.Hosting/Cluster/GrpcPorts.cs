namespace Corfu.Hosting;

/// <summary>Gives nodes a second port, which serves gRPC. <c>node.json</c> keeps it, so clients find it there after
/// every restart.</summary>
internal static class GrpcPorts
{
    /// <summary>Gives a port to every node that has none and does not run.</summary>
    /// <returns>The obstacles at the other nodes.</returns>
    public static ImmutableArray<string> Give(ClusterFolder folder, ClusterShape shape, IEntropy entropy)
    {
        var nodes = folder.Manifest.Nodes;
        // A running node reads its configuration at the start, and may write it.
        var without = nodes.Where(node => node.Grpc is null).ToLookup(node => IsRunning(folder, node));
        var isNew = nodes.All(node => node.Grpc is null) && shape.Port == nodes[0].Port;
        var taken = nodes.Select(node => node.Port).Concat(nodes.Select(node => node.Grpc?.Port ?? 0));
        var ports = shape with { Host = nodes[0].Host, Port = isNew ? shape.Port + nodes.Length : null };
        var free = new Queue<int>(ports.Ports(without[false].Count(), entropy, [.. taken]));
        foreach (var node in without[false])
            Configure(folder.NodePath(node), new NodeConfigGrpc(new NodeEndpoint(node.Host, free.Dequeue()).ToString())
            {
                Allow = shape.GrpcAllow.IsEmpty ? null : shape.GrpcAllow,
            });

        return
        [
            .. without[true].Select(node => $"{node.Name}: it runs without gRPC and was left alone."
                + $"{Environment.NewLine}  Run 'corfu cluster down --dir {folder.Path}', then 'corfu cluster up --dir "
                + $"{folder.Path} --grpc'."),
        ];
    }

    private static void Configure(string path, NodeConfigGrpc grpc)
    {
        try
        {
            using var stopped = StoppedNode.Open(path);
            stopped.Save(stopped.Config with { Grpc = grpc });
        }
        catch (NodeStartException)
        {
            // A node without a configuration, or with a damaged one, says so when it is started.
        }
    }

    private static bool IsRunning(ClusterFolder folder, ManifestNode node) =>
        FolderLock.OwnerOf(folder.NodePath(node)) is not null;
}
