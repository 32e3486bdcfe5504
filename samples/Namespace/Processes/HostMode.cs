using Corfu.Client;
using NamespaceSample.Service;
using Tango;

namespace NamespaceSample.Processes;

/// <summary>Hosts one partition: plays it, decides transactions on it, and makes its checkpoints.</summary>
internal static class HostMode
{
    public const string Name = "host";
    public const string Ready = "ready";

    // Small: the directory's, too, are made while a history of some thousand changes is replayed.
    private static readonly CheckpointPolicy s_checkpoints = new() { Updates = 1_000 };

    public static async Task<int> RunAsync(int partition, string connection, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await using CorfuClient log = await CorfuClient.ConnectAsync(connection, cancellationToken: stop.Token);
        await using var runtime =
            new TangoRuntime(log, NamespaceService.Options with { Checkpoints = s_checkpoints });
        await Partition.HostAsync(runtime, partition, stop.Token);
        await Console.Out.WriteLineAsync(Ready);
        while (await Console.In.ReadLineAsync(stop.Token) is not null)
        {
            // The parent ends this process by the end of its input.
        }

        return 0;
    }
}
