using BenchmarkDotNet.Attributes;
using Corfu.Client;
using Corfu.Load;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Benchmarks;

/// <summary>
/// A class whose benchmarks run on a cluster of processes, this process being the client, beside the bare echo of a
/// process with the same bytes and window. Each benchmark has a cluster of its own, brought up here and taken down
/// again.
/// </summary>
public abstract class ClusterBenchmarks
{
    /// <summary>Operations of one invocation, whatever the window: long enough that its ends do not count.</summary>
    protected const int Operations = 4096;

    /// <summary>Bytes of one entry's payload.</summary>
    protected const int Size = 128;

    private BenchmarkCluster? _cluster;
    private CorfuClient? _client;
    private ChildProcess? _echo;
    private BareRole? _echoRole;
    private TcpTransport? _echoTransport;

    /// <summary>Operations under way at once.</summary>
    public abstract int InFlight { get; set; }

    protected CorfuClient Client => _client!;

    protected ReadOnlyMemory<byte> Payload { get; } = new byte[Size];

    [GlobalSetup]
    public async Task StartClusterAsync()
    {
        try
        {
            _cluster = await BenchmarkCluster.StartAsync();
            _client = await _cluster.ConnectAsync();
            await PrepareAsync();
        }
        catch
        {
            // BenchmarkDotNet cleans up only after a setup that succeeded.
            await CleanUpAsync();
            throw;
        }
    }

    [GlobalSetup(Target = nameof(EchoOf128Bytes))]
    public async Task StartEchoAsync()
    {
        _echo = await ChildProcess.StartAsync(EchoProcess.Name);
        _echoRole = BareRole.Parse(_echo.Address);
        _echoTransport = _echoRole.Connect();
    }

    [GlobalCleanup]
    public async Task CleanUpAsync()
    {
        await EndAsync();
        if (_client is not null) await _client.DisposeAsync();
        if (_cluster is not null) await _cluster.DisposeAsync();
        _echoTransport?.Dispose();
        _echo?.Dispose();
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Operations)]
    public Task EchoOf128Bytes()
    {
        var request = new WriteRequest(Epoch.First, new byte[Size]);
        return RunAsync(async _ =>
        {
            var response = await _echoTransport!.CallAsync(_echoRole!.Address, request, CancellationToken.None);
            if (!response.IsOk) throw CorfuStatusException.Create(response.Status, "echo");
        });
    }

    /// <summary>The cluster, for clients of other processes.</summary>
    protected string Connection => _cluster!.Connection;

    /// <summary>Prepares the cluster before the benchmarks are measured.</summary>
    protected virtual Task PrepareAsync() => Task.CompletedTask;

    protected virtual ValueTask EndAsync() => default;

    /// <summary>As many operations as one invocation counts, <see cref="InFlight"/> at once.</summary>
    protected Task RunAsync(Func<int, ValueTask> operation) =>
        Window.RunAsync(InFlight, Operations, operation);
}
