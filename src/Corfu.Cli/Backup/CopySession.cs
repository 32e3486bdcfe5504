using Corfu.Client;

namespace Corfu.Cli;

/// <summary>Clients of commands that copy logs.</summary>
internal static class CopySession
{
    /// <exception cref="UsageException">The connection string is malformed.</exception>
    public static async Task<CorfuClient> ConnectAsync(string connectionString, CancellationToken cancellationToken)
    {
        if (!ConnectionString.TryParse(connectionString, out _, out var fault)) throw new UsageException(fault);
        return await CorfuClient.ConnectAsync(connectionString, cancellationToken: cancellationToken);
    }
}
