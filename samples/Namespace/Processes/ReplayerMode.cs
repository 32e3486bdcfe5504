using System.Globalization;
using NamespaceSample.History;
using NamespaceSample.Replay;
using NamespaceSample.Service;
using Tango;

namespace NamespaceSample.Processes;

/// <summary>
/// Applies a history: goes on where the log says that the replay is, when it is told to. Until then it stands by with
/// everything open.
/// </summary>
internal static class ReplayerMode
{
    public const string Name = "replayer";
    public const string Go = "go";
    public const string Close = "close";
    public const string At = "at ";
    public const string Closed = "closed ";

    // Hosts make the checkpoints; what this process reads stays here for the whole run.
    private static readonly TangoOptions s_options =
        NamespaceService.Options with { Checkpoints = null, RemoteStay = TimeSpan.FromHours(1) };

    public static async Task<int> RunAsync(string file, string connection, CancellationToken cancellationToken)
    {
        IReadOnlyList<HistoryChange> changes = HistoryReader.ReadFile(file);
        await using NamespaceClient client =
            await NamespaceClient.ConnectAsync(connection, [], s_options, cancellationToken);
        var applier = new ChangeApplier(client.Service);
        await applier.ReadProgressAsync(cancellationToken);
        await Console.Out.WriteLineAsync(HostMode.Ready);
        while (await Console.In.ReadLineAsync(cancellationToken) is { } order)
        {
            if (order == Go) await ApplyAllAsync(file, changes, applier, cancellationToken);
            else if (order == Close) await CloseAsync(client.Service, cancellationToken);
        }

        return 0;
    }

    private static async Task ApplyAllAsync(
        string file, IReadOnlyList<HistoryChange> changes, ChangeApplier applier, CancellationToken cancellationToken)
    {
        int done = await applier.ReadProgressAsync(cancellationToken);
        while (done < changes.Count)
        {
            int aborted = applier.Aborted;
            try
            {
                await applier.ApplyAsync(file, changes[done], cancellationToken);
                done++;
            }
            catch (TangoInDoubtException)
            {
                // The log knows.
                done = await applier.ReadProgressAsync(cancellationToken);
            }

            await Console.Out.WriteLineAsync(
                string.Create(CultureInfo.InvariantCulture, $"{At}{done} {applier.Aborted - aborted}"));
        }
    }

    /// <summary>A checkpoint of everything, and the log trimmed below: who opens the namespace from now on starts from
    /// the checkpoint.</summary>
    private static async Task CloseAsync(NamespaceService service, CancellationToken cancellationToken)
    {
        await service.Runtime.Log.DeclareStreamAsync(RuntimeLog.NoStream, "probe", null, cancellationToken);
        // Of two checkpoints the log is kept from the older one on.
        for (int i = 0; i < 2; i++)
        {
            foreach (Partition partition in service.Tree.Partitions)
                await service.Runtime.Checkpoints.WriteAsync(partition.Entries, cancellationToken);
        }

        long end = (await service.Runtime.Log.TrimAsync(cancellationToken)).Offset;
        await Console.Out.WriteLineAsync(string.Create(CultureInfo.InvariantCulture, $"{Closed}{end}"));
    }
}
