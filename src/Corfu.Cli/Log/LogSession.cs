using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Cli;

/// <summary>A connected client for the length of one command.</summary>
internal sealed class LogSession : IAsyncDisposable
{
    private readonly CorfuClient _client;

    private LogSession(CorfuClient client) => _client = client;

    public ICorfuLog Log => _client;

    /// <summary>Below it everything was trimmed when the newest projection was made.</summary>
    public LogPosition TrimMark => _client.Projection.TrimMark;

    /// <exception cref="UsageException">The connection string is malformed.</exception>
    public static async Task<LogSession> OpenAsync(string connectionString, CancellationToken cancellationToken)
    {
        if (!ConnectionString.TryParse(connectionString, out _, out var fault)) throw new UsageException(fault);
        return new LogSession(await CorfuClient.ConnectAsync(connectionString, cancellationToken: cancellationToken));
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
