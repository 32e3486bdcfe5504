using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Cli;

/// <summary>A connected client for the length of one command.</summary>
internal sealed class LogSession : IAsyncDisposable
{
    private LogSession(ICorfuLog log) => Log = log;

    public ICorfuLog Log { get; }

    /// <summary>Below it everything is trimmed, as of the projection.</summary>
    public LogPosition TrimMark => LogPosition.Zero;

    public static Task<LogSession> OpenAsync(string connectionString, CancellationToken cancellationToken) =>
        throw new UsageException($"{connectionString} {cancellationToken} {new LogSession(null!)}");

    public ValueTask DisposeAsync() => default;
}
