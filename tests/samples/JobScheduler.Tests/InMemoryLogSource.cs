using Corfu;
using Corfu.Client;
using JobScheduler.App;
using Tango.Testing;

namespace JobScheduler.Tests;

/// <summary>All clients share one log in memory.</summary>
internal sealed class InMemoryLogSource(InMemoryCorfuLog log) : ILogSource
{
    public string Description => "a log in memory";

    public string? ResumeArguments => "--data memory";

    public string? ConnectionString => null;

    public ValueTask<ICorfuLog> ConnectAsync(CancellationToken cancellationToken) =>
        ValueTask.FromResult<ICorfuLog>(log);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
