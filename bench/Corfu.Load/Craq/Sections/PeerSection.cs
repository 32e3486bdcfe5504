namespace Corfu.Load;

/// <summary>Put and get at 64 in flight beside memcached and redis.</summary>
internal static class PeerSection
{
    public static async Task<CraqSection> RunAsync(
        CraqStage stage, string folder, CancellationToken cancellationToken)
    {
        var section = new CraqSection(CraqPlan.Peers, "Put and get beside memcached and redis, 64 in flight");
        section.Note($"Values of {stage.Plan.Size} bytes; everyone reads one object, and each caller writes one of its "
            + "own. \"2\": one connection of each of the two generators to a server, requests pipelined. \"64\": a "
            + "connection for each caller. CRAQ-3 has a write on three disks before its answer, CRAQ-1 on one; reads "
            + "are strong. memcached has no disk. Redis with `appendfsync always` syncs before it answers; with `no` "
            + "it does not.");
        await using var servers = await PeerServers.StartAsync(folder, cancellationToken);
        foreach (var missing in servers.Missing)
        {
            section.Note($"Skipped: {missing}.");
            Console.WriteLine($"{CraqPlan.Peers}: skipped: {missing}");
        }

        var points = await PointsAsync(stage, servers, cancellationToken);
        var measured = await stage.Rig.RunAsync(CraqPlan.Peers, points, stage.Target, cancellationToken);
        section.Baselines(measured);
        section.Columns("system", "operation", "connections", "per second", "p50 us", "p99 us", "of echo",
            "client us");
        foreach (var rounds in measured.All) Row(section, measured, rounds);
        section.Sum("get_64", measured["CRAQ-3|get|2"].Median.PerSecond);
        section.Sum("put_64", measured["CRAQ-3|put|2"].Median.PerSecond);
        foreach (var (key, name) in (ReadOnlySpan<(string, string)>)[
            ("memcached_get", "memcached|get|64"), ("memcached_set", "memcached|set|64"),
            ("redis_get", "redis, appendfsync always|get|64"), ("redis_set", "redis, appendfsync always|set|64")])
        {
            if (measured.All.FirstOrDefault(rounds => rounds.Point.Name == name) is { } rounds)
                section.Sum(key, rounds.Median.PerSecond);
        }

        section.Sum("echo", measured.Echo(points[0]).PerSecond);
        section.Check(measured);
        return section;
    }

    private static async Task<List<CraqPoint>> PointsAsync(
        CraqStage stage, PeerServers servers, CancellationToken cancellationToken)
    {
        List<CraqPoint> points = [];
        foreach (var length in (int[])[1, 3])
        {
            var chain = await stage.ChainAsync(length, cancellationToken);
            points.Add(CraqPoint.Get($"{chain.Chain}|get|2", chain, CraqPlan.Window, stage.Plan.Size));
            points.Add(CraqPoint.Own($"{chain.Chain}|put|2", WorkloadKind.CraqPut, chain, CraqPlan.Window,
                stage.Plan.Size));
        }

        List<(string Name, string Target, bool Pipelined)> texts =
            [("CRAQ-3, memcached port", await stage.MemcachedAsync(cancellationToken), false)];
        foreach (var (name, target, _) in servers.Running)
        {
            texts.Add((name, target, true));
            texts.Add((name, target, false));
        }

        foreach (var (name, target, pipelined) in texts)
        {
            foreach (var kind in (WorkloadKind[])[WorkloadKind.TextGet, WorkloadKind.TextSet])
            {
                var operation = kind == WorkloadKind.TextGet ? "get" : "set";
                points.Add(new CraqPoint($"{name}|{operation}|{(pipelined ? 2 : 64)}", kind, CraqPlan.Window,
                    stage.Plan.Size)
                {
                    Target = target,
                    Setting = new WorkloadSetting { OwnConnections = !pipelined },
                });
            }
        }

        return points;
    }

    private static void Row(CraqSection section, CraqMeasured measured, CraqRounds rounds)
    {
        var median = rounds.Median;
        section.Row([
            .. rounds.Point.Name.Split('|'), Cell.Count(median.PerSecond), Cell.Time(median.P50),
            Cell.Time(median.P99), Cell.Ratio(measured.OfEcho(rounds)), Cell.Time(rounds.ClientMicroseconds)]);
    }
}
