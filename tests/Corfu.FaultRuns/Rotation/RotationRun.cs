using Corfu.Client;
using Corfu.FaultRuns.Clients;
using Corfu.FaultRuns.Machine;
using Corfu.Protocol;

namespace Corfu.FaultRuns.Rotation;

/// <summary>All certificates and the authority are changed twice under load, with restarts between. Then a client is
/// revoked while one process is cut off: it ends at the others, and there when it is back.</summary>
public sealed class RotationRun(TextWriter output)
{
    private const int Rounds = 2;
    private const int Appenders = 8;
    private const int ReadBatch = 256;

    // The sequencer that stands by: others decide without it, so that nothing but the revocation happens.
    private const string CutOff = "sequencer-1";

    private static readonly TimeSpan RevokedWithin = TimeSpan.FromSeconds(15);
    private static readonly string[] Restarted = ["unit-0", "unit-1", "unit-2", "sequencer"];

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var cluster = new RotationCluster(undo);
            await cluster.UpAsync(stop);
            cluster.IssueMarked();
            var folder = cluster.Open();
            await using var good = await WorkClient.ConnectAsync(folder.ConnectionString());
            await using var marked = await WorkClient.ConnectAsync(folder.Manifest.ConnectionString(cluster.Marked));
            Appender[] loaders = [.. Enumerable.Range(0, Appenders).Select(i => new Appender(good, $"good-{i}"))];
            var victim = new Appender(marked, "marked");
            using var enough = CancellationTokenSource.CreateLinkedTokenSource(stop);
            Task[] running = [.. loaders.Select(loader => Task.Run(() => loader.RunAsync(enough.Token), stop))];
            var victimRuns = Task.Run(() => victim.RunAsync(enough.Token), stop);

            var rotations = await RotateAsync(cluster, loaders, stop);
            var (unknown, refused) = (victim.Unknown, victim.Refused);
            var revoked = await RevokeAsync(cluster, victim, stop);
            await enough.CancelAsync();
            await Task.WhenAll(running);
            var found = await ReadAllAsync(good, stop);
            var lost = loaders.Append(victim).Sum(loader => loader.CountLost(found));
            unknown += loaders.Sum(loader => loader.Unknown);
            refused += loaders.Sum(loader => loader.Refused);
            foreach (var reason in loaders.Select(loader => loader.Reason).OfType<string>().Distinct())
                output.WriteLine($"refused: {reason}");
            // The last append of the revoked client goes on trying for half a minute.
            await victimRuns;
            await cluster.DownAsync();
            output.WriteLine($"entries acknowledged {loaders.Sum(l => l.Acknowledged)}, by the revoked client "
                + $"{victim.Acknowledged}");
            output.WriteLine($"rotations={rotations} revoked={(revoked ? 1 : 0)} lost={lost} unknown={unknown} "
                + $"refused={refused}");
            return revoked && loaders.Append(victim).All(loader => loader.Acknowledged > 0)
                && lost + unknown + refused == 0 ? 0 : 1;
        }
        finally
        {
            undo.Run();
        }
    }

    // Returns how often all certificates, or the authority, were changed.
    private async Task<int> RotateAsync(RotationCluster cluster, Appender[] loaders, CancellationToken stop)
    {
        var rotations = 0;
        for (var round = 0; round < Rounds; round++)
        {
            await cluster.RenewAsync(stop);
            Report(++rotations, "certificates", loaders);
            await cluster.RestartAsync(Restarted[2 * round], stop);
            await cluster.ChangeAuthorityAsync(stop);
            Report(++rotations, "certificates and authority", loaders);
            await cluster.RestartAsync(Restarted[(2 * round) + 1], stop);
        }

        return rotations;
    }

    private async Task<bool> RevokeAsync(RotationCluster cluster, Appender victim, CancellationToken stop)
    {
        var cutOff = await cluster.ProcessOfAsync(CutOff, stop);
        Signals.Stop(cutOff);
        try
        {
            await cluster.RevokeMarkedAsync();
            var others = cluster.Open().Manifest.Nodes.Select(node => node.Name).Where(name => name != CutOff);
            var refuse = await Task.WhenAll(
                others.Select(name => cluster.RefusesMarkedAsync(name, RevokedWithin, stop)));
            await Task.Delay(RevokedWithin, stop);
            var acknowledged = victim.Acknowledged;
            await Task.Delay(TimeSpan.FromSeconds(5), stop);
            var ended = victim.Acknowledged == acknowledged;
            output.WriteLine($"revoked: refused by {refuse.Count(does => does)} of {refuse.Length} nodes within "
                + $"{RevokedWithin.TotalSeconds:0} s, its appends {(ended ? "have ended" : "go on")}");
            Signals.Continue(cutOff);
            var late = await cluster.RefusesMarkedAsync(CutOff, RevokedWithin, stop);
            output.WriteLine($"revoked: the node that was cut off {(late ? "refuses it too" : "still takes it")}");
            return refuse.All(does => does) && ended && late;
        }
        finally
        {
            Signals.Continue(cutOff);
        }
    }

    private static async Task<IReadOnlyDictionary<long, string>> ReadAllAsync(CorfuClient client,
        CancellationToken stop)
    {
        var tail = (await client.CheckAsync([], cancellationToken: stop)).Tail.Offset;
        var found = new Dictionary<long, string>();
        for (var first = 0L; first < tail; first += ReadBatch)
        {
            var positions = Enumerable.Range(0, (int)Math.Min(ReadBatch, tail - first))
                .Select(i => new LogPosition(first + i));
            foreach (var result in await client.ReadManyAsync([.. positions], cancellationToken: stop))
            {
                if (result.State == PageState.Data)
                    found[result.Position.Offset] = EntryText.NameOf(result.Entry!.Payload.Span) ?? "damaged";
            }
        }

        return found;
    }

    private void Report(int rotation, string what, Appender[] loaders) => output.WriteLine(
        $"rotation {rotation}: {what}; acknowledged {loaders.Sum(l => l.Acknowledged)}, unknown "
        + $"{loaders.Sum(l => l.Unknown)}, refused {loaders.Sum(l => l.Refused)}");
}
