using System.Globalization;
using System.Text;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Craq;
using Craq.Protocol;
using ObjectReadMode = Craq.ObjectReadMode;

namespace Corfu.Simulation.Craq;

/// <summary>The calls of a run's clients: reads of every mode, writes of every kind, alone and in batches.</summary>
internal sealed class CraqWorkload(CraqCluster cluster, CraqHistory history, Ledger ledger)
{
    private static readonly ObjectReadMode[] s_modes =
    [
        ObjectReadMode.Strong, ObjectReadMode.Strong, ObjectReadMode.Session, ObjectReadMode.Bounded,
        ObjectReadMode.Eventual,
    ];

    private CraqPlan Plan => cluster.Plan;

    public Task RunAsync(SimCraqClient client) => Task.WhenAll(Enumerable.Range(0, Plan.Workers).Select(worker =>
    {
        var name = $"{client.Name}.{client.Process!.Id}.{worker}";
        return LoopAsync(client, new CraqWorker(cluster, history, client, name,
            cluster.World.Random.Split($"craq work {name}")));
    }));

    /// <summary>Reads everything once more, when all is healed.</summary>
    public async Task AuditAsync(SimCraqClient client)
    {
        var worker = new CraqWorker(cluster, history, client, "audit", cluster.World.Random.Split("audit"));
        foreach (var chain in cluster.ChainNames)
        {
            foreach (var key in cluster.Keys)
            {
                var mode = worker.Random.Chance(0.5) ? ObjectReadMode.Strong : ObjectReadMode.Session;
                while ((await worker.ReadAsync(chain, mode, key)).Fate != ObjectFate.Done)
                {
                }
            }
        }
    }

    private async Task LoopAsync(SimCraqClient client, CraqWorker worker)
    {
        var random = worker.Random;
        while (!ledger.Exhausted)
        {
            var chain = random.Pick(cluster.ChainNames);
            if (client.OnlyReads || random.Chance(Plan.Reads)) await ReadAsync(worker, chain);
            else if (Plan.Has(CraqFault.WildRequests) && random.Chance(0.05)) await worker.RepeatAsync();
            else if (random.Chance(Plan.Transactions)) await TransactAsync(worker);
            else await WriteAsync(worker, chain);
            // A client that is cut off with a node goes on to ask while the rest writes.
            var pause = client.OnlyReads ? Math.Max(Plan.Think, Plan.RequestTimeout / 8) : Plan.Think;
            await Task.Delay(TimeSpan.FromTicks(random.Exponential(pause) + 1), client.Process!.Time);
        }
    }

    private Task<ObjectCall> ReadAsync(CraqWorker worker, string chain)
    {
        var random = worker.Random;
        var mode = random.Pick(s_modes);
        ObjectKey[] keys = [.. cluster.Keys];
        return random.Chance(0.8)
            ? worker.ReadAsync(chain, mode, random.Pick(keys))
            : worker.ReadAsync(chain, mode, [.. keys.Take(random.Between(2, 4))]);
    }

    private async Task WriteAsync(CraqWorker worker, string chain)
    {
        var random = worker.Random;
        var at = random.Next(Plan.Keys);
        switch (random.Next(20))
        {
            case < 5:
                await worker.MutateAsync(chain, [Expiring(worker, Put($"r{at}", random))]);
                break;
            case < 8:
                await CompareAsync(worker, chain, $"r{at}");
                break;
            case < 9:
                await worker.MutateAsync(chain, [Of(ObjectOperationKind.Delete, random.Pick(["r", "n", "l"]) + at)]);
                break;
            case < 12:
                await AddAsync(worker, chain, $"n{at}");
                break;
            case < 15:
                await AppendAsync(worker, chain, $"l{at}");
                break;
            case < 16:
                await worker.MutateAsync(chain, [Expiring(worker, Of(ObjectOperationKind.Touch, $"r{at}"))]);
                break;
            case < 19:
                await BatchAsync(worker, chain, at);
                break;
            default:
                await (random.Chance(0.2)
                    ? worker.MutateAsync(chain, [Of(ObjectOperationKind.Clear, "all")])
                    : worker.MutateAsync(chain, [Put($"l{at}", random)]));
                break;
        }
    }

