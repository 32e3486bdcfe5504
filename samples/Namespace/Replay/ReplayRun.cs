using System.Globalization;
using Corfu.Client;
using NamespaceSample.App;
using NamespaceSample.History;
using NamespaceSample.Processes;
using NamespaceSample.Service;

namespace NamespaceSample.Replay;

/// <summary>
/// A replay by processes: a cluster, a host for each partition, a replayer, and one that stands by. Some are killed
/// meanwhile and started again. A fresh process compares the result after all others have ended.
/// </summary>
internal sealed class ReplayRun(
    string history, string? expected, int? kills, int changes, IReplayDisplay display) : IAsyncDisposable
{
    private readonly ClusterProcesses _cluster = new("namespace");
    private readonly ChildProcess?[] _hosts = new ChildProcess?[PartitionMap.Count];
    private readonly KillPlan _plan = new(changes, kills ?? 0);
    private ChildProcess? _active;
    private Task<ChildProcess>? _standby;
    private int _applied;
    private int _aborted;

    public async Task<ReplayReport> RunAsync(CancellationToken cancellationToken)
    {
        await _cluster.UpAsync(cancellationToken);
        for (int i = 0; i < _hosts.Length; i++) _hosts[i] = await StartHostAsync(i, cancellationToken);
        _active = await StartReplayerAsync(cancellationToken);
        // Only a kill needs one.
        _standby = kills > 0 ? StartReplayerAsync(cancellationToken) : null;
        if (_standby is not null) await _standby;
        List<TimeSpan> appends = await MeasureAsync(cancellationToken);

        long start = TimeProvider.System.GetTimestamp();
        await _active.TellAsync(ReplayerMode.Go);
        while (_applied < changes) await StepAsync(cancellationToken);
        TimeSpan elapsed = TimeProvider.System.GetElapsedTime(start);

        appends.AddRange(await MeasureAsync(cancellationToken));
        await CloseAsync(cancellationToken);
        VerifierMode.Verdict verdict = await VerifyAsync(cancellationToken);
        return new ReplayReport(
            changes, verdict.Paths, verdict.IsMatch, elapsed, _aborted, kills is null ? null : _plan.Done,
            AppendProbe.Median(appends));
    }

    public async ValueTask DisposeAsync()
    {
        await EndClientsAsync();
        await _cluster.DisposeAsync();
    }

    // Before and after the changes: what else the machine does meanwhile may change.
    private async Task<List<TimeSpan>> MeasureAsync(CancellationToken cancellationToken)
    {
        await using CorfuClient log =
            await CorfuClient.ConnectAsync(_cluster.ConnectionString, cancellationToken: cancellationToken);
        return await AppendProbe.MeasureAsync(log, cancellationToken);
    }

    private async Task StepAsync(CancellationToken cancellationToken)
    {
        string line = await _active!.RequireAsync(cancellationToken);
        if (!line.StartsWith(ReplayerMode.At, StringComparison.Ordinal)) return;
        string[] parts = line[ReplayerMode.At.Length..].Split(' ');
        _applied = int.Parse(parts[0], CultureInfo.InvariantCulture);
        _aborted += int.Parse(parts[1], CultureInfo.InvariantCulture);
        display.Progress(_applied);
        if (_plan.TryNext(_applied, out var next)) await KillAsync(next.Target, next.Index, cancellationToken);
    }

    private async Task KillAsync(KillTarget target, int index, CancellationToken cancellationToken)
    {
        switch (target)
        {
            case KillTarget.Replayer:
                await _active!.KillAsync();
                await _active.DisposeAsync();
                _active = await _standby!;
                await _active.TellAsync(ReplayerMode.Go);
                display.Killed(_plan.Done, ReplayerMode.Name, _applied);
                _standby = StartReplayerAsync(cancellationToken);
                break;
            case KillTarget.Host:
                int partition = index % _hosts.Length;
                ChildProcess host = _hosts[partition]!;
                await host.KillAsync();
                await host.DisposeAsync();
                display.Killed(_plan.Done, host.Name, _applied);
                _hosts[partition] = null;
                _hosts[partition] = await StartHostAsync(partition, cancellationToken);
                break;
            default:
                string node = _cluster.Nodes[(_cluster.Nodes.Count - 1 + index) % _cluster.Nodes.Count];
                display.Killed(_plan.Done, node, _applied);
                await _cluster.KillAsync(node, cancellationToken);
                break;
        }
    }

    private async Task CloseAsync(CancellationToken cancellationToken)
    {
        await _active!.TellAsync(ReplayerMode.Close);
        while (!(await _active.RequireAsync(cancellationToken)).StartsWith(
            ReplayerMode.Closed, StringComparison.Ordinal))
        {
            // The replayer's remaining lines are read and dropped.
        }

        await EndClientsAsync();
        await _cluster.DownAsync();
    }

    private async Task<VerifierMode.Verdict> VerifyAsync(CancellationToken cancellationToken)
    {
        await _cluster.UpAsync(cancellationToken);
        string[] arguments =
        [
            VerifierMode.Name, "--connect", _cluster.ConnectionString, "--history", history,
            .. expected is null ? Array.Empty<string>() : ["--expect", expected],
        ];
        await using var verifier = ChildProcess.Start(VerifierMode.Name, arguments);
        while (true)
        {
            string line = await verifier.RequireAsync(cancellationToken);
            if (VerifierMode.Verdict.TryParse(line) is { } verdict)
            {
                display.Opened(verdict.LogStart);
                return verdict;
            }

            display.Difference(line);
        }
    }

    private async Task EndClientsAsync()
    {
        if (_active is not null) await _active.DisposeAsync();
        _active = null;
        foreach (ChildProcess? host in _hosts)
        {
            if (host is not null) await host.DisposeAsync();
        }

        Array.Clear(_hosts);
        if (_standby is null) return;
        Task<ChildProcess> standby = _standby;
        _standby = null;
        try
        {
            await (await standby).DisposeAsync();
        }
        catch (Exception e) when (e is OperationCanceledException or ChildProcessException)
        {
            // The process did not start, and has ended.
        }
    }

    private Task<ChildProcess> StartHostAsync(int partition, CancellationToken cancellationToken) => StartAsync(
        $"{HostMode.Name} of partition {partition}", cancellationToken,
        HostMode.Name, "--connect", _cluster.ConnectionString, "--partition",
        partition.ToString(CultureInfo.InvariantCulture));

    private Task<ChildProcess> StartReplayerAsync(CancellationToken cancellationToken) => StartAsync(
        ReplayerMode.Name, cancellationToken,
        ReplayerMode.Name, "--connect", _cluster.ConnectionString, "--history", history);

    private static async Task<ChildProcess> StartAsync(
        string name, CancellationToken cancellationToken, params string[] arguments)
    {
        var child = ChildProcess.Start(name, arguments);
        try
        {
            await child.RequireAsync(cancellationToken);
            return child;
        }
        catch
        {
            await child.DisposeAsync();
            throw;
        }
    }
}
