using System.Globalization;
using Corfu.Protocol;
using Corfu.Unit;

namespace Corfu.Load.Units;

/// <summary>
/// Durable writes of one storage unit alone, in process, beside bare write and fdatasync on the same disk: alternating
/// rounds, so that both see the same machine. Arguments: [seconds per round] [rounds] [payload bytes] [folder].
/// </summary>
internal static class UnitLoad
{
    private const int ManyCallers = 64;
    private const int EntryOverhead = EntryCodec.FixedSize + RecordCodec.HeaderSize;

    public static async Task<int> RunAsync(string[] args)
    {
        var seconds = args.Length > 0 ? double.Parse(args[0], CultureInfo.InvariantCulture) : 3;
        var rounds = args.Length > 1 ? int.Parse(args[1], CultureInfo.InvariantCulture) : 3;
        var payload = args.Length > 2 ? int.Parse(args[2], CultureInfo.InvariantCulture) : 128;
        var duration = TimeSpan.FromSeconds(seconds);
        using var folder = new WorkFolder(args.Length > 3 ? new DirectoryInfo(args[3]) : null);
        Console.WriteLine($"unit alone, durable, {payload}-byte pages, {seconds} s a round");
        Console.WriteLine(
            $"{"round",5} {"bare p50 us",12} {"one p50 us",11} {"ratio",6} {"one/s",8} {"64/s",9} {"64 p50 us",10} "
            + $"{"64 p99 us",10}");
        for (var round = 1; round <= rounds; round++)
        {
            var bare = BareDisk.Run(folder.Path, payload + EntryOverhead, duration);
            var one = await MeasureAsync(Path.Combine(folder.Path, $"one-{round}"), 1, payload, duration);
            var many = await MeasureAsync(Path.Combine(folder.Path, $"many-{round}"), ManyCallers, payload, duration);
            Print(round, bare, one, many);
        }

        return 0;
    }

    private static void Print(int round, RoundResult bare, RoundResult one, RoundResult many) =>
        Console.WriteLine(string.Create(
        CultureInfo.InvariantCulture,
        $"{round,5} {bare.P50,12:F1} {one.P50,11:F1} {one.P50 / bare.P50,6:F2} {one.PerSecond,8:F0} "
        + $"{many.PerSecond,9:F0} {many.P50,10:F1} {many.P99,10:F1}"));

    private static async Task<RoundResult> MeasureAsync(string folder, int callers, int payload, TimeSpan duration)
    {
        await using var node = await UnitNode.OpenAsync(new UnitNodeOptions { Folder = folder, Cluster = Cluster },
            SystemEntropy.Instance);
        await InstallAsync(node);
        var all = Enumerable.Range(0, callers)
            .Select(i => new UnitCaller(node.Handler, Epoch.First, i, callers, payload)).ToArray();
        await ClosedLoop.RunAsync(callers, duration / 4, caller => all[caller].WriteAsync());
        var (histogram, elapsed, failures) = await ClosedLoop.RunAsync(callers, duration,
            caller => all[caller].WriteAsync());
        return RoundResult.Of(histogram, elapsed, failures);
    }

    /// <summary>Cluster of the units that are loaded alone.</summary>
    public static ClusterId Cluster { get; } = new(new Guid("5ad7c2f6-9d0c-4b7e-8e55-6a4f3c1f7a10"));

    public static async Task InstallAsync(UnitNode node)
    {
        var address = new NodeAddress(node.Id, new NodeEndpoint("localhost", 1));
        var projection = new Projection(
            Cluster,
            Epoch.First,
            address,
            LogPosition.Zero,
            LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [new Chain([new Replica(node.Id)])])],
            [address],
            [address],
            "unit load");
        var reply = new TaskCompletionReply();
        node.Handler.Handle(new InstallRequest(projection), reply.Address(Opcode.Install));
        node.Handler.BatchEnd();
        var response = await reply.Task;
        if (!response.IsOk) throw CorfuStatusException.Create(response.Status, "install");
    }
}
