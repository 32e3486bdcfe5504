using System.Security.Cryptography;
using Corfu.ZooKeeper.Serving;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>Opens the tree of a service.</summary>
internal static class TreeOpening
{
    public static string NameOf(string service) => $"zookeeper/{service}";

    /// <summary>Opens a tree, which its first front end begins.</summary>
    public static async ValueTask<ZooKeeperTree> OpenAsync(
        TangoRuntime runtime, string service, CancellationToken cancellationToken)
    {
        var tree = await runtime.OpenAsync<ZooKeeperTree>(NameOf(service), OpenMode.Create, cancellationToken)
            .ConfigureAwait(false);
        var root = await tree.ReadAsync(cancellationToken).ConfigureAwait(false);
        if (root.Home != NodePath.Root)
            throw new CorfuException($"'{tree.ObjectName}' is a partition of a service, and none itself.");
        // The first record counts, of whatever process.
        if (root.Level == 0)
        {
            var seed = (ulong)FrontEndIdentity.Draw(RandomNumberGenerator.Fill);
            await tree.UpdateAsync(new BeginRecord(seed, TreeLevel.Newest, new TreeSettings()), cancellationToken)
                .ConfigureAwait(false);
        }

        return tree;
    }
}
