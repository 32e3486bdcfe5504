using System.CommandLine;
using System.Globalization;
using Corfu.Hosting;
using Corfu.Load.Suite;

namespace Corfu.Load;

/// <summary><c>store</c>: the key-value store beside raw appends, etcd and Redis.</summary>
internal static class StoreCommand
{
    private const string Raw = "raw appends";
    private const string RawRead = "raw reads";
    private const string Dictionary = "dictionary, 3 units of 2 replicas";
    private const string Two = "store, 3 units of 2 replicas";
    private const string One = "store, 1 unit";
    private const string Redis = "redis, appendfsync always";
    private const string RedisMany = Redis + ", a connection for each caller";
    private const int Small = 128;
    private const int Large = 4096;
    private const int Many = 512;

    // As many keys as raw reads have entries.
    private const int Keys = 2048;

    private static readonly int[] s_batches = [1, 2, 4, 10];

    public static Command Create() => ServiceCommand.Create(
        "store", "The key-value store: puts beside etcd and Redis, multi-puts and multi-gets beside the raw log.",
        new ServiceSection("put", "Puts beside etcd and Redis", PutAsync),
        new ServiceSection("get", "Linearizable gets beside etcd and Redis", GetAsync),
        new ServiceSection("multi-put", "Puts of several keys beside raw appends (TOCS'13 4.4)", MultiPutAsync),
        new ServiceSection("multi-get", "Reads of several keys beside raw reads (TOCS'13 4.4)", MultiGetAsync));

    private static async Task PutAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        await using var one = await StartAsync(run, 1, 1, cancellationToken);
        await using var two = await StartAsync(run, 3, 2, cancellationToken);
        await using var peers = await PeerServers.StartDurableAsync(run.Folder, section, cancellationToken);
        var setting = new WorkloadSetting { Object = "load/puts" };
        var cases = new List<PointCase>();
        foreach (var (size, window) in Loads())
        {
            cases.Add(On(two, ServicePoints.Case(Two, WorkloadKind.StorePut, window, size, setting: setting)));
            cases.Add(On(one, ServicePoints.Case(One, WorkloadKind.StorePut, window, size, setting: setting)));
            cases.AddRange(PeerCases(peers, WorkloadKind.EtcdPut, WorkloadKind.TextSet, window, size, true));
        }

