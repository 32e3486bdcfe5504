using System.Diagnostics;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.ZooKeeper.Clients;
using Corfu.FaultRuns.ZooKeeper.Judging;

namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>Makes the nodes before the first session, and reads what is left behind the last one.</summary>
internal static class Surveyor
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    private static readonly string[] s_parents =
    [
        ZooPaths.Fifo, ZooPaths.Counters, ZooPaths.Locks, ZooPaths.Guarded, ZooPaths.Queues, ZooPaths.Watched,
        ZooPaths.Flickering, ZooPaths.Ephemerals,
    ];

    /// <exception cref="RunException">The front ends do not answer.</exception>
    public static async Task PrepareAsync(ZooClients clients)
    {
        await using var session = clients.Open("surveyor.before", 10_000, 1);
        foreach (var parent in s_parents) await CreateAsync(session, parent, "");
        foreach (var parent in new[] { ZooPaths.Counters, ZooPaths.Locks, ZooPaths.Guarded, ZooPaths.Queues,
            ZooPaths.Watched })
        {
            for (var place = 0; place < ZooPaths.EachKind; place++)
                await CreateAsync(session, ZooPaths.At(parent, place), ZooPaths.FirstCount);
        }
    }

    /// <summary>Called when all sessions have ended, or were left.</summary>
    /// <exception cref="RunException">The front ends do not answer.</exception>
    public static async Task<ZooAudit> AuditAsync(ZooClients clients)
    {
        await using var session = clients.Open("surveyor.after", 10_000, 2);
        var data = new Dictionary<string, (string, int)>();
        await AskAsync(session, new ZooCall(ZooAct.Sync, "/"));
        string[] parents =
        [
            ZooPaths.Fifo, ZooPaths.Counters,
            .. Enumerable.Range(0, ZooPaths.EachKind).Select(place => ZooPaths.At(ZooPaths.Queues, place)),
        ];
        foreach (var parent in parents)
        {
            foreach (var name in (await AskAsync(session, new ZooCall(ZooAct.Children, parent))).Names)
            {
                var read = await AskAsync(session, new ZooCall(ZooAct.Get, $"{parent}/{name}"));
                data.Add(read.Path, (read.Text, read.Stat?.Version ?? -1));
            }
        }

        return new ZooAudit(data, await AwaitEndsAsync(session));
    }

    // The last sessions end by their time-out, and the lease of a front end that was killed.
    private static async Task<IReadOnlyList<string>> AwaitEndsAsync(ZooSession session)
    {
        string[] parents =
        [
            ZooPaths.Ephemerals,
            .. Enumerable.Range(0, ZooPaths.EachKind).Select(place => ZooPaths.At(ZooPaths.Locks, place)),
        ];
        for (var began = Stopwatch.GetTimestamp(); ;)
        {
            var left = new List<string>();
            await AskAsync(session, new ZooCall(ZooAct.Sync, "/"));
            foreach (var parent in parents)
            {
                var listed = await AskAsync(session, new ZooCall(ZooAct.Children, parent));
                left.AddRange(listed.Names.Select(name => $"{parent}/{name}"));
            }

            if (left.Count == 0 || Stopwatch.GetElapsedTime(began) > s_patience) return left;
            await Task.Delay(500);
        }
    }

    private static async Task CreateAsync(ZooSession session, string path, string text)
    {
        var made = await AskAsync(session, new ZooCall(ZooAct.Create, path) { Data = text });
        if (made.Error is not (0 or ZooEntry.NodeExists))
            throw new RunException($"{path} cannot be created: {made.Error}");
    }

    private static async Task<ZooEntry> AskAsync(ZooSession session, ZooCall call)
    {
        for (var began = Stopwatch.GetTimestamp(); ;)
        {
            var answered = session.SendAsync(call);
            await Task.WhenAny(answered, Task.Delay(s_patience));
            if (answered.IsCompleted && (await answered).Error is not (ZooEntry.Unknown or ZooEntry.NotSent))
                return await answered;
            if (session.IsOver || Stopwatch.GetElapsedTime(began) > s_patience)
                throw new RunException($"No front end answers {call.Act} {call.Path}.");
        }
    }
}
