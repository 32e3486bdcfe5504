using System.CommandLine;
using System.Globalization;
using Corfu.Client;
using Tango;

namespace Corfu.Load;

/// <summary><c>memory</c>: whether a process that uses objects for long keeps memory of what is over. The log is in
/// other processes.</summary>
internal static class MemoryCommand
{
    // Age of versions: passed many times within a run.
    private const long Age = 1_000;

    public static Command Create()
    {
        var options = new LoadOptions();
        var objects = LoadOptions.Positive("--objects", "Objects that are opened, filled and deleted.", 10_000);
        var queues = LoadOptions.Positive("--queues", "Work queues.", 1_000);
        var items = LoadOptions.Positive("--items", "Items that go through all queues together.", 100_000);
        var feeds = LoadOptions.Positive("--feeds", "Feeds of a small object in a large group.", 50);
        var command = new Command("memory", "Managed memory of deleted objects, worked-off queues and feeds.")
        {
            objects, queues, items, feeds, options.Directory,
        };
        options.AddCluster(command);
        command.SetAction(async (result, cancellationToken) =>
        {
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            await using var cluster = await LoadCluster.StartAsync(result, options, folder.Path, cancellationToken);
            await using var client =
                await CorfuClient.ConnectAsync(cluster.ConnectionString, cancellationToken: cancellationToken);
            await using var runtime = new TangoRuntime(client, new TangoOptions { NewLogVersionAge = Age });
            var run = new MemoryRun(runtime);
            var deleted = await run.DeleteAsync(result.GetValue(objects), cancellationToken);
            Print("objects opened and deleted", deleted);
            var worked = await run.WorkAsync(result.GetValue(queues), result.GetValue(items), cancellationToken);
            Print("queues worked off", worked);
            var followed = await run.FollowAsync(result.GetValue(feeds), cancellationToken);
            Print("feeds in a large group", followed);
            var isFlat = deleted.IsFlat && worked.IsFlat && followed.IsFlat;
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"memory deleted_mb={deleted.Grown:0.0} queues_mb={worked.Grown:0.0} feeds_mb={followed.Grown:0.0} "
                + $"flat={(isFlat ? "yes" : "no")}"));
            return isFlat ? 0 : 1;
        });
        return command;
    }

    private static void Print(string what, MemoryGrowth growth) => Console.WriteLine(string.Create(
        CultureInfo.InvariantCulture,
        $"{what}: {growth.Grown:0.0} MB in all, {growth.Late:0.0} MB of it late, where {growth.Bound:0.0} MB are "
        + $"allowed"));
}

/// <summary>How managed memory grew, after full collections.</summary>
/// <param name="Grown">In MB, from the beginning to the end.</param>
/// <param name="Late">In MB, of what must not grow any more.</param>
/// <param name="Bound">More than that is a leak.</param>
internal sealed record MemoryGrowth(double Grown, double Late, double Bound)
{
    public bool IsFlat => Late <= Bound;
}
