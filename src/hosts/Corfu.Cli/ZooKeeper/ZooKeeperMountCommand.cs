using System.Security.Cryptography;
using System.Text.Json;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Cli;

/// <summary><c>corfu zookeeper mount</c>.</summary>
internal static class ZooKeeperMountCommand
{
    private const string Description =
        """
        Give a path, with all nodes that will be below it, to an object of its own: a partition, which a front end may
        play or not. The path has no node yet, and its parent has. Clients reconnect once. No mount is taken away.
        Without a path it lists the partitions.
        """;

    public static Command Create()
    {
        var path = new Option<string?>("--path") { Description = "The path, as /a.", HelpName = "PATH" };
        var (service, json) = (ZooKeeperCommand.ServiceOption(), CommonOptions.JsonOption());
        return TangoCommand.WithRuntime("mount", Description, [path, service, json],
            async (_, runtime, result, cancellationToken) =>
            {
                var name = result.GetRequiredValue(service);
                var tree = await runtime.OpenAsync<ZooKeeperTree>(
                    TreePartitions.NameOf(name), OpenMode.Existing, cancellationToken);
                if (result.GetValue(path) is { } mounted)
                    await TreePartitions.Of(runtime, name, tree).MountAsync(
                        mounted, BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))),
                        cancellationToken);
                foreach (var mount in (await tree.ReadAsync(cancellationToken)).Mounts)
                {
                    await result.InvocationConfiguration.Output.WriteLineAsync(result.GetValue(json)
                        ? JsonSerializer.Serialize(mount, ZooKeeperCliJson.Lines.TreeMount)
                        : $"{Printable.Of(mount.Path)} {mount.ObjectName}");
                }

                return ExitCode.Ok;
            });
    }
}
