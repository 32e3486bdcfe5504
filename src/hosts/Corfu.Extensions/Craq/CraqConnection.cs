using Craq;
using Microsoft.Extensions.Logging;

namespace Corfu.Extensions;

/// <summary>A host's connection to CRAQ nodes.</summary>
public interface ICraqConnection
{
    /// <summary>The client, connected; the first call connects and the others share it. The host owns it.</summary>
    /// <exception cref="CraqNotFoundException">No node answers there (now): a later call tries again.</exception>
    Task<CraqClient> GetClientAsync(CancellationToken cancellationToken = default);
}

internal sealed class CraqConnection(CraqClientSettings settings, ILoggerFactory loggers, TimeProvider time)
    : HostConnection<CraqClient, CraqNotFoundException>(settings.ConnectTimeout, time), ICraqConnection
{
    private readonly ILogger _logger = loggers.CreateLogger<CraqClient>();

    protected override Task<CraqClient> ConnectAsync(CancellationToken cancellationToken) =>
        CraqClient.ConnectAsync(settings.ConnectionString, settings.Client, _logger, cancellationToken);

    protected override CraqNotFoundException Repeat(CraqNotFoundException failure) => new(failure.Message, failure);
}
