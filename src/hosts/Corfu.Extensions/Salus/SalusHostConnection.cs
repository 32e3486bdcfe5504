using Corfu.Client;
using Microsoft.Extensions.Logging;
using Salus;

namespace Corfu.Extensions;

/// <summary>A host's connection to the volumes of a log.</summary>
public interface ISalusConnection
{
    /// <summary>The connection, opened; the first call opens it and the others share it. The host owns it, and closes
    /// it behind its services: they dispose the volumes that they have mounted.</summary>
    /// <exception cref="ClusterNotFoundException">No log there (now): a later call tries again.</exception>
    Task<SalusConnection> GetClientAsync(CancellationToken cancellationToken = default);
}

internal sealed class SalusHostConnection(SalusClientSettings settings, ILoggerFactory loggers, TimeProvider time)
    : HostConnection<SalusConnection, ClusterNotFoundException>(settings.ConnectTimeout, time), ISalusConnection
{
    protected override Task<SalusConnection> ConnectAsync(CancellationToken cancellationToken) =>
        SalusConnection.OpenAsync(
            settings.ConnectionString, settings.Client, loggers: loggers, cancellationToken: cancellationToken);

    protected override ClusterNotFoundException Repeat(ClusterNotFoundException failure) =>
        new(failure.Message, failure);
}
