using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Conformance;
using Corfu.Grpc.Client;
using Tango.Testing;

namespace Corfu.Grpc.Tests;

/// <summary>Promises of every log, through a front end.</summary>
public sealed class GrpcLogConformance : LogConformance, IAsyncDisposable
{
    private readonly Queue<AppendFault> _faults = new();
    private readonly InMemoryCorfuLog _inner;
    private readonly List<IAsyncDisposable> _open = [];
    private FrontEnd? _frontEnd;

    public GrpcLogConformance() => _inner = new InMemoryCorfuLog(new InMemoryLogOptions
    {
        NextAppendFault = () => _faults.TryDequeue(out var fault) ? fault : AppendFault.None,
    });

    protected override bool TellsHeaders => false;

    protected override async Task<ICorfuLog> OpenAsync()
    {
        _frontEnd ??= await FrontEnd.StartAsync(
            _inner, static options => (options.AllowTrims, options.AllowObjectAppends) = (true, true));
        var log = await GrpcCorfuLog.ConnectAsync(_frontEnd.Address);
        _open.Add(log);
        return log;
    }

    protected override Task<ICorfuLog> OpenAnotherAsync() => OpenAsync();

    protected override async Task<LogPosition> LeaveHoleAsync(ImmutableArray<StreamId> streams)
    {
        _faults.Enqueue(AppendFault.LostAndUnknown);
        return (await _inner.AppendAsync(default, streams)).Position;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var log in _open) await log.DisposeAsync();
        if (_frontEnd is not null) await _frontEnd.DisposeAsync();
    }
}
