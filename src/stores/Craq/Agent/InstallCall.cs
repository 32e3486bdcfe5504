using Corfu.Detection;
using Craq.Coordination;

namespace Craq.Agent;

/// <summary>Tells the members of a chain a config that the directory has recorded; they hear it from the directory too.
/// </summary>
internal static class InstallCall
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(1);

    public static void Tell(ITransport transport, DirectoryView directory, ChainConfig config, TimeProvider time,
        CancellationToken stopped)
    {
        var endpoints = ImmutableArray.CreateBuilder<NodeEndpoint>(config.Members.Length);
        foreach (var member in config.Members)
        {
            // Played before the config that names it, unless this process is behind: then the members hear it there.
            if (!directory.Nodes.TryGetValue(member.Node, out var node)) return;
            endpoints.Add(node.Endpoint);
        }

        var view = new ChainView(config, endpoints.MoveToImmutable());
        var request = new InstallChainRequest(config.Epoch, view);
        for (var i = 0; i < config.Members.Length; i++)
            _ = transport.TryCallAsync(view.Address(i), request, s_limit, time, stopped);
    }
}
