using System.Collections.Immutable;
using Corfu.Client.Tests.Cluster;
using Corfu.Conformance;
using Corfu.Protocol;
using Tango.Testing;

namespace Corfu.Client.Tests;

public sealed class ClientLogConformance : LogConformance, IAsyncDisposable
{
    private TestCluster? _cluster;

    protected override async Task<ICorfuLog> OpenAsync() => (_cluster ??= await TestCluster.StartAsync(3, 2)).Client();

    protected override Task<ICorfuLog> OpenAnotherAsync() => OpenAsync();

    protected override async Task<LogPosition> LeaveHoleAsync(ImmutableArray<StreamId> streams)
    {
        var first = _cluster!.First;
        return (await _cluster.Transport.CallAsync(first.Sequencer, new TokenRequest(first.Epoch, 1, streams),
            default)).First;
    }

    public async ValueTask DisposeAsync()
    {
        if (_cluster is not null) await _cluster.DisposeAsync();
    }
}

public sealed class InMemoryLogConformance : LogConformance
{
    private readonly Queue<AppendFault> _faults = new();
    private readonly InMemoryCorfuLog _log;

    public InMemoryLogConformance()
    {
        _log =
            new InMemoryCorfuLog(
                new InMemoryLogOptions
                { NextAppendFault = () => _faults.TryDequeue(out var fault) ? fault : AppendFault.None });
    }

    protected override Task<ICorfuLog> OpenAsync() => Task.FromResult<ICorfuLog>(_log);

    protected override Task<ICorfuLog> OpenAnotherAsync() => OpenAsync();

    protected override async Task<LogPosition> LeaveHoleAsync(ImmutableArray<StreamId> streams)
    {
        _faults.Enqueue(AppendFault.LostAndUnknown);
        return (await _log.AppendAsync(default, streams)).Position;
    }
}

/// <summary>As a log that tells no headers, such as one over gRPC.</summary>
public sealed class SilentLogConformance : LogConformance
{
    private readonly Queue<AppendFault> _faults = new();
    private readonly InMemoryCorfuLog _log;

    public SilentLogConformance()
    {
        _log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            NextAppendFault = () => _faults.TryDequeue(out var fault) ? fault : AppendFault.None,
            TellHeaders = false,
        });
    }

    protected override bool TellsHeaders => false;

    protected override Task<ICorfuLog> OpenAsync() => Task.FromResult<ICorfuLog>(_log);

    protected override Task<ICorfuLog> OpenAnotherAsync() => OpenAsync();

    protected override async Task<LogPosition> LeaveHoleAsync(ImmutableArray<StreamId> streams)
    {
        _faults.Enqueue(AppendFault.LostAndUnknown);
        return (await _log.AppendAsync(default, streams)).Position;
    }
}
