using Corfu;
using Corfu.Client;

namespace JobScheduler.App;

/// <summary>Source of the shared log: an embedded cluster, a running one, or a test's memory.</summary>
public interface ILogSource : IAsyncDisposable
{
    /// <summary>For the first line of the output.</summary>
    string Description { get; }

    /// <summary>How the run can be continued after it was stopped; null when its state is gone with the
    /// process.</summary>
    string? ResumeArguments { get; }

    /// <summary>Connection string by which other processes find the log; null when only this one has it.</summary>
    string? ConnectionString { get; }

    /// <summary>A new client of the log, with its own connections. Disposed with the source.</summary>
    ValueTask<ICorfuLog> ConnectAsync(CancellationToken cancellationToken);
}
