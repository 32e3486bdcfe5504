using Corfu.Client;
using Microsoft.Extensions.Logging;

namespace Corfu.Extensions;

/// <summary>A host's connection to a cluster.</summary>
public interface ICorfuConnection
{
    /// <summary>The client, connected; the first call connects and the others share it. The host owns it.</summary>
    /// <exception cref="ClusterNotFoundException">No cluster there (now): a later call tries again.</exception>
    Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default);
}

internal sealed class CorfuConnection(CorfuClientSettings settings, ILoggerFactory loggers, TimeProvider time)
    : HostConnection<CorfuClient, ClusterNotFoundException>(settings.ConnectTimeout, time), ICorfuConnection
{
    private readonly ILogger _logger = loggers.CreateLogger<CorfuClient>();

    protected override Task<CorfuClient> ConnectAsync(CancellationToken cancellationToken) =>
        CorfuClient.ConnectAsync(settings.ConnectionString, settings.Client, _logger, cancellationToken);

    protected override ClusterNotFoundException Repeat(ClusterNotFoundException failure) =>
        new(failure.Message, failure);
}
