using Tango;
using Tango.Testing;

namespace Salus.Client.Tests;

/// <summary>The client beside a log that is there, away, or trimmed too far.</summary>
public sealed class SalusClientTests : IAsyncDisposable
{
    private const string NoAnswer = "The log does not answer: see 'corfu status' for its nodes.";
    private const string IsTrimmed = "The log is trimmed of history that this process has not read";

    private readonly TangoTestHost _host = new();

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task Names_lead_to_ready_volumes()
    {
        var process = _host.Start();
        var client = await OpenAsync(process);
        Assert.Null(await RunAsync(client.FindAsync("disk").AsTask()));
        var directory = await RunAsync(VolumeDirectory.OpenAsync(process.Runtime).AsTask());
        var (id, geometry) = (new VolumeId(Guid.NewGuid()), VolumeGeometry.Create(1 << 20));
        Assert.Null(await RunAsync(directory.AddAsync("disk", id, geometry).AsTask()));
        Assert.Null(await RunAsync(client.FindAsync("disk").AsTask()));
        var made = (await RunAsync(directory.FindAsync("disk").AsTask()))!;
        Assert.True(await RunAsync(directory.TryChangeAsync("disk", made, VolumeStage.Ready).AsTask()));
        var found = await RunAsync(client.FindAsync("disk").AsTask());
        Assert.Equal((1 << 20, geometry.BlockSize, false), (found!.Size, found.BlockSize, found.IsReadOnly));
        Assert.Null(await RunAsync(client.FindAsync("disk@none").AsTask()));
    }

    [Fact]
    public async Task Lost_log_is_told_as_a_fault_of_the_volume()
    {
        var process = _host.Start();
        var client = await OpenAsync(process);
        process.Connection.Lose();
        await AssertAwayAsync<LogUnavailableException>(client.FindAsync("disk").AsTask(), NoAnswer);
        await AssertAwayAsync<LogUnavailableException>(client.FindAsync("disk@one").AsTask(), NoAnswer);
        await AssertAwayAsync<LogUnavailableException>(client.SnapshotAsync("disk", "one").AsTask(), NoAnswer);
    }

    /// <summary>The export of volumes ended by it, which knows exceptions of the log's client alone.</summary>
    [Fact]
    public async Task Log_that_cannot_be_played_is_told_as_a_fault_of_the_volume()
    {
        var client = await OpenAsync(_host.Start());
        var other = await RunAsync(VolumeDirectory.OpenAsync(_host.Start().Runtime).AsTask());
        Assert.Null(await RunAsync(
            other.AddAsync("disk", new VolumeId(Guid.NewGuid()), VolumeGeometry.Create(1 << 20)).AsTask()));
        await _host.TrimBelowAsync(await _host.TailAsync());
        await AssertAwayAsync<TangoException>(client.FindAsync("disk").AsTask(), IsTrimmed);
        await AssertAwayAsync<TangoException>(client.SnapshotAsync("disk", "one").AsTask(), IsTrimmed);
    }

    private Task<SalusClient> OpenAsync(TestProcess process) => RunAsync(
        SalusClient.OpenAsync(process.Runtime, NoTransport.Instance, time: _host.Time).AsTask());

    private async Task<T> RunAsync<T>(Task<T> task)
    {
        await _host.Time.AdvanceUntilAsync(task);
        return await task;
    }

    private async Task AssertAwayAsync<TInner>(Task call, string told)
        where TInner : Exception
    {
        await _host.Time.AdvanceUntilAsync(call.ContinueWith(static _ => { }, TaskScheduler.Default));
        var error = await Assert.ThrowsAsync<VolumeException>(() => call);
        Assert.Equal(VolumeFault.Unavailable, error.Fault);
        Assert.StartsWith(told, error.Message, StringComparison.Ordinal);
        Assert.IsAssignableFrom<TInner>(error.InnerException);
    }

    private sealed class NoTransport : ITransport
    {
        public static readonly NoTransport Instance = new();

        public ValueTask<TResponse> CallAsync<TResponse>(
            NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
            where TResponse : Response => throw new TransportException("No node.", outcomeUnknown: false);

        public void Drop(NodeAddress node)
        {
        }

        public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
            throw new TransportException("No node.", outcomeUnknown: false);
    }
}