        cases.Add(On(two, ServicePoints.Case(Dictionary, WorkloadKind.DictionarySet, ServicePoints.Window, Small,
            setting: setting with { Object = "load/dictionary" })));
        var points = new ServicePoints(await run.MeasureAsync(two.ConnectionString, cases, cancellationToken));
        section.Note("Two processes with the store open; each caller puts a key of its own, and its answer has the "
            + "revision. Both processes play all puts. Values of 128 bytes stand in the index's records, those of "
            + "4 KiB in entries of their own. Every put is durable before its answer, with two replicas in the files "
            + "of two units; all systems' files are on this machine's one disk. etcd is one member, Redis one server "
            + "with `appendfsync always`. etcd's clients are gRPC, four connections of each process; Redis' one of "
            + "each process, pipelined, or one for each caller. A write of a Tango dictionary returns no value, so it "
            + "is not played before its answer.");
        points.AddTo(section);
        foreach (var (size, window) in Loads())
        {
            var load = ServicePoints.LoadOf(window, size);
            if (points.Find(One, load) is { } own) section.Sum($"put_{size}_{window}", ServicePoints.Rate(own.Rounds));
            foreach (var (key, peer) in (ReadOnlySpan<(string, string)>)
                [("etcd", PeerServers.Etcd), ("redis", Redis), ("redis_many", RedisMany)])
            {
                if (points.Ratio(One, peer, load) is { } ratio)
                    section.Sum($"put_{size}_{window}_of_{key}", ratio, "0.00");
            }
        }
    }

    private static async Task GetAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        await using var one = await StartAsync(run, 1, 1, cancellationToken);
        await using var peers = await PeerServers.StartDurableAsync(run.Folder, section, cancellationToken);
        var setting = new WorkloadSetting { Object = "load/gets", Keys = 1 };
        List<PointCase> cases =
        [
            On(one, ServicePoints.Case(One, WorkloadKind.StoreGet, ServicePoints.Window, Small, false, setting)),
            .. PeerCases(peers, WorkloadKind.EtcdRange, WorkloadKind.TextGet, ServicePoints.Window, Small, false),
        ];
        var points = new ServicePoints(await run.MeasureAsync(one.ConnectionString, cases, cancellationToken));
        section.Note("All callers of a process read one key, and nothing is written. The store asks the log for its "
            + "tail, once for all callers that wait, and has the value in its cache.");
        points.AddTo(section);
        var load = ServicePoints.LoadOf(ServicePoints.Window, Small);
        if (points.Find(One, load) is { } own) section.Sum("get_64", ServicePoints.Rate(own.Rounds));
        if (points.Ratio(One, PeerServers.Etcd, load) is { } etcd) section.Sum("get_64_of_etcd", etcd, "0.00");
        if (points.Ratio(One, Redis, load) is { } redis) section.Sum("get_64_of_redis", redis, "0.00");
    }

    private static async Task MultiPutAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        await using var cluster = await StartAsync(run, 3, 2, cancellationToken);
        var cases = new List<PointCase>();
        foreach (var (size, batch) in MultiPuts())
        {
            cases.Add(On(cluster, ServicePoints.Case(
                Two, WorkloadKind.StorePut, ServicePoints.Window, size * batch,
                setting: new WorkloadSetting { Object = "load/puts", Batch = batch }, load: LoadOf(size, batch))));
        }

        foreach (var size in (int[])[Small, Large])
        {
            cases.Add(On(cluster, ServicePoints.Case(
                Raw, WorkloadKind.Append, ServicePoints.Window, size, load: LoadOf(size, 1))));
        }

        var points = new ServicePoints(await run.MeasureAsync(cluster.ConnectionString, cases, cancellationToken));
        section.Note("An operation puts so many keys at one revision, 64 operations in flight. Small values stand in "
            + "the one record. Those of 4 KiB take an entry of up to 64 KiB, and then the record. Records of "
            + "concurrent callers share entries. The raw append is of one value.");
        points.AddTo(section);
        foreach (var (size, batch) in MultiPuts())
        {
            if (points.Find(Two, LoadOf(size, batch)) is not { } own
                || points.Find(Raw, LoadOf(size, 1)) is not { } raw) continue;
            section.Sum($"multi_put_{size}_{batch}_of_raw", RoundResult.Middle(own.Rounds.Zip(
                raw.Rounds, static (a, b) => a.PerSecond / b.PerSecond)), "0.00");
        }
    }

    private static async Task MultiGetAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        await using var cluster = await StartAsync(run, 3, 2, cancellationToken);
        var cases = new List<PointCase>();
        foreach (var batch in s_batches)
        {
            var load = LoadOf(Large, batch);
            cases.Add(On(cluster, ServicePoints.Case(
                Two, WorkloadKind.StoreGet, ServicePoints.Window, Large * batch, false,
                new WorkloadSetting { Object = "load/many", Batch = batch, Keys = Keys, CachesValues = false },
                load: load)));
            cases.Add(On(cluster, ServicePoints.Case(
                RawRead, WorkloadKind.Read, ServicePoints.Window, Large * batch, false,
                new WorkloadSetting { Batch = batch }, load: load)));
        }

        var points = new ServicePoints(await run.MeasureAsync(cluster.ConnectionString, cases, cancellationToken));
        section.Note("An operation reads so many keys of one revision, 64 operations in flight, without a cache of "
            + "values: a check of the tail, which callers share, and one read of the log. A raw read is of as many "
            + "entries that were appended together, without a check.");
        points.AddTo(section);
        foreach (var batch in s_batches)
        {
            if (points.Ratio(Two, RawRead, LoadOf(Large, batch)) is { } ratio)
                section.Sum($"multi_get_{batch}_of_raw", ratio, "0.00");
        }
    }

    private static IEnumerable<(int Size, int Window)> Loads() =>
        [(Small, 1), (Small, ServicePoints.Window), (Small, Many), (Large, ServicePoints.Window)];

    private static IEnumerable<(int Size, int Batch)> MultiPuts() =>
        [.. s_batches.Select(batch => (Small, batch)), (Large, 1), (Large, s_batches[^1])];

    private static string LoadOf(int size, int batch) =>
        string.Create(CultureInfo.InvariantCulture, $"{batch} x {size} B");

    private static async Task<LoadCluster> StartAsync(
        SuiteRun run, int units, int replicas, CancellationToken cancellationToken) =>
        await run.Clusters.StartAsync(new ClusterShape { Units = units, Replicas = replicas }, cancellationToken);

    private static PointCase On(LoadCluster cluster, PointCase point) => point with
    {
        Target = cluster.ConnectionString,
        Servers = () => cluster.ProcessorTime().TotalSeconds,
    };

    private static IEnumerable<PointCase> PeerCases(PeerServers peers, WorkloadKind etcd, WorkloadKind redis,
        int window, int size, bool isDurable)
    {
        foreach (var server in peers.Running)
        {
            var isEtcd = server.Name == PeerServers.Etcd;
            var point = ServicePoints.Case(server.Name, isEtcd ? etcd : redis, window, size, isDurable,
                isEtcd ? EtcdCommand.Connections : null);
            yield return server.Watched(point);
            if (isEtcd || window == 1) continue;
            yield return server.Watched(ServicePoints.Case(RedisMany, redis, window, size, isDurable,
                new WorkloadSetting { OwnConnections = true }));
        }
    }
}