    // A test-and-set on what a read has shown, or on a guess.
    private async Task CompareAsync(CraqWorker worker, string chain, string key)
    {
        var random = worker.Random;
        var mode = random.Pick([ObjectReadMode.Strong, ObjectReadMode.Eventual]);
        var read = await worker.ReadAsync(chain, mode, new ObjectKey(key));
        var seen = read.Seen.Count > 0 ? read.Seen[0] : null;
        var compare = random.Next(4) switch
        {
            0 => new ObjectCompare(key, ObjectCompareKind.Absent, default, default),
            1 => new ObjectCompare(key, ObjectCompareKind.Exists, default, default),
            2 when seen?.Value is { } value =>
                new ObjectCompare(key, ObjectCompareKind.Value, default, Encoding.ASCII.GetBytes(value)),
            _ => new ObjectCompare(key, ObjectCompareKind.Version,
                seen?.Value is null ? default : new ObjectVersion(seen.Version), default),
        };
        await worker.MutateAsync(chain, [Put(key, random)], [compare]);
    }

    private async Task AddAsync(CraqWorker worker, string chain, string key)
    {
        var random = worker.Random;
        var added = await worker.MutateAsync(chain,
            [Of(ObjectOperationKind.Add, key) with { Delta = random.Pick([1L, 1, 5, -2]) }]);
        if (added.Fate != ObjectFate.Mismatch) return;
        await worker.MutateAsync(chain, [Of(ObjectOperationKind.Put, key, random.Pick(["0", "10"]))],
            [new ObjectCompare(key, ObjectCompareKind.Absent, default, default)]);
    }

    private async Task AppendAsync(CraqWorker worker, string chain, string key)
    {
        var random = worker.Random;
        var kind = random.Chance(0.8) ? ObjectOperationKind.Append : ObjectOperationKind.Prepend;
        var appended = await worker.MutateAsync(chain, [Of(kind, key, $",{ledger.NextPayload()}")]);
        if (appended.Fate == ObjectFate.Mismatch) await worker.MutateAsync(chain, [Put(key, random)]);
    }

    // Several objects in one step, with reads of others.
    private async Task BatchAsync(CraqWorker worker, string chain, int at)
    {
        var random = worker.Random;
        var other = random.Next(Plan.Keys);
        await worker.MutateAsync(chain, [Expiring(worker, Put($"r{at}", random)), Put($"l{other}", random)],
            random.Chance(0.3) ? [new ObjectCompare($"n{other}", ObjectCompareKind.Exists, default, default)] : [],
            [new ObjectKey($"l{at}"), new ObjectKey($"r{other}")]);
    }

    // A step over two chains or three: writes and reads, now and then a compare or an Add that may not fit.
    private Task TransactAsync(CraqWorker worker)
    {
        var random = worker.Random;
        string[] chains = [.. cluster.ChainNames];
        random.Shuffle(chains);
        return worker.TransactAsync(chains.Take(random.Between(2, 3)).ToDictionary(chain => chain, _ =>
        {
            var (at, other) = (random.Next(Plan.Keys), random.Next(Plan.Keys));
            return new ChainMutation(
                random.Chance(0.2) ? [new ObjectCompare($"l{other}", ObjectCompareKind.Exists, default, default)] : [],
                [new ObjectKey($"r{other}")],
                random.Chance(0.7)
                    ? [Put($"r{at}", random)]
                    : [Put($"l{at}", random), Of(ObjectOperationKind.Add, $"n{other}") with { Delta = 1 }]);
        }));
    }

    // Registers may expire: soon, or when another value has taken the place.
    private ObjectOperation Expiring(CraqWorker worker, ObjectOperation operation) =>
        worker.Random.Chance(Plan.Expiring)
            ? operation with { Expiry = worker.Wall + worker.Random.Pick([0L, 2, 10, 50, 500]) }
            : operation;

    private ObjectOperation Put(string key, SimRandom random)
    {
        var value = ledger.NextPayload().ToString(CultureInfo.InvariantCulture) + ";";
        var length = Math.Max(value.Length, random.Next(Plan.MaxValue));
        return Of(ObjectOperationKind.Put, key, value.PadRight(length, '.'));
    }

    private static ObjectOperation Of(ObjectOperationKind kind, string key, string value = "") =>
        new(kind, key, 0, 0, Encoding.ASCII.GetBytes(value));
}
